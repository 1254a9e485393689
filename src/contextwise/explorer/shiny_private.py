"""Everything private of Shiny that the explorer relies on: its messages, and two of its internals.

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
METHODS = ("init", "update", "uploadInit", "uploadEnd")
"""The messages that a page without bookmarks and modules sends."""
CLIENT_TEXT = re.compile(r"\.clientdata_url_\w+|\.clientdata_singletons")
CLIENT_VALUE = re.compile(r"\.clientdata_(output_\w+|pixelratio|allowDataUriScheme)")
SEARCH = ".clientdata_url_search"
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
