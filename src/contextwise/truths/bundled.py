"""Small example models, each with a variant whose errors can be counted by hand.

====================  ============================================================================
``six``               the model of the paper's experiment: six binary variables, all of which
                      interact under X0=0; under X0=1 the others interact with X0 alone
``six-guess``         ``six`` with one interaction too many under X0=1 and one too few under X0=0
``six-graph``         the undirected graph of ``six``: all variables interact in every context
``lung``              smoking, asbestos and cancer, with weights: asbestos harms smokers only
``lung-learned``      the same, learned as if asbestos harmed everyone
``survey``            a survey on work with variables of three states: children change the working
                      hours of women only
``survey-learned``    the same, learned without the effect of gender
====================  ============================================================================

In ``lung`` there are three pairs with two contexts each. For non-smokers, cancer and asbestos are
independent, and in the learned model they are not: one FP. For people with cancer, smoking and
asbestos depend, and in the learned model they do not: one FN.

>>> from contextwise.comparison.two_models import compare
>>> compare(load("lung"), load("lung-learned"))
Comparison(distance=2, normalized=0.3333, tp=3, fn=1, fp=1, tn=1)

`truth` returns many more models to judge learners by, ours (`contextwise.truths.named`) and those
of others (`contextwise.truths.outside`), such as the networks of the bnlearn repository.
"""

from __future__ import annotations

from contextwise.formats import EXAMPLES, read_example
from contextwise.models.structure import Model
from contextwise.truths.named import truth

__all__ = ["describe", "load", "names", "truth"]


def names() -> tuple[str, ...]:
    """Return the names of the examples; a variant follows the model it differs from.

    Examples
    --------
    >>> names()[:3]
    ('six', 'six-guess', 'six-graph')
    """
    return EXAMPLES


def load(name: str) -> Model:
    """Return an example. Functions that take a model also take its name.

    Parameters
    ----------
    name : one of `names`

    Examples
    --------
    >>> load("survey")
    Structure(4 variables, 2 features:
      gender=woman & children=yes & work=part time; education=university & work!=none)
    """
    return read_example(name)


def describe(name: str) -> str:
    """Describe an example in a sentence or two.

    Parameters
    ----------
    name : one of `names`

    Examples
    --------
    >>> describe("survey-learned")
    'A guess at the model survey that ignores the role of gender: ...'
    """
    return load(name).origin.description
