"""The documentation: every public name is in the reference, and links lead somewhere.

``.ci/run`` builds the site, with warnings as errors; test_readme.py runs the examples of the pages.
"""

from __future__ import annotations

import io
import re
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import ModuleType

import click
import pytest

from contextwise.cli import COMMANDS, contextwise
from contextwise.formats import FORMATS, read_stream
from contextwise.learning import LEARNERS, learner_groups
from contextwise.models.structure import structure_of

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
MADE = {"_build", "commands"}  # folders that the build makes
PAGES = sorted(page for page in DOCS.rglob("*.md") if not MADE & {*page.parts})
sys.path.insert(0, str(DOCS))
from check_site import problems  # type: ignore[import-not-found]  # noqa: E402
from command_pages import QUESTIONS, write_pages  # type: ignore[import-not-found]  # noqa: E402
from docstrings import sections_as_lists  # type: ignore[import-not-found]  # noqa: E402

LARGEST_PICTURE = 150 * 1024

REFERENCE = {
    found[1]: block
    for page in (DOCS / "reference").glob("*.md")
    for block in page.read_text(encoding="utf-8").split("```{eval-rst}")
    if (found := re.search(r"automodule:: (\S+)", block))
}
"""The modules of the reference, each with its block there."""


def public_names(module: ModuleType) -> set[str]:
    """Return the names a module exports or defines, without modules, which have their own pages."""
    names = getattr(module, "__all__", None) or [
        name
        for name, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", "") == module.__name__
    ]
    return {
        name
        for name in names
        if not name.startswith("_") and not isinstance(getattr(module, name), ModuleType)
    }


def test_every_room_has_a_page() -> None:
    wanted = (
        "analysis convert distributions evaluation evidence truths.bundled independence learning "
        "testing report.plots"
    )
    rooms = {"contextwise", *(f"contextwise.{room}" for room in wanted.split())}
    assert rooms <= set(REFERENCE)


@pytest.mark.parametrize(("module", "block"), REFERENCE.items(), ids=list(REFERENCE))
def test_every_public_name_is_in_the_reference(module: str, block: str) -> None:
    (listed,) = re.findall(r":nosignatures:\n\n((?:   \w+\n)+)", block)
    written = re.findall(r"py:data:: (\w+)", block)
    assert {*listed.split(), *written} == public_names(import_module(module))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_can_be_read_before_it_is_built(page: Path) -> None:
    """Outputs stand on the page: cells that only the build runs would be empty here."""
    assert "{code-cell}" not in page.read_text(encoding="utf-8")


def test_commands_are_made_from_the_command() -> None:
    """The build generates a page for each command; these pages are not in the repository."""
    text = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    assert "{include} commands/table.txt" in text
    assert "docs/reference/commands/" in (ROOT / ".gitignore").read_text(encoding="utf-8").split()


@pytest.fixture(scope="module")
def command_pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The pages of the commands by name, and the table that leads to them."""
    folder = tmp_path_factory.mktemp("made") / "commands"
    write_pages(folder)
    return {path.stem: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def test_every_command_has_a_page_in_the_table(command_pages: dict[str, str]) -> None:
    assert set(command_pages) == {*COMMANDS, "table"}
    order = command_pages["table"].partition("{toctree}")[2]
    assert re.findall(r"^commands/(\S+)$", order, re.MULTILINE) == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_of_a_command_says_what_its_help_says(
    name: str, command_pages: dict[str, str]
) -> None:
    """Every option and every example is there, an option that all subcommands have once."""
    top = click.Context(contextwise, info_name="contextwise")
    command = contextwise.get_command(top, name)
    assert command is not None
    context = click.Context(command, parent=top, info_name=name)
    subcommands = [command]
    if isinstance(command, click.Group):
        found = [command.get_command(context, part) for part in command.list_commands(context)]
        subcommands += [part for part in found if part is not None]
    for one in subcommands:
        flags = [option.opts[0] for option in one.params if isinstance(option, click.Option)]
        examples = re.findall(r"^ +(contextwise .*)$", one.help or "", re.MULTILINE)
        told = [flag for flag in flags if f"\n`{flag}" in command_pages[name]]
        assert told == flags
        assert [example for example in examples if example not in command_pages[name]] == []


def test_the_page_of_learn_has_a_section_for_each_learner(command_pages: dict[str, str]) -> None:
    page = command_pages["learn"]
    listed = [name for names in learner_groups().values() for name in names]
    assert sorted(listed) == sorted(LEARNERS)
    assert re.findall(r"^\| \[`([^`]+)`\]", page, re.MULTILINE) == listed
    assert re.findall(r"^### (\S+)$", page, re.MULTILINE) == listed


def test_every_command_answers_a_question() -> None:
    assert list(QUESTIONS) == list(COMMANDS)


@pytest.mark.parametrize(
    "page", [*PAGES, *ROOT.glob("*.md")], ids=lambda page: str(page.relative_to(ROOT))
)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text)
    folder = DOCS.resolve() / "reference" / "commands"
    made_by_the_build = {folder / f"{name}.md" for name in COMMANDS}
    targets = {(page.parent / link).resolve() for link in links}
    assert [one for one in targets - made_by_the_build if not one.exists()] == []


def test_pictures_are_small() -> None:
    assert [path for path in DOCS.glob("*.png") if path.stat().st_size > LARGEST_PICTURE] == []


def test_every_page_is_in_a_table_of_contents() -> None:
    listed = {DOCS / "index.md"}
    for page in PAGES:
        for block in re.findall(r"{toctree}(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            entries = [line for line in block.split("\n") if line and line[0] not in ":`"]
            listed |= {found for entry in entries for found in page.parent.glob(f"{entry}.md")}
    assert listed == set(PAGES)


@pytest.mark.parametrize(
    ("page", "wrong"),
    [
        ('<a href="other.html#here">x</a>', []),
        ('<a href="https://example.org">x</a>', []),
        ('<a href="missing.html">x</a>', ["page.html: leads nowhere: missing.html"]),
        ('<a href="other.html#gone">x</a>', ["page.html: leads nowhere: other.html#gone"]),
        ('<a href="#gone">x</a>', ["page.html: leads nowhere: #gone"]),
        ('<script src="//cdn.example/x.js"></script>', ["page.html: loads //cdn.example/x.js"]),
        (
            '<link rel="stylesheet" href="https://fonts.example/a.css">',
            ["page.html: loads https://fonts.example/a.css"],
        ),
        ('<link rel="canonical" href="https://docs.example/">', []),
    ],
)
def test_the_built_site_is_looked_at(page: str, wrong: list[str], tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    (tmp_path / "other.html").write_text('<p id="here">x</p>', encoding="utf-8")
    assert list(problems(tmp_path)) == wrong


def test_the_formats_are_listed_and_their_examples_can_be_read() -> None:
    page = (DOCS / "reference" / "formats.md").read_text(encoding="utf-8")
    rows = "".join(line for line in page.splitlines() if line.startswith("| `"))
    listed = set(re.findall(r"`(\.\w+)`", rows))
    assert [known.name for known in FORMATS if not listed & {*known.suffixes}] == []
    for section in page.split("\n## "):
        blocks = re.findall(r"^```(\w*)\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
        files = [text for kind, text in blocks if kind in ("", "json") and "::=" not in text]
        examples = [read_stream(io.StringIO(text)) for text in files]
        assert all(map(len, examples))
        if section.startswith("Graphs"):
            edges = {frozenset(map(frozenset, structure_of(model).pairs())) for model in examples}
            assert len(edges) == 1


def test_every_row_of_a_table_has_the_cells_of_its_header() -> None:
    """A bar in code must be escaped in a table, or the rest of the cell is not shown."""
    for page in [*PAGES, ROOT / "README.md"]:
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        for table in re.findall(r"(?:^\|.*\n)+", text, re.M):
            bars = {len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}
            assert len(bars) == 1, f"{page.name}: {table}"


def test_sections_are_shown_in_the_words_they_have() -> None:
    written = """Do it.

Parameters
----------
a, b : what is said in
    two lines
c : int
    How many.
**more
    The rest.

Returns
-------
int
"""
    shown = """Do it.

:Parameters:
    * **a, b** – what is said in two lines
    * **c** – int. How many.
    * **\\*\\*more** – The rest.

Returns
-------
int
"""
    assert "\n".join(sections_as_lists(written.split("\n"))) == shown


def test_file_names_of_tests_are_unique() -> None:
    """Pytest imports test files by their name alone."""
    names = Counter(path.name for path in Path(__file__).parent.rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
