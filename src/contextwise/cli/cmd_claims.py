"""``contextwise query`` and ``explain``: what a model claims, and where two models differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import contextwise as cw
from contextwise.cli import commands, options, printing
from contextwise.cli.inputs import load, time_left
from contextwise.data.options import FLAGS
from contextwise.support.formatting import printable

if TYPE_CHECKING:
    from contextwise.comparison.error_regions import Explanation
    from contextwise.independence.model_claims import ModelExplanation


@commands.command()
@options.model("model")
@click.argument("question", metavar="QUERY")
@options.time_limit(default=60)
@options.reading
@options.output("json")
@click.pass_context
def query(
    ctx: click.Context,
    model: str,
    question: str,
    time_limit: float,
    reading: options.Reading,
    output: str,
) -> None:
    """Ask MODEL whether variables are independent, and why.

    The QUERY "A _||_ B | C, D=yes" (or with ⫫) asks: is A independent of B, given any value of C,
    when D is yes? Separate several variables on a side by commas. The part after the bar is
    optional. Put names with special characters in double quotes. The notation of the paper is read
    too: "I(A, B | C, D=yes)"; then the answer adds where Eq. 5 read literally differs.

    A Bayesian network answers by d-separation, CSI-separation and its features. The answer names
    the rule that shows an independence. If none does, it is "dependent in general" (for almost all
    tables of this network), or "not shown independent" if there is a context or tables have equal
    rows.

    Exit codes: 0 independent, 1 dependent (or not shown independent), 2 error, 3 undecided within
    the time limit.

    \b
    Examples:
      contextwise query six "X1 _||_ X2 | X0=1"
      contextwise query six "I(X1, X2 | X0=1)"
      contextwise query learned.mn "v1, v2 ⫫ v3 | v4, v5=0"
      contextwise query learned.mn '"blood pressure" _||_ age' --json
    """
    statement = cw.independence.queries.parse_statement(question)  # before the model is read
    loaded = load(model, *reading)
    answer = cw.independence.query(loaded, statement, time_limit=time_left())
    known = cw.models.structure.structure_of(loaded).evidence
    if output == "json":
        printing.print_json(
            {
                "query": str(answer.statement),
                "answer": answer.word,
                "rule": answer.rule,
                "reason": answer.reason,
                "path": list(answer.path),
                "arrows": list(answer.arrows),
                "features": list(answer.features),
                "assignment": dict(answer.assignment),
                "separator": None if answer.separator is None else list(answer.separator),
                "blocking": list(answer.blocking),
                "equation_5": answer.equation_5,
                "tested": None if known is None else known.record(),
                "evidence": [claim.record() for claim in answer.evidence],
            }
        )
    else:
        click.echo(printable(str(answer)))
        for step in answer.steps:
            click.echo(printable(f"  {step}"))
        for claim in answer.evidence:
            rows = "" if known is None else known.rows_text
            told = f"{rows}: {claim.sentence}: {claim.verdict}, {claim.finding}"
            click.echo(printable(told))
        if known is None:
            how = "contextwise check MODEL ROWS --out MODEL"
            click.echo(f"This is what the model claims; to see what rows say, run: {how}")
    ctx.exit(3 if answer.word == "undecided" else int(not answer))


ABOUT_TWO = ("at", "names", "peers", "data", "weights", "contexts", "align")
"""Options of ``explain`` that need two models."""


@commands.command()
@options.model("true", metavar="MODEL")
@options.model("guess", required=False)
@options.top(least=1)
@options.at
@options.time_limit(default=60)
@options.output("json")
@options.naming
@options.scope
@click.pass_context
def explain(
    ctx: click.Context,
    /,
    true: str,
    guess: str | None,
    at: list[float] | None,
    output: str,
    naming: options.Naming,
    scope: options.Scope,
    **limits: Any,
) -> None:
    """List the claims of MODEL, or show where GUESS differs from it.

    For one model: where each pair of variables is independent, given which others, and where it
    depends; with what the rows say about each claim, if the model has evidence (contextwise check
    writes it). For a Bayesian network also the pairs that only d-separation shows to be
    independent.

    For two models, MODEL is the true one: the contexts in which they differ, and the features
    responsible. False positives are marked "only in guess", false negatives "only in true".

    Contexts are grouped into regions that do not overlap, largest first.

    Exit codes: 0 done, 2 error, 3 stopped by the time limit.

    \b
    Examples:
      contextwise explain learned.json
      contextwise explain learned.json --pairs smoker,cough --context "age=old"
      contextwise explain true.mn learned.mn
      contextwise explain true.mn learned.mn --at 0.3
      contextwise explain true.mn learned.mn --json | jq '.features[0]'
      contextwise explain controls.json patients.json --peers
    """
    options.refuse_alone(ctx, FLAGS, "data")
    if guess is None:
        options.refuse(ctx, ABOUT_TWO, "needs a GUESS")
        model = load(true, scope.format_name, scope.zero_weights, scope.by_values)
        limits["time_limit"] = time_left()
        claims = cw.independence.model_claims.explain_model(
            model, pairs=scope.pairs, variables=scope.variables, context=scope.context, **limits
        )
        _show(claims, {"model": true, **claims.record()}, output)
        ctx.exit(3 if claims.partial else 0)
    if at is not None and len(at) != 1:
        raise click.UsageError("explain takes one tolerance, such as --at 0.3")
    first, second = scope.load_all([true, guess])
    restriction = naming.restrict(scope.keywords(first), *naming.labels([true, guess]))
    limits["time_limit"] = time_left()
    difference = cw.comparison.error_regions.explain(
        first, second, show_progress=True, at=None if at is None else at[0], **limits, **restriction
    )
    options.refuse_nothing(difference.comparison.question)
    roles, counted = difference.comparison.roles, difference.comparison.at
    record = {
        "comparison": cw.comparison.two_models.comparison_record(difference.comparison),
        **({"labels": roles.labels} if roles.peers else {}),
        "summary": difference.comparison.summary(),
        **({} if counted is None else {"at": counted.records()}),
        **difference.record(),
    }
    _show(difference, record, output)
    ctx.exit(3 if difference.partial else 0)


def _show(explained: Explanation | ModelExplanation, record: dict[str, Any], output: str) -> None:
    if output == "json":
        printing.print_json(record)
    else:
        click.echo(str(explained))
