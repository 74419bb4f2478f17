"""Conditions on times, ordered categories, amounts and sets of categories, from text to exports."""

import datetime as dt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import Pipeline

import exports
from extras import pd, pl
from labelrules import (
    BinaryRelevance,
    Body,
    Condition,
    ConstrainedClassifier,
    Feature,
    Predictor,
    Ripper,
    Schema,
    Scorecard,
    SeparateAndConquer,
    dataset,
    explain,
    from_json,
    parse,
    theory_text,
    to_json,
)
from labelrules.data import DataError, encode
from labelrules.export import to_pmml, to_sql
from labelrules.inspection import counterfactual
from labelrules.rules import (
    RuleSyntaxError,
    RuleTable,
    is_more_general,
    overlap,
    theory_html,
    theory_latex,
    theory_markdown,
)
from theories import bodies
from twins import rules as naive

SIZES = ("S", "M", "L")
SCHEMA = Schema(
    [
        Feature("signup", kind="date"),
        Feature("visit", kind="time"),
        Feature("seen", kind="UTC time"),
        Feature("stay", kind="duration"),
        Feature("size", SIZES, "ordered"),
        Feature("refund", kind="amount"),
        Feature("region", ("North", "South", "East", "West side")),
    ],
    ["a", "b"],
)
TEXT = """a <- signup <= 2018-12-30, stay > 3 days 4 h
b <- visit > 2018-12-30T14:00, size <= M
a, not b <- seen <= 2018-12-30T14:00Z, "refund"
b <- not "refund", region in {North, "West side"}
not a <- refund > 0.5, size > S, stay <= -1 h 30 min"""


def test_all_kinds_are_printed_and_read_back():
    theory = parse(TEXT, SCHEMA)
    assert theory_text(theory) == TEXT
    for style in ("unicode", "ascii"):
        assert parse(theory_text(theory, style=style), SCHEMA) == theory
    assert from_json(to_json(theory)) == theory
    assert parse(TEXT.replace("3 days 4 h", "3 days 04:00:00"), SCHEMA) == theory


def test_formats_show_them():
    theory = parse(TEXT, SCHEMA)
    latex = theory_latex(theory)
    assert r"\text{size} \leq \text{M}" in latex
    assert r"\text{region} \in \{\text{North}, \text{West side}\}" in latex
    assert r"\text{stay} > \text{3 days 4 h}" in latex
    html = theory_html(theory)
    for part in ("2018-12-30", "3 days 4 h", "{North, West side}", "“<b>refund</b>”"):
        assert part in html
    assert "region in" in theory_markdown(theory)


@pytest.mark.parametrize(("body", "message"), [
    ("signup = 2018-12-30", "'signup' is date: compare it by <= or >"),
    ("signup <= 17895", "expected a date such as 2018-12-30, not '17895'"),
    ("signup <= 2018-02-30", "expected a date such as 2018-12-30, not '2018-02-30'"),
    ("signup <=", "expected a date such as 2018-12-30, but the line ends"),
    ("visit <= 2018-12-30T14:00Z", "expected a time such as 2018-12-30T14:00, not"),
    ("stay > 3", "expected a duration such as 3 days 4 h 30 min, not '3'"),
    ("stay > 3 weeks ago", "not '3 weeks ago'"),
    ("size = M", "'size' is ordered: compare it by <= or >"),
    ("size <= XL", "'size' has no category 'XL'"),
    ("size in {S}", "'size' is ordered: compare it by <= or >"),
    ("refund", "it stands in double quotes"),
    ("region in {}", "expected a category"),
    ("region in {North", "expected a comma or a closing brace"),
    ("region in {North, North}", "the category 'North' is named twice"),
    ("region in {Nord}", "'region' has no category 'Nord'"),
    ("region in North", "'region' is a feature: compare it with a value"),
    ("not region in {North}", "'region' is a feature: compare it with a value"),
])  # fmt: skip
def test_errors_point_at_the_place(body, message):
    with pytest.raises(RuleSyntaxError) as caught:
        parse(f"a <- {body}", SCHEMA)
    assert message in str(caught.value)


def test_long_sets_go_on_in_the_next_line():
    schema = Schema([Feature("city", tuple(f"city number {i}" for i in range(40)))], ["a"])
    theory = parse(
        "a <- city in {" + ", ".join(f'"city number {i}"' for i in range(30)) + "}", schema
    )
    assert len(theory_text(theory).splitlines()) > 3
    assert parse(theory_text(theory), schema) == theory


def test_a_feature_called_in():
    schema = Schema([Feature("in", ("in", "out"))], ["a"])
    theory = parse("a <- in in {in, out}", schema)
    assert parse(theory_text(theory), schema) == theory


def test_sets_have_meaning():
    both, one = Condition.among(6, [0, 1]), Condition.equals(6, 1)
    assert Body([Condition.among(6, [1])]) == Body([one]) == Body([both, one])
    assert Body([both, Condition.differs(6, 0)]) == Body([one])
    assert Body([both, Condition.among(6, [1, 2])]) == Body([one])
    assert not Body([both, Condition.equals(6, 2)]).is_satisfiable
    assert is_more_general(Body([both]), Body([one]), SCHEMA)
    assert not is_more_general(Body([one]), Body([both]), SCHEMA)
    assert is_more_general(
        Body([Condition.among(6, [1, 2, 3])]), Body([Condition.differs(6, 0)]), SCHEMA
    )
    assert not overlap(Body([both]), Body([Condition.among(6, [2, 3])]), SCHEMA)
    assert both == Condition.among(6, (1, 0, 1))
    assert hash(both) == hash(Condition.among(6, [1, 0]))
    for wrong in (
        lambda: Condition.among(6, []),
        lambda: Condition.among(6, [-1]),
        lambda: Condition.among(6, [0.5]),
        lambda: Condition(6, "=", 1, codes=(1,)),
        lambda: Condition(0, "in", 1, on_label=True, codes=(1,)),
    ):
        with pytest.raises(ValueError, match=r"categor|label"):
            wrong()


@given(st.data())
def test_covers_as_the_twin_does(data):
    body = data.draw(bodies(SCHEMA, st.sampled_from([0.0, 0.5])))
    cells = st.sampled_from([float("nan"), 0.0, 1.0, 2.0])
    X = np.array(data.draw(st.lists(st.tuples(*[cells] * 7), min_size=1, max_size=5)))
    board = np.zeros((len(X), 2), np.int8)
    expected = [all(naive.holds(c, row, board[0]) for c in body) for row in X]
    assert body.covers(X, board).tolist() == expected


@pytest.mark.parametrize(("record", "message"), [
    ({"operator": "in", "value": []}, "a list of categories is for the operator in"),
    ({"operator": "=", "value": ["North"]}, "a list of categories is for the operator in"),
    ({"operator": "in", "value": "North"}, "a list of categories is for the operator in"),
    ({"operator": "in", "value": ["South", "North"]}, "in the order of the schema"),
    ({"operator": "in", "value": ["Nord"]}, "there is no category 'Nord'"),
    ({"column": "signup", "operator": "<=", "value": 3}, "must be text, a date such as"),
    ({"column": "signup", "operator": "<=", "value": "soon"}, "must be a date such as 2018-12-30"),
    ({"column": "size", "operator": "in", "value": ["S"]}, "numbers are compared by <= and >"),
])  # fmt: skip
def test_wrong_conditions_in_files(record, message):
    import json

    document = json.loads(to_json(parse("a <- region = North", SCHEMA)))
    document["theory"]["rules"][0]["body"][0].update(record)
    with pytest.raises(DataError, match=message):
        from_json(json.dumps(document))


def visits(n=300, seed=0):
    """A frame with dates, times, durations and sizes, and labels that follow from them."""
    random = np.random.default_rng(seed)
    start = pd.Timestamp("2017-01-01")
    frame = pd.DataFrame(
        {
            "signup": start + pd.to_timedelta(random.integers(0, 1000, n), "D"),
            "visit": start + pd.to_timedelta(random.integers(0, 1000 * 86400, n), "s"),
            "stay": pd.to_timedelta(random.integers(0, 10 * 86400, n), "s"),
            "size": pd.Categorical.from_codes(random.integers(0, 3, n), SIZES, ordered=True),
        }
    )
    labels = pd.DataFrame(
        {
            "old": (frame.signup <= "2018-12-30") & (frame["size"] <= "M"),
            "long": frame.stay > pd.Timedelta("3 days 2 h"),
            "late": frame.visit > "2018-03-05 12:00",
        }
    )
    frame = frame.mask(random.random(frame.shape) < 0.02)
    return frame, labels.astype(int)


@pytest.mark.parametrize("learner", [SeparateAndConquer(), Scorecard(), BinaryRelevance(Ripper())])
def test_learners_cut_times_and_orders(learner):
    frame, labels = visits()
    model = learner.fit(frame, labels)
    theory = model.theory_
    tested = {c.column for rule in theory for c in rule.body.on_features}
    assert tested == {0, 1, 2, 3}
    assert parse(theory_text(theory), theory.schema) == theory
    assert (from_json(to_json(model)).predict(frame) == model.predict(frame)).all()
    assert (RuleTable(theory).predict(frame) == theory.predict(frame)).all() or theory.label_sets
    explanation = explain(model, frame, 1)
    assert str(explanation)
    assert explanation.text(details=True)
    assert explanation._repr_html_()


def test_thresholds_part_the_training_rows_as_the_neighbours_do():
    frame, labels = visits()
    theory = SeparateAndConquer().fit(frame, labels).theory_
    assert "stay <= 3 days 2 h" in theory_text(theory)
    assert (theory.predict(frame) == labels.to_numpy()).mean() > 0.97


def test_a_model_reads_text_and_other_libraries():
    frame, labels = visits()
    model = SeparateAndConquer().fit(frame[["signup", "size"]], labels)
    expected = model.predict(frame[["signup", "size"]])
    texts = pd.DataFrame({
        "signup": frame.signup.dt.strftime("%Y-%m-%d"), "size": frame["size"].astype(object)
    })  # fmt: skip
    assert (model.predict(texts) == expected).all()
    days = pl.DataFrame(
        {
            "signup": [None if pd.isna(x) else x.date() for x in frame.signup],
            "size": [None if pd.isna(x) else x for x in frame["size"]],
        }
    )
    assert (model.predict(days) == expected).all()


def test_counterfactuals_change_to_times_and_next_categories():
    theory = parse(TEXT, SCHEMA)
    row = [[17895.0, np.nan, np.nan, 0.0, 0.0, np.nan, np.nan]]
    encoded = dataset([[0] * 7], [[0, 0]])
    rows = type(encoded)(SCHEMA, np.array(row), np.zeros((1, 2), np.int8))
    assert str(counterfactual(theory, rows, "a")) == (
        "a would be present with stay = 3 days 5 h instead of 0 s"
    )
    found = counterfactual(parse("a <- size > M", SCHEMA), rows, "a")
    assert str(found) == "a would be present with size = L instead of S"
    none = counterfactual(parse("a <- size > L", SCHEMA), rows, "a")
    assert none.status == "impossible"
    inside = counterfactual(parse("a <- region in {South, East}", SCHEMA), rows, "a")
    assert str(inside) == "a would be present with region = South instead of ?"
    absent = counterfactual(parse('a <- not "refund"', SCHEMA), rows, "a")
    assert absent.changes[0].condition == "refund were absent"


def test_exports_agree():
    frame, labels = visits()
    theory = SeparateAndConquer().fit(frame, labels).theory_
    objects = frame.astype(object).where(frame.notna(), None)
    rows = objects.to_dict("records")
    expected = theory.predict(frame)
    np.testing.assert_array_equal(exports.by_python(theory, rows), expected)
    np.testing.assert_array_equal(exports.by_node(theory, [*map(as_json, rows)]), expected)
    found = Predictor(theory)
    np.testing.assert_array_equal(found.predict(rows), expected)
    short = SeparateAndConquer().fit(frame[["signup", "visit", "size"]], labels).theory_
    expected = short.predict(frame[["signup", "visit", "size"]])
    np.testing.assert_array_equal(exports.by_pmml(short, rows), expected)
    np.testing.assert_array_equal(exports.by_sql("duckdb", short, rows), expected)
    days = SeparateAndConquer().fit(frame[["signup", "size"]], labels).theory_
    expected = days.predict(frame[["signup", "size"]])
    texts = [row | {"signup": row["signup"] and str(row["signup"].date())} for row in rows]
    np.testing.assert_array_equal(exports.by_sql("sqlite", days, texts), expected)


def as_json(row):
    """Times as text, durations in milliseconds."""
    texts = {}
    for name, value in row.items():
        if isinstance(value, dt.timedelta):
            texts[name] = value / dt.timedelta(milliseconds=1)
        else:
            texts[name] = value.isoformat() if isinstance(value, dt.date) else value
    return texts


def test_exported_javascript_has_zones_and_durations():
    theory = parse(
        "a <- seen <= 2018-12-30T14:00Z\nb <- stay > 3 days\n"
        "a, b <- signup > 2018-12-30, visit <= 2018-12-30T14:00:00.5",
        SCHEMA,
    )
    no = {"seen": None, "stay": None, "signup": None, "visit": None}
    rows = [
        no | {"seen": "2018-12-30T15:00+01:00"},
        no | {"seen": "2018-12-30T13:00:00.000001-01:00"},
        no | {"stay": 3 * 86_400_000 + 0.001},
        no | {"stay": 3 * 86_400_000},
        no | {"signup": "2018-12-31", "visit": "2018-12-30 14:00:00.5"},
        no | {"signup": "2018-12-31T00:00Z", "visit": "2018-12-30T14:00:00.500001"},
        no | {"signup": "2018-12-30T23:59", "visit": "0001-01-01"},
    ]
    expected = [[1, 0], [0, 0], [0, 1], [0, 0], [1, 1], [0, 0], [0, 0]]
    np.testing.assert_array_equal(exports.by_node(theory, rows), expected)
    found = exports.run_in_node(
        theory, [no], "(row) => labels({...row, seen: new Date('2018-12-30T14:00:00Z')})"
    )
    assert found == [["a"]]
    wrong = [
        {"seen": "yesterday"}, {"seen": 3}, {"signup": "2018-02-30"}, {"signup": True},
        {"visit": "2018-12-30T14:00Z"}, {"visit": "2018-12-30T24:00"}, {"stay": "3 weeks"},
    ]  # fmt: skip
    tried = "(row) => { try { return labels(row) } catch (error) { return String(error) } }"
    for message in exports.run_in_node(theory, [no | one for one in wrong], tried):
        assert "must be a " in message


def test_rows_with_times_one_at_a_time():
    frame, labels = visits()
    model = SeparateAndConquer().fit(frame, labels)
    predictor = Predictor(model)
    expected = model.predict(frame)
    for row in range(40):
        one = frame.iloc[[row]]
        np.testing.assert_array_equal(model.predict(one), expected[[row]])
        np.testing.assert_array_equal(
            encode(one, model.schema_), encode(frame, model.schema_)[[row]]
        )
        values = one.iloc[0].to_dict()
        np.testing.assert_array_equal(predictor.predict(values), expected[row])
        texts = {"signup": None if pd.isna(values["signup"]) else str(values["signup"].date())}
        np.testing.assert_array_equal(predictor.predict(values | texts), expected[row])
    with pytest.raises(DataError, match="does not fit the model: column 'signup' must hold dates"):
        predictor(values | {"signup": 3.5})


def test_sets_are_exported():
    theory = parse('a <- region in {North, "West side"}\nb <- region in {South}', SCHEMA)
    rows = [{"region": one} for one in ("North", "South", "West side", None, "nowhere")]
    expected = [[1, 0], [0, 1], [1, 0], [0, 0], [0, 0]]
    for run in (exports.by_python, exports.by_node, exports.by_pmml):
        np.testing.assert_array_equal(run(theory, rows), expected)
    for database in ("sqlite", "duckdb"):
        np.testing.assert_array_equal(exports.by_sql(database, theory, rows), expected)
    assert "IN ('North', 'West side')" in to_sql(theory, "t")


def test_exported_python_has_zones_and_durations():
    theory = parse("a <- seen <= 2018-12-30T14:00Z\nb <- stay > 3 days", SCHEMA)
    berlin = dt.timezone(dt.timedelta(hours=1))
    rows = [
        {"seen": dt.datetime(2018, 12, 30, 15, tzinfo=berlin), "stay": dt.timedelta(days=4)},
        {"seen": pd.Timestamp("2018-12-30T15:00:01+01:00"), "stay": pd.Timedelta("3 days")},
        {"seen": pd.NaT, "stay": None},
    ]
    np.testing.assert_array_equal(exports.by_python(theory, rows), [[1, 1], [0, 0], [0, 0]])
    for wrong in ({"seen": dt.datetime(2018, 12, 30)}, {"seen": 3}, {"seen": 3.5}, {"stay": 3}):
        with pytest.raises(ValueError, match=r"must be a (UTC time|duration)"):
            exports.by_python(theory, [rows[0] | wrong])


def test_what_databases_and_pmml_lack_is_refused():
    stay, seen = parse("a <- stay > 3 days", SCHEMA), parse("a <- seen > 2018-12-30T14:00Z", SCHEMA)
    visit = parse("a <- visit > 2018-12-30T14:00", SCHEMA)
    for theory, dialect in ((stay, "duckdb"), (visit, "sqlite"), (seen, "mysql")):
        with pytest.raises(ValueError, match=r"cannot be exported|no times with a time zone"):
            to_sql(theory, "t", dialect=dialect)
    for theory in (stay, seen):
        with pytest.raises(ValueError, match="PMML has no type"):
            to_pmml(theory)
    assert "+00:00' AS TIMESTAMPTZ" in to_sql(seen, "t", dialect="postgres")


_VOCABULARY = [
    "refund", "thanks", "please", "late", "broken", "parcel", "nice", "kind", "delivery", "money",
]  # fmt: skip
_random = np.random.default_rng(0)
WORDS = [" ".join(_random.choice(_VOCABULARY, 6)) for _ in range(200)]
COMPLAINS = pd.DataFrame({"complains": ["refund" in w and "thanks" not in w for w in WORDS]})


@pytest.mark.parametrize("vectorizer", [TfidfVectorizer(), CountVectorizer()])
def test_words_are_read_as_words(vectorizer):
    X = vectorizer.fit_transform(WORDS)
    names = vectorizer.get_feature_names_out()
    for given_names in (names, list(names), vectorizer):
        model = SeparateAndConquer().fit(X, COMPLAINS, feature_names=given_names)
        assert str(model.theory_) == 'complains <- "refund", not "thanks"'
    assert (model.predict(X) == model.predict(X.toarray())).all()
    whole = dataset(X, COMPLAINS, feature_names=names)
    assert {feature.kind for feature in whole.schema.features} == {"amount"}
    dense = dataset(X.toarray(), COMPLAINS, feature_names=names)
    assert (model.predict(dense) == model.predict(X)).all()
    row = int(np.argmax(COMPLAINS.complains))
    shown = str(explain(model, X, row))
    assert 'because      "refund", not "thanks"' in shown
    assert "refund were absent" in shown
    assert "refund is present and thanks is absent" in explain(model, X, row).sentences()


def test_a_pipeline_hands_over_the_names():
    pipe = Pipeline([("words", TfidfVectorizer()), ("rules", SeparateAndConquer())])
    pipe.fit(WORDS, COMPLAINS, rules__feature_names=pipe["words"])
    assert str(pipe["rules"].theory_) == 'complains <- "refund", not "thanks"'
    assert (pipe.predict(WORDS) == COMPLAINS.to_numpy()).all()
    frame = pd.DataFrame({"note": WORDS, "age": range(len(WORDS))})
    columns = ColumnTransformer(
        [("words", TfidfVectorizer(), "note"), ("rest", "passthrough", ["age"])],
        verbose_feature_names_out=False, sparse_threshold=1,
    )  # fmt: skip
    pipe = Pipeline([("columns", columns), ("rules", SeparateAndConquer())])
    pipe.fit(frame, COMPLAINS, rules__feature_names=columns)
    assert str(pipe["rules"].theory_) == 'complains <- "refund", not "thanks"'


def test_sparse_frames_stay_sparse():
    vectorizer = TfidfVectorizer()
    X = vectorizer.fit_transform(WORDS)
    names = vectorizer.get_feature_names_out()
    frame = pd.DataFrame.sparse.from_spmatrix(X, columns=names)
    data = dataset(frame, COMPLAINS)
    assert data.is_sparse
    assert data == dataset(X, COMPLAINS, feature_names=names)
    model = SeparateAndConquer().fit(frame, COMPLAINS)
    assert str(model.theory_) == 'complains <- "refund", not "thanks"'
    assert model.feature_names_in_.tolist() == names.tolist()
    truth = frame.astype(pd.SparseDtype(bool, False))
    assert dataset(truth, COMPLAINS).is_sparse
    assert dataset(truth, COMPLAINS).schema.features[0].categories == ("False", "True")
    mixed = dataset(frame.assign(age=1.0), COMPLAINS)
    assert not mixed.is_sparse
    np.testing.assert_array_equal(mixed.X[:, :-1], X.toarray())


def test_names_that_do_not_fit():
    X = sparse.csr_array(np.eye(3))
    for learner in (SeparateAndConquer(), Scorecard(), ConstrainedClassifier()):
        with pytest.raises(DataError, match="X has 3 columns but 2 feature names were given"):
            learner.fit(X, [[1], [0], [1]], feature_names=["a", "b"])
    with pytest.raises(ValueError, match="leave feature_names out"):
        SeparateAndConquer().fit(dataset(X, [[1], [0], [1]]), feature_names=["a", "b", "c"])
    frame = pd.DataFrame(np.eye(3), columns=list("abc"))
    with pytest.raises(DataError, match="X is a frame and brings the names of its columns"):
        SeparateAndConquer().fit(frame, [[1], [0], [1]], feature_names=list("xyz"))
    negative = dataset(sparse.csr_array([[0.0, -1], [2, 0]]), [[1], [0]])
    assert [feature.kind for feature in negative.schema.features] == ["amount", "numeric"]


def test_ordered_categories_come_from_frames_and_by_hand():
    frame = pd.DataFrame({"size": pd.Categorical(["M", "L", None], SIZES, ordered=True)})
    by_hand = dataset([["M"], ["L"], [None]], [1, 0, 1], ordered={"x0": SIZES})
    for data in (dataset(frame, [1, 0, 1]), by_hand):
        assert data.schema.features[0].kind == "ordered"
        assert data.X[:2, 0].tolist() == [1, 2]
    free = frame["size"].cat.as_unordered().to_frame()
    assert dataset(free, [1, 0, 1]).schema.features[0].kind == "nominal"
    assert encode(free, dataset(frame, [1, 0, 1]).schema)[1, 0] == 2
    numbers = dataset([[3], [1], [2]], [1, 0, 1], ordered={"x0": [3, 2, 1]})
    assert numbers.X.ravel().tolist() == [0, 2, 1]
    with pytest.raises(DataError, match="its categories have an order in one of them only"):
        encode(dataset(free, [1, 0, 1]), dataset(frame, [1, 0, 1]).schema)


@pytest.mark.parametrize(("arguments", "message"), [
    (("x", ("a",), "date"), "is of kind 'date', but has categories"),
    (("x", None, "ordered"), "is of kind 'ordered', but has no categories"),
    (("x", None, "day"), "kind must be one of numeric, amount"),
])  # fmt: skip
def test_wrong_kinds(arguments, message):
    with pytest.raises(DataError, match=message):
        Feature(*arguments)
