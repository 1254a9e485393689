"""What defines a run of the study of learners: everything, in one TOML file.

A learner stands in the file under a label of its own, with the name that the registry knows, fixed
settings, and the grid that its other settings are chosen from::

    [learners.trees]
    learner = "trees"
    [learners.trees.grid]
    penalty = [2.0, 5.0, 10.0, 20.0]

Files of models and of data stand there with fingerprints, so that a repetition with other contents
is refused and not mistaken for the same run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from contextwise.errors import ContextwiseError, ParseError
from contextwise.learning.registry import LEARNERS, learner_named
from contextwise.studies.configuration import check_rules, read_settings
from contextwise.support.files import read_bytes
from contextwise.truths.named import truth_named

TRUE_STRUCTURE = "true-structure"
"""A reference that is no learner: the structure of the truth itself, refitted to the rows."""
RULES = ("pseudo-likelihood", "bic")


@dataclass(frozen=True)
class Plan:
    """A learner of the study.

    Attributes
    ----------
    learner : its name in the registry
    settings : fixed parameters
    grid : the values that the other parameters are chosen from
    """

    learner: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, list[Any]] = field(default_factory=dict)


PLANS: dict[str, Plan] = {
    TRUE_STRUCTURE: Plan(TRUE_STRUCTURE),
    "independent": Plan("independent"),
    "chow-liu": Plan("chow-liu"),
    "trees": Plan("trees", grid={"penalty": [2.0, 5.0, 10.0, 20.0]}),
    "dtsl": Plan("trees", {"refit": "l1", "penalty": 5.0}, {"l1": [2.0, 5.0, 10.0]}),
    "acyclic-trees": Plan("acyclic-trees", grid={"penalty": [2.0, 5.0, 10.0, 20.0]}),
    "sparse-pairs": Plan("sparse-pairs", grid={"l1": [2.0, 5.0, 10.0, 20.0]}),
    "trees-and-pairs": Plan("trees-and-pairs", grid={"l1": [2.0, 5.0, 10.0]}),
    "gssl": Plan("gssl", grid={"l1": [2.0, 5.0, 10.0]}),
    "gsmn": Plan("gsmn", grid={"level": [0.01, 0.05]}),
    "cspc": Plan("cspc", grid={"level": [0.01, 0.05]}),
    "csgs": Plan("csgs", grid={"level": [0.01, 0.05]}),
    "mpl": Plan("mpl"),
    "contextual-mpl": Plan("contextual-mpl"),
    "pgmpy": Plan("pgmpy"),
    "pyagrum": Plan("pyagrum"),
    "causal-learn": Plan("causal-learn"),
}
"""What is known of each label. A learner that the registry does not have is left out."""
ADAPTERS = ("pgmpy", "pyagrum", "causal-learn")
"""Learners of other packages take part when they are asked for."""

TRUTHS = (
    *(f"paper#{k}" for k in range(10)),
    *("grown-8-1", "grown-9-1#1", "grown-10-2", "grown-10-3", "grown-12-2", "grown-16-2"),
    *("grown-9-2-three", "grown-10-2-nested", "grown-10-3-nested"),
    *("random-8", "random-8#1", "random-10", "random-10#1", "random-12", "random-16", "lung"),
)
"""The truths of the default run; all of them are sampled exactly."""
TRUTHS_OF_QUICK = ("paper", "paper#1", "grown-8-1", "grown-9-2-three", "random-8")


@dataclass(frozen=True)
class Configuration:
    """Everything that the results of a run depend on.

    Attributes
    ----------
    truths : names; see `contextwise.truths.named`
    learners : plans by label
    sizes : the numbers of rows that are learned from
    repeats : how many data sets per truth and size; all learners get the same ones
    test_rows : how many rows of each truth the likelihoods are measured on
    interaction : the smallest and the largest log-odds ratio of generated truths
    choose : "pseudo-likelihood" on a part of the rows, or "bic": how settings are chosen
    valid_share : that part
    l2 : of the refit of every structure
    oracle : whether the best setting of the grid by the metric is found as well
    unit_limit : seconds of processor time that a learner may take on one unit
    data : a folder of real data sets, or empty
    resamples : for the stability on real data; 0 leaves it out
    seed : of everything
    files : fingerprints of the files among the truths and the data
    """

    truths: tuple[str, ...] = TRUTHS
    learners: Mapping[str, Plan] = field(default_factory=dict)
    sizes: tuple[int, ...] = (50, 200, 1000, 10_000)
    repeats: int = 3
    test_rows: int = 2000
    interaction: tuple[float, float] = (1.0, 3.0)
    choose: str = "pseudo-likelihood"
    valid_share: float = 0.25
    l2: float = 0.1
    oracle: bool = True
    unit_limit: float = 60.0
    data: str = ""
    resamples: int = 6
    seed: int = 1
    files: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rules = {
            "truths": (self.truths or self.data, "are needed, or data"),
            "learners": (self.learners, "are needed"),
            "sizes": (self.sizes and min(self.sizes) >= 8, "are numbers of rows, from 8 on"),
            "repeats": (self.repeats >= 1, "is at least 1"),
            "test_rows": (self.test_rows >= 1, "is at least 1"),
            "interaction": (0 < self.interaction[0] <= self.interaction[1], "rises from above 0"),
            "choose": (self.choose in RULES, f"is {' or '.join(RULES)}"),
            "valid_share": (0 < self.valid_share < 1, "is between 0 and 1"),
            "l2": (self.l2 >= 0, "is 0 or more"),
            "unit_limit": (self.unit_limit > 0, "is above 0"),
            "resamples": (self.resamples == 0 or self.resamples >= 2, "is 0, or 2 and more"),
            "seed": (self.seed >= 0, "is 0 or more"),
        }
        check_rules(self, rules)

    def record(self) -> dict[str, Any]:
        """The configuration as plain values."""
        return asdict(self)

    def quick(self) -> Configuration:
        """A smaller run, for a first look; truths and sizes that were chosen stay."""
        return replace(
            self,
            truths=TRUTHS_OF_QUICK if self.truths == TRUTHS else self.truths,
            sizes=(100, 1000) if self.sizes == Configuration.sizes else self.sizes,
            repeats=min(self.repeats, 2),
            test_rows=min(self.test_rows, 1000),
            unit_limit=min(self.unit_limit, 10.0),
            resamples=min(self.resamples, 3),
        )


def plans_of(labels: Iterable[str] | None = None) -> dict[str, Plan]:
    """The plans of some labels; by default of every learner that comes with the package.

    Parameters
    ----------
    labels : names of learners, optional

    Returns
    -------
    dict from labels to plans

    Raises
    ------
    ContextwiseError
        If there is no learner of a name.

    Examples
    --------
    >>> plans_of(["chow-liu"])
    {'chow-liu': Plan(learner='chow-liu', settings={}, grid={})}
    """
    if labels is None:
        every = [*PLANS, *(name for name in LEARNERS if name not in PLANS)]
        labels = [label for label in every if label not in ADAPTERS and _is_there(label)]
    found = {label: PLANS.get(label, Plan(label)) for label in labels}
    for plan in found.values():
        if plan.learner != TRUE_STRUCTURE:
            learner_named(plan.learner)
    return found


def _is_there(label: str) -> bool:
    return PLANS.get(label, Plan(label)).learner in (*LEARNERS, TRUE_STRUCTURE)


def configuration_of(
    *,
    truths: Iterable[str] | None = None,
    learners: Iterable[str] | None = None,
    data: str | os.PathLike[str] | None = None,
    **settings: Any,
) -> Configuration:
    """The configuration of a run, with some settings changed.

    Parameters
    ----------
    truths : names, optional
        By default those of the study; none if only data are given.
    learners : labels, optional
        By default every learner that comes with the package.
    data : folder of real data sets, optional
    **settings
        Other fields of `Configuration` that differ from its defaults.

    Returns
    -------
    Configuration

    Examples
    --------
    >>> configuration_of(truths=["paper"], learners=["chow-liu"]).sizes
    (50, 200, 1000, 10000)
    """
    if truths is None:
        truths = TRUTHS if data is None else ()
    chosen = tuple(dict.fromkeys(truths))
    folder = "" if data is None else os.fspath(data)
    made = Configuration(
        truths=chosen,
        learners=plans_of(learners),
        data=folder,
        files=fingerprints(chosen, folder),
        **settings,
    )
    for name in chosen:
        truth_named(name, interaction=made.interaction, seed=made.seed)
    return made


def fingerprints(truths: Iterable[str], data: str) -> dict[str, str]:
    """What the files of a run contain, as short texts.

    Parameters
    ----------
    truths : names, some of them paths
    data : a folder, or empty

    Returns
    -------
    dict from paths to fingerprints
    """
    paths = [Path(name) for name in truths if Path(name).is_file()]
    if data:
        if not Path(data).is_dir():
            raise ContextwiseError(f"{data}: there is no such folder of data")
        paths += sorted(
            path for path in Path(data).iterdir() if ".data" in path.name or ".csv" in path.name
        )
    return {str(path): sha256(read_bytes(path)).hexdigest()[:16] for path in paths}


def from_toml(path: str | os.PathLike[str]) -> Configuration:
    """The configuration in a file; an unknown key, a wrong value or a changed file is an error."""
    given = read_settings(path, {one.name for one in fields(Configuration)})
    try:
        given["learners"] = {k: Plan(**own) for k, own in given.get("learners", {}).items()}
        made = Configuration(**given)
    except (TypeError, AttributeError, ValueError, IndexError, ContextwiseError) as error:
        raise ParseError(f"a setting is wrong: {error}", path=path) from None
    now = fingerprints(made.truths, made.data)
    changed = sorted({k for k in (*now, *made.files) if now.get(k) != made.files.get(k)})
    if changed:
        raise ParseError(f"{changed[0]} is not what it was in this run", path=path)
    return made
