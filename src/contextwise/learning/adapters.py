"""Learners of other packages, through `contextwise.convert`: pgmpy, pyAgrum, cstrees.

All but cstrees learn graphs, which are the same in every context. Each class passes the data in the
form its package expects and turns the result into a structure. They do not look at our deadline:
with a time limit they run in a process of their own, which is ended in time. Other methods take one
line::

    as_learner(lambda frame: from_pgmpy(ExpertInLoop().fit(frame).causal_graph_, domain=frame))
"""

from __future__ import annotations

import logging
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from typing import Any, Literal

import numpy as np

from contextwise.convert import from_cstree, from_pgmpy, from_pyagrum
from contextwise.data.rows import Data
from contextwise.errors import ContextwiseError, OpenResult, require
from contextwise.evidence.independence_test import check_level
from contextwise.learning.base import Learner, Run, check_prior
from contextwise.models.structure import LogLinear, Model, Structure, structure_of
from contextwise.support.effort import Progress


class OtherPackage(Learner):
    """A learner that does not look at a deadline."""

    def _within(
        self,
        time_limit: float | None,
        show_progress: bool | Progress,
        learn: Callable[[Run], Model],
    ) -> Model:
        if time_limit is None:
            return super()._within(None, show_progress, learn)
        self.finished_ = True
        return call_in_process(learn, time_limit, self.name)


def call_in_process(learn: Callable[[Run], Model], seconds: float, name: str) -> Model:
    """Call a function in another process, which ends with this one or when the time is up."""
    command = "from contextwise.learning.adapters import answer; answer()"
    process = subprocess.Popen(
        [sys.executable, "-c", command, str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        start_new_session=True,  # Ctrl-C is for this process, which ends the other
    )
    with process:
        try:
            result, _ = process.communicate(pickle.dumps(learn), timeout=seconds)
        except subprocess.TimeoutExpired:
            text = f"{name} found no structure within the time limit; allow more time"
            raise OpenResult(text) from None
        finally:
            process.kill()
    if not result:
        raise ContextwiseError(f"{name} ended without a result (exit code {process.returncode})")
    learned: Any = pickle.loads(result)
    if isinstance(learned, Exception):
        raise learned
    model: Model = learned
    return model


def answer() -> None:
    """Learn in the process that `call_in_process` starts; packages may print on standard output."""
    threading.Thread(target=_end_with, args=(int(sys.argv[1]),), daemon=True).start()
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        try:
            result: Any = pickle.load(sys.stdin.buffer)(Run())
        except Exception as problem:
            result = problem
        pickle.dump(result, out)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


@dataclass(eq=False, repr=False, kw_only=True)
class Pgmpy(OtherPackage):
    """A learner of the package pgmpy: hill climbing, GES or PC.

    Parameters
    ----------
    method : "hill-climb", "ges" or "pc"
        Greedy search over DAGs or over classes of equivalent DAGs, or tests.
    scoring : "bic-d", "aic-d", "bdeu", "k2" or "bds"
        Score of the searches.
    alpha : float
        Level of the chi-square tests of PC.

    Examples
    --------
    >>> Pgmpy(method="pc", alpha=0.05)
    Pgmpy(method='pc', alpha=0.05)
    """

    method: Literal["hill-climb", "ges", "pc"] = "hill-climb"
    scoring: Literal["bic-d", "aic-d", "bdeu", "k2", "bds"] = "bic-d"
    alpha: float = 0.01

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
                significance_level=check_level(self.alpha, "alpha"),
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
        return from_pyagrum(learner.learnBN()).aligned_to(data.domain)


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
