"""Rows as codes: scores of ordered states, folded states."""

from __future__ import annotations

import numpy as np

from contextwise import Domain
from contextwise.data.rows import Data
from contextwise.evidence.coded_rows import code_rows, ordered_variables


def test_what_is_ordered() -> None:
    items = {f"q{k}": list("12345") for k in range(3)}
    others = {"race": list("123"), "age": ["up to 3", "4 to 5", "above 5"], "one": list("1234")}
    domain = Domain({**items, **others})
    reasons, _ = ordered_variables(domain)
    assert reasons == {**dict.fromkeys(items, "same codes as 2 columns"), "age": "bins"}
    words = Domain({"pain": ["mild", "none", "strong"], "b": 2})
    data = Data(words, np.array([[0, 0], [1, 1], [2, 1], [1, 0]]))
    coding = code_rows(data, asked=["pain=none|mild|strong"])
    assert coding.rows.states[0] == ("none", "mild", "strong")
    assert dict(coding.ordered) == {"pain": "asked for"}


def test_many_states_are_folded() -> None:
    codes = np.concatenate([np.repeat(np.arange(30), 3), np.repeat(np.arange(5), 20)])
    rows = np.column_stack([codes, codes % 2, codes])
    domain = Domain({"many": [f"s{k}" for k in range(30)], "b": 2, "scale": 30})
    coding = code_rows(Data(domain, rows), asked=["scale"])
    assert [(f.name, f.states) for f in coding.folded] == [("many", 30), ("scale", 30)]
    many, _, scale = coding.rows.states
    assert len(many) == 21
    assert many[-1] == "other"
    assert {"s0", "s1", "s2", "s3", "s4"} < set(many)
    assert len(scale) <= 21
    assert coding.rows.total == len(rows)
