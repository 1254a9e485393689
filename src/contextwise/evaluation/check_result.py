"""What rows say about the claims of a structure: every test, and what was decided."""

from __future__ import annotations

from dataclasses import dataclass

from contextwise.evaluation.claims import NamedClaim
from contextwise.evaluation.conditional import ConditionalTest
from contextwise.models.domain import Domain


@dataclass(frozen=True)
class CheckedClaim(NamedClaim):
    """One claim and what the rows say about it.

    Attributes
    ----------
    pair : the names
    dependent : what the structure claims about them in this region
    literals : where the region is; none for every context
    rows : how many rows lie in the region
    blanket_of : the variable whose blanket makes the groups
    test : the test within these groups
    both : the test within groups by the blankets of both variables
    adjusted : the p-value after Benjamini and Yekutieli, among all claims of its kind

    Examples
    --------
    >>> from contextwise import Structure
    >>> from contextwise.evaluation import check
    >>> rows = [[0, 0], [1, 1]] * 20
    >>> [claim] = check(Structure({"A": 2, "B": 2}), rows).claims
    >>> claim.pair, claim.dependent, claim.rows, round(claim.test.bits, 1)
    (('A', 'B'), False, 40, 1.0)
    """

    rows: int
    blanket_of: str
    test: ConditionalTest
    both: ConditionalTest
    adjusted: float

    @property
    def speaks(self) -> bool:
        """Whether any row can speak about it."""
        return self.test.rows > 0

    def record(self) -> dict[str, object]:
        """The claim as one flat mapping."""
        return {
            **self.claim_record(),
            "rows": self.rows,
            "speaking_rows": self.test.rows,
            "groups": self.test.groups,
            "silent_groups": self.test.silent,
            "blanket_of": self.blanket_of,
            "statistic": self.test.statistic,
            "bits": self.test.bits,
            "p_value": self.test.p_value if self.speaks else None,
            "p_value_both_blankets": self.both.p_value if self.both.rows else None,
            "adjusted_p_value": self.adjusted if self.speaks else None,
            "draws": self.test.draws,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Check:
    """All claims that were put to the rows.

    Attributes
    ----------
    domain : the variables
    claims : every claim that was tested, in the order of the pairs
    rows : how many rows there were
    pairs : how many pairs were looked at
    left_out : how many regions with fewer rows were not tested
    alpha : the false discovery rate

    Examples
    --------
    >>> from contextwise import Structure
    >>> from contextwise.evaluation import check
    >>> rows = [[0, 0], [1, 1]] * 20
    >>> found = check(Structure({"A": 2, "B": 2}), rows)
    >>> found
    Check(1 claims, 1 contradicted, 0 shown, 0 silent)
    >>> found.records()[0]["speaking_rows"]
    40
    """

    domain: Domain
    claims: tuple[CheckedClaim, ...]
    rows: int
    pairs: int
    left_out: int
    alpha: float

    def of(self, dependent: bool) -> list[CheckedClaim]:
        """The claims of one kind that rows can speak about, the smallest p-value first."""
        own = [c for c in self.claims if c.dependent == dependent and c.speaks]
        return sorted(own, key=lambda c: (c.adjusted, c.test.p_value, -c.test.bits))

    @property
    def contradicted(self) -> list[CheckedClaim]:
        """The claimed independencies that the rows contradict, the strongest first."""
        return [claim for claim in self.of(False) if claim.adjusted <= self.alpha]

    @property
    def shown(self) -> list[CheckedClaim]:
        """The claimed dependencies that the rows show."""
        return [claim for claim in self.of(True) if claim.adjusted <= self.alpha]

    @property
    def silent(self) -> list[CheckedClaim]:
        """The claims about which no row can speak."""
        return [claim for claim in self.claims if not claim.speaks]

    @property
    def undecided(self) -> list[CheckedClaim]:
        """The claims for which too few tables were drawn to decide."""
        return [c for c in self.claims if c.speaks and not c.test.clear and c.adjusted > self.alpha]

    def records(self) -> list[dict[str, object]]:
        """Every claim as a flat mapping, with what was decided."""
        found = {id(c) for c in (*self.contradicted, *self.shown)}
        return [{**c.record(), "rows_show_dependence": id(c) in found} for c in self.claims]

    def __str__(self) -> str:
        from contextwise.report.statistics import check_parts
        from contextwise.report.text import as_text

        return as_text(check_parts(self))

    def _repr_html_(self) -> str:
        from contextwise.report.notebook import check_html

        return check_html(self)

    def __repr__(self) -> str:
        return (
            f"Check({len(self.claims)} claims, {len(self.contradicted)} contradicted, "
            f"{len(self.shown)} shown, {len(self.silent)} silent)"
        )
