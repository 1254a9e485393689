"""Samples: chi-square tests against exact distributions, with fixed seeds."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2

from contextwise import examples
from contextwise.data.rows import as_data, format_rows
from contextwise.distributions import marginal, mean_pseudo_log_likelihood, probabilities
from contextwise.distributions.sampling import (
    DrawnRows,
    SampleMethod,
    colouring,
    draw,
    gibbs_chains,
)
from contextwise.errors import ContextwiseError, DomainError, TooLargeError
from contextwise.formats import write
from contextwise.models.domain import Domain
from contextwise.models.structure import LogLinear, Structure
from contextwise.support.arrays import IntArray
from drawn_rows import sample

MIXED = Domain({"A": 2, "B": 3, "C": 2, "D": 2, "lonely": 3})


def mixed() -> LogLinear:
    """Value sets, mixed cardinalities, a variable without features, a constant."""
    structure = Structure(
        MIXED,
        ["A=1 & B!=1", "B=2 & C=1", "A=0 & C=0 & D=1", "B=0|1 & D=0", "C=1", "", "B=1"],
    )
    return LogLinear(structure, np.array([1.0, -1.2, 0.8, 0.7, 0.4, 3.0, -0.3]))


def chi_square(rows: IntArray, model: LogLinear) -> float:
    """The p-value of the rows under the model."""
    expected = probabilities(model).ravel() * len(rows)
    places = np.ravel_multi_index(tuple(rows.T), model.domain.cardinalities)
    seen = np.bincount(places, minlength=len(expected))
    statistic = ((seen - expected) ** 2 / expected).sum()
    return float(chi2.sf(statistic, len(expected) - 1))


@pytest.mark.parametrize("method", ["exact", "gibbs"])
def test_samples_have_the_distribution_of_the_model(method: SampleMethod) -> None:
    rows = sample(mixed(), 20_000, seed=3, method=method)
    assert rows.shape == (20_000, 5)
    assert 0.001 < chi_square(rows, mixed()) < 0.999
    assert chi_square(rows, LogLinear(mixed().structure, np.zeros(7))) < 1e-9


@pytest.mark.parametrize("method", ["exact", "gibbs"])
def test_evidence(method: SampleMethod) -> None:
    rows = sample(mixed(), 20_000, seed=8, method=method, context="B=2 & D=1")
    assert (rows[:, 1] == 2).all()
    assert (rows[:, 3] == 1).all()
    exact = marginal(mixed(), ["A", "C", "lonely"], context="B=2 & D=1").ravel()
    places = np.ravel_multi_index((rows[:, 0], rows[:, 2], rows[:, 4]), (2, 2, 3))
    seen = np.bincount(places, minlength=12)
    statistic = ((seen - exact * 20_000) ** 2 / (exact * 20_000)).sum()
    assert 0.001 < chi2.sf(statistic, 11) < 0.999
    everything = sample(mixed(), 3, seed=1, method=method, context="A=1,B=2,C=0,D=1,lonely=2")
    assert everything.tolist() == [[1, 2, 0, 1, 2]] * 3


@pytest.mark.parametrize("method", ["exact", "gibbs"])
def test_equal_seeds_give_equal_rows(method: SampleMethod) -> None:
    first = sample(mixed(), 50, seed=4, method=method)
    assert np.array_equal(first, sample(mixed(), 50, seed=4, method=method))
    assert np.array_equal(first, sample(mixed(), 50, seed=np.random.default_rng(4), method=method))
    assert not np.array_equal(first, sample(mixed(), 50, seed=5, method=method))
    assert sample(mixed(), 0, seed=1, method=method).shape == (0, 5)


def test_labels_are_ints_only_where_they_are_numbers() -> None:
    labelled = LogLinear(Structure({"A": ["no", "yes"], "B": 2}, ["A=yes & B=1"]), np.array([5.0]))
    rows = sample(labelled, 20, seed=1)
    assert set(rows[:, 0].tolist()) <= {"no", "yes"}
    assert np.array_equal(as_data(rows, labelled.domain).rows[:, 1].astype(str), rows[:, 1])
    swapped = LogLinear(Structure({"A": ["1", "0"]}, ["A=1"]), np.array([50.0]))
    assert sample(swapped, 2, seed=1).tolist() == [["1"], ["1"]]


def test_constraints_need_exact_sampling() -> None:
    model = LogLinear(Structure({"A": 2, "B": 2}, ["A=1 & B=1"]), np.array([-np.inf]))
    rows = sample(model, 500, seed=1)
    assert not (rows[:, 0] & rows[:, 1]).any()
    with pytest.raises(DomainError, match="finite weights"):
        sample(model, 5, seed=1, method="gibbs")


def test_where_exact_sampling_is_too_large_chains_step_in() -> None:
    n = 40
    domain = Domain.of_cardinalities([2] * n)
    pairs = [f"v{i}=1 & v{j}=1" for i in range(n) for j in range(i)]
    model = LogLinear(Structure(domain, pairs), np.full(len(pairs), -0.05))
    assert sample(model, 7, seed=1, burn_in=5, thin=1).shape == (7, n)
    with pytest.raises(TooLargeError):
        sample(model, 7, seed=1, method="exact")


def test_colours_share_no_feature() -> None:
    structure = mixed().structure
    colours = colouring(structure.features, range(4))
    assert sorted(v for colour in colours for v in colour) == [0, 1, 2, 3]
    for scope in structure.scopes():
        for colour in colours:
            assert len(set(scope) & {MIXED.names[v] for v in colour}) <= 1


def test_chains_that_agree_and_chains_that_are_stuck() -> None:
    chains = gibbs_chains(mixed(), chains=8, draws=200, seed=1, context="A=1")
    worst = DrawnRows(MIXED, chains[0], chains).worst_mixing
    assert worst is not None
    assert worst[0] in MIXED.names[1:]  # the first never moves
    assert 1 <= worst[1] < 1.02
    halves = chains[:, :, 3].reshape(16, 100)  # by the formula of Gelman and others
    within, between = halves.var(axis=1, ddof=1).mean(), 100 * halves.mean(axis=1).var(ddof=1)
    expected = np.sqrt((99 / 100 * within + between / 100) / within)
    only = np.where(np.arange(5) == 3, chains, 0)
    alone = DrawnRows(MIXED, chains[0], only).worst_mixing
    assert alone is not None
    assert alone[0] == "D"
    assert alone[1] == pytest.approx(expected)
    stuck = LogLinear(
        Structure({"A": 2, "B": 2}, ["A=1 & B=1", "A=0 & B=0"]), np.array([30.0, 30.0])
    )
    chains = gibbs_chains(stuck, chains=8, draws=50, seed=2)
    apart = DrawnRows(stuck.domain, chains[0], chains).worst_mixing
    assert apart is not None
    assert apart[1] == np.inf  # each chain is stuck in a mode of its own
    chains[0, 0] = 1 - chains[0, 0]
    apart = DrawnRows(stuck.domain, chains[0], chains).worst_mixing
    assert apart is not None
    assert apart[1] > 2


def test_bad_requests() -> None:
    with pytest.raises(DomainError, match="got -1"):
        sample(mixed(), -1, seed=1)
    with pytest.raises(ContextwiseError, match="unknown method"):
        sample(mixed(), 1, seed=1, method="magic")  # type: ignore[arg-type]
    with pytest.raises(DomainError, match="must be >= 1"):
        gibbs_chains(mixed(), chains=0, draws=1, seed=1)


def test_drawn_rows_say_where_they_come_from() -> None:
    exact = draw(mixed(), 500, seed=1)
    assert (exact.how, exact.chains, exact.worst_mixing) == ("exact", None, None)
    assert np.array_equal(exact.rows, sample(mixed(), 500, seed=1))
    wide = Domain.of_cardinalities([2] * 40)  # a complete graph: its treewidth is 39
    dense = Structure(wide, [f"v{i}=1 & v{j}=1" for i in range(40) for j in range(i)])
    chains = draw(LogLinear(dense, np.full(len(dense), 0.01)), 1000, seed=1)
    assert chains.how == "from 100 Gibbs chains"
    assert chains.worst_mixing is not None
    assert 0.95 < chains.worst_mixing[1] < 1.1
    few = draw(LogLinear(dense, np.zeros(len(dense))), 50, seed=1)
    assert few.worst_mixing is None  # one draw each


def test_chains_that_never_move_say_nothing() -> None:
    still = draw(mixed(), 400, seed=1, method="gibbs", context="A=1,B=2,C=0,D=1,lonely=2")
    assert still.worst_mixing is None


def test_models_and_rows_by_name(tmp_path: Path) -> None:
    rows = sample("lung", 50, seed=1)
    path = tmp_path / "rows.csv"
    path.write_text(format_rows(rows, examples.load("lung").domain.names))
    assert mean_pseudo_log_likelihood("lung", path) == mean_pseudo_log_likelihood("lung", rows)
    write(examples.load("lung"), tmp_path / "lung.mn")
    assert gibbs_chains(tmp_path / "lung.mn", chains=2, draws=3, seed=1).shape == (2, 3, 3)


def test_a_network_of_any_size_is_drawn_from_its_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    from contextwise import examples
    from contextwise.distributions import sampling
    from contextwise.errors import TooLargeError

    def too_large(*_: object, **__: object) -> None:
        raise TooLargeError("too large")

    network = examples.truth("bnlearn-asia")  # with probabilities of 0 and 1
    exact = sampling.draw(network, 20_000, seed=np.random.default_rng(1)).positions
    monkeypatch.setattr(sampling, "exact_inference", too_large)
    drawn = sampling.draw(network, 20_000, seed=np.random.default_rng(2))
    assert drawn.how == "exact"
    pairs = [(a, b) for a in range(8) for b in range(a)]
    for a, b in pairs:
        shares = [np.bincount(2 * x[:, a] + x[:, b], minlength=4) for x in (exact, drawn.positions)]
        assert np.abs(shares[0] - shares[1]).max() < 5 * np.sqrt(20_000)
    with pytest.raises(TooLargeError):
        sampling.draw("lung", 5, seed=np.random.default_rng(1), method="exact")
