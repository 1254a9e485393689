"""Read files that must be refused."""

from pathlib import Path
from typing import Any

import pytest

from contextwise import read
from contextwise.errors import ContextwiseError


def refused(path: Path, content: str | bytes, **options: Any) -> str:
    """The message that reading this content gives, without the folder."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ContextwiseError) as caught:
        read(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 700
    return message.replace(f"{path.parent}/", "")
