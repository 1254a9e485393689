"""The names of the top level: all there, all typed, none imported before it is used."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import pytest

import contextwise
from contextwise import _HOMES
from contextwise.data.options import FLAGS
from contextwise.errors import ContextwiseError
from contextwise.learning import LEARNERS, learner_named


def test_every_exported_name_has_a_home() -> None:
    assert sorted(contextwise.__all__) == sorted(_HOMES)


@pytest.mark.parametrize("name", contextwise.__all__)
def test_a_name_is_what_its_home_has(name: str) -> None:
    assert name in dir(contextwise)
    module, _, other = _HOMES[name].partition(":")
    home = import_module(f"contextwise.{module}")
    assert getattr(contextwise, name) is getattr(home, other or name, home)


@pytest.mark.parametrize("name", contextwise.__all__)
def test_no_name_is_hidden_by_a_module(name: str) -> None:
    """Importing ``contextwise.NAME`` would put the module in the place of the function."""
    assert find_spec(f"contextwise.{name}") is None or _HOMES[name] == name


@pytest.mark.parametrize(
    "room", ["analysis", "evaluation", "evidence", "formats", "learning", "testing"]
)
def test_no_name_of_a_room_is_hidden_by_a_module(room: str) -> None:
    """Importing evaluation/random_guesses.py keeps the function in its place."""
    package = import_module(f"contextwise.{room}")
    for info in iter_modules(package.__path__):
        import_module(f"contextwise.{room}.{info.name}")
    for name in package.__all__:
        assert not isinstance(getattr(package, name), ModuleType)


def test_no_module_has_the_name_of_what_it_holds() -> None:
    """So ``import contextwise.x.y as m`` gives a module, whatever was used before."""
    source = Path(contextwise.__file__).parent
    wrong = [
        str(path.relative_to(source))
        for path in source.rglob("*.py")
        if re.search(rf"^(?:def|class) {path.stem}\b", path.read_text("utf-8"), re.MULTILINE)
    ]
    assert wrong == []


def test_the_package_and_functions_that_use_it_can_be_sent_to_other_processes() -> None:
    """Functions of a notebook are pickled by value, with the modules they name."""
    cloudpickle = pytest.importorskip("cloudpickle")
    code = """
import sys, pickle
package, rooms, distance = pickle.load(sys.stdin.buffer)
print(package.__name__, *(room.__name__ for room in rooms), distance())
"""

    def distance() -> int:
        return int(contextwise.compare("lung", "lung-learned").distance)

    distance.__module__ = "__main__"
    rooms = [contextwise.evaluation, contextwise.learning]
    sent = cloudpickle.dumps((contextwise, rooms, distance))
    done = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True, check=True)
    shown = "contextwise contextwise.evaluation contextwise.learning"
    assert done.stdout.decode().split("\n")[0] == f"{shown} {distance()}"


def test_modules_are_loaded_on_first_use() -> None:
    """In a fresh process, so that no other test has loaded them."""
    code = """
import contextwise as cw
print(cw.comparison.matrix.distance_matrix.__name__, cw.report.text.__name__)
print(cw.models.domain.__name__, hasattr(cw.models, "no_such_module"))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "distance_matrix contextwise.report.text",
        "contextwise.models.domain False",
    ]


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'comparee'"):
        _ = contextwise.comparee  # type: ignore[attr-defined]


def test_help_is_for_users() -> None:
    assert contextwise.__doc__ is not None
    assert "_HOMES" not in contextwise.__doc__


def test_the_version_is_one() -> None:
    root = Path(__file__).parent.parent
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    (cited,) = re.findall(r"^version: (\S+)$", citation, re.MULTILINE)
    assert contextwise.__version__ == project["version"] == cited


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = (
        "import sys; before = {*sys.modules}; import contextwise; print(*{*sys.modules} - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "contextwise" in done.stdout.split()
    assert not {"numpy", "click", "typing"} & {*done.stdout.split()}


def test_the_oracle_needs_no_hypothesis() -> None:
    code = """
import sys
sys.modules["hypothesis"] = None
from contextwise import Structure
from contextwise.testing import brute_force
model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1"])
print(brute_force(model, model))
try:
    from contextwise.testing import domains
except Exception as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "Confusion(tp=2, fn=0, fp=0, tn=4)",
        "this needs the package 'hypothesis': pip install 'hypothesis>=6.100'",
    ]


def test_the_extra_all_has_every_extra_of_users() -> None:
    root = Path(__file__).parent.parent
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]

    def reached(name: str) -> set[str]:
        inner = [
            extra
            for text in extras[name]
            for match in re.findall(r"contextwise\[(.*?)\]", text)
            for extra in match.split(",")
        ]
        return {name, *(other for extra in inner for other in reached(extra))}

    for_developers = {"bench", "docs", "test", "dev"}
    other_packages = {
        "cstrees",
        "pgmpy",
        "pyagrum",
        "cluster",
    }  # only for those who use them
    assert {*extras} - reached("all") == for_developers | other_packages


def test_every_learner_is_in_the_import_rule_of_siblings() -> None:
    root = Path(__file__).parents[1]
    contracts = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "importlinter"
    ]["contracts"]
    (siblings,) = (set(c["modules"]) for c in contracts if c["name"].startswith("Learners are"))
    modules = {entry.module for entry in LEARNERS.values()}
    chooses_among_siblings = "best_of_two"
    assert siblings == {f"contextwise.learning.{m}" for m in modules - {chooses_among_siblings}}


@pytest.mark.parametrize("name", LEARNERS)
def test_no_parameter_of_a_learner_is_an_option_of_reading(name: str) -> None:
    assert not FLAGS.keys() & learner_named(name).defaults().keys()


def test_a_wrong_keyword_names_the_likely_one() -> None:
    wrong: dict[str, Any] = {"contxts": "canonical"}
    with pytest.raises(TypeError, match=r"got .* 'contxts'; did you mean 'contexts'"):
        contextwise.compare("lung", "lung-learned", **wrong)
    with pytest.raises(TypeError, match=r"got .* 'contxts'"):
        contextwise.explain("lung", "lung-learned", **wrong)


def test_one_model_instead_of_a_list_is_an_error() -> None:
    with pytest.raises(ContextwiseError, match=r"guesses must be a list .* pass \['lung'\]"):
        contextwise.compare_many("lung", "lung")
    with pytest.raises(ContextwiseError, match="models must be a list"):
        contextwise.distance_matrix("lung")


def test_groups_need_comparisons() -> None:
    wrong: Any = {"a": [contextwise.read("lung")]}
    with pytest.raises(TypeError, match="needs Comparison objects, got LogLinear"):
        contextwise.compare_groups(wrong)


def test_no_rows_to_learn_from_is_an_error() -> None:
    with pytest.raises(ContextwiseError, match="0 rows"):
        contextwise.learning.Trees().fit([])


RESULTS: dict[str, Callable[[], Any]] = {
    "Comparison": lambda: contextwise.compare("lung", "lung-learned"),
    "Comparisons": lambda: contextwise.compare_many("lung", ["lung-learned", "lung"]),
    "Explanation": lambda: contextwise.explain("lung", "lung-learned"),
    "DistanceMatrix": lambda: contextwise.distance_matrix(["lung", "lung-learned"]),
    "Chance": lambda: contextwise.chance("lung", "lung-learned", draws=19),
    "Check": lambda: contextwise.check("lung", contextwise.sample("lung", 200)),
    "Stability": lambda: contextwise.stability("titanic", "chow-liu", resamples=3),
    "Groups": lambda: contextwise.groups("titanic", "age", "mpl"),
    "GroupComparison": lambda: contextwise.compare_groups(
        {"one": contextwise.compare_many("lung", ["lung-learned", "lung"])}
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_has_a_line_a_view_and_a_frame(name: str) -> None:
    result = RESULTS[name]()
    assert type(result).__name__ == name
    assert "\n" not in repr(result)
    assert len(repr(result)) < 300
    assert "<" in result._repr_html_()
    assert len(result.to_frame()) > 0


def test_samples_are_frames() -> None:
    frame = contextwise.sample("lung", 5, seed=1)
    assert frame.columns.tolist() == ["smoker", "asbestos", "cancer"]
    array = contextwise.sample("lung", 5, seed=1, array=True)
    assert frame.to_numpy().tolist() == array.tolist()
