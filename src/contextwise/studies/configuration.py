"""What defines a run of the KL experiment: everything, in one TOML file.

The file holds the true model itself (its variables and features), so that a run can be repeated
from the file alone.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Sized
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, TypedDict, get_args

from contextwise.errors import ContextwiseError, ParseError, require
from contextwise.models.domain import Domain
from contextwise.models.structure import Model, Structure, structure_of
from contextwise.support.files import read_bytes, write_bytes
from contextwise.support.maps import choose_map
from contextwise.support.progress import Progress
from contextwise.support.store import Outcome, Record, Store, Unit, run_units
from contextwise.truths import bundled as examples

Method = Literal["likelihood", "pseudo-likelihood"]


@dataclass(frozen=True)
class Configuration:
    """Everything that the results of a run depend on.

    Attributes
    ----------
    variables, features : the true model
    structures : how many random structures per side
    sizes : the numbers of rows of the data
    parameter_sets : how many sets of weights the true model is given
    interaction : the smallest and the largest log-odds ratio of an interaction
    burn_in, thin, chains : of the Gibbs sampler that draws the data; no more chains than rows
    method, l2 : how weights are fitted
    chunk : how many structures are one unit of work
    seed : of everything
    """

    variables: tuple[tuple[str, tuple[str, ...]], ...]
    features: tuple[str, ...]
    structures: int = 1000
    sizes: tuple[int, ...] = (50, 100, 1000, 10000)
    parameter_sets: int = 10
    interaction: tuple[float, float] = (1.0, 3.0)
    burn_in: int = 100
    thin: int = 5
    chains: int = 1000
    method: Method = "likelihood"
    l2: float = 0.1
    chunk: int = 20
    seed: int = 1

    def __post_init__(self) -> None:
        low, high = self.interaction
        rules = {
            "structures": (self.structures >= 1, "is at least 1"),
            "sizes": (self.sizes and min(self.sizes) >= 1, "are numbers of rows, from 1 on"),
            "parameter_sets": (self.parameter_sets >= 1, "is at least 1"),
            "interaction": (0 < low <= high, "is a smallest and a largest number above 0"),
            "burn_in": (self.burn_in >= 0, "is 0 or more"),
            "thin": (self.thin >= 1, "is at least 1"),
            "chains": (self.chains >= 1, "is at least 1"),
            "method": (self.method in get_args(Method), f"is {' or '.join(get_args(Method))}"),
            "l2": (self.l2 >= 0, "is 0 or more"),
            "chunk": (self.chunk >= 1, "is at least 1"),
            "seed": (self.seed >= 0, "is 0 or more"),
        }
        check_rules(self, rules)

    def model(self) -> Structure:
        """The true model."""
        return Structure(Domain(dict(self.variables)), self.features)

    def record(self) -> dict[str, Any]:
        """The configuration as plain values."""
        return {**asdict(self), "variables": dict(self.variables)}

    def quick(self) -> Configuration:
        """A smaller run with the same model, for a first look."""
        return replace(self, structures=min(self.structures, 60), parameter_sets=3, chunk=10)


def check_rules(configuration: object, rules: Mapping[str, tuple[object, str]]) -> None:
    """Refuse a configuration of which a setting breaks a rule.

    Parameters
    ----------
    configuration : whose attributes the settings are
    rules : for each setting whether it is kept, and what it asks for, in words

    Raises
    ------
    ContextwiseError
        With the setting, the rule and the value.
    """
    for name, (kept, rule) in rules.items():
        if not kept:
            given = getattr(configuration, name)
            shown = ", ".join(map(str, given)) if isinstance(given, tuple) else given
            none = isinstance(given, Sized) and not given
            raise ContextwiseError(f"{name} {rule}, not {'none' if none else shown}")


def configuration_of(model: Model | None = None, **settings: Any) -> Configuration:
    """The configuration for a true model (by default the paper's), with some settings changed.

    Parameters
    ----------
    model : Structure or LogLinear, optional
    **settings
        The fields of `Configuration` that differ from its defaults.

    Examples
    --------
    >>> configuration_of(structures=10).features[0]
    'X0=1 & X1=0'
    """
    structure = structure_of(examples.load("six") if model is None else model)
    domain = structure.domain
    return Configuration(
        variables=tuple(zip(domain.names, domain.states, strict=True)),
        features=tuple(structure.feature_text(f) for f in range(len(structure))),
        **settings,
    )


def from_toml(path: str | os.PathLike[str]) -> Configuration:
    """The configuration in a file; a key that is not known, or a wrong value, is an error."""
    given = read_settings(path, {field.name for field in fields(Configuration)})
    missing = sorted({"variables", "features"} - set(given))
    if missing:
        raise ParseError(f"the setting {missing[0]!r} is missing", path=path)
    try:
        given["variables"] = tuple((name, tuple(own)) for name, own in given["variables"].items())
        made = Configuration(**given)
        made.model()
    except (TypeError, AttributeError, ValueError, ContextwiseError) as error:
        raise ParseError(f"a setting is wrong: {error}", path=path) from None
    return made


# -- what the studies share ------------------------------------------------------------------------


def read_settings(path: str | os.PathLike[str], known: Collection[str]) -> dict[str, Any]:
    """The settings in a TOML file, lists as tuples; a key that is not known is an error.

    Parameters
    ----------
    path : of the file
    known : the keys that there are

    Returns
    -------
    dict
    """
    try:
        given = tomllib.loads(read_bytes(path).decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ParseError(f"not a TOML file: {error}", path=path) from None
    unknown = sorted(set(given) - set(known))
    if unknown:
        settings = ", ".join(sorted(known))
        raise ParseError(f"unknown setting {unknown[0]!r}; the settings are {settings}", path=path)
    return {key: tuple(own) if isinstance(own, list) else own for key, own in given.items()}


class RunOptions(TypedDict, total=False):
    """How a study is run: `run_study` explains each keyword."""

    n_jobs: int
    cluster: Any
    show_progress: bool | Progress


def run_study(
    folder: str | os.PathLike[str],
    settings: Mapping[str, Any],
    units: Iterable[Unit],
    function: Callable[[Any], Sequence[Record]],
    *,
    n_jobs: int = 1,
    cluster: Any = None,
    show_progress: bool | Progress = False,
) -> Outcome:
    """Run the units of a study into a folder, beside the configuration that repeats it.

    Parameters
    ----------
    folder : path
        It gets ``results.sqlite`` and ``configuration.toml``.
    settings : everything that the results depend on
    units, function : as in `run_units`
    n_jobs : how many processes; -1 is one per core
    cluster : address of a Dask scheduler, or a Dask client; goes before ``n_jobs``
    show_progress : bool or function of (done, total)

    Returns
    -------
    Outcome
    """
    map_units = choose_map(n_jobs=n_jobs, cluster=cluster)
    text = to_toml(settings)
    with Store(folder, settings) as store:
        write_bytes(Path(folder) / "configuration.toml", text.encode())
        return run_units(store, units, function, map_units, show_progress=show_progress)


def to_toml(settings: Mapping[str, Any]) -> str:
    """The settings of a run as the text of a file."""
    text: str = require("tomli_w", "studies").dumps(settings)
    return text
