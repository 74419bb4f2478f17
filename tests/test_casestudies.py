"""The chapter's case studies repeated: on small tables of the same names, and on its data."""

import re
from html.parser import HTMLParser
from importlib import import_module
from statistics import fmean, median

import numpy as np
import pytest
from casestudies import CaseStudyProgress, case_studies, kept_work
from casestudies.__main__ import command
from casestudies.chapter import FLAG_ROW, STATISTICS
from casestudies.claims import VERDICTS, graded
from casestudies.kept_work import MULTI
from casestudies.materials import LABEL_SETS, OBJECTIVES, covering
from casestudies.multi_heads import TimePair
from casestudies.time_picture import time_picture_svg

from labelrules import explain
from labelrules.data import DataError, load, write_mulan
from labelrules.lab import FitOutcome, friedman_test
from labelrules.learners import SeparateAndConquer
from shell import called
from tiny_studies import N_TRAIN, write_sets

FIT = "labelrules.lab.running.run.limited_outcome"
"""Runs one fit of an experiment."""
SETS = ("flags", "medical", "yeast", "genbase")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with small data sets, and below it what the case studies keep."""
    return write_sets(tmp_path_factory.mktemp("studies"), *SETS)


@pytest.fixture(scope="module")
def news():
    return []


@pytest.fixture(scope="module")
def found(place, news):
    return case_studies(place, folder=place / "kept", progress=news.append)


def one_claim(found, topic):
    (claim,) = [one for one in found.claims if one.topic == topic]
    return claim


# ---------------------------------------------------------------- statements and verdicts


def test_every_statement_has_a_verdict_and_a_reason_unless_it_was_seen(found):
    assert len({one.topic for one in found.claims}) == len(found.claims)
    for one in found.claims:
        assert one.verdict in VERDICTS
        assert bool(one.reason) == (one.verdict != "yes"), one
        assert bool(one.found) == (one.verdict != "not examined"), one
    assert sum(found.verdicts.values()) == len(found.claims)
    assert found.headline.startswith(f"{len(found.claims)} statements of the chapter: ")


def test_data_sets_that_are_missing_are_named_with_the_reason(found):
    skipped = found.materials.skipped
    assert {*skipped} == {*STATISTICS} - {*SETS}
    assert all("has no data set" in why for why in skipped.values())
    assert one_claim(found, "Joke of enron").reason == "enron is not there"
    assert "left out: scene; " in str(found)


def test_another_set_of_the_same_name_is_not_taken_for_the_chapters(tmp_path):
    write_sets(tmp_path, "genbase")
    for name in ("medical", "flags"):
        for part in ("train", "test"):
            write_mulan(
                load("magazines"), tmp_path / f"{name}-{part}.arff", tmp_path / f"{name}.xml"
            )
    done = case_studies(tmp_path, folder=tmp_path / "kept", sets=("medical", "flags", "genbase"))
    assert "no feature or label 'Class-4-753_0'" in done.materials.skipped["medical"]
    assert "flags is not the chapter's data set" in done.materials.skipped["flags"]
    assert done.multi_heads.flags is None
    assert one_claim(done, "the flag").verdict == "not examined"
    assert one_claim(done, "Friedman and Nemenyi tests").verdict == "not examined"


def test_verdicts_are_computed():
    parts = {(True, True): "yes", (True, False): "partly", (False, False): "no", (): "not examined"}
    assert {given: graded(given) for given in parts} == parts


def test_sizes_are_counted_from_the_rules(found):
    for name, models in found.single_heads.models.items():
        for learner in ("BR", "SBR", "Single"):
            rules = [rule for rule in models.layer(learner) if rule.body.conditions]
            size = models.size(learner)
            assert size.rules == len(rules)
            assert size.conditions == sum(len(rule.body.conditions) for rule in rules)
            of_labels = [rule.head.labels[0] for rule in rules]
            assert size.most == max(map(of_labels.count, of_labels))
            assert size.full + size.partial == sum(bool(rule.body.on_labels) for rule in rules)
            if name in ("yeast", "medical"):
                assert f"{learner} {size.rules}" in one_claim(found, "sizes of models").found


def test_rules_behind_a_row_are_those_that_wrote_its_cells(found):
    models = found.single_heads.models["medical"]
    theory, rows = models.layer("BR"), models.data
    fired = [
        {one.rule.place.number for one in row if one.rule is not None and one.rule.conditions}
        for row in explain(theory, rows, range(len(rows)), counterfactuals=False)
    ]
    assert models.size("BR").used == pytest.approx(fmean(map(len, fired)))


def test_shares_of_heads_are_those_of_the_learned_lists(found):
    train = found.materials.sets["flags"].train
    for objective, measure in OBJECTIVES.items():
        theory = covering(measure, "multi").fit(train).theory_
        (one,) = [
            head
            for head in found.multi_heads.heads
            if (head.data, head.objective) == ("flags", objective)
        ]
        assert one.n_rules == len(theory)
        assert one.n_multi == sum(len(rule.head.labels) > 1 for rule in theory)


@pytest.mark.parametrize("heads", ["multi", "single"])
def test_the_rules_for_the_flag_are_those_that_hold_for_its_row(found, heads):
    flags = found.multi_heads.flags
    rules, theory = flags.covering(heads), flags.theories[heads]
    run = theory.run(flags.data)
    written = {name: rule.number for rule in rules for name in rule.written}
    names = flags.data.schema.labels
    writers = {name: number + 1 for name, number in zip(names, run.writer[FLAG_ROW], strict=True)}
    assert written == {name: number for name, number in writers.items() if number}
    explained = explain(theory, flags.data, FLAG_ROW, counterfactuals=False)
    later = {rule.place.number for one in explained for rule in one.later}
    end = run.stopped[FLAG_ROW]  # where the list ends for this row
    assert {number + 1 for number in later if end < 0 or number <= end} <= {
        rule.number for rule in rules
    }


def test_ten_algorithms_are_tested_and_nine_again(found):
    study = found.multi_heads
    assert len(study.quality.learners) == 10
    table = study.quality.table("micro F1")
    assert study.friedman["micro F1"].p == friedman_test(table).p
    nine = study.without_label_sets["micro F1"].ranks.learners
    assert {*study.quality.learners} - {*nine} == {LABEL_SETS}


def test_times_are_the_least_of_interleaved_rounds(monkeypatch, found):
    clock, order = iter(range(100)), []
    spent = {"single": iter((5.0, 3.0, 4.0)), "multi": iter((4.0, 9.0, 7.0))}

    def learned(learner, data):
        order.append(learner.heads)
        now.append(now[-1] + next(spent[learner.heads]))
        return next(clock)

    now = [0.0]
    monkeypatch.setattr(kept_work, "_learned", learned)
    monkeypatch.setattr(kept_work.time, "process_time", lambda: now[-1])
    both = {heads: SeparateAndConquer(heads=heads) for heads in ("single", "multi")}
    times, _ = kept_work.least_times(both, load("magazines"))
    assert (times.seconds, times.n_rounds) == ({"single": 3.0, "multi": 4.0}, 3)
    assert order == ["single", "multi"] * 3
    study = found.multi_heads
    assert study.median_ratio == median(one.multi / one.single for one in study.times)
    assert len(study.times) == len(SETS[:2]) * 3 + 6


# ---------------------------------------------------------------- going on, and calls


def test_a_second_call_learns_nothing_and_finds_the_same(found, place, monkeypatch, news):
    assert news[-1].share <= 1.0
    assert all(isinstance(one, CaseStudyProgress) for one in news)
    assert [one.share for one in news] == sorted(one.share for one in news)

    def fails(*given):
        raise AssertionError("it learns again")

    monkeypatch.setattr(kept_work, "_learned", fails)
    monkeypatch.setattr(FIT, fails)
    assert case_studies(place, folder=place / "kept").as_dict() == found.as_dict()


def test_a_restart_begins_anew(place, tmp_path):
    done = {"folder": tmp_path / "kept", "sets": "genbase"}
    case_studies(place, **done)
    (times, *_) = sorted((tmp_path / "kept" / "times").iterdir())
    times.write_text('{"seconds": {"single": 7.0, "multi": 21.0}, "n_rounds": 1}')
    again = case_studies(place, **done).multi_heads.times
    assert 3.0 in [one.ratio for one in again]
    assert 3.0 not in [
        one.ratio for one in case_studies(place, **done, restart=True).multi_heads.times
    ]
    sorted((tmp_path / "kept" / "times").iterdir())[0].write_text("{}")
    with pytest.raises(DataError, match="these are no times of a case study"):
        case_studies(place, **done)


def test_failed_fits_are_named(place, tmp_path, monkeypatch):
    failed = FitOutcome(status="failed", message="MemoryError", measures=())
    monkeypatch.setattr(FIT, lambda task: failed)
    with pytest.raises(RuntimeError, match="4 fits of a case study failed: BR on genbase"):
        case_studies(place, folder=tmp_path / "kept", sets="genbase")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sets": "flag"}, "the chapter has no data set 'flag'; did you mean 'flags'?"),
        ({"sets": ()}, "sets is empty: give at least one data set, or None for all"),
        ({"quick": 1}, "quick must be True or False"),
        ({"sets": ["scene", "enron"]}, "none of 'scene', 'enron' can be read: .*no data set"),
    ],
)
def test_wrong_calls_are_explained(place, tmp_path, given, message):
    with pytest.raises((ValueError, DataError), match=message):
        case_studies(place, folder=tmp_path / "kept", **given)
    assert not (tmp_path / "kept").exists()


def asked(*words):
    """Call ``python -m casestudies`` with these words."""
    return called(*words, command=command)


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (
            "data --sets flag",
            2,
            "--sets: the chapter has no data set 'flag'; did you mean",
        ),
        ("data --sets flags,,", 2, "--sets: a name is empty: give names separated by commas"),
        ("data -o - --json", 2, "--json and --output - both write to the standard output"),
        ("data -o nowhere/a.html", 2, "nowhere/a.html: cannot write: there is no folder 'nowhere'"),
        ("nowhere", 1, "nowhere: this folder does not exist"),
    ],
)
def test_wrong_words_are_explained(words, status, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = asked(*words.split())
    assert (done.code, done.out) == (status, "")
    assert message in done.err


def test_the_command_writes_the_report_and_prints_the_statements(
    found, place, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    words = [str(place), "--folder", str(place / "kept")]
    done = asked(*words)
    assert (done.code, done.out) == (0, f"{found}\n")
    assert done.err == f"labelrules: report in casestudies.html, models and fits in {place}/kept\n"
    assert (tmp_path / "casestudies.html").read_text().startswith("<!DOCTYPE html>")
    rows = asked(*words, "--json", "-q").json
    assert rows["verdicts"] == found.verdicts
    assert [row["found"] for row in rows["statements"]] == [one.found for one in found.claims]
    assert asked(*words, "-o", "-", "-q").out.startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("where", [f"{kept_work.__name__}._learned", FIT])
def test_ctrl_c_keeps_what_is_finished(place, tmp_path, monkeypatch, where):
    """In the middle of a model, and in the middle of an experiment."""
    calls = []
    *module, name = where.split(".")
    real = getattr(import_module(".".join(module)), name)

    def interrupted(*given):
        calls.append(given)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*given)

    words = [str(place), "--sets", "genbase", "--folder", str(tmp_path / "kept"), "-o",
             str(tmp_path / "report.html")]  # fmt: skip
    with monkeypatch.context() as patch:
        patch.setattr(where, interrupted)
        done = asked(*words)
    assert done.code == 130
    assert done.err.endswith(
        f"interrupted in the middle; what is finished is kept in {tmp_path}/kept\n"
    )
    assert not (tmp_path / "report.html").exists()
    folder = tmp_path / "kept"
    kept = {*folder.glob("models/*")} if where != FIT else {*folder.glob("*/fits/*.json")}
    assert len(kept) == 2
    with monkeypatch.context() as patch:
        patch.setattr(where, lambda *given: calls.append(given) or real(*given))
        assert asked(*words).code == 0
    n_all = 4 + 6 * 3 if where != FIT else 4 + 10  # models, and three rounds of six; or fits
    assert len(calls) == n_all + 1  # one that was interrupted


# ---------------------------------------------------------------- the report


class Page(HTMLParser):
    """Its text, its links, and what it would fetch."""

    def __init__(self, html):
        super().__init__()
        self.text, self.links, self.anchors, self.fetched = [], [], set(), []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given["id"]} if "id" in given else set()
        self.links += [given["href"]] if "href" in given else []
        self.fetched += [tag] * (tag in ("script", "link", "img") or "src" in given)

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def report(found):
    return found.html()


def test_the_report_fetches_nothing_and_its_links_lead_somewhere(report):
    page = Page(report)
    assert page.fetched == []
    assert page.links
    assert {link.removeprefix("#") for link in page.links} <= page.anchors
    assert "\\u000a" not in report


def test_the_report_has_every_statement_number_and_picture(found, report):
    text = " ".join(" ".join(Page(report).text).split())
    for one in found.claims:
        for part in (one.chapter, one.found, one.reason):
            assert " ".join(part.split()) in text, part
    assert found.headline in text
    for one in found.multi_heads.times:
        assert f"{one.ratio:.2f}" in text
    for learner, ranks in found.multi_heads.friedman.items():
        assert learner in text
        assert f"{ranks.ranks[LABEL_SETS]:.2f}" in text
    n_pictures = len(re.findall("<svg", report))
    matrices = sum(bool(one.edges) for one in found.single_heads.models.values())
    assert n_pictures == matrices + len(found.multi_heads.nemenyi) + 1


def test_the_picture_of_times_has_both_forms_for_each_pair():
    pairs = [TimePair("flags", "precision", 7, 0.1, 0.2), TimePair("flags", "F", 7, 1.0, 1.0)]
    drawn = time_picture_svg(pairs)
    assert drawn.count('class="point circle"') == 2  # one of them in the legend
    assert drawn.count('class="point circle empty"') == 1
    assert "0.100 s with single-label heads times 7 labels is 0.700 s" in drawn
    same = re.search(r'class="point square".*?M([\d.]+) ([\d.]+)h', drawn, re.DOTALL)
    x, y = float(same[1]) + 4.4, float(same[2]) + 4.4
    assert x == pytest.approx(380 - y, abs=0.2)  # equal times stand on the line


# ---------------------------------------------------------------- the chapter's data


@pytest.mark.slow
def test_the_quick_run_on_the_chapters_data(data_folder, tmp_path):
    """What does not depend on the machine, and that multi-label heads cost little more."""
    done = case_studies(data_folder, folder=tmp_path / "kept", quick=True)
    verdicts = {one.topic: one.verdict for one in done.claims}
    assert verdicts["multi-label heads by objective"] == "yes"
    assert verdicts["the report"] == "yes"
    assert verdicts["dependencies in genbase"] == "yes"
    assert verdicts["Cough of medical: SBR"] == "partly"
    assert verdicts["the flag, multi-label heads"] == "partly"
    sizes = done.single_heads.models["medical"]
    assert [sizes.size(name).rules for name in ("BR", "SBR")] == [59, 53]
    assert done.multi_heads.median_ratio <= 1.5
    assert len(list((tmp_path / "kept" / MULTI / "fits").iterdir())) == 40
    flags = done.multi_heads.flags
    first = flags.covering("multi")[0]
    assert (first.right, first.wrong) == (65, 0)
    assert len(done.materials.sets["flags"].train) == 129 > N_TRAIN
    assert np.array_equal(flags.data.Y, load("flags", data_folder, part="train").Y)
