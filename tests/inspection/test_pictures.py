"""SVG pictures: well-formed, with all names escaped, and with what the data say."""

from xml.etree import ElementTree

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from labelrules import Dataset, DecisionList, Evidence, Feature, Head, Rule, Schema, load, parse
from labelrules.inspection import (
    condition_matrix,
    dependency_matrix_svg,
    flow_svg,
    histogram_svg,
    label_graph,
    label_graph_svg,
    row_flow,
)
from labelrules.inspection.pictures.svg import linked
from labelrules.rules import Body, Condition, clinic_truth
from strategies import datasets
from theories import decision_lists

SVG = "{http://www.w3.org/2000/svg}"
NASTY = ["<b>a</b>", 'say "b"', "c & 'd'", "e\u202ef"]
LINK = "/rules?predicts={predicted}&tests={tested}"


def root_of(picture):
    """The picture parsed: it has a title and a description, and is one image or has links."""
    root = ElementTree.fromstring(str(picture))
    assert root.tag == f"{SVG}svg"
    has_links = root.find(f".//{SVG}a") is not None
    assert root.get("role") == ("group" if has_links else "img")
    assert [child.tag for child in root[:2]] == [f"{SVG}title", f"{SVG}desc"]
    return root


def texts(root, tag="text"):
    return ["".join(one.itertext()) for one in root.iter(f"{SVG}{tag}")]


def nasty_theory():
    schema = Schema([Feature("<x> & y"), Feature("z", ("<p>", '"q"'))], NASTY)
    rules = [
        Rule(Head({0: 1}, 4), Body([Condition.above(0, 1.0)]), evidence=(Evidence(3, 1),)),
        Rule(Head({1: 1}, 4), Body([Condition.label(0)]), evidence=(Evidence(2, 1),)),
        Rule(Head({0: 0}, 4), Body([Condition.label(1), Condition.equals(1, 0)])),
        Rule(Head({3: 0}, 4), Body([Condition.label(2, present=False)])),
    ]
    return DecisionList(schema, rules)


def test_names_are_escaped_and_links_quoted():
    theory = nasty_theory()
    for picture in (dependency_matrix_svg, label_graph_svg):
        root = root_of(picture(theory, link=LINK))
        shown = "".join(texts(root))
        assert "<b>a</b>" in shown
        assert 'say "b"' in shown
        assert root.find(".//b") is None
        links = {one.get("href") for one in root.iter(f"{SVG}a")}
        assert "/rules?predicts=say%20%22b%22&tests=%3Cb%3Ea%3C%2Fb%3E" in links
        assert all("<" not in href and '"' not in href for href in links)


def test_histograms_escape_names_and_categories():
    theory = nasty_theory()
    data = Dataset(theory.schema, [[1.0, 0], [2.0, 1], [3.0, 0]], [[0] * 4] * 3)
    matrix = condition_matrix(theory, data)
    for tested in matrix.features:
        root = root_of(histogram_svg(tested))
        assert root.get("data-feature") == tested.feature.name
    for cell in matrix:
        root_of(histogram_svg(matrix.features[cell.feature], cell))
    assert "<p>" in texts(root_of(histogram_svg(matrix.feature("z"))))
    flow = root_of(flow_svg(row_flow(theory, data), link="/r/{layer}/{rule}"))
    assert [one.get("href") for one in flow.iter(f"{SVG}a")][-1] == "/r/1/4"


@settings(max_examples=60, deadline=None, phases=[Phase.generate])
@given(st.data())
def test_pictures_of_any_theory_are_well_formed(draw):
    data = draw.draw(datasets(min_rows=1))
    theory = draw.draw(decision_lists(data.schema, st.sampled_from([0.0, 1.0]), 4))
    root_of(flow_svg(row_flow(theory, data)))
    matrix = condition_matrix(theory, data)
    for cell in matrix:
        root_of(histogram_svg(matrix.features[cell.feature], cell))
    if label_graph(theory).adjacency.any():
        root_of(dependency_matrix_svg(theory, link=LINK))
        root_of(label_graph_svg(theory, link=LINK))


def test_every_mark_and_arrow_says_what_it_stands_for():
    clinic = load("clinic")
    theory = clinic_truth().with_evidence(clinic, clinic)
    edges = label_graph(theory).edges()
    matrix = [t for t in texts(root_of(dependency_matrix_svg(theory)), "title") if "predicted" in t]
    arrows = [t for t in texts(root_of(label_graph_svg(theory)), "title") if "predicted" in t]
    assert len(matrix) == 2 * len(edges)  # in both corners
    assert len(arrows) == len(edges)
    words = (
        "infection is predicted from flu (same sign) by 1 rule on labels only; right 75, wrong 1"
    )
    assert words in matrix
    assert words in arrows


def test_histograms_show_thresholds_and_what_is_covered():
    matrix = condition_matrix(clinic_truth(), load("clinic"))
    cell = next(cell for cell in matrix if cell.text == "crp > 80")
    root = root_of(histogram_svg(matrix.features[cell.feature], cell))
    (line,) = (one for one in root.iter(f"{SVG}g") if one.get("data-threshold"))
    assert line.get("data-threshold") == "80.0"
    assert "own" in line.get("class")
    bars = [one for one in root.iter(f"{SVG}rect") if "bar" in one.get("class")]
    covered = [one for one in bars if "covered" in one.get("class")]
    assert len(bars) == 18
    assert len(covered) == 10  # of 80 to 180
    assert texts(root, "title")[0] == f"crp > 80: {cell.n_inside} rows"


def test_a_link_with_an_unknown_part_is_refused():
    theory = parse("sports <- quality", load("magazines").schema)
    with pytest.raises(ValueError, match=r"the link names \{rules\}.*did you mean"):
        linked("/{rules}", rule=1)
    with pytest.raises(ValueError, match=r"there are only \{predicted\}, \{tested\}"):
        dependency_matrix_svg(theory, link="/{name}")
    with pytest.raises(ValueError, match="nothing to draw"):
        label_graph_svg(parse("sports <- true", load("magazines").schema))
