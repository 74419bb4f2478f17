"""Every command, on real data where they are at hand and on the chapter's readers else."""

import csv
import os
import sqlite3
import tomllib
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from click import Context

import labelrules as library
from extras import needs
from labelrules import (
    Dataset,
    LabelSet,
    RuleSet,
    evaluate,
    load,
    load_model,
    parse,
    save,
    theory_text,
)
from labelrules.cli.app import COMMANDS, program
from labelrules.data import read_csv, read_mulan, write_csv, write_mulan
from labelrules.inspection import compare, explain, summary
from labelrules.learners import registered
from labelrules.learners.registry import can_be_stored
from labelrules.mining.commands.discover import SEARCHES
from labelrules.rules import (
    theory_html,
    theory_latex,
    theory_markdown,
    theory_table,
    theory_view,
)
from shell import called, output

ROOT = Path(__file__).parents[2]
NOT_SAVED = ["lazy-associative-classifier"]


@pytest.fixture(params=["flags", "magazines"])
def names(request, monkeypatch, tmp_path):
    """The words for rows to learn from and rows to predict, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    if request.param == "magazines":
        return ["magazines"], ["magazines"]
    monkeypatch.setenv("LABELRULES_DATA", str(request.getfixturevalue("data_folder")))
    return ["flags", "--part", "train"], ["flags", "--part", "test"]


def data_of(words) -> Dataset:
    return load(words[0], part=words[2] if len(words) > 1 else None)


@pytest.fixture
def model(names):
    output("learn", *names[0], "-o", "model.json")
    return load_model("model.json")


def test_learn_prints_the_rules_and_keeps_the_model(names):
    printed = output("learn", *names[0], "-o", "model.json")
    direct = library.SeparateAndConquer().fit(data_of(names[0]))
    assert printed == theory_text(direct.theory_, evidence=True) + "\n"
    assert load_model("model.json").theory_ == direct.theory_


def test_learn_names_labels_without_a_rule(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    few = ["learn", "magazines", "--set", "max_rules=1", "--set", "default_rule=false"]
    message = (
        "3 labels have no rule: 'tabloid', 'fashion', 'sports' (the list has max_rules=1 rules)"
    )
    assert called(*few).err.splitlines()[-1] == f"labelrules: {message}"
    assert called(*few, "-q").err == ""
    assert called(*few, "--json").json["labels_without_rules"] == ["tabloid", "fashion", "sports"]


def test_learn_tells_programs(names):
    found = called("learn", *names[0], "--json", "--test", *names[1][:1]).json
    direct = library.SeparateAndConquer().fit(data_of(names[0]))
    assert found["learner"] == "SeparateAndConquer"
    assert len(found["rules"]) == len(direct.theory_)
    test = data_of(names[1])
    assert found["values"] == evaluate(test.Y, direct.predict(test), direct.predict_proba(test))


STORED = [name for name, learner in registered().items() if can_be_stored(learner)]
NOT_STORED = [name for name in registered() if name not in STORED]


@pytest.mark.parametrize("learner", [name for name in STORED if name != "ripper"])
def test_every_learner_is_kept_and_predicts_the_same(learner, names):
    output("learn", *names[0], "--learner", learner, "-o", "model.json")
    direct = registered()[learner]().fit(data_of(names[0]))
    rows = list(csv.reader(output("predict", "model.json", *names[1]).splitlines()))
    test = data_of(names[1])
    assert rows[0] == list(test.schema.labels)
    assert np.array(rows[1:], dtype=int).tolist() == direct.predict(test).tolist()
    done = called("explain", "model.json", *names[1], "--row", "2", "--no-changes", "--json")
    assert done.json[0]["board"] == direct.predict(test)[2].tolist()


@pytest.mark.parametrize("learner", NOT_STORED)
def test_learners_that_are_not_saved_can_be_tested(learner, names):
    found = called("learn", *names[0], "-l", learner, "--json", "--test", names[1][0]).json
    direct = registered()[learner]().fit(data_of(names[0]))
    test = data_of(names[1])
    assert found["values"]["Hamming loss"] == np.mean(direct.predict(test) != test.Y)


def test_the_table_of_learners_has_every_learner_with_a_fit():
    public = {
        getattr(library, name)
        for name in library.__all__
        if hasattr(getattr(library, name), "fit")
        and not getattr(getattr(library, name), "__abstractmethods__", None)
    }
    assert public == set(registered().values())


def test_settings_reach_the_learner_and_its_base(names):
    words = ["--set", "base=ripper", "--set", "base.n_folds=5", "--set", "last-resort=0.3"]
    output("learn", *names[0], "-l", "BinaryRelevance", *words, "-o", "model.json")
    kept = load_model("model.json")
    assert (kept.base.n_folds, kept.last_resort) == (5, 0.3)


def test_settings_may_be_lists_lifts_and_nothing(names):
    words = [
        "heads=multi",
        "size_bonus=kln(0.1)",
        "operators=<=,>,=",
        "pruning=none",
        "polarity=both",
    ]
    chosen = [part for word in words for part in ("--set", word)]
    output("learn", *names[0], *chosen, "--set", "max_rules=3", "-o", "model.json")
    kept = load_model("model.json")
    assert kept.size_bonus == __import__("labelrules.search", fromlist=["kln"]).kln(0.1)
    assert (kept.heads, kept.operators, kept.pruning) == ("multi", ("<=", ">", "="), None)


def test_settings_are_listed_with_their_meaning():
    listed = output("learn", "--learner", "ripper", "--settings")
    assert output("learn", "--settings", "-l", "Ripper", "magazines") == listed
    assert "n_folds=3 " in listed
    assert "held out for pruning" in listed
    for what in SEARCHES:
        assert "=" in output("discover", what, "--settings")


def test_predict_sets_probabilities_and_json(names, model):
    test = data_of(names[1])
    sets = [tuple(line) for line in csv.reader(output("predict", "model.json", *names[1], "--as",
            "sets").splitlines())]  # fmt: skip
    said = Dataset(test.schema, test.X, model.predict(test)).label_sets()
    assert sets == said
    rows = called("predict", "model.json", *names[1], "--json").json
    assert [(one["row"], tuple(one["labels"])) for one in rows] == list(enumerate(said))
    output("predict", "model.json", *names[1], "--as", "probabilities", "-o", "p.csv")
    with open("p.csv", encoding="utf-8") as file:
        table = np.array(list(csv.reader(file))[1:], dtype=float)
    assert (table == model.predict_proba(test)).all()


@pytest.mark.parametrize("classes", [["a", "b", "c"], ["no", "yes"]])
def test_predicted_classes_as_json(classes, monkeypatch, tmp_path):
    """Classes came as CSV in spite of --json, and probabilities of two classes not at all."""
    monkeypatch.chdir(tmp_path)
    X = np.arange(30.0).reshape(-1, 1)
    y = np.array(classes)[np.arange(30) * len(classes) // 30]
    learned = library.Ripper().fit(X, y)
    save(learned, "classes.json")
    Path("rows.csv").write_text("x0\n" + "\n".join(str(one) for one in X[:, 0]) + "\n")
    rows = called("predict", "classes.json", "rows.csv", "--json").json
    assert [one["class"] for one in rows] == learned.predict(X).tolist()
    rows = called("predict", "classes.json", "rows.csv", "--as", "probabilities", "--json").json
    assert [list(one["probabilities"].values()) for one in rows] == learned.predict_proba(
        X
    ).tolist()
    assert len(rows[0]["probabilities"]) == len(classes)


def test_evaluate_gives_the_usual_measures_or_those_wanted(names, model):
    test = data_of(names[1])
    usual = evaluate(test.Y, model.predict(test), model.predict_proba(test))
    assert called("evaluate", "model.json", *names[1], "--json").json["values"] == usual
    printed = output("evaluate", "model.json", *names[1], "-m", "f1/micro/full")
    assert printed == f"f1/micro/full  {usual['micro F1']:.4f}\n"


def test_show_shows_rules_in_every_style(model):
    assert output("show", "model.json", "--no-evidence") == theory_text(model.theory_) + "\n"
    assert "←" in output("show", "model.json", "--style", "unicode")
    assert output("show", "model.json", "--style", "ascii").strip()
    for style, made in (("markdown", theory_markdown), ("latex", theory_latex)):
        counted = made(model.theory_, evidence=True) + "\n"
        assert output("show", "model.json", "--style", style) == counted
        assert output("convert", "model.json", "-", "--to", style) == counted
        bare = output("show", "model.json", "--style", style, "--no-evidence")
        assert bare == made(model.theory_) + "\n" != counted
    page = theory_html(model.theory_, page=True, title="Rules of model.json")
    assert output("show", "model.json", "--style", "html") == page
    assert output("convert", "model.json", "-", "--to", "html") == page
    label = model.schema_.labels[0]
    shown = called("show", "model.json", "--label", label, "--json").json["rules"]
    expected = [
        number
        for number, rule in enumerate(model.theory_)
        if 0 in rule.head.labels or any(c.on_label and c.column == 0 for c in rule.body)
    ]
    assert [one["place"]["number"] for one in shown] == expected
    assert len(output("show", "model.json", "--label", label).splitlines()) == len(expected)


@pytest.fixture
def terminal(monkeypatch):
    """Results are shown to a person, 80 columns wide."""
    from labelrules.cli import models
    from labelrules.cli.commands import learn, show

    for module in (models, learn, show):
        monkeypatch.setattr(module, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")


CARD = RuleSet(
    load("magazines").schema,
    parse(
        "in any order:\nquality -1, fashion -2 <- true\nfashion +3 <- sex = Female",
        load("magazines").schema,
    ),
    [LabelSet((0, 2), 1)],
    at_least_one=True,
)


def test_a_terminal_shows_rules_for_reading(model, terminal, monkeypatch):
    assert output("show", "model.json") == theory_view(model.theory_, width=80) + "\n"
    bare = theory_view(model.theory_, width=80, evidence=False)
    assert output("show", "model.json", "--no-evidence") == bare + "\n"
    labels = theory_view(model.theory_, width=80, order="label")
    assert output("show", "model.json", "--by", "label") == labels + "\n"
    text = theory_text(model.theory_, evidence=True)
    assert output("show", "model.json", "--style", "plain") == text + "\n"
    assert output("show", "model.json", "--label", model.schema_.labels[0]).startswith("rule ")
    output("show", "model.json", "-o", "rules.txt")
    assert Path("rules.txt").read_text(encoding="utf-8") == text + "\n"
    monkeypatch.delenv("NO_COLOR")
    coloured = theory_view(model.theory_, width=80, colour=True)
    assert output("show", "model.json") == coloured + "\n"


def test_scorecards_are_tables_on_a_terminal_and_text_in_a_pipe(tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    save(CARD, "card.json")
    assert parse(output("show", "card.json"), CARD.schema) == CARD
    assert output("show", "card.json", "--by", "table") == theory_table(CARD) + "\n"
    page = theory_html(CARD, page=True, title="Rules of card.json", order="label")
    assert output("show", "card.json", "--by", "label", "--style", "html") == page
    shown = called("show", "card.json", "--json").json["label_sets"]
    sets = [{"labels": ["quality", "fashion"], "bonus": 1}]
    assert shown == [{"theory": 0, "layer": 0, "sets": sets, "at_least_one": True}]
    request.getfixturevalue("terminal")
    assert output("show", "card.json") == theory_table(CARD, width=80) + "\n"
    assert output("show", "card.json", "--by", "order") == theory_view(CARD, width=80) + "\n"


def test_learn_has_a_header_and_shows_rules_for_reading_on_a_terminal(
    tmp_path, monkeypatch, request
):
    monkeypatch.chdir(tmp_path)
    piped = called("learn", "magazines", "-o", "model.json")
    theory = load_model("model.json").theory_
    size = f"magazines: {theory.size_text} for 4 labels · 14 rows · "
    assert piped.err.startswith(f"labelrules: {size}")
    assert parse(piped.out, theory.schema) == theory
    request.getfixturevalue("terminal")
    header, empty, *rest = output("learn", "magazines").splitlines()
    assert header.startswith(size)
    assert empty == ""
    assert "\n".join(rest) == theory_view(theory, width=80)
    assert output("learn", "magazines", "-q") == theory_view(theory, width=80) + "\n"


def test_show_summarises(names, model):
    data = data_of(names[1])
    printed = output("show", "model.json", "--summary", "--data", *names[1])
    assert printed == f"{summary(model.theory_, data)}\n"
    figures = called("show", "model.json", "--summary", "--json").json
    assert len(figures["rules"]) == len(model.theory_)


def test_explain_tells_why(names, model):
    test, train = data_of(names[1]), data_of(names[0])
    words = ["explain", "model.json", *names[1], "--row", "3"]
    expected = explain(model.theory_, test, 3, training=train)
    cited = [*words, "--training", names[0][0]]
    shown = expected.text().replace("explanation.text(details=True):", "--details:")
    assert output(*cited) == f"{shown}\n"
    assert output(*cited, "--details") == f"{expected.text(details=True)}\n"
    assert output(*cited, "--style", "sentences").strip() == expected.sentences()
    every = output(*cited, "--style", "sentences", "--details").strip()
    assert every == expected.sentences(details=True)
    output(*words, "--style", "html", "-o", "why.html")
    assert "<html" in Path("why.html").read_text(encoding="utf-8")
    assert "rule" in output(*words, "--style", "trace")
    label = test.schema.labels[1]
    (found,) = called(*words, "--label", label, "--json", "--no-changes").json
    assert found["row"] == 3
    assert found["board"] == model.predict(test)[3].tolist()
    assert [one["label"] for one in found["labels"]] == [label]


def test_scorecards_are_explained_by_adding_up(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    card = (
        "in any order:\nquality +4 <- education = University\nquality -1, fashion -1 <- true\n"
        "usual label sets:\n{quality, fashion} +1\n"
        "if no label was found: the label with the most points\n"
    )
    Path("card.txt").write_text(card, encoding="utf-8")
    words = ["explain", "card.txt", "magazines", "--row", "3"]
    lines = output(*words).splitlines()
    assert lines[1].startswith("The row gets the usual set {quality, fashion}: 3 - 1 + bonus 1 = 3")
    assert "quality: start (-1), education = University (+4) = 3: given with the usual set" in lines
    assert lines[-1] == "--details: every label, training rows, later rules"
    (found,) = called(*words, "--json").json
    by_label = {one["label"]: one for one in found["labels"]}
    assert by_label["fashion"]["choice"]["own_labels"] == ["quality"]
    assert by_label["fashion"]["decided"] == "label set"
    assert "The row gets the usual label set" in output(*words, "--style", "trace")
    assert "points" in output(*words, "--style", "html")


def test_explain_tells_what_constraints_change(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    base = library.BinaryRelevance(library.SeparateAndConquer())
    readers = load("magazines")
    model = library.ConstrainedClassifier(base, constraints="not quality <- fashion").fit(readers)
    save(model, "model.json")
    done = model.repairs(readers)
    row = int(done.rows[0])
    words = ["explain", "model.json", "magazines", "--row", str(row)]
    (change,) = [one for one in done.changes() if one.row == row]
    told = f"{change.label} becomes absent by the constraints: not quality <- fashion"
    present = [
        label for label, cell in zip(readers.schema.labels, done.after[row], strict=True) if cell
    ]
    for style in ("text", "sentences"):
        lines = output(*words, "--style", style).splitlines()
        assert lines[0].lower().startswith(f"by the rules alone: row {row}")
        assert lines[-2:] == [told, f"So the row gets {', '.join(present)}."]
    shown = output("show", "model.json").splitlines()
    assert shown[0] == "# rules"
    start = shown.index("# constraints, which every prediction satisfies")
    assert "not quality <- fashion" in shown[start + 1 :]
    assert any(
        "not quality" in one["text"]
        for one in called("show", "model.json", "--json").json["constraints"]
    )
    (found,) = called(*words, "--json").json
    assert found["board"] == model.predict(readers)[row].tolist()
    assert [one["label"] for one in found["constraints"]] == [change.label]
    kept = next(number for number in range(len(readers)) if number not in done.rows)
    printed = output("explain", "model.json", "magazines", "--row", str(kept))
    assert printed.endswith("The constraints leave all labels as they are.\n")
    for more in (["--style", "html"], ["--fixed", "sex"], ["--limit", "9"]):
        assert called(*words, *more).code == 2
    assert "explain shows both, row by row" in called("convert", "model.json", "model.py").err


def test_compare_shows_what_was_edited(names, model):
    output("convert", "model.json", "rules.txt")
    lines = Path("rules.txt").read_text(encoding="utf-8").splitlines()
    Path("edited.txt").write_text("\n".join(lines[1:]) + "\n", encoding="utf-8")
    printed = output("compare", "model.json", "edited.txt", "--data", *names[1])
    edited = model.theory_[1:]
    assert printed.startswith(f"{compare(model.theory_, edited, data_of(names[1]))}\n\nmeasure ")
    assert "removed: 1" in printed
    found = called("compare", "model.json", "edited.txt", "--data", *names[1], "--json").json
    assert [one["text"] for one in found["removed"]] == [theory_text(model.theory_[:1])]


def test_edited_rules_can_be_evaluated_and_kept(names, model):
    output("convert", "model.json", "rules.txt")
    by_text = called("evaluate", "rules.txt", *names[1], "--json", "-m", "f1/micro/full").json
    by_model = called("evaluate", "model.json", *names[1], "--json", "-m", "f1/micro/full").json
    assert by_text["values"] == by_model["values"]
    output("convert", "rules.txt", "again.json", "--data", *names[0])
    assert load_model("again.json") == model.theory_


def test_convert_exports_models_that_say_the_same(names, model):
    needs("sqlglot")
    test = data_of(names[1])
    output("convert", "model.json", "model.py")
    module: dict = {}
    exec(Path("model.py").read_text(encoding="utf-8"), module)
    rows = [_row(test, number) for number in range(len(test))]
    said = [list(module["predict"](row).values()) for row in rows]
    assert said == model.predict(test).tolist()
    output("convert", "model.json", "model.sql", "--table", "people", "--key", "id")
    query = Path("model.sql").read_text(encoding="utf-8")
    assert [row[1:] for row in _asked(query, rows)] == [tuple(row) for row in said]
    assert "<PMML" in output("convert", "model.json", "-", "--to", "pmml")
    output("convert", "model.json", "model.mjs")
    assert "export function probabilities(row)" in Path("model.mjs").read_text(encoding="utf-8")
    for ending in ("tex", "md", "rules", "json.gz"):
        output("convert", "model.json", f"model.{ending}")
    assert load_model("model.json.gz").theory_ == model.theory_


def _row(data, number):
    found = {}
    for place, feature in enumerate(data.schema.features):
        value = data.column(place)[number]
        known = None if np.isnan(value) else float(value)
        is_code = feature.categories is not None and known is not None
        found[feature.name] = feature.categories[int(value)] if is_code else known
    return found


def _asked(query, rows):
    base = sqlite3.connect(":memory:")
    columns = ", ".join(f'"{name}"' for name in rows[0])
    base.execute(f"CREATE TABLE people (id, {columns})")
    marks = ", ".join("?" * (len(rows[0]) + 1))
    base.executemany(
        f"INSERT INTO people VALUES ({marks})",
        [(number, *row.values()) for number, row in enumerate(rows)],
    )
    found = sorted(base.execute(query).fetchall())
    base.close()
    return found


def test_convert_takes_data_through_every_format(names):
    needs("pyarrow")
    data = data_of(names[0])
    output("convert", *names[0][:1], "a.csv", *names[0][1:])
    output("convert", "a.csv", "b.arff.gz")
    output("convert", "b.arff.gz", "c.parquet")
    output("convert", "c.parquet", "d.arff")
    assert read_csv("a.csv") == data
    assert read_mulan("d.arff") == data
    assert output("convert", "c.parquet", "-", "--to", "csv") == Path("a.csv").read_text("utf-8")


def test_stats_and_every_search(names):
    assert called("stats", *names[0], "--json").json["instances"] == len(data_of(names[0]))
    assert str(len(data_of(names[0]))) in output("stats", *names[0])
    small = {"itemsets": ["--set", "max_conditions=1"], "subgroups": ["--set", "max_conditions=1"]}
    for what in SEARCHES:
        words = ["discover", what, *names[0], *small.get(what, [])]
        assert output(*words).strip()
        found = called(*words, "--json", "--first", "2").json["found"]
        output(*words, "--first", "2", "-o", f"{what}.csv")
        with open(f"{what}.csv", encoding="utf-8") as file:
            assert len(list(csv.reader(file))) == len(found) + 1


def test_new_rows_need_no_labels_and_may_have_other_columns(names, model):
    data = data_of(names[1])
    rows = [_row(data, number) for number in range(len(data))]
    fields = [*reversed(rows[0]), "note"]
    with open("new.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fields)
        writer.writeheader()
        writer.writerows({**row, "note": f"row {number}"} for number, row in enumerate(rows))
    expected = output("predict", "model.json", *names[1])
    assert output("predict", "model.json", "new.csv") == expected
    text = Path("new.csv").read_text(encoding="utf-8")
    assert output("predict", "model.json", "-", stdin=text) == expected
    write_mulan(data, "new.arff")
    os.remove("new.xml")
    assert output("predict", "model.json", "new.arff") == expected


def test_rows_to_predict_may_have_blank_labels_or_not_be_there(names, model):
    """The labels of new rows are unknown, and often a column is left for them."""
    data = data_of(names[1])
    rows = [_row(data, number) for number in range(len(data))]
    header = [*data.schema.labels, *rows[0]]
    with open("blank.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [header, *(["", *data.schema.labels[1:], *row.values()] for row in rows)]
        )
    expected = output("predict", "model.json", *names[1])
    assert output("predict", "model.json", "blank.csv") == expected
    assert output("explain", "model.json", "blank.csv") == output(
        "explain", "model.json", *names[1]
    )
    write_csv(data, "whole.csv")
    header_of, *lines = Path("whole.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    n_labels = len(data.schema.labels)
    blank = [",".join(line.rstrip("\n").split(",")[:-n_labels] + [""] * n_labels) for line in lines]
    Path("whole.csv").write_text(header_of + "\n".join(blank) + "\n", encoding="utf-8")
    assert Path("whole.csv.schema.json").exists()
    assert output("predict", "model.json", "whole.csv") == expected
    names_of_labels = expected.splitlines(keepends=True)[0]
    for form, nothing in (("table", names_of_labels), ("sets", "")):
        only_names = ",".join(f'"{name}"' for name in header) + "\n"
        assert output("predict", "model.json", "-", "--as", form, stdin=only_names) == nothing
    assert called("predict", "model.json", "-", "--json", stdin=only_names).json == []


def test_several_theories_have_a_heading_each(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    words = ["-l", "classifier-chain", "--set", "n_chains=2", "-o", "model.json"]
    output("learn", "magazines", *words)
    for style, start in {"plain": "# ", "markdown": "## ", "latex": "% ", "html": "<h2>"}.items():
        lines = output("show", "model.json", "--style", style).splitlines()
        for title in ("theory 1 of 2", "theory 2 of 2"):
            assert sum(line.startswith(start + title) for line in lines) == 1


def test_a_category_that_the_model_does_not_know_is_a_missing_value(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    output("learn", "magazines", "-o", "model.json")
    head = "education,marital,sex,children\n"
    given = output("predict", "model.json", "-", stdin=f"{head}Kindergarten,Single,Female,No\n")
    missing = output("predict", "model.json", "-", stdin=f"{head},Single,Female,No\n")
    assert given == missing


def test_models_and_results_go_through_pipes(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    model = output("learn", "magazines", "-o", "-")
    assert output("show", "-", stdin=model) == output("learn", "magazines")
    assert output("evaluate", "-", "magazines", "-m", "f1", stdin=model)
    assert output("convert", "-", "-", "--to", "json", stdin=model) == model


def test_meka_files_and_parts_of_columns(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{int(x > 3)},{x}\n" for x in range(8))
    text = f"@relation 'r: -C 1'\n@attribute big {{0,1}}\n@attribute x numeric\n@data\n{rows}"
    Path("small.arff").write_text(text, encoding="utf-8")
    assert output("learn", "small.arff", "-l", "ripper").startswith("big <- x > 3 (4/0)")
    with_id = "id;big;x\n" + "".join(f"r{x};{int(x > 3)};{x}\n" for x in range(8))
    Path("small.csv").write_text(with_id, encoding="utf-8")
    words = ["--labels", "big", "--ignore", "id", "--delimiter", ";"]
    assert "x > 3" in output("learn", "small.csv", *words)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command):
    page = output(command, "--help")
    assert COMMANDS[command] in " ".join(page.split())
    examples = program.get_command(Context(program), command).examples
    assert examples
    for line in examples:
        assert f"  {line}\n" in page
    assert output("help", command) == page


def test_the_program_is_the_one_that_is_installed():
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    room, _, name = scripts["labelrules"].partition(":")
    assert getattr(import_module(room), name)(["--version"]) == 0


def test_show_about_says_how_a_model_came_about(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["--set", "min_coverage=3", "-l", "separate-and-conquer"]
    output("learn", "magazines", "-o", "m.json", "--author", "Ada", "--notes", "a try", *words)
    found = load_model("m.json").about_
    lines = output("show", "m.json", "--about").splitlines()
    assert lines == [
        "learner     SeparateAndConquer",
        "settings    min_coverage=3",
        *str(found).splitlines(),
    ]
    assert lines[-2:] == ["author      Ada", "notes       a try"]
    document = called("show", "m.json", "--about", "--json").json
    assert document["settings"] == {"min_coverage": "3"}
    assert (document["data"], document["n_rows"]) == (found.data, 14)


def test_convert_keeps_author_and_notes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    theory = parse("quality <- sex = Male", load("magazines").schema)
    save(theory, "rules.json", author="Ada", notes="by hand")
    output("convert", "rules.json", "again.json")
    assert Path("again.json").read_bytes() == Path("rules.json").read_bytes()
    assert output("show", "again.json", "--about").splitlines()[1:] == [
        "author      Ada",
        "notes       by hand",
    ]
    save(library.SeparateAndConquer().fit(load("magazines")), "model.json", author="Ada")
    output("convert", "model.json", "again.json")
    assert Path("again.json").read_bytes() == Path("model.json").read_bytes()
