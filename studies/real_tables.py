"""Judge learners on real tables, by rows that they did not see::

    python -m studies.real_tables --learners pair-blocks,step,mpl --splits 5

For each table, the rows are split into halves at random. A learner learns from one half, and
`judge_claims` tests each claim of its structure on the other, corrected for the number of claims of
a table and kind. The loss is minus the mean log-likelihood of the other half, after a fit of
weights to the first; it is compared with the smallest loss of any learner on the same split. The
folder ``tables`` has tables of counts from R's packages datasets, MASS, vcd and carData; three more
are bundled with the package.

``--drawn-from step`` shows what is attainable: a learner learns from the whole table, and its model
is the truth from which both halves are drawn. The claims of the truth itself are tested, too.
"""

import argparse
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import contextwise as cw
from contextwise.evidence.claim_tests import judge_claims
from studies.step import Step

BUNDLED = ("berkeley", "titanic", "women-math")
TRUTH = "the truth"


def tables() -> dict[str, cw.learning.Data]:
    """Return all tables by name."""
    files = sorted((Path(__file__).parent / "tables").glob("*.csv"))
    read = {file.stem: cw.read_data(str(file), counts="count") for file in files}
    return {**{name: cw.read_data(name) for name in BUNDLED}, **read}


def halves(data: cw.learning.Data, seed: int) -> list[cw.learning.Data]:
    """Split the rows at random."""
    rows = data.expanded
    order = np.random.default_rng(seed).permutation(len(rows))
    return [rows.take(np.sort(part)) for part in np.array_split(order, 2)]


def learned(name: str, data: cw.learning.Data, domain: cw.Domain) -> cw.Structure:
    """Return the structure that a learner finds."""
    learner = Step() if name == "step" else name
    structure: cw.Structure = cw.learn(data, learner, domain=domain).structure_
    return structure


def fitted(structure: cw.Structure, data: cw.learning.Data) -> cw.LogLinear:
    """Return a structure with the weights of the largest likelihood."""
    return cw.distributions.fit(structure, data, method="likelihood").model


def main() -> None:
    """Print the totals per learner, and with --tables those per table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--learners", default="pair-blocks,step,mpl,gsmn")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--seed", type=int, default=100)
    parser.add_argument("--tables", action="store_true")
    parser.add_argument("--drawn-from", help="draw both halves from what this learner finds")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    names = options.learners.split(",")
    if options.drawn_from:
        names.append(TRUTH)
    verdicts: dict[str, Counter[str]] = {name: Counter() for name in names}
    excess: dict[str, list[float]] = {name: [] for name in names}
    for table, data in tables().items():
        losses = np.zeros((options.splits, len(names)))
        own: dict[str, Counter[str]] = {name: Counter() for name in names}
        if options.drawn_from:
            truth = fitted(learned(options.drawn_from, data, data.domain), data)
        for split in range(options.splits):
            seed = options.seed + split
            if options.drawn_from:
                rng = np.random.default_rng(seed)
                drawn = (cw.sample(truth, len(data) // 2, seed=rng) for _ in range(2))
                seen, unseen = (cw.read_data(half, data.domain) for half in drawn)
            else:
                seen, unseen = halves(data, seed)
            for place, name in enumerate(names):
                structure = truth.structure if name == TRUTH else learned(name, seen, data.domain)
                own[name].update(claim.verdict for claim in judge_claims(structure, unseen).claims)
                model = fitted(structure, seen)
                losses[split, place] = -cw.distributions.mean_log_likelihood(model, unseen)
        for place, name in enumerate(names):
            verdicts[name] += own[name]
            excess[name].append(float((losses[:, place] - losses.min(axis=1)).mean()))
            if options.tables:
                print(
                    f"{table:18} {name:14} {_line(own[name])}  {excess[name][-1]:.4f}", flush=True
                )
    print("learner: contradicted of testable independencies, unsupported of testable dependences,")
    print("mean and largest loss above the best, nats per row")
    for name in names:
        losses_of = excess[name]
        print(f"{name:14} {_line(verdicts[name])}  {np.mean(losses_of):.4f} {max(losses_of):.4f}")


def _line(found: Counter[str]) -> str:
    independent = found["contradicted"] + found["not contradicted"]
    dependent = found["supported"] + found["not supported"]
    parts = [(found["contradicted"], independent), (found["not supported"], dependent)]
    shares = [f"{bad:4} of {total:5} ({bad / max(1, total):6.1%})" for bad, total in parts]
    return "  ".join([*shares, f"{found['could not be tested']:5} untested"])


if __name__ == "__main__":
    main()
