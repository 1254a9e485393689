"""Learners of other packages, through `contextwise.convert`: pgmpy, pyAgrum, cstrees.

All but cstrees learn graphs, which are the same in every context. Each class passes the data in the
form its package expects and turns the result into a structure. They run in a process of their own:
it can be ended in time, and its fixed hash seed makes the result repeatable. Other methods take one
line::

    as_learner(lambda frame: from_pgmpy(ExpertInLoop().fit(frame).causal_graph_, domain=frame))
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import dataclass
from functools import partial
from io import StringIO
from typing import ClassVar, Literal

import numpy as np

from contextwise.convert import from_cstree, from_pgmpy, from_pyagrum
from contextwise.data.rows import Data
from contextwise.errors import ContextwiseError, OpenResult, require
from contextwise.evidence.independence_test import check_level
from contextwise.learning.base import Learner, Run, check_prior
from contextwise.models.structure import LogLinear, Model, Structure, structure_of
from contextwise.support.effort import Progress
from contextwise.support.other_process import TimeIsUp, call_elsewhere, is_repeatable


class OtherPackage(Learner):
    """A learner that does not look at a deadline and may depend on the hash seed of its process."""

    package: ClassVar[str] = ""
    """The module to import before the time limit starts."""

    def _within(
        self,
        time_limit: float | None,
        show_progress: bool | Progress,
        learn: Callable[[Run], Model],
    ) -> Model:
        if time_limit is None and is_repeatable():
            return super()._within(None, show_progress, learn)
        self.finished_ = True
        try:
            return call_elsewhere(partial(learn, Run()), seconds=time_limit, package=self.package)
        except TimeIsUp:
            text = f"{self.name} found no structure within the time limit; allow more time"
            raise OpenResult(text) from None


@dataclass(eq=False, repr=False, kw_only=True)
class Pgmpy(OtherPackage):
    """A learner of the package pgmpy: hill climbing, GES or PC.

    Parameters
    ----------
    method : "hill-climb", "ges" or "pc"
        Greedy search over DAGs or over classes of equivalent DAGs, or tests.
    scoring : "bic-d", "aic-d", "bdeu", "k2" or "bds"
        Score of the searches.
    level : float
        Level of the chi-square tests of PC.

    Examples
    --------
    >>> Pgmpy(method="pc", level=0.05)
    Pgmpy(method='pc', level=0.05)
    """

    package = "pgmpy.causal_discovery"
    method: Literal["hill-climb", "ges", "pc"] = "hill-climb"
    scoring: Literal["bic-d", "aic-d", "bdeu", "k2", "bds"] = "bic-d"
    level: float = 0.01

    def learn(self, data: Data, run: Run) -> Structure:
        """Return the structure of the graph that pgmpy finds."""
        discovery = require("pgmpy.causal_discovery", "pgmpy")
        if self.method == "hill-climb":
            search = discovery.HillClimbSearch(scoring_method=self.scoring, show_progress=False)
        elif self.method == "ges":
            search = discovery.GES(scoring_method=self.scoring)
        elif self.method == "pc":
            search = discovery.PC(
                variant="stable",
                ci_test="chi_square",
                significance_level=check_level(self.level, "level"),
                n_jobs=1,
                show_progress=False,
            )
        else:
            raise _unknown_method(self.method, "hill-climb, ges, pc")
        search.fit(data.frame())
        return structure_of(from_pgmpy(search.causal_graph_, domain=data.domain))


@dataclass(eq=False, repr=False, kw_only=True)
class PyAgrum(OtherPackage):
    """A learner of the package pyAgrum: greedy search, tabu search or MIIC.

    The model is the Bayesian network that pyAgrum learns, with its probabilities.

    Parameters
    ----------
    method : "greedy", "tabu" or "miic"
        Two searches over DAGs, or an information-theoretic method.
    scoring : "BIC" or "AIC"
        Score of the searches.
    prior : float
        Rows that the prior adds to each cell of a table.

    Examples
    --------
    >>> PyAgrum(method="miic")
    PyAgrum(method='miic')
    """

    package = "pyagrum"
    method: Literal["greedy", "tabu", "miic"] = "greedy"
    scoring: Literal["BIC", "AIC"] = "BIC"
    prior: float = 1.0
    makes_network = True

    def learn(self, data: Data, run: Run) -> LogLinear:
        """Return the Bayesian network that pyAgrum learns."""
        pyagrum = require("pyagrum", "pyagrum")
        template = pyagrum.BayesNet()
        for name, states in zip(data.domain.names, data.domain.states, strict=True):
            template.add(pyagrum.LabelizedVariable(name, name, list(states)))
        learner = pyagrum.BNLearner(data.frame().astype(str), template)
        searches = {
            "greedy": learner.useGreedyHillClimbing,
            "tabu": learner.useLocalSearchWithTabuList,
            "miic": learner.useMIIC,
        }
        if self.method not in searches:
            raise _unknown_method(self.method, ", ".join(searches))
        if self.method != "miic":
            getattr(learner, f"useScore{self.scoring}")()
        learner.useSmoothingPrior(check_prior(self.prior))
        searches[self.method]()
        learned: LogLinear = from_pyagrum(learner.learnBN())
        return learned.aligned_to(data.domain)


@dataclass(eq=False, repr=False, kw_only=True)
class CStrees(OtherPackage):
    """The learner of the package cstrees: the best order, then the best staging of each variable.

    The stages are contexts of few variables (Duarte and Solus; Rios, Markham and Solus). It takes
    seconds for 8 variables and minutes for 10.

    Parameters
    ----------
    max_cvars : int
        The most variables of a context.
    prior : float
        Equivalent sample size of the Dirichlet prior, in rows.

    Examples
    --------
    >>> CStrees(max_cvars=1)
    CStrees(max_cvars=1)
    """

    package = "cstrees.learning"
    max_cvars: int = 2
    prior: float = 1.0

    def learn(self, data: Data, run: Run) -> Structure:
        """Return the structure of the tree that cstrees finds."""
        table = np.vstack([data.domain.cardinalities, data.expanded.rows])
        frame = require("pandas", "frames").DataFrame(table, columns=list(data.domain.names))
        with redirect_stderr(StringIO()):  # progress bars
            search = require("cstrees.learning", "cstrees")
            logging.getLogger().handlers.clear()  # that the import of cstrees adds
            tree = search.find_optimal_cstree(
                frame, max_cvars=self.max_cvars, alpha_tot=check_prior(self.prior), method="BDeu"
            )
        return from_cstree(tree, data.domain)


def _unknown_method(method: object, known: str) -> ContextwiseError:
    return ContextwiseError(f"unknown method {method!r}; choose from {known}")
