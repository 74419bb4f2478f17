"""The report of the case studies: one HTML page with every number and picture beside the text."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from casestudies.chapter import (
    ALPHA,
    FLAG_RULES,
    LABEL_NAMES,
    REPORT,
    RULES,
    SHOWN_LABELS,
    STATISTICS,
)
from casestudies.claims import Claim
from casestudies.materials import (
    OBJECTIVES,
    Materials,
    StudyData,
    multi_head_learners,
    single_head_learners,
)
from casestudies.multi_heads import MEASURES as MULTI_MEASURES
from casestudies.multi_heads import FlagLists, MultiHeadStudy
from casestudies.single_heads import LEARNERS, SingleHeadStudy
from casestudies.single_heads import MEASURES as SINGLE_MEASURES
from casestudies.time_picture import template, time_picture_svg
from labelrules._html import render
from labelrules.data import statistics
from labelrules.inspection import dependency_matrix_svg
from labelrules.lab import FriedmanTest, Results, critical_difference_svg
from labelrules.lab.comparing.score_tables import p_text
from labelrules.learners.base.progress import library_version
from labelrules.rules import rule_text

if TYPE_CHECKING:
    from markupsafe import Markup

    from casestudies.both_studies import CaseStudies

TOPICS_OF_PARTS = {
    "rules": ("Class4", "Cough", "Joke"),
    "sizes": ("sizes", "rules per", "rules behind"),
    "report": ("the report", "rules and training"),
    "dependencies": ("dependencies", "layers"),
    "flag": ("the flag",),
    "heads": ("multi-label heads by",),
    "tests": ("quality", "Friedman", "Nemenyi"),
    "times": ("time ",),
}
"""The parts of the report, and how the topics of the statements begin that belong there."""


class _Table(NamedTuple):
    """A table: titles of columns, and rows whose first cell is their name."""

    head: list[str]
    rows: list[list[str]]


class _Picture(NamedTuple):
    """A picture with a title and a line below it."""

    title: str
    svg: "Markup"
    text: str


def report_page(found: "CaseStudies") -> str:
    """The report as an HTML page, which fetches nothing from elsewhere."""
    values: dict[str, Any] = {
        "found": found,
        "claims": found.claims,
        "parts": {part: list(_of_part(found.claims, part)) for part in TOPICS_OF_PARTS},
        "figures": _figures(found),
        "data": _data_table(found.materials),
        "skipped": found.materials.skipped_by_reason,
        "single": None if found.single_heads is None else _single(found.single_heads),
        "multi": None if found.multi_heads is None else _multi(found.multi_heads),
        "learners": _learner_lines(),
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "version": library_version(),
        "styles": [render("style.css"), render("workbench.css")],
    }
    return f"{render(template('report.html'), **values)}\n"


def _of_part(claims: tuple[Claim, ...], part: str) -> Iterator[tuple[int, Claim]]:
    """The statements of a part, with their numbers from 1."""
    beginnings = TOPICS_OF_PARTS[part]
    for number, one in enumerate(claims, 1):
        if one.topic.startswith(beginnings):
            yield number, one


def _figures(found: "CaseStudies") -> list[tuple[str, str, str]]:
    """The figures of the first screen: name, value, and what the chapter has."""
    verdicts = found.verdicts
    n_examined = len(found.claims) - verdicts["not examined"]
    figures = [
        ("seen here, too", f"{verdicts['yes']} of {n_examined}", "statements of the chapter"),
        ("in part, not", f"{verdicts['partly']}, {verdicts['no']}", "with reasons below"),
    ]
    if found.multi_heads is not None:
        figures += [
            ("time of multi-label heads", f"{found.multi_heads.median_ratio:.2f} ×",
             "of single-label heads, median"),
            ("multi-label heads by precision", f"{found.multi_heads.share('precision'):.0%}",
             "of the rules, mean over the sets"),
        ]  # fmt: skip
    return [*figures, ("data sets", f"{len(found.materials.sets)} of {len(STATISTICS)}", "")]


def _data_table(materials: Materials) -> _Table:
    head = ["data set", "rows", "nominal", "numeric", "labels", "cardinality", "density",
            "label sets", "as in the chapter"]  # fmt: skip
    return _Table(head, [_data_row(one) for one in materials.sets.values()])


def _data_row(one: StudyData) -> list[str]:
    """The statistics of a set, and whether the chapter prints the same."""
    found, printed = statistics(one.whole), STATISTICS[one.name]
    cells = [found.instances, found.nominal, found.numeric, found.labels, found.cardinality,
             found.density, found.distinct]  # fmt: skip
    differing = [
        f"{name}: {given}"
        for name, cell, given in zip(
            ("rows", "nominal", "numeric", "labels", "cardinality", "density", "label sets"),
            cells, printed, strict=True,
        )
        if abs(cell - float(given)) > 0.5001 * 10.0 ** -len(given.partition(".")[2])
    ]  # fmt: skip
    texts = [f"{cell:.3f}" if isinstance(cell, float) else f"{cell:,}" for cell in cells]
    return [one.name, *texts, f"no, {', '.join(differing)}" if differing else "yes"]


# ---------------------------------------------------------------- the first study


def _single(study: SingleHeadStudy) -> dict[str, Any]:
    return {
        "rules": list(_rule_tables(study)),
        "sizes": _size_table(study),
        "report": " ".join(REPORT.split()),
        "explained": [
            (name, bool(one.predicted), str(one).splitlines(), one.sentence())
            for name, one in study.report.items()
        ],
        "matrices": list(_matrices(study)),
        "dependencies": _dependency_table(study),
        "quality": _quality_tables(study.quality, SINGLE_MEASURES),
    }


def _rule_tables(study: SingleHeadStudy) -> Iterator[dict[str, Any]]:
    """For each label of the figure: learner, the chapter's rules, ours."""
    for name, label in SHOWN_LABELS.items():
        if name not in study.models:
            continue
        models = study.models[name]
        codes = {given: code for code, given in LABEL_NAMES.get(name, {}).items()}
        yield {
            "data": name,
            "label": label,
            "codes": codes,
            "rows": [
                (learner, RULES[name].get(learner, ()), models.texts_for(learner, label))
                for learner in LEARNERS
            ],
        }


def _size_table(study: SingleHeadStudy) -> _Table:
    head = ["data set", "learner", "rules", "conditions", "literals", "of all layers",
            "rules per label", "most for a label", "testing labels only", "labels and features",
            "rules behind a row"]  # fmt: skip
    rows = [
        [name, learner, f"{size.rules}", f"{size.conditions}", f"{size.literals}",
         f"{size.all_literals}", f"{size.per_label:.1f}", f"{size.most}", f"{size.full}",
         f"{size.partial}", f"{size.used:.1f}"]
        for name, learner, size in study.sizes(study.models)
    ]  # fmt: skip
    return _Table(head, rows)


def _matrices(study: SingleHeadStudy) -> Iterator[_Picture]:
    for name, models in study.models.items():
        order = "name" if name == "enron" else "data"
        graph = models.graph
        text = (
            f"{graph.n_full} of {graph.n_rules} rules of the second layer test labels only, "
            f"{graph.n_partial} labels and features."
        )
        if models.edges:
            picture = dependency_matrix_svg(
                graph, order=order, only_dependent=len(models.edges) < 30
            )
            yield _Picture(name, picture, text)
        else:
            yield _Picture(name, render("<p>No rule tests a label.</p>"), text)


def _dependency_table(study: SingleHeadStudy) -> _Table:
    head = ["data set", "labels", "rules", "labels only", "labels and features", "dependencies",
            "same sign", "opposite sign"]  # fmt: skip
    rows = []
    for name, models in study.models.items():
        graph, signs = models.graph, [edge.sign for edge in models.edges]
        counts = [models.data.schema.n_labels, graph.n_rules, graph.n_full, graph.n_partial,
                  len(signs), signs.count("+"), signs.count("-")]  # fmt: skip
        rows.append([name, *map(str, counts)])
    return _Table(head, rows)


# ---------------------------------------------------------------- the second study


def _multi(study: MultiHeadStudy) -> dict[str, Any]:
    return {
        "flags": None if study.flags is None else [_flag(study.flags, one) for one in FLAG_RULES],
        "heads": _head_table(study),
        "quality": _quality_tables(study.quality, MULTI_MEASURES),
        "alpha": ALPHA,
        "tests": _Table(
            ["measure", "chi-square", "p", "F (Iman-Davenport)", "p", "algorithms differ",
             "significant pairs", "p without label sets", "p of the six lists"],
            [_test_row(name, test, study) for name, test in study.friedman.items()],
        ),
        "ranks": _rank_table(study),
        "diagrams": [
            _Picture(name, critical_difference_svg(test), f"{test.verdict}.")
            for name, test in study.nemenyi.items()
        ],
        "times": _time_table(study),
        "time_picture": time_picture_svg(study.times),
        "median": f"{study.median_ratio:.2f}",
    }  # fmt: skip


def _flag(flags: FlagLists, heads: str) -> dict[str, Any]:
    """The rules that hold for the flag, the chapter's and ours."""
    schema = flags.data.schema
    return {
        "heads": heads,
        "chapter": [f"{text} ({right}/{wrong})" for text, (right, wrong) in FLAG_RULES[heads]],
        "rows": [
            (one.number, f"{rule_text(one.rule, schema)} ({one.right}/{one.wrong})", one.written)
            for one in flags.covering(heads)
        ],
    }


def _head_table(study: MultiHeadStudy) -> _Table:
    head = ["data set", "objective", "rules", "with several labels", "share", "labels per head",
            "largest head"]  # fmt: skip
    rows = [
        [one.data, one.objective, f"{one.n_rules}", f"{one.n_multi}", f"{one.share:.0%}",
         f"{one.mean_size:.2f}", f"{one.largest}"]
        for one in study.heads
    ]  # fmt: skip
    means = [
        ["mean", objective, "", "", f"{study.share(objective):.0%}", "", ""]
        for objective in OBJECTIVES
    ]
    return _Table(head, [*means, *rows])


def _test_row(name: str, test: FriedmanTest, study: MultiHeadStudy) -> list[str]:
    pairs = study.nemenyi[name].pairs
    return [
        name, f"{test.statistic:.2f}", p_text(test.p), f"{test.f_statistic:.2f}", p_text(test.f_p),
        "yes" if test.significant else "no",
        f"{sum(pair.significant for pair in pairs)} of {len(pairs)}",
        p_text(study.without_label_sets[name].p),
        p_text(study.of_lists[name].p),
    ]  # fmt: skip


def _rank_table(study: MultiHeadStudy) -> _Table:
    ranks = {name: test.ranks for name, test in study.friedman.items()}
    rows = [
        [learner, *(f"{one[learner]:.2f}" for one in ranks.values())]
        for learner in study.quality.learners
    ]
    return _Table(["algorithm", *ranks], rows if ranks else [])


def _time_table(study: MultiHeadStudy) -> _Table:
    head = ["data set", "objective", "single, s", "multi, s", "ratio", "single × labels, s",
            "rounds"]  # fmt: skip
    rows = [
        [one.data, one.objective, f"{one.single:.3f}", f"{one.multi:.3f}", f"{one.ratio:.2f}",
         f"{one.times_labels:.1f}", str(study.n_rounds[one.data])]
        for one in study.times
    ]  # fmt: skip
    return _Table(head, rows)


def _quality_tables(results: Results, measures: tuple[str, ...]) -> list[tuple[str, _Table]]:
    """For each measure data sets by learners."""
    found = []
    for name in measures:
        table = results.table(name)
        rows = [
            [learner, *(f"{row[place]:.3f}" for row in table.values)]
            for place, learner in enumerate(table.learners)
        ]
        found.append((name, _Table(["learner", *table.datasets], rows)))
    return found


def _learner_lines() -> list[tuple[str, str]]:
    """The learners of both studies with their settings."""
    every = {**single_head_learners(), **multi_head_learners()}
    return [(name, " ".join(repr(learner).split())) for name, learner in every.items()]
