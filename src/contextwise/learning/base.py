"""Define learners: scikit-learn estimators whose result is a structure.

For example::

    learner = Trees(penalty=10).fit("train.csv")
    learner.structure_                 # which variables interact, and in which contexts
    learner.model_                     # the same with weights
    learner.score("test.csv")          # mean pseudo-log-likelihood per row

scikit-learn is optional; its ``clone``, grid search and pipelines work with learners. (Pass
``domain`` to a grid search: a fold may lack some states.)

To add a learner, subclass `Learner` as a dataclass of its parameters, implement `Learner.learn`,
and add a line to `contextwise.learning.LEARNERS`. The command takes its parameters
and its help from the docstring. Any function from data to a model also works: see `as_learner`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from importlib.metadata import version
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from contextwise.data.options import FLAGS, row_options
from contextwise.data.rows import Data, DataLike, DomainLike, as_data, by_position, following
from contextwise.distributions.fitting import fit as fit_weights
from contextwise.distributions.likelihood import mean_pseudo_log_likelihood
from contextwise.errors import ContextwiseError, DomainError, OpenResult
from contextwise.evidence.claim_tests import judge_claims
from contextwise.learning import DEFAULT_LEARNER, LEARNERS
from contextwise.models.domain import Domain
from contextwise.models.evidence import Evidence
from contextwise.models.origin import LearnedBy, Origin
from contextwise.models.structure import LogLinear, Model, Structure, structure_of
from contextwise.support.effort import (
    NEVER,
    Deadline,
    Progress,
    check_jobs,
    limited_reading,
    progress_of,
)
from contextwise.support.formatting import plural
from contextwise.support.machine import cores

T = TypeVar("T")
L = TypeVar("L", bound="Learner")
version_of = cache(version)

SECONDS_FOR_TESTS = 1.0
"""Seconds after the time limit in which claims are tested."""


@dataclass(eq=False)
class Run:
    """The time limit and the progress of one fit; `Learner.learn` gets it with the data.

    Attributes
    ----------
    deadline : Deadline
    show_progress : bool, or a function of (done, total)
    finished : bool
        False once the learner saw that its time is up.
    best : function, optional
        Returns the best model so far, if the learner has one; Ctrl-C keeps it.

    Examples
    --------
    >>> run = Run()
    >>> [number for number in run.steps([1, 2], "counting") if not run.is_late()]
    [1, 2]
    """

    deadline: Deadline = NEVER
    show_progress: bool | Progress = False
    finished: bool = True
    best: Callable[[], Model] | None = None

    def is_late(self) -> bool:
        """Return whether the time limit has passed, and if so mark the run as unfinished."""
        self.finished = self.finished and not self.deadline.passed
        return not self.finished

    def steps(self, items: Sequence[T], label: str) -> Iterator[T]:
        """Yield items until the time limit; report progress after each."""
        with progress_of(self.show_progress, label) as progress:
            for done, item in enumerate(items):
                if self.is_late():
                    return
                yield item
                if progress:
                    progress(done + 1, len(items))

    def refit_l1(self, model: Model, data: Data, l1: float, l2: float) -> Model:
        """Fit weights by penalised pseudo-likelihood and drop features of weight 0.

        The penalties l1 · Σ|w| and l2/2 · Σw² are on the total over the rows. If the time limit
        passes, return the structure without weights, with all its features.

        >>> from contextwise.data.rows import as_data
        >>> from contextwise import Structure
        >>> rows = as_data([[0, 0], [1, 1]] * 30)
        >>> model = Structure(rows.domain, ["v0=1 & v1=1", "v0=1"])
        >>> len(Run().refit_l1(model, rows, 1.0, 0.0))
        2
        """
        structure = structure_of(model)
        try:
            fitted = fit_weights(
                by_position(structure),
                data.coded,
                l1=l1,
                l2=l2,
                deadline=self.deadline,
                show_progress=self.show_progress,
            )
        except self.deadline.out_of_time:
            self.is_late()  # marks the result as unfinished
            return structure
        return LogLinear(structure, fitted.weights).without_zero_weights()


class NotFittedError(ContextwiseError, AttributeError):
    """A result was requested from a learner before `fit`."""


class Learner:
    """Base class of all learners; a subclass defines its parameters and `learn`.

    Attributes
    ----------
    structure_ : Structure
        The learned structure. Its ``origin`` records the learner, its parameters, a fingerprint of
        the data and the version, and whether the learner was stopped early.
    model_ : LogLinear
        The structure with weights. A learner without weights fits them on first access.
    domain_ : Domain
    evidence_ : Evidence
        What the rows say about each claim of the structure; tested on first access.
    n_features_in_, feature_names_in_ : int, array of str
        The number of variables and their names, as scikit-learn calls them.
    finished_ : bool
        False if the time limit or Ctrl-C stopped the learner; the result is then the best so far.

    Examples
    --------
    A learner that finds no interactions:

    >>> class Nothing(Learner):
    ...     def learn(self, data, run):
    ...         return Structure(data.domain)
    >>> Nothing().fit([[0, 1], [1, 0]]).structure_
    Structure(2 variables, 0 features)
    """

    structure_: Structure
    domain_: Domain
    finished_: bool = True
    decides_by_test: ClassVar[bool] = False
    """True if the learner decides by the test of `contextwise.evidence.independence_test`."""
    makes_network: ClassVar[bool] = False
    """True if the weights of `model_` are the tables of a Bayesian network, for ``.bif`` files."""

    @property
    def name(self) -> str:
        """The name in `LEARNERS`, or that of the class."""
        home, kind = type(self).__module__, type(self).__name__
        known = LEARNERS.items() if home.startswith("contextwise.") else ()
        return next((name for name, entry in known if entry.class_name == kind), kind)

    def learn(self, data: Data, run: Run) -> Model:
        """Learn from rows of codes; subclasses implement this.

        Parameters
        ----------
        data : Data
        run : Run
            The time limit, which ``run.is_late()`` checks, and the progress.

        Returns
        -------
        Structure, or LogLinear if the learner has weights of its own
        """
        raise NotImplementedError

    def fit(
        self,
        data: DataLike,
        y: Any = None,
        domain: DomainLike | None = None,
        time_limit: float | None = None,
        show_progress: bool | Progress = False,
    ) -> Self:
        """Learn from data.

        Parameters
        ----------
        data : frame, array, list of rows, path, or Data
            See `contextwise.data.rows`.
        y : ignored
            Present because scikit-learn passes it.
        domain : Domain or mapping, optional
            The variables and their states; inferred from the data by default.
        time_limit : float, optional
            Stop after this many seconds with the best structure so far. The fit of weights, on the
            first use of `model_`, is not included.
        show_progress : bool or function
            Show a progress bar on standard error, or call a function of (done, total) for each
            phase.

        Returns
        -------
        self

        Raises
        ------
        OpenResult
            If there is no structure within the time limit. Learners of other packages keep none
            until they end; with a limit they run in a process of their own, which is then ended.
        KeyboardInterrupt
            On Ctrl-C. The best structure so far, if there is one, is then in `structure_`.
        """
        _check_array(data)
        deadline = Deadline.after(time_limit)
        with limited_reading(deadline):
            rows = as_data(data, domain)
        time_limit = deadline.left()
        if not len(rows.rows) and domain is None:
            raise DomainError("cannot learn from 0 rows; pass at least one row, or a domain")
        try:
            learned = self._within(time_limit, show_progress, partial(self.learn, rows))
        except KeyboardInterrupt:
            if so_far := vars(self).pop("_so_far", None):
                self._keep(so_far, rows)
            raise
        return self._keep(learned, rows)

    def _within(
        self,
        time_limit: float | None,
        show_progress: bool | Progress,
        learn: Callable[[Run], Model],
    ) -> Model:
        """Call a function with a new run, and note whether the run finished."""
        run = Run(Deadline.after(time_limit), show_progress)
        try:
            return learn(run)
        except run.deadline.out_of_time:
            raise OpenResult(
                f"{self.name} found no structure within the time limit; allow more time"
            ) from None
        except KeyboardInterrupt:
            run.finished = False
            if run.best:
                self._so_far = run.best()
            raise
        finally:
            self.finished_ = run.finished

    def _keep(self, learned: Model, data: Data) -> Self:
        structure = structure_of(learned)
        self.domain_ = structure.domain
        self.n_features_in_ = len(structure.domain)
        self.feature_names_in_ = np.array(structure.domain.names, dtype=object)
        origin = self._origin(data, structure.origin.directed)
        self.structure_ = Structure(
            self.domain_, structure.features, origin=origin, directions=structure.directions
        )
        self._model: LogLinear | None = None
        self._evidence: Evidence | None = None
        self._data = data  # for fitting weights and testing claims later
        if isinstance(learned, LogLinear):
            self._model = LogLinear(self.structure_, learned.weights)
        return self

    def _origin(self, data: Data, directed: bool) -> Origin:
        learned = LearnedBy(
            **learner_configuration(self),
            rows=len(data),
            fingerprint=data.fingerprint,
            version=version_of("contextwise"),
            finished=self.finished_,
            by_test=self.decides_by_test,
        )
        return Origin(learned=learned, reading=dict(data.decisions), directed=directed)

    @property
    def model_(self) -> LogLinear:
        """The structure with weights; by default fitted by pseudo-likelihood."""
        return self.fit_weights()

    def fit_weights(self, deadline: Deadline = NEVER) -> LogLinear:
        """Return `model_`; raise `OutOfTime` if its weights are not fitted by the deadline."""
        if self._learned("_model") is None:
            rows = self._learned("_data").coded
            fitted = fit_weights(by_position(self.structure_), rows, deadline=deadline)
            self._model = LogLinear(self.structure_, fitted.model.weights)
        assert self._model is not None
        return self._model

    @property
    def evidence_(self) -> Evidence:
        """What the rows say about each claim of the structure."""
        if self._learned("_evidence") is None:
            self.judge()
        assert self._evidence is not None
        return self._evidence

    def settled(self, data: Data) -> Learner:
        """Return the learner to use for parts of these rows: this one, or the one it chose."""
        return self

    def judge(self, deadline: Deadline | None = None) -> Self:
        """Test the claims on the rows, as far as time allows, and keep the evidence with them."""
        structure, data = self._learned("structure_"), self._learned("_data")
        self._evidence = judge_claims(
            structure,
            data,
            seen_by_learner=True,
            used_by_learner=self.decides_by_test,
            deadline=deadline,
        )
        self.structure_ = structure.with_evidence(self._evidence)
        if self._model is not None:
            self._model = LogLinear(self.structure_, self._model.weights)
        return self

    def score(self, rows: DataLike, y: Any = None) -> float:
        """Return the mean pseudo-log-likelihood per row under `model_`, in nats.

        Parameters
        ----------
        rows : frame, array, list of rows, path, or Data
        y : ignored
        """
        data = self._rows_to_score(rows)
        return mean_pseudo_log_likelihood(by_position(self.model_), data.coded)

    def _rows_to_score(self, rows: DataLike) -> Data:
        domain = self._learned("domain_")
        if isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.shape[1] != len(domain):
            raise DomainError(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting "
                f"{len(domain)} features as input"
            )
        data = as_data(rows, domain, following(self.structure_))
        if not len(data):
            raise DomainError("cannot score 0 rows; pass at least one")
        return data

    def _learned(self, attribute: str) -> Any:
        try:
            return vars(self)[attribute]
        except KeyError:
            raise NotFittedError(f"this {type(self).__name__} is not fitted; call fit") from None

    # -- the interface of scikit-learn -------------------------------------------------------------

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return the parameters and their default values."""
        if cls.__init__ is object.__init__:
            return {}
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        return {parameter.name: parameter.default for parameter in parameters}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters."""
        return {name: getattr(self, name) for name in self.defaults()}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters; raise if there is no parameter of that name."""
        vars(self).update(_changed(self, parameters))
        return self

    def __repr__(self) -> str:
        defaults = self.defaults()
        changed = [f"{k}={v!r}" for k, v in self.get_params().items() if v != defaults[k]]
        call = f"{type(self).__name__}({', '.join(changed)})"
        if not self.__sklearn_is_fitted__():
            return call
        sizes = [(len(self.structure_), "feature"), (len(self.domain_), "variable")]
        features, variables = (plural(*size) for size in sizes)
        return f"{call}, fitted: {features} of {variables}"

    def __sklearn_tags__(self) -> Any:
        utils = import_module("sklearn.utils")  # only scikit-learn calls this
        return utils.Tags(
            estimator_type=None,
            target_tags=utils.TargetTags(required=False),
            input_tags=utils.InputTags(string=True, categorical=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "structure_")


def _check_array(data: Any) -> None:
    """Raise for arrays that are no rows of states, in the words that scikit-learn expects."""
    if hasattr(data, "toarray"):
        raise TypeError("Sparse data is not supported; pass a dense array: data.toarray()")
    if isinstance(data, np.ndarray):
        if np.iscomplexobj(data):
            raise DomainError(f"Complex data not supported: {data.dtype}")
        if data.ndim == 2 and not data.shape[1]:
            raise DomainError(
                f"0 feature(s) (shape={data.shape}) while a minimum of 1 is required."
            )


class FromFunction(Learner):
    """Turn a function from data to a model into a learner; a time limit cannot stop the function.

    >>> always = FromFunction(lambda rows: Structure({"A": 2, "B": 2}, ["A=1 & B=1"]))
    >>> always.fit([[0, 1], [1, 1]], domain={"A": 2, "B": 2}).structure_
    Structure(2 variables, 1 feature: A=1 & B=1)
    """

    def __init__(self, function: Callable[[Any], Model]) -> None:
        self.function = function

    def fit(
        self,
        data: DataLike,
        y: Any = None,
        domain: DomainLike | None = None,
        time_limit: float | None = None,
        show_progress: bool | Progress = False,
    ) -> Self:
        """Call the function with the data as passed; align its result to the domain."""
        learned = self._within(time_limit, show_progress, lambda run: self.function(data))
        structure_of(learned)  # raises if this is not a model
        rows = as_data(data, learned.domain if domain is None else domain)
        return self._keep(learned.aligned_to(rows.domain), rows)


def as_learner(thing: Any) -> Learner:
    """Return a learner from a text, a class, a learner, or a function of data.

    >>> as_learner("trees:penalty=5")
    Trees(penalty=5.0)
    """
    if isinstance(thing, Learner):
        return thing
    if isinstance(thing, str):
        # It parses parameters, whose module defines them for the class of this one.
        return import_module("contextwise.learning.by_name").learner_from_text(thing)  # type: ignore[no-any-return]
    if isinstance(thing, type) and issubclass(thing, Learner):
        return thing()
    if callable(thing):
        return FromFunction(thing)
    raise ContextwiseError(
        f"{thing!r} is not a learner; pass a learner, its name, or a function from data to a model"
    )


def learn(
    data: DataLike,
    learner: Any = DEFAULT_LEARNER,
    *,
    domain: DomainLike | None = None,
    time_limit: float | None = None,
    show_progress: bool | Progress = False,
    **parameters: Any,
) -> Any:
    """Learn a structure from data, and test its claims on the same rows.

    Parameters
    ----------
    data : DataFrame, array, list of rows, path, name of a data set, or Data
    learner : name, Learner, class, or function from data to a model
        The names are the keys of `LEARNERS`; `DEFAULT_LEARNER` by default. Texts such as
        ``trees:penalty=5`` and ``mylib:Mine`` are explained in `contextwise.learning.by_name`.
    domain : Domain, or a mapping that makes one, optional
        The variables and their states. Without it they are inferred from the data.
    time_limit : float, optional
        Stop after this many seconds with the best structure so far; see `Learner.fit`.
    show_progress : bool or function
        Show a progress bar on standard error, or call a function of (done, total) for each phase.
    parameters : keywords
        Parameters of the learner, and keywords of `contextwise.read_data`, such as ``missing``.

    Returns
    -------
    fitted Learner
        Functions that take a model also take it. Its attribute ``structure_`` is the structure, and
        ``model_`` the structure with weights. Both have ``evidence``: the verdict of the rows about
        each claim.

    Examples
    --------
    >>> learned = learn("berkeley")
    >>> learned
    BestOfTwo(), fitted: 28 features of 3 variables
    """
    chosen = as_learner(learner)
    reading = {key: parameters.pop(key) for key in FLAGS if key in parameters}
    deadline = Deadline.after(time_limit)
    if reading:
        with limited_reading(deadline):
            data = as_data(data, domain, row_options(**reading))
    if parameters:
        chosen = fresh(chosen, parameters)
    chosen.fit(data, domain=domain, time_limit=deadline.left(), show_progress=show_progress)
    return chosen.judge(deadline.later(SECONDS_FOR_TESTS)) if len(chosen._data) else chosen


def learner_configuration(learner: Learner) -> dict[str, Any]:
    """Return the name of a learner and the parameters that can change its result."""
    parameters = {
        key: value if isinstance(value, int | float | str | None) else repr(value)
        for key, value in learner.get_params().items()
        if key != "n_jobs"
    }
    return {"learner": learner.name, "parameters": parameters}


def fresh(learner: L, parameters: Mapping[str, Any] | None = None) -> L:
    """Return an unfitted copy of a learner, with some parameters changed."""
    return type(learner)(**_changed(learner, parameters or {}))


def _changed(learner: Learner, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return all parameters of a learner with some changed; raise if it does not have one."""
    known = learner.get_params()
    for name in parameters:
        if name not in known:
            raise ContextwiseError(
                f"{type(learner).__name__} has no parameter {name!r}; its parameters are "
                f"{', '.join(known) or 'none'}"
            )
    return {**known, **parameters}


def check_prior(prior: float) -> float:
    """Return the prior, or raise unless 0 < prior < inf; 0 would make unseen rows impossible."""
    if not 0 < prior < float("inf"):
        raise DomainError(f"prior must be > 0 (a number of rows), got {prior}")
    return prior


def pairs_of(
    domain: Domain, require: Sequence[tuple[str, str]], forbid: Sequence[tuple[str, str]]
) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """Return the positions of required and of forbidden pairs; raise if a pair is impossible."""
    required, forbidden = ({domain.pair(pair) for pair in pairs} for pairs in (require, forbid))
    for v in sorted({v for pair in required for v in pair}):
        if domain.cardinalities[v] == 1:
            name = domain.names[v]
            raise DomainError(f"{name} has one state and depends on nothing; require no pair of it")
    for a, b in sorted(required & forbidden):
        both = f"{domain.names[a]} and {domain.names[b]}"
        raise DomainError(f"{both} are both required and forbidden; drop one of them")
    return required, forbidden


def threads_of(n_jobs: int) -> int:
    """Return the number of threads; -1 means all cores."""
    check_jobs(n_jobs)
    return n_jobs if n_jobs > 0 else cores()
