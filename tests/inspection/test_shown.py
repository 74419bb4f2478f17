"""Short representations of every value, and what notebooks show of it."""

from html.parser import HTMLParser

import numpy as np
import pytest

from goldens import golden
from labelrules import Dataset, Feature, Schema, load, parse
from labelrules.inspection import compare, counterfactual, explain, label_graph, summary, trace

READERS = load("magazines")
LIST = golden("magazines-multi")
LAYERS = parse(
    "layer 1:\nquality <- sex = Female\nlayer 2, until stable in at most 3 rounds:\n"
    "sports <- not quality\nquality <- not sports\nif no label was found:\ntabloid <- true",
    READERS.schema,
)


class Read(HTMLParser):
    """The text outside of styles; tags have to be closed."""

    void = frozenset({"br", "meta"})

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.text = [], set(), ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data


def values(theory, rows, label, row=0):
    explanation = explain(theory, rows, row, training=rows)
    return {
        "explanation": explanation,
        "label explanation": explanation[label],
        "trace": trace(theory, rows, row),
        "counterfactual": counterfactual(theory, rows, label, row),
        "summary": summary(theory, rows),
        "comparison": compare(theory, theory, rows),
        "label graph": label_graph(theory),
    }


REPRESENTATIONS = {
    "explanation": "Explanation(row 3: quality, fashion; 4 labels explained)",
    "label explanation": "LabelExplanation('sports' absent, by rule 2)",
    "trace": "Trace(quality and fashion; written by 3 rules)",
    "counterfactual": "Counterfactual(sports would be present with education = ...)",
    "summary": "Summary(10 rules, 34 literals, 4 labels; on 14 rows)",
    "comparison": "Comparison(10 rules (34 literals) and 10 rules (34 literals), 10 of them in",
    "label graph": "LabelGraph(1 dependency between 4 labels; 8 rules)",
}


@pytest.mark.parametrize("name", REPRESENTATIONS)
def test_representations_are_short(name):
    one = repr(values(LIST, READERS, "sports", row=3)[name])
    start, _, end = REPRESENTATIONS[name].partition("...")
    assert one.startswith(start)
    assert one.endswith(end)
    assert len(one) < 140


@pytest.mark.parametrize("theory", [LIST, LAYERS], ids=["list", "layers"])
def test_notebooks_show_every_label(theory):
    for name, one in values(theory, READERS, "sports").items():
        read = Read(one._repr_html_())
        assert "script" not in read.tags
        if name in ("explanation", "trace", "summary"):
            assert all(label in read.text for label in READERS.schema.labels), name
        if name not in ("comparison", "label graph"):
            assert "sports" in read.text, name


def test_names_stay_text_everywhere():
    name = '<script>alert("1")</script>\u202e'
    schema = Schema([Feature(f"f{name}", (f"{name}2", "y"))], [name, "l"])
    escaped = name.replace('"', '\\"')
    label, feature = f'"{escaped}"', f'"f{escaped}"'
    theory = parse(f"l <- true\n{label} <- {feature} = y, l\nnot l <- {label}", schema)
    rows = Dataset(schema, np.array([[1.0]]), [[0, 0]])
    for shown in values(theory, rows, name).values():
        read = Read(shown._repr_html_())
        assert "script" not in read.tags
        assert "\u202e" not in read.text


def test_the_notes_of_layers_are_shown():
    text = "layer 1:\nlayer 2, until stable in at most 3 rounds:\nquality <- not quality"
    html = trace(parse(text, READERS.schema), READERS)._repr_html_()
    assert "Not settled: quality changed even in the last round" in Read(html).text
