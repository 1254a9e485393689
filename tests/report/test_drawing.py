"""SVG pictures: every line is there, and names are escaped."""

from __future__ import annotations

from xml.etree import ElementTree

from contextwise import Comparison, Domain, Structure, compare, examples
from contextwise.report.drawing import edge_lines, graph_svg
from contextwise.report.layout import graph_layout
from contextwise.report.pictures import Edge, edges_of
from contextwise.testing import random_structure
from perturbed import perturb

SVG = "{http://www.w3.org/2000/svg}"
NASTY = '<script>alert("1")</script>&\x07'


def random_comparison(variables: int) -> Comparison:
    domain = Domain({f"X{i}": 2 for i in range(variables)})
    true = random_structure(domain, features=variables, rng=1)
    return compare(true, perturb(true, changes=variables // 3 + 1, rng=2))


def nasty_comparison() -> Comparison:
    domain = {NASTY: 2, "B": 2, "C": 2}
    return compare(Structure(domain, [{NASTY: 1, "B": 1}]), Structure(domain, [{NASTY: 1, "C": 1}]))


class TestSvg:
    def test_the_graph_has_a_line_for_each_strand(self) -> None:
        found = compare(examples.load("six"), examples.load("six-guess"))
        edges = edges_of(found)
        places = graph_layout(found.domain.names, [edge.pair for edge in edges])
        picture = ElementTree.fromstring(graph_svg(edges, places))
        lines = [line.attrib["class"] for line in picture.iter(f"{SVG}line")]
        assert lines == [kind for edge in edges for kind, _ in edge.kinds()]
        assert len(list(picture.iter(f"{SVG}circle"))) == 6

    def test_the_same_input_gives_the_same_text(self) -> None:
        found = random_comparison(30)
        edges = edges_of(found)
        texts = [
            graph_svg(edges, graph_layout(found.domain.names, [edge.pair for edge in edges]))
            for _ in range(2)
        ]
        assert texts[0] == texts[1]

    def test_names_are_shown_and_not_run(self) -> None:
        found = nasty_comparison()
        edges = edges_of(found)
        places = graph_layout(found.domain.names, [edge.pair for edge in edges])
        text = graph_svg(edges, places, fixed={NASTY: NASTY})
        assert "<script" not in text
        assert '<script>alert("1")' in "".join(ElementTree.fromstring(text).itertext())

    def test_nothing_at_all_can_be_drawn(self) -> None:
        ElementTree.fromstring(graph_svg([], {}))

    def test_lines(self) -> None:
        (line,) = edge_lines(Edge(("A", "B"), 1.0, 0.0, 0.0), {"A": (0, 0), "B": (9, 0)})
        assert (line.kind, line.width, line.start, line.end) == ("tp", 5.0, (0, 0), (9, 0))
