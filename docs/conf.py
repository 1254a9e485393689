"""Configuration of Sphinx: ``python -m sphinx -W -b html docs docs/_build/html``.

Pages are MyST Markdown. The build runs their code cells, so pages show real output. The site loads
nothing from the network: system fonts, a bundled MathJax, no inventories of other sites.
"""

import atexit
import os
import shutil
import sys
import sysconfig
import tempfile
from importlib.metadata import version as version_of
from pathlib import Path

from docutils.nodes import Text, literal_block
from sphinx.transforms.post_transforms import SphinxPostTransform

sys.path.insert(0, str(Path(__file__).parent))
from command_pages import write_pages
from docstrings import connect


def _put_first(variable: str, folder: str) -> None:
    os.environ[variable] = os.pathsep.join([folder, *filter(None, [os.environ.get(variable)])])


_put_first("PYTHONPATH", str(Path(__file__).parent))  # cells import docs/figures.py
_put_first("PATH", sysconfig.get_path("scripts"))  # and call this environment's command

# An IPython profile for this build that runs docs/cells.py and ignores the user's own profile.
_profile = tempfile.mkdtemp(prefix="contextwise-docs-")
atexit.register(shutil.rmtree, _profile, ignore_errors=True)
_startup = Path(_profile, "profile_default", "startup")
_startup.mkdir(parents=True)
shutil.copy(Path(__file__).parent / "cells.py", _startup)
os.environ["IPYTHONDIR"] = _profile

project = "contextwise"
author = "the contextwise developers"
copyright = author
release = version = version_of("contextwise")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx-mathjax-offline",
]

# Pages.
source_suffix = {".md": "myst-nb"}
exclude_patterns = ["_build"]
smartquotes = False  # two dashes begin an option
nitpicky = False
default_role = "py:obj"  # `name` in a docstring links to the name, if it is in the reference
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3

# Code cells: run every time, and a cell that fails fails the build.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_execution_in_temp = True
nb_merge_streams = True

# The reference, from docstrings.
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autoclass_content = "class"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False  # types are prose, so do not link their words

# Appearance.
html_theme = "furo"
html_title = "contextwise"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def _write_commands(app) -> None:
    """Write the reference of the command before the pages are read."""
    write_pages(Path(__file__).parent / "reference" / "commands")


class ShellCells(SphinxPostTransform):
    """Show shell cells without the ``%%sh`` line."""

    default_priority = 5

    def run(self, **_) -> None:
        for block in self.document.findall(literal_block):
            if block.astext().startswith("%%sh\n"):
                text = block.astext().removeprefix("%%sh\n")
                block.children, block["language"] = [Text(text)], "sh"
                block.rawsource = text


def setup(app) -> None:
    app.connect("builder-inited", _write_commands)
    connect(app)
    app.add_post_transform(ShellCells)
