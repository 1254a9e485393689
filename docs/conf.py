"""Configuration of Sphinx: ``python -m sphinx -W -b html docs docs/_build/html``.

Pages are Markdown with their outputs, which tests/test_readme.py compares. The site loads nothing
from the network: system fonts, a bundled MathJax, no inventories of other sites.
"""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from command_pages import write_pages
from docstrings import connect

project = "contextwise"
author = "the contextwise developers"
copyright = author
release = version = version_of("contextwise")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx-mathjax-offline",
]

# Pages.
exclude_patterns = ["_build"]
smartquotes = False  # two dashes begin an option
nitpicky = False
default_role = "py:obj"  # `name` in a docstring links to the name, if it is in the reference
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3

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


def setup(app) -> None:
    app.connect("builder-inited", _write_commands)
    connect(app)
