"""Learners of other packages: pgmpy, pyAgrum and causal-learn, through `contextwise.convert`.

They learn graphs, which are the same in every context. Each class passes the data in the form its
package expects and turns the graph into a structure. Other methods take one line::

    as_learner(lambda frame: from_pgmpy(ExpertInLoop().fit(frame).causal_graph_, domain=frame))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from contextwise.convert import from_causal_learn, from_pgmpy, from_pyagrum
from contextwise.data.rows import Data
from contextwise.errors import ContextwiseError, require
from contextwise.learning.base import Learner, check_prior
from contextwise.learning.pearson_test import check_level
from contextwise.learning.run import Run
from contextwise.models.structure import LogLinear, Structure


@dataclass(eq=False, repr=False, kw_only=True)
class Pgmpy(Learner):
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

    sees_contexts = False

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
        return from_pgmpy(search.causal_graph_, domain=data.domain)


@dataclass(eq=False, repr=False, kw_only=True)
class PyAgrum(Learner):
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

    sees_contexts = False

    method: Literal["greedy", "tabu", "miic"] = "greedy"
    scoring: Literal["BIC", "AIC"] = "BIC"
    prior: float = 1.0

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
class CausalLearn(Learner):
    """A learner of the package causal-learn: PC or GES.

    Parameters
    ----------
    method : "pc" or "ges"
        Tests, or greedy search over classes of equivalent DAGs with the BDeu score.
    alpha : float
        Level of the G² tests of PC.

    Examples
    --------
    >>> CausalLearn(method="ges")
    CausalLearn(method='ges')
    """

    sees_contexts = False

    method: Literal["pc", "ges"] = "pc"
    alpha: float = 0.01

    def learn(self, data: Data, run: Run) -> Structure:
        """Return the structure of the graph that causal-learn finds."""
        names = list(data.domain.names)
        if self.method == "pc":
            module = require("causallearn.search.ConstraintBased.PC", "causal-learn")
            level = check_level(self.alpha, "alpha")
            graph = module.pc(
                data.expanded.rows, level, "gsq", show_progress=False, node_names=names
            )
        elif self.method == "ges":
            module = require("causallearn.search.ScoreBased.GES", "causal-learn")
            graph = module.ges(data.expanded.rows, "local_score_BDeu", node_names=names)
        else:
            raise _unknown_method(self.method, "pc, ges")
        return from_causal_learn(graph, domain=data.domain)


def _unknown_method(method: object, known: str) -> ContextwiseError:
    return ContextwiseError(f"unknown method {method!r}; choose from {known}")
