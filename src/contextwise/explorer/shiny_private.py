"""Everything private of Shiny that the explorer relies on.

The package declares which versions of Shiny it was tried with. For a new one, first run
``tests/explorer/test_shiny_private.py``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from shiny.session import Session

SESSION = re.compile(r"/session/(\w+)/upload/")
"""The path of an upload."""
CLIENT, CLIENT_TEXT = ".clientdata_", ".clientdata_url_"
"""The beginnings of what a page reports about itself; the parts of its address are texts."""
TRACED = ("shiny.reactive._reactives", "shiny.session._session")
"""The modules that read sources for traces."""


def upload_folder(session: Session) -> Path:
    """Return the folder with the uploads of a session."""
    private: Any = session
    return Path(private._file_upload_manager._basedir)


def skip_source_references() -> None:
    """Keep Shiny from reading sources for traces: half of the time a session needs to start."""
    for name in TRACED:
        module: Any = sys.modules[name]
        module.extract_source_ref = lambda function: {}
