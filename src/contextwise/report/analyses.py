"""Show an analysis: the answer, and a table of pairs."""

from __future__ import annotations

from contextwise.analysis.conclusions import Analysis
from contextwise.report.parts import TOP, Note, Part, table
from contextwise.support.formatting import plural


def analysis_parts(analysis: Analysis, *, top: int = TOP) -> list[Part]:
    """Return the first sentence and a table of the pairs, those of the outcome if there is one."""
    pairs = analysis.pairs.of_outcome if analysis.outcome else analysis.pairs.pairs
    shown = sum(each.associated for each in pairs)
    of = f"pairs with {analysis.outcome}" if analysis.outcome else "pairs"
    text = f"{shown} of {len(pairs)} {of} are associated given the other columns"
    rows = []
    for each in pairs[:top]:
        effect = each.effects[0] if each.effects else None
        differs = ", ".join(
            name
            for i in analysis.differing(*each.pair)
            for name in (*i.pair, i.by)
            if name not in each.pair
        )
        rows.append([*each.pair, each.verdict, each.p, each.adjusted, each.v,
                     effect and effect.estimate, effect and effect.low, effect and effect.high,
                     differs])  # fmt: skip
    columns = {"first": "name", "second": "name", "verdict": "text", "p": "probability",
               "corrected": "probability", "V": "rate", "effect": "score", "low": "score",
               "high": "score", "differs by": "text"}  # fmt: skip
    rows_text = f"{plural(analysis.rows.used, 'row')} of {analysis.title} were used."
    learned = analysis.structure.origin.learned
    notes = [Note("answer", f"{text}."), Note("rows", rows_text)]
    if learned is not None:
        text = f"The structure was found by {learned.learner}, and tested on the same rows."
        notes.append(Note("learner", text))
    if analysis.unfinished:
        notes.append(Note("unfinished", "; ".join(analysis.unfinished), warns=True))
    return [notes[0], table("Pairs", columns, rows), *notes[1:]]  # type: ignore[arg-type]
