"""What a learner is: an estimator in scikit-learn's manner that gives a structure.

A learner stores its parameters as they were given, learns in ``fit``, and keeps what it learned in
attributes that end in ``_``::

    learner = Trees(penalty=10).fit("train.csv")
    learner.structure_                 # which variables interact, and where
    learner.model_                     # the same with weights
    learner.score("test.csv")          # the mean pseudo-log-likelihood of a row

scikit-learn is not needed, and its ``clone``, grid search and pipelines work where it is installed.
(Give a grid search the ``domain``: a fold may lack states that others have.)

To add a learner: a subclass with its parameters in ``__init__`` (by keyword, typed, with defaults)
and its work in `Learner.learn`, and a line in `contextwise.learning.registry`. The command makes
its options from that, and its help from the docstring: what stands before the parameters, and what
is said of each. Whatever is called with data and returns a model is a learner, too: `as_learner`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import version as version_of
from typing import Any, ClassVar, Self

from contextwise.data.rows import Data, DataLike, DomainLike, as_data, by_position
from contextwise.distributions.fitting import fit as fit_weights
from contextwise.distributions.likelihood import mean_pseudo_log_likelihood
from contextwise.errors import ContextwiseError, DomainError
from contextwise.formats import ModelLike, as_structure
from contextwise.models.domain import Domain
from contextwise.models.structure import LogLinear, Model, Structure, structure_of
from contextwise.support.progress import Progress

MANNERS = frozenset({"n_jobs", "show_progress"})
"""Parameters that say how to work and do not change what comes out."""


class NotFittedError(ContextwiseError, AttributeError):
    """Something learned was asked of a learner that has not learned yet."""


class Learner:
    """The base of all learners; a subclass has its parameters and `learn`.

    Attributes
    ----------
    structure_ : Structure
        What was learned. Its ``info`` says by which learner, with which parameters, from which data
        (a fingerprint), and by which version.
    model_ : LogLinear
        The structure with weights. A learner of structures alone fits them when they are first
        asked for.
    domain_ : Domain

    Examples
    --------
    A learner that finds nothing:

    >>> class Nothing(Learner):
    ...     def learn(self, data):
    ...         return Structure(data.domain)
    >>> Nothing().fit([[0, 1], [1, 0]]).structure_
    Structure(2 variables, 0 features)
    """

    name: ClassVar[str] = ""
    """What the command calls it."""

    structure_: Structure
    domain_: Domain

    def learn(self, data: Data) -> Model:
        """Learn from rows of codes: what a subclass writes.

        Returns
        -------
        Structure, or LogLinear if the learner has weights of its own
        """
        raise NotImplementedError

    def fit(self, data: DataLike, y: Any = None, domain: DomainLike | None = None) -> Self:
        """Learn from data.

        Parameters
        ----------
        data : frame, array, list of rows, path, or Data
            See `contextwise.data.rows`.
        y : ignored
            It is there because scikit-learn passes it.
        domain : Domain, or a mapping that makes one, optional
            The variables and their states; without it they are read off the data.

        Returns
        -------
        the learner itself
        """
        own = as_data(data, domain)
        return self._keep(self.learn(own), own)

    def _keep(self, learned: Model, data: Data) -> Self:
        structure = structure_of(learned)
        features = structure.features
        self.domain_ = structure.domain
        self.structure_ = Structure(self.domain_, features, info=self._info(data))
        if isinstance(learned, LogLinear):
            self._model: LogLinear | None = LogLinear(self.structure_, learned.weights)
            self._data: Data | None = None
        else:
            self._model, self._data = None, data
        return self

    def _info(self, data: Data) -> dict[str, Any]:
        """Where the result comes from: ``description`` is the sentence that files keep."""
        parameters = {k: _plain(v) for k, v in self.get_params().items() if k not in MANNERS}
        version = _version()
        given = ", ".join(f"{key}={value}" for key, value in parameters.items())
        name = self.name or type(self).__name__
        return {
            "learner": name,
            "parameters": parameters,
            "rows": len(data),
            "fingerprint": data.fingerprint,
            "version": version,
            "description": f"learned by {name}({given}) of contextwise {version} from "
            f"{len(data)} rows (fingerprint {data.fingerprint})",
        }

    @property
    def model_(self) -> LogLinear:
        """The structure with weights."""
        if self._learned("_model") is None:
            data = self._learned("_data")
            self._model = self.fit_weights(self.structure_, data)
            self._data = None
        assert self._model is not None
        return self._model

    def fit_weights(self, structure: Structure, data: Data) -> LogLinear:
        """Weights for a learned structure, by pseudo-likelihood with the default penalty."""
        return LogLinear(structure, fit_weights(by_position(structure), data.rows).model.weights)

    def score(self, rows: DataLike, y: Any = None) -> float:
        """The mean pseudo-log-likelihood of a row under the learned network, in nats.

        Parameters
        ----------
        rows : frame, array, list of rows, path, or Data
        y : ignored
        """
        found = as_data(rows, self._learned("domain_"))
        return mean_pseudo_log_likelihood(by_position(self.model_), found.rows)

    def _rows_to_score(self, rows: DataLike) -> Data:
        """Rows over the domain that was learned from, of which there must be some."""
        data = as_data(rows, self._learned("domain_"))
        if not len(data):
            raise DomainError("there are no rows to score")
        return data

    def _learned(self, attribute: str) -> Any:
        try:
            return vars(self)[attribute]
        except KeyError:
            raise NotFittedError(f"this {type(self).__name__} has not learned; call fit") from None

    # -- what scikit-learn asks for ----------------------------------------------------------------

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """The parameters and what they are if nobody says."""
        if cls.__init__ is object.__init__:
            return {}
        own = list(inspect.signature(cls.__init__).parameters.values())[1:]
        return {parameter.name: parameter.default for parameter in own}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters as they were given."""
        return {name: getattr(self, name) for name in self.defaults()}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters; a name that is no parameter is an error."""
        known = self.defaults()
        for name, value in parameters.items():
            if name not in known:
                names = ", ".join(known) or "none"
                raise ContextwiseError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {names}"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = self.defaults()
        given = [f"{k}={v!r}" for k, v in self.get_params().items() if v != defaults[k]]
        return f"{type(self).__name__}({', '.join(given)})"

    def __sklearn_tags__(self) -> Any:
        utils = import_module("sklearn.utils")  # only scikit-learn asks
        return utils.Tags(
            estimator_type=None,
            target_tags=utils.TargetTags(required=False),
            input_tags=utils.InputTags(string=True, categorical=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "structure_")


@cache
def _version() -> str:
    return version_of("contextwise")


def _plain(value: Any) -> Any:
    """A parameter for a record: itself if JSON can say it, its text otherwise."""
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


class FromFunction(Learner):
    """A function from data to a model, as a learner.

    Parameters
    ----------
    function : callable
        It gets the data just as ``fit`` was given them, and returns a Structure or a LogLinear.

    Examples
    --------
    >>> from contextwise import Structure
    >>> always = FromFunction(lambda rows: Structure({"A": 2, "B": 2}, ["A=1 & B=1"]))
    >>> always.fit([[0, 1], [1, 1]], domain={"A": 2, "B": 2}).structure_
    Structure(2 variables, 1 feature: A=1 & B=1)
    """

    def __init__(self, function: Callable[[Any], Model]) -> None:
        self.function = function

    def fit(self, data: DataLike, y: Any = None, domain: DomainLike | None = None) -> Self:
        """Call the function; what it returns is laid over the domain, where one is given.

        Parameters
        ----------
        data : whatever the function takes
            And what `as_data` takes, because the result says which rows it comes from.
        y : ignored
        domain : Domain, or a mapping that makes one, optional

        Returns
        -------
        the learner itself
        """
        learned = self.function(data)
        structure_of(learned)  # what is no model is an error that says so
        own = as_data(data, learned.domain if domain is None else domain)
        return self._keep(learned.aligned_to(own.domain), own)


def as_learner(thing: Any) -> Any:
    """A learner, from one, from its class, from its name, or from any function of data.

    Parameters
    ----------
    thing : Learner, class, name, or callable
        An object with ``fit`` is taken as it is.

    Returns
    -------
    Learner

    Examples
    --------
    >>> as_learner("chow-liu")
    ChowLiu()
    """
    from contextwise.learning.registry import learner_named

    if isinstance(thing, str):
        return learner_named(thing)()
    if isinstance(thing, type) and hasattr(thing, "fit"):
        return thing()
    if hasattr(thing, "fit"):
        return thing
    if callable(thing):
        return FromFunction(thing)
    raise ContextwiseError(
        f"{thing!r} is no learner; give one, its name, or a function from data to a model"
    )


def fresh(learner: Any, parameters: Mapping[str, Any] | None = None) -> Any:
    """A learner with the same parameters, some of them changed, that has not learned."""
    own = learner.get_params(deep=False) | dict(parameters or {})
    return type(learner)(**own)


def refit_l1(
    model: ModelLike,
    data: Data,
    l1: float,
    *,
    l2: float = 0.0,
    show_progress: bool | Progress = False,
) -> LogLinear:
    """The model with new weights, by L1-penalised pseudo-likelihood, without those of weight 0.

    Parameters
    ----------
    model : Structure, or LogLinear whose weights are ignored
    data : Data
        Over the domain of the model.
    l1, l2 : float
        The penalties l1 · Σ|w| and l2/2 · Σw² on the total over the rows.
    show_progress : bool or function
        A line on standard error, or a function of (iterations, at most).

    Examples
    --------
    >>> from contextwise import Structure
    >>> from contextwise.data.rows import as_data
    >>> rows = as_data([[0, 0], [1, 1]] * 30)
    >>> model = Structure(rows.domain, ["v0=1 & v1=1", "v0=1"])
    >>> len(refit_l1(model, rows, 1.0))
    2
    """
    structure = as_structure(model)
    found = fit_weights(
        by_position(structure), data.rows, l1=l1, l2=l2, show_progress=show_progress
    )
    return LogLinear(structure, found.weights).without_zero_weights()
