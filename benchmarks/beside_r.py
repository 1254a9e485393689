"""Compare the tests of an outcome's pairs with R's `glm`, `multinom`, `polr` or `svyglm`.

Both get the same rows and the same coding: bins, merged rare states, dropped rows. R fits a logit
of the outcome with main effects of all other columns. The likelihood ratio test leaves one of them
out: as a factor, and, if it is ordered, as a score; p is twice the smaller, as in the engine. An
ordered outcome of three or more states has `polr`, too. With weights or subjects, `svyglm` makes a
working likelihood ratio test (Rao and Scott).

``python -m benchmarks.beside_r FILE OUTCOME [--option value …]`` prints a table; options are those
of reading, such as ``--subject id`` or ``--drop bwt``. R with nnet, MASS and survey is needed.
"""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from contextwise.data.options import row_options
from contextwise.data.rows import as_advised
from contextwise.evidence.coded_rows import CodedRows
from contextwise.evidence.row_tests import RowTests
from contextwise.support.machine import one_thread
from contextwise.support.statistics import holm

LEVEL = 0.05

PROGRAM = r"""
suppressMessages({library(nnet); library(MASS); library(survey)})
arguments <- commandArgs(TRUE)
d <- read.csv(arguments[1]); score <- strsplit(arguments[2], "")[[1]] == "1"
names <- grep("^v", colnames(d), value = TRUE); others <- names[-1]
factors <- d; for (n in names) factors[[n]] <- factor(d[[n]])
survey <- "cluster" %in% colnames(d) || diff(range(d$weight)) > 1e-9
states <- nlevels(factors$v0)
fit <- function(data, terms) {
  f <- reformulate(if (length(terms)) terms else "1", "v0")
  if (states == 2) glm(f, binomial, data, weights = count)
  else multinom(f, data, weights = count, trace = FALSE, maxit = 1000, MaxNWts = 100000)
}
lr <- function(data, n) {
  a <- fit(data, others); b <- fit(data, setdiff(others, n))
  x <- as.numeric(2 * (logLik(a) - logLik(b)))
  pchisq(x, attr(logLik(a), "df") - attr(logLik(b), "df"), lower.tail = FALSE)
}
if (survey) {
  lr <- function(data, n) {
    ids <- if ("cluster" %in% colnames(data)) ~cluster else ~1
    g <- svydesign(ids = ids, weights = ~weight, data = data)
    m <- svyglm(reformulate(others, "v0"), g, family = quasibinomial())
    regTermTest(m, reformulate(n), method = "LRT")$p
  }
  factors <- factors[rep(seq_len(nrow(d)), d$count), ]
}
for (k in seq_along(others)) {
  n <- others[k]; p <- tryCatch(lr(factors, n), error = function(e) NA)
  trend <- NA; ordinal <- NA
  if (score[k + 1]) {
    scored <- factors; scored[[n]] <- as.numeric(scored[[n]])
    trend <- tryCatch(lr(scored, n), error = function(e) NA)
  }
  if (score[1] && states > 2 && !survey) {
    part <- function(terms, data)
      polr(reformulate(if (length(terms)) terms else "1", "v0"), data, weights = count)
    data <- factors
    for (j in seq_along(others))
      if (score[j + 1]) data[[others[j]]] <- as.numeric(data[[others[j]]])
    ordinal <- tryCatch({
      a <- part(others, data); b <- part(setdiff(others, n), data)
      pchisq(b$deviance - a$deviance, a$edf - b$edf, lower.tail = FALSE)
    }, error = function(e) NA)
  }
  cat(n, p, trend, ordinal, "\n")
}
"""


def of_r(rows: CodedRows, outcome: int) -> dict[str, list[float | None]]:
    """Return p of each variable from R: as a factor, as a score, and from `polr`."""
    order = [outcome, *(v for v in range(len(rows.names)) if v != outcome)]
    head = [*(f"v{k}" for k in range(len(order))), "count", "weight"]
    columns = [*rows.codes[:, order].T.tolist(), rows.counts.tolist(), rows.weights.tolist()]
    if rows.clusters is not None:
        head.append("cluster")
        columns.append(rows.clusters.tolist())
    with tempfile.TemporaryDirectory() as folder:
        data, program = Path(folder, "rows.csv"), Path(folder, "beside.R")
        with data.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(head)
            writer.writerows(zip(*columns, strict=True))
        program.write_text(PROGRAM)
        flags = "".join(str(int(rows.is_score(v))) for v in order)
        command = ["Rscript", str(program), str(data), flags]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, list[float | None]] = {}
    for line in done.stdout.splitlines():
        name, *values = line.split()
        p_values = [None if value == "NA" else float(value) for value in values]
        found[rows.names[order[int(name[1:])]]] = p_values
    return found


def combined(factor: float | None, trend: float | None, ordinal: float | None) -> float | None:
    tests = [p for p in (factor, trend if ordinal is None else ordinal) if p is not None]
    return min(1.0, len(tests) * min(tests)) if tests else None


def text(p: float | None) -> str:
    return "–" if p is None else f"{p:.2g}"


def compare(path: str, outcome: str, **reading: Any) -> None:
    """Print the pairs of an outcome beside R."""
    options = row_options(**reading)._replace(outcome=outcome)
    data, _, _ = as_advised(path, options)
    tests = RowTests(data)
    with one_thread():
        pairs = tests.pairs(outcome=outcome).of_outcome
    of_others = of_r(tests.rows, tests.rows.names.index(outcome))
    names = [next(n for n in each.pair if n != outcome) for each in pairs]
    r = [combined(*of_others[name]) for name in names]
    adjusted = holm([1.0 if p is None else p for p in r])
    print(f"{Path(path).name}, {outcome}: {tests.rows.total:,.0f} rows")
    print("| variable | engine, on average | p | Holm | R factor | trend | polr | Holm | |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, each, p, both in zip(names, pairs, r, adjusted, strict=True):
        of_engine = each.adjusted is not None and each.adjusted <= LEVEL
        mark = "" if p is None or of_engine == (both <= LEVEL) else "**differs**"
        if each.context and each.verdict == "associated, not on average":
            mark += f" by {each.context}"
        numbers = [each.average_p, each.p, each.adjusted, *of_others[name], both]
        print(f"| {name} | {' | '.join(map(text, numbers))} | {mark} |", flush=True)


def main(arguments: Sequence[str]) -> None:
    if len(arguments) < 2 or len(arguments) % 2:
        sys.exit(__doc__)
    if shutil.which("Rscript") is None:
        sys.exit("Rscript is not installed")
    names = [name.removeprefix("--").replace("-", "_") for name in arguments[2::2]]
    reading: dict[str, Any] = dict(zip(names, arguments[3::2], strict=True))
    lists = {key: value.split(",") for key, value in reading.items() if key in ("drop", "ordered")}
    compare(arguments[0], arguments[1], **(reading | lists))


if __name__ == "__main__":
    main(sys.argv[1:])
