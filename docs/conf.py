"""How the documentation is built: ``python -m sphinx -W -b html docs docs/_build/html``.

Pages are MyST Markdown; those with code cells are run while they are built, so that what they show
is what the package does. Nothing is loaded from outside: fonts are the reader's, MathJax comes with
a package and is copied, and no other site's inventory is asked.
"""

import os
from importlib.metadata import version as version_of
from pathlib import Path

# Code cells import the drawings that stand beside this file.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
)

project = "contextwise"
author = "the contextwise developers"
copyright = author
release = version = version_of("contextwise")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx-mathjax-offline",
]

# Pages.
source_suffix = {".md": "myst-nb"}
exclude_patterns = ["_build"]
templates_path = ["_templates"]
nitpicky = False
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3

# Code cells: run every time, and a cell that fails fails the build.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True

# The reference is made of the docstrings.
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autoclass_content = "class"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

# The look.
html_theme = "furo"
html_title = "contextwise"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
