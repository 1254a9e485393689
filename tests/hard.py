"""Covers and models that no engine finishes in seconds: for time limits and interruption."""

from __future__ import annotations

import random

import numpy as np

from contextwise import Comparison, Domain, Structure, compare
from contextwise.counting.cover import Cover, cover_of
from contextwise.independence.queries import Statement

LATE = 30
"""Seconds. What ignores its limit takes minutes on these models; what respects it, one second."""


def hard_cubes(variables: int = 150, cubes: int = 375, seed: int = 0) -> list[dict[int, int]]:
    """Random cubes of three literals, as many as make counting hardest."""
    rng = random.Random(seed)
    return [
        {v: rng.randrange(2) for v in sorted(rng.sample(range(variables), 3))} for _ in range(cubes)
    ]


def hard_cover() -> Cover:
    """One of them as a cover of binary variables."""
    cubes = hard_cubes()
    return cover_of([2] * 150, [[(v, 1 << value) for v, value in cube.items()] for cube in cubes])


def hard_models(
    variables: int = 150, cubes: int = 375, *, order: str = "ABC"
) -> tuple[Structure, Structure]:
    """Two models: the pair A, B has a hard cover in each, and A, C an easy one.

    Pairs are counted in the order of their variables: with "CAB" the easy one comes first.
    """
    domain = {**dict.fromkeys(order, 2), **{f"X{v}": 2 for v in range(variables)}}
    models = []
    for seed in (1, 2):
        features = [
            {"A": 1, "B": 1, **{f"X{v}": value for v, value in cube.items()}}
            for cube in hard_cubes(variables, cubes, seed)
        ]
        models.append(Structure(domain, [*features, f"A=1 & C={seed - 1}"]))
    return models[0], models[1]


def half_known() -> Comparison:
    """A comparison in which one pair differs for sure, and another is open."""
    true, guess = hard_models()
    return compare(true, guess, time_limit=0.0)


def hard_pair(seed: int = 1) -> Structure:
    """A structure of 900 features; all have one pair, and ten more literals each."""
    generator = np.random.default_rng(seed)
    scopes = []
    for _ in range(900):
        others = 2 + generator.choice(88, size=10, replace=False)
        states = generator.integers(2, size=10)
        literals = {f"v{v}": int(s) for v, s in zip(others, states, strict=True)}
        scopes.append({"v0": 1, "v1": 1, **literals})
    return Structure(Domain.of_cardinalities([2] * 90), scopes)


def chain(length: int) -> Structure:
    """An easy model: each variable depends on the next."""
    variables = {f"X{i}": 2 for i in range(length)}
    return Structure(variables, [f"X{i}=1 & X{i + 1}=1" for i in range(length - 1)])


def chain_of_clauses(clauses: list[list[int]]) -> Structure:
    """A chain whose ends are connected exactly by the assignments that satisfy all clauses."""
    count = max(abs(literal) for clause in clauses for literal in clause)
    domain = {f"n{k}": 2 for k in range(len(clauses) + 1)} | {f"x{k + 1}": 2 for k in range(count)}
    return Structure(
        domain,
        [
            {f"n{k}": 1, f"n{k + 1}": 1, f"x{abs(literal)}": int(literal > 0)}
            for k, clause in enumerate(clauses)
            for literal in clause
        ],
    )


def pigeons(count: int, holes: int) -> Structure:
    """Each pigeon needs a hole of its own."""
    at = [[pigeon * holes + hole + 1 for hole in range(holes)] for pigeon in range(count)]
    apart = [
        [-at[a][hole], -at[b][hole]]
        for hole in range(holes)
        for a in range(count)
        for b in range(a)
    ]
    return chain_of_clauses(at + apart)


def ends(model: Structure) -> Statement:
    names = model.domain.names
    nodes = [name for name in names if name[0] == "n"]
    return Statement((nodes[0],), (nodes[-1],), tuple(name for name in names if name[0] == "x"))
