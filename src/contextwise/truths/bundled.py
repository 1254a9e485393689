"""Small models that come with the package, each with a variant that differs in a way one can tell.

====================  ============================================================================
``six``               the model of the paper's experiment: six binary variables, all of which
                      interact under X0=0; under X0=1 the others interact with X0 alone
``six-guess``         ``six`` with one interaction too many under X0=1 and one too few under X0=0
``six-graph``         the undirected graph of ``six``: all interact, whatever X0 is
``lung``              smoking, asbestos and cancer, with weights: asbestos harms smokers only
``lung-learned``      the same, learned as if asbestos harmed everybody
``survey``            a survey on work with variables of three states: children change the working
                      hours of women only
``survey-learned``    the same, learned without the part that gender plays
====================  ============================================================================

The differences can be counted by hand. In ``lung`` there are three pairs with two contexts each. A
non-smoker's cancer and asbestos are independent, and the learned model says they are not: one
context, FP. Among the ill, smoking and asbestos depend (an ill smoker is likelier to have had
asbestos), and the learned model has no feature for that: one context, FN.

>>> from contextwise.comparison.compare import compare
>>> compare(load("lung"), load("lung-learned"))
Comparison(distance=2, normalized=0.3333, tp=3, fn=1, fp=1, tn=1)

The files are in the native format beside this module.
"""

from __future__ import annotations

from contextwise.formats import EXAMPLES, read_example
from contextwise.models.structure import Model

__all__ = ["describe", "load", "names"]


def names() -> tuple[str, ...]:
    """The names of the examples; a variant follows the model it departs from.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> names()[:3]
    ('six', 'six-guess', 'six-graph')
    """
    return EXAMPLES


def load(name: str) -> Model:
    """One of the examples; wherever a model is asked for, its name will do.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    Structure or LogLinear

    Raises
    ------
    ContextwiseError
        If there is no example of that name.

    Examples
    --------
    >>> load("survey")
    Structure(4 variables, 2 features:
      gender=woman & children=yes & work=part time; education=university & work!=none)
    """
    return read_example(name)


def describe(name: str) -> str:
    """What an example is about, in a sentence or two.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    str

    Examples
    --------
    >>> describe("survey-learned")
    'The survey, learned without the part that gender plays: ...'
    """
    return str(load(name).info["description"])
