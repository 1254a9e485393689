"""Learners of other packages: pgmpy, pyAgrum and causal-learn, through `contextwise.convert`.

They learn graphs, which are the same in every context. A class here calls its package with data as
the package wants them and turns the graph into a structure; everything else (data of every kind,
scores, records, the command) is what all learners have. A method that is not offered here is one
line: whatever a function makes of the data, ::

    as_learner(lambda frame: from_pgmpy(ExpertInLoop().fit(frame).causal_graph_, domain=frame))
"""

from __future__ import annotations

from typing import Literal

from contextwise.convert import from_causal_learn, from_pgmpy, from_pyagrum
from contextwise.data.rows import Data
from contextwise.errors import ContextwiseError, require
from contextwise.learning.base import Learner
from contextwise.learning.chow_liu import check_prior
from contextwise.learning.independence_test import check_level
from contextwise.models.structure import LogLinear, Structure


class Pgmpy(Learner):
    """A learner of the package pgmpy: hill climbing, GES or PC.

    Parameters
    ----------
    method : "hill-climb", "ges" or "pc"
        A greedy search over DAGs, one over classes of equivalent DAGs, or tests.
    scoring : "bic-d", "aic-d", "bdeu", "k2" or "bds"
        What the searches raise.
    alpha : float
        The level of the tests of PC, which are chi-square tests.

    Examples
    --------
    >>> Pgmpy(method="pc", alpha=0.05)
    Pgmpy(method='pc', alpha=0.05)
    """

    name = "pgmpy"

    def __init__(
        self,
        *,
        method: Literal["hill-climb", "ges", "pc"] = "hill-climb",
        scoring: Literal["bic-d", "aic-d", "bdeu", "k2", "bds"] = "bic-d",
        alpha: float = 0.01,
    ) -> None:
        self.method = method
        self.scoring = scoring
        self.alpha = alpha

    def learn(self, data: Data) -> Structure:
        """The structure of the graph that pgmpy finds."""
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
        return from_pgmpy(search.causal_graph_, domain=data.domain)


class PyAgrum(Learner):
    """A learner of the package pyAgrum: greedy search, tabu search or MIIC.

    The model is the Bayesian network that pyAgrum learns, with its probabilities.

    Parameters
    ----------
    method : "greedy", "tabu" or "miic"
        Two searches over DAGs, or a method of conditional information.
    scoring : "BIC" or "AIC"
        What the searches raise.
    prior : float
        How many rows the prior adds to each cell of a table.

    Examples
    --------
    >>> PyAgrum(method="miic")
    PyAgrum(method='miic')
    """

    name = "pyagrum"

    def __init__(
        self,
        *,
        method: Literal["greedy", "tabu", "miic"] = "greedy",
        scoring: Literal["BIC", "AIC"] = "BIC",
        prior: float = 1.0,
    ) -> None:
        self.method = method
        self.scoring = scoring
        self.prior = prior

    def learn(self, data: Data) -> LogLinear:
        """The Bayesian network that pyAgrum learns."""
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


class CausalLearn(Learner):
    """A learner of the package causal-learn: PC or GES.

    Parameters
    ----------
    method : "pc" or "ges"
        Tests, or a greedy search over classes of equivalent DAGs with the BDeu score.
    alpha : float
        The level of the tests of PC, which are G² tests.

    Examples
    --------
    >>> CausalLearn(method="ges")
    CausalLearn(method='ges')
    """

    name = "causal-learn"

    def __init__(self, *, method: Literal["pc", "ges"] = "pc", alpha: float = 0.01) -> None:
        self.method = method
        self.alpha = alpha

    def learn(self, data: Data) -> Structure:
        """The structure of the graph that causal-learn finds."""
        names = list(data.domain.names)
        if self.method == "pc":
            module = require("causallearn.search.ConstraintBased.PC", "causal-learn")
            level = check_level(self.alpha, "alpha")
            found = module.pc(data.rows, level, "gsq", show_progress=False, node_names=names)
        elif self.method == "ges":
            module = require("causallearn.search.ScoreBased.GES", "causal-learn")
            found = module.ges(data.rows, "local_score_BDeu", node_names=names)
        else:
            raise _unknown_method(self.method, "pc, ges")
        return from_causal_learn(found, domain=data.domain)


def _unknown_method(method: object, known: str) -> ContextwiseError:
    return ContextwiseError(f"unknown method {method!r}; the methods are {known}")
