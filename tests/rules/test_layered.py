"""Layered theories: they print, parse, and do what their slow twin does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelrules import (
    UNSET,
    Body,
    Condition,
    DecisionList,
    Evidence,
    Head,
    Rule,
    RuleTable,
    Schema,
    load,
    parse,
    theory_text,
)
from labelrules.rules import (
    Gibbs,
    LabelByLabel,
    LayeredTheory,
    Once,
    RuleSyntaxError,
    UntilStable,
)
from strategies import schemas
from tables import tables
from theories import boards, decision_lists, rules, scorecards, theories
from twins import layers as naive_layers

READERS = load("magazines")
EVIDENCE = st.sampled_from([False, True, "all"])
FEW = st.sampled_from([-0.5, 0.0, 0.5, 1.0, 1.5])


def ways(n_labels, may_sample=True):
    counts = st.integers(1, 10**6)
    orders = st.none() | st.permutations(range(n_labels))
    found = [
        st.just(Once()),
        st.builds(UntilStable, counts),
        st.builds(LabelByLabel, counts, orders),
    ]
    if may_sample:
        found.append(st.builds(Gibbs, counts, st.integers(0, 10**6), st.integers(0, 10**6)))
    return st.one_of(found)


@st.composite
def layered(draw, schema, values=None, way=None, last=None):
    options = () if values is None else (values,)
    kinds = theories(schema, *options, max_size=5)
    kinds |= scorecards(schema, *options, max_size=5)
    layers = draw(st.lists(kinds, max_size=2))
    layers.append(draw(kinds if last is None else last))
    chosen = way if way is not None else draw(ways(schema.n_labels, layers[-1].ordered))
    return LayeredTheory(schema, layers, chosen, draw(fallbacks(schema, *options)))


def fallbacks(schema, *options):
    """No list for rows without labels, or one whose rules test no labels."""
    listed = decision_lists(schema, *options, max_size=3)
    return st.none() | listed.map(
        lambda theory: DecisionList(schema, [r for r in theory if not r.body.on_labels])
    )


def conditions_of(theory):
    parts = [*theory.layers, theory.fallback or []]
    return [[rule.body.conditions for rule in part] for part in parts]


def evidence_of(layer):
    return [rule.evidence for rule in layer]


# ---------------------------------------------------------------- language


@given(st.data(), st.sampled_from(["plain", "unicode", "ascii"]), EVIDENCE)
def test_any_layered_theory_survives_printing(data, style, evidence):
    schema = data.draw(schemas())
    theory = data.draw(layered(schema))
    text = theory_text(theory, style, evidence)
    found = parse(text, schema)
    assert found == theory
    assert hash(found) == hash(theory)
    assert conditions_of(found) == conditions_of(theory)
    assert [type(layer) for layer in found.layers] == [type(layer) for layer in theory.layers]
    if evidence == "all":
        assert evidence_of(found) == evidence_of(theory)
    if style == "ascii":
        assert text.isascii()
    assert theory_text(found, style, evidence) == text


TWO = """layer 1:
quality <- education = University
otherwise: not quality
layer 2:
sports <- quality"""


@pytest.mark.parametrize(
    ("way", "heading"),
    [
        (Once(), "layer 2:"),
        (UntilStable(), "layer 2, until stable in at most 10 rounds:"),
        (UntilStable(1), "layer 2, until stable in at most 1 round:"),
        (LabelByLabel(3), "layer 2, label by label in at most 3 rounds:"),
        (
            LabelByLabel(3, [3, 0, 2, 1]),
            "layer 2, label by label in at most 3 rounds, "
            "in the order sports, quality, fashion, tabloid:",
        ),
        (Gibbs(500, 20, 7), "layer 2, sampled 500 times after 20 rounds, seed 7:"),
    ],
)
def test_headings(way, heading):
    theory = parse(TWO, READERS.schema).with_inference(way)
    text = TWO.replace("layer 2:", heading)
    assert str(theory) == text
    assert parse(text, READERS.schema) == theory
    assert parse(text.replace(":\n", " : # last\n"), READERS.schema) == theory


def test_rules_for_rows_without_labels():
    text = TWO + "\nif no label was found:\nfashion <- sex = Female\notherwise: tabloid"
    theory = parse(text, READERS.schema)
    assert str(theory) == text
    assert theory.layers == parse(TWO, READERS.schema).layers
    assert len(theory) == 5
    assert theory.with_fallback(None) == parse(TWO, READERS.schema)
    assert theory != theory.with_fallback(None)
    women = READERS.column("sex") == 1
    bare = ~parse(TWO, READERS.schema).predict(READERS).any(axis=1)
    expected = np.zeros((14, 4))
    expected[~bare] = parse(TWO, READERS.schema).predict(READERS)[~bare]
    expected[bare & women, 2] = 1
    expected[bare & ~women, 1] = 1
    np.testing.assert_array_equal(theory.predict(READERS), expected)
    empty = parse(TWO + "\nif no label was found:", READERS.schema)
    assert len(empty.fallback) == 0
    full = theory.as_full_predictions()
    assert all(rule.head.is_complete for rule in full.fallback)


def test_one_list_needs_no_heading_before_the_rules_for_other_rows():
    text = "quality <- sex = Male\nif no label was found:\nsports <- children = No"
    theory = parse(text, READERS.schema)
    assert theory == parse("layer 1:\n" + text, READERS.schema)
    assert str(theory) == text
    assert isinstance(theory, LayeredTheory)
    assert str(theory.with_fallback(None)).startswith("layer 1:\n")
    assert str(theory.with_inference(UntilStable(3))).startswith("layer 1, until stable")
    for empty in ("if no label was found:", "in any order:\nif no label was found:"):
        assert str(parse(empty, READERS.schema)) == empty


def test_the_first_rule_that_holds_decides_a_row_without_labels():
    """The heading is no longer true of a row that has got a label."""
    text = (
        "if no label was found:\nfashion <- sex = Female\nnot tabloid <- children = No\n"
        "tabloid <- true"
    )
    theory = parse(text, READERS.schema)
    women, bare = READERS.column("sex") == 1, READERS.column("children") == 0
    predicted = theory.predict(READERS)
    np.testing.assert_array_equal(predicted[:, 2], women)
    np.testing.assert_array_equal(predicted[:, 1], ~women & ~bare)
    assert all(rule.stops for rule in theory.fallback)
    counted = theory.with_evidence(READERS, READERS.Y)
    assert [sum(rule.evidence[0]) for rule in counted.fallback] == [
        women.sum(), (~women & bare).sum(), (~women & ~bare).sum()
    ]  # fmt: skip
    assert "*" not in theory_text(counted, evidence=True)


def test_a_label_may_be_called_layer():
    schema = Schema([], ["layer", "x 1:"])
    text = (
        "layer 1:\nlayer <- true\n'x 1:' <- layer\nlayer 2, label by label in at most 2 "
        "rounds, in the order 'x 1:', layer:\nnot layer <- 'x 1:'"
    )
    theory = parse(text, schema)
    assert str(theory) == text
    assert theory.inference.order == (1, 0)


def test_empty_layers_and_rule_sets():
    text = "layer 1:\nlayer 2:\nin any order:\nlayer 3:\nin any order:\nquality <- tabloid"
    theory = parse(text, READERS.schema)
    assert [len(layer) for layer in theory.layers] == [0, 0, 1]
    assert [layer.ordered for layer in theory.layers] == [True, False, False]
    assert str(theory) == text


BAD = [
    ("layer 1\nquality <- true", 1, "expected a colon"),
    ("layer 2:\nquality <- true", 1, "this is layer 1, not 2"),
    ("layer 1:\nlayer 1:", 2, "this is layer 2, not 1"),
    ("quality <- true\nlayer 1:", 2, "rules stand before the heading of the first layer"),
    (
        "layer 1, until stable in at most 3 rounds:\nlayer 2:",
        2,
        "only the last layer has an inference",
    ),
    ("layer 1, for ever:", 1, "expected 'until stable in at most', 'label by label"),
    ("layer 1, until stable in at most 0 rounds:", 1, "max_rounds must be a whole number of at"),
    ("layer 1, until stable in at most 3 times:", 1, "expected 'rounds' after their number"),
    ("layer 1, until stable in at most many rounds:", 1, "'many' is not a count"),
    ("layer 1, sampled 3 rounds:", 1, "expected 'times after' and a number of rounds"),
    ("layer 1, sampled 3 times after 1 round:", 1, "expected a comma, 'seed' and a number"),
    ("layer 1, label by label in at most 3 rounds, quality:", 1, "expected 'in the order'"),
    (
        "layer 1, label by label in at most 3 rounds, in the order quality, quality:",
        1,
        "order must name each of the 4 labels once",
    ),
    (
        "layer 1, label by label in at most 3 rounds, in the order qualty:",
        1,
        "there is no label 'qualty'; did you mean 'quality'?",
    ),
    (
        "layer 1, label by label in at most 3 rounds, in the order not quality:",
        1,
        "expected a label",
    ),
    ("layer 1: quality <- true", 1, "expected the end of the line, not 'quality'"),
    ("layer 1: 2", 1, "expected the end of the line"),
    (
        f"{TWO}\nif no label was found\nquality <- true",
        6,
        "expected 'if no label was found:', with",
    ),
    (
        f"{TWO}\nif no label is found:\nquality <- true",
        6,
        "expected 'if no label was found:', with",
    ),
    (f"{TWO}\nif no label was found: quality", 6, "or 'the label with the most points', not 'qual"),
    (f"{TWO}\nif no label was found: # end\nlayer 3:", 7, "nothing comes after the rules below"),
    (f"{TWO}\nif no label was found:\nif no label was found:", 7, "nothing comes after the rules"),
    (f"{TWO}\nif no label was found:\nquality <- tabloid", 7, "test no labels"),
    (f"{TWO}\nif no label was found:\nin any order:", 7, "have an order"),
    ("if no label was found:\nquality <- true\nlayer 1:", 3, "nothing comes after the rules below"),
    ("layer one:\nquality <- true", 1, "there is no label 'layer'"),
]


@pytest.mark.parametrize(("text", "line", "message"), BAD)
def test_headings_that_are_wrong(text, line, message):
    with pytest.raises(RuleSyntaxError, match=message) as caught:
        parse(text, READERS.schema)
    assert caught.value.line == line


@given(st.text(alphabet="layer12,:unti sbomds\nqu<-", max_size=60).map("layer 1".__add__))
def test_texts_that_begin_like_a_layer_are_parsed_or_refused_with_a_place(text):
    try:
        theory = parse(text, READERS.schema)
    except RuleSyntaxError:
        return
    assert parse(str(theory), READERS.schema) == theory


# ---------------------------------------------------------------- as values


def test_layers_are_values():
    theory = parse(TWO, READERS.schema)
    assert isinstance(theory, LayeredTheory)
    assert theory == parse(TWO, READERS.schema)
    assert theory != theory.with_inference(UntilStable())
    assert theory != theory.layers[0]
    assert len({theory, parse(TWO, READERS.schema), theory.with_inference(UntilStable())}) == 2
    assert repr(theory) == "<LayeredTheory: 2 layers, 3 rules, 4 literals for 4 labels>"
    assert len(theory) == 3
    assert list(theory) == [*theory.layers[0], *theory.layers[1]]
    assert theory[2] == theory.layers[1][0]
    with pytest.raises(TypeError, match=r"take theory\.layers"):
        theory[:1]
    full = theory.as_full_predictions()
    assert all(rule.head.is_complete for rule in full)


def test_sampled_theories_differ_by_their_evidence_and_print_it():
    text = "layer 1, sampled 9 times after 1 round, seed 0:\notherwise: quality (3/1)"
    theory = parse(text, READERS.schema)
    assert str(theory) == text
    assert theory != parse(text.replace("3/1", "4/1"), READERS.schema)
    once = theory.with_inference(Once())
    assert once == parse(text.replace("3/1", "4/1"), READERS.schema).with_inference(Once())


def test_what_cannot_be_layers():
    schema = READERS.schema
    with pytest.raises(ValueError, match="at least one layer"):
        LayeredTheory(schema, [])
    with pytest.raises(
        ValueError, match="layer 1 must be a DecisionList or a RuleSet, not Layered"
    ):
        LayeredTheory(schema, [parse(TWO, schema)])
    with pytest.raises(ValueError, match="layer 2 is over another schema"):
        LayeredTheory(schema, [DecisionList(schema), DecisionList(Schema([], ["a"]))])
    with pytest.raises(ValueError, match=r"inference must be Once\(\)"):
        LayeredTheory(schema, [DecisionList(schema)], "once")
    with pytest.raises(ValueError, match="a rule set cannot be sampled from"):
        LayeredTheory(schema, [parse("in any order:\nquality <- true", schema)], Gibbs())
    with pytest.raises(ValueError, match="order must name each of the 4 labels once"):
        LayeredTheory(schema, [DecisionList(schema)], LabelByLabel(order=[0, 1]))
    with pytest.raises(ValueError, match="rule 1 for rows without labels tests a label"):
        LayeredTheory(schema, [DecisionList(schema)], None, parse("quality <- tabloid", schema))
    with pytest.raises(ValueError, match="fallback must be a DecisionList, not a RuleSet"):
        LayeredTheory(schema, [DecisionList(schema)], None, parse("in any order:", schema))
    with pytest.raises(ValueError, match="fallback is over another schema"):
        LayeredTheory(schema, [DecisionList(schema)], None, DecisionList(Schema([], ["a"])))
    with pytest.raises(TypeError, match="not of a LayeredTheory"):
        RuleTable(parse(TWO, schema))
    for wrong in (0, -1, 1.5, True, "3", None):
        with pytest.raises(ValueError, match="max_rounds must be a whole number"):
            UntilStable(wrong)
    with pytest.raises(ValueError, match="random_state must be"):
        Gibbs(random_state=-1)


# ---------------------------------------------------------------- applying


@st.composite
def applied(draw, way, last=None):
    """A table, a theory over it, and some labels that are known."""
    data = draw(tables(max_rows=6, max_labels=4, storage=("dense", "sparse")))
    theory = draw(layered(data.schema, FEW, way, None if last is None else last(data.schema)))
    shape = (data.n_rows, data.schema.n_labels)
    known = np.array(draw(boards(*shape)), np.int8).reshape(shape)
    return data, theory, draw(st.sampled_from([None, known]))


def dense(data):
    return np.column_stack(
        [np.empty((data.n_rows, 0)), *(data.column(j) for j in range(data.schema.n_features))]
    )


@given(applied(Once()))
def test_each_layer_reads_the_one_before(case):
    data, theory, known = case
    run = theory.run(data, known)
    start = data.empty_board() if known is None else known
    expected = naive_layers.run(theory.layers, dense(data), start)
    for found, (board, writer) in zip(run.layers, expected, strict=True):
        np.testing.assert_array_equal(found.board, board)
        np.testing.assert_array_equal(found.writer, writer)
    final = naive_layers.fall_back(theory.fallback, dense(data), start, expected[-1][0])
    np.testing.assert_array_equal(theory.apply(data, known), final)
    if known is None:
        np.testing.assert_array_equal(theory.predict(data), naive_layers.close(final))
    assert not run.moving.any()
    assert not run.rounds.any()


@given(applied(Once()))
def test_one_layer_is_the_theory_alone_and_layers_can_be_split(case):
    data, theory, known = case
    first = LayeredTheory(theory.schema, theory.layers[:1])
    np.testing.assert_array_equal(first.apply(data, known), theory.layers[0].apply(data, known))
    if len(theory.layers) > 1:
        rest = LayeredTheory(theory.schema, theory.layers[1:], fallback=theory.fallback)
        seen = naive_layers.close(first.apply(data, known))
        np.testing.assert_array_equal(
            rest.apply(data, known, reads=seen), theory.apply(data, known)
        )


@given(applied(UntilStable(5)) | applied(UntilStable(1)) | applied(UntilStable(2)))
def test_until_stable(case):
    data, theory, known = case
    run, start = theory.run(data, known), data.empty_board() if known is None else known
    limit = theory.inference.max_rounds
    for row, x in enumerate(dense(data)):
        cells, n_rounds, moving = naive_layers.row_until_stable(theory.layers, x, start[row], limit)
        np.testing.assert_array_equal(run.layers[-1].board[row], cells)
        assert run.rounds[row] == n_rounds
        assert set(np.flatnonzero(run.moving[row]).tolist()) == moving
    settled = np.flatnonzero(run.rounds)
    last, labels = theory.layers[-1], naive_layers.close(run.layers[-1].board)
    again = last.apply(data, known, reads=labels)
    np.testing.assert_array_equal(naive_layers.close(again)[settled], labels[settled])


@given(st.data())
def test_label_by_label(data):
    table = data.draw(tables(max_rows=6, max_labels=4))
    order = data.draw(st.none() | st.permutations(range(table.schema.n_labels)))
    way = LabelByLabel(data.draw(st.integers(1, 4)), order)
    theory = data.draw(layered(table.schema, FEW, way))
    run = theory.run(table)
    for row, x in enumerate(dense(table)):
        cells, n_rounds = naive_layers.row_label_by_label(
            theory.layers, x, table.empty_board()[row], way.labels(run.board.shape[1]),
            way.max_rounds,
        )  # fmt: skip
        np.testing.assert_array_equal(run.layers[-1].board[row], cells)
        assert run.rounds[row] == n_rounds
        if n_rounds:  # the rule named for a cell is the one that the layer would name
            (_, expected) = naive_layers.ask(
                theory.layers[-1], x[None], table.empty_board()[row : row + 1],
                naive_layers.close(cells[None]),
            )  # fmt: skip
            np.testing.assert_array_equal(run.layers[-1].writer[row], expected[0])


def with_counts(theory, evidence=Evidence(5, 2)):  # noqa: B008
    counted = [
        rule.with_evidence([evidence] * len(rule.head)) if not rule.is_counted else rule
        for rule in theory
    ]
    return DecisionList(theory.schema, counted)


@given(st.data())
@settings(max_examples=50)
def test_sampling(data):
    table = data.draw(tables(max_rows=4, max_labels=3))
    way = Gibbs(data.draw(st.integers(1, 8)), data.draw(st.integers(0, 3)), 1)
    last = decision_lists(table.schema, FEW, max_size=6).map(with_counts)
    theory = data.draw(layered(table.schema, FEW, way, last))
    run = theory.run(table)
    for row, x in enumerate(dense(table)):
        expected = naive_layers.row_sampled(theory.layers, x, way)
        np.testing.assert_allclose(run.presence[row], expected)
    np.testing.assert_array_equal(run.layers[-1].board, run.presence > 0.5)
    np.testing.assert_array_equal(theory.run(table.take([0])).presence, run.presence[:1])


def test_sampling_finds_the_distribution_that_its_conditionals_have():
    """Two labels: P(a|b) = 3/4, P(a|not b) = 1/4, P(b|a) = 1/2, P(b|not a) = 1/6."""
    schema = Schema([], ["a", "b"])
    theory = parse(
        """
        layer 1, sampled 20000 times after 100 rounds, seed 0:
        a <- b (2/0)
        a <- not b (0/2)
        b <- a (1/1)
        b <- not a (0/4)
        """,
        schema,
    )
    # The stationary distribution of the sweep a, then b.
    a_given, b_given = {1: 3 / 4, 0: 1 / 4}, {1: 1 / 2, 0: 1 / 6}
    p = 0.5
    for _ in range(200):
        a = p * a_given[1] + (1 - p) * a_given[0]
        p = a * b_given[1] + (1 - a) * b_given[0]
    found = theory.run(np.empty((1, 0))).presence[0]
    np.testing.assert_allclose(found, [a, p], atol=0.01)


def test_known_labels_are_kept_in_sampling():
    schema = Schema([], ["a", "b"])
    text = "layer 1, sampled 50 times after 5 rounds, seed 0:\na <- b (9/0)\nb <- true (0/9)"
    known = np.array([[UNSET, 1]], np.int8)
    presence = parse(text, schema).run(np.empty((1, 0)), known).presence
    np.testing.assert_allclose(presence, [[10 / 11, 1.0]])


def test_rows_without_labels_in_sampling():
    """Evidence of the list for them is counted on the rows that have none when sampled."""
    schema = Schema([], ["a", "b"])
    text = (
        "layer 1, sampled 50 times after 5 rounds, seed 0:\na <- true (1/9)\n"
        "if no label was found:\nb <- true (0/0)"
    )
    rows, Y = np.empty((4, 0)), np.array([[0, 1], [0, 1], [0, 0], [1, 0]])
    theory = parse(text, schema).with_evidence(rows, Y)
    assert theory.fallback[0].evidence == (Evidence(2, 2),)
    assert theory.layers[0][0].evidence == (Evidence(1, 3),)
    np.testing.assert_array_equal(theory.predict(rows), [[0, 1]] * 4)


def test_rules_without_evidence_cannot_be_sampled_from():
    theory = parse(TWO, READERS.schema).with_inference(Gibbs())
    with pytest.raises(ValueError, match=r"rule 1 of the last layer has no evidence"):
        theory.predict(READERS)
    assert theory.with_evidence(READERS, READERS.Y).predict(READERS).shape == (14, 4)


def test_boards_of_the_wrong_shape_are_refused():
    theory = parse(TWO, READERS.schema)
    with pytest.raises(ValueError, match="board has the shape"):
        theory.apply(READERS, np.zeros((3, 4), np.int8))
    with pytest.raises(ValueError, match="reads has the shape"):
        theory.apply(READERS, reads=np.zeros((14, 3), np.int8))


# ---------------------------------------------------------------- evidence


@given(applied(Once()) | applied(UntilStable(3)))
def test_evidence_is_counted_where_rules_decide(case):
    data, theory, _ = case
    counted = theory.with_evidence(data, data.Y)
    assert counted == theory
    runs = theory.run(data).layers
    for layer, run in zip(counted.layers, runs, strict=True):
        if not layer.ordered:
            continue
        for number, rule in enumerate(layer):
            for label, evidence in zip(rule.head.labels, rule.evidence, strict=True):
                wrote = run.writer[:, label] == number
                right = run.board[:, label] == data.Y[:, label]
                assert evidence == ((wrote & right).sum(), (wrote & ~right).sum())
    if theory.fallback is not None:
        bare = (runs[-1].board != 1).all(axis=1)
        alone = theory.fallback.with_evidence(data.take(bare), data.Y[bare])
        assert evidence_of(counted.fallback) == evidence_of(alone)


@given(applied(Gibbs(3), last=lambda schema: decision_lists(schema, FEW, max_size=5)))
def test_for_sampling_evidence_is_counted_on_the_true_labels(case):
    data, theory, _ = case
    counted = theory.with_evidence(data, data.Y)
    run = theory.layers[-1].run(data, reads=data.Y)
    assert evidence_of(counted.layers[-1]) == evidence_of(
        theory.layers[-1].with_counts(run, data.Y)
    )


def test_evidence_needs_as_many_labels_as_rows():
    with pytest.raises(ValueError, match="X has 14 rows but Y has 3"):
        parse(TWO, READERS.schema).with_evidence(READERS, READERS.Y[:3])


# ---------------------------------------------------------------- reports


def test_the_report_names_rows_and_labels_that_do_not_settle():
    theory = parse(
        """
        layer 1:
        quality, sports <- sex = Male
        not quality, sports <- true
        layer 2, until stable in at most 6 rounds:
        quality <- not sports
        sports <- not quality
        """,
        READERS.schema,
    )
    run = theory.run(READERS)
    men = np.flatnonzero(READERS.column("sex") == 0)
    np.testing.assert_array_equal(run.unsettled, men)
    assert str(run).splitlines()[:2] == [
        "5 of 14 rows are settled, after 1 round(s)",
        f"  row {men[0]}: quality, sports still changed",
    ]
    many = theory.run(READERS.take(np.repeat(men, 2)))
    assert str(many).splitlines()[-1] == "  ... and 8 more"


def test_rules_of_one_label_decide_alone_unless_another_may_stop_the_list():
    """Label by label, a stop mark of a rule for another label must not be lost."""
    schema = Schema([], ["a", "b"])
    rule = Rule(Head({0: 1}, 2), Body([Condition.label(1)]), stops=True)
    last = DecisionList(schema, [rule, Rule(Head({1: 1}, 2))])
    first = DecisionList(schema, [Rule(Head({1: 1}, 2))])
    theory = LayeredTheory(schema, [first, last], LabelByLabel(5))
    # b is present at first; so the first rule stops the list, and b becomes absent; and so on.
    run = theory.run(np.empty((1, 0)))
    np.testing.assert_array_equal(run.moving, [[True, True]])
    np.testing.assert_array_equal(run.board, [[1, UNSET]])


@given(rules(READERS.schema), st.integers(0, 3))
def test_a_rule_may_write_what_it_reads_in_another_layer(rule, label):
    own = Rule(Head({label: 1}, 4), Body([Condition.label(label, False)]))
    theory = LayeredTheory(
        READERS.schema,
        [DecisionList(READERS.schema, [rule])] * 2 + [DecisionList(READERS.schema, [own])],
    )
    before = LayeredTheory(READERS.schema, theory.layers[:2]).predict(READERS)
    np.testing.assert_array_equal(theory.predict(READERS)[:, label], 1 - before[:, label])
