"""Models named on the command line: read, with data in their columns, renamed, as text."""

import csv
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from labelrules._checks import counted, listed, quoted, suggestion
from labelrules.cli.commands import File
from labelrules.cli.io import (
    LARGE,
    STANDARD,
    Reading,
    check_files,
    is_data,
    known_columns_of,
    large_files,
    read_data,
)

if TYPE_CHECKING:
    from labelrules._types import Board, Floats
    from labelrules.constraints import Repairs
    from labelrules.data import Dataset, Schema
    from labelrules.inspection.explanation.values import Place
    from labelrules.kernels.device import Engine
    from labelrules.learners.base.progress import About
    from labelrules.rules import DecisionList, Rule, RuleSet, Theory

_CONSTRAINED = "ConstrainedClassifier"

WIDTH_OF_NAMES = 70
"""Where a list of names in a message ends."""
MOST_NAMED = 5
"""How many rules a message names."""


def first_names(names: list[str]) -> str:
    """The first names, as many as fit into a line, and how many more there are."""
    texts = [listed(names)] + [
        f"{', '.join(map(quoted, names[:n]))} and {len(names) - n} more"
        for n in range(4, 0, -1)
        if n < len(names)
    ]
    return next((text for text in texts if len(text) <= WIDTH_OF_NAMES), texts[-1])


def labels_without(theories: "list[Theory]") -> list[str]:
    """The labels that no rule of any theory predicts as present."""
    from labelrules.rules import labels_without_rules

    names = list(theories[0].schema.labels) if theories else []
    for theory in theories:
        without = set(labels_without_rules(theory))
        names = [name for name in names if name in without]
    return names


@dataclass(frozen=True)
class Model:
    """A fitted learner or a theory, whichever the file (the source) has."""

    kept: Any
    source: str
    said: "About | None" = None
    """What the file of a theory says about it; a learner says it itself."""
    engine: "Engine" = "auto"
    """Where its rules are applied."""

    @property
    def schema(self) -> "Schema":
        """The schema of its training data."""
        schema: Schema = self.kept.schema if self.is_theory else self.kept.schema_
        return schema

    @property
    def is_theory(self) -> bool:
        """Whether it is a theory, without a learner."""
        from labelrules.rules import Theory

        return isinstance(self.kept, Theory)

    @property
    def kind(self) -> str:
        """The name of its class."""
        return type(self.kept).__name__

    @property
    def theories(self) -> "list[Theory]":
        """Its rules; several theories if several vote."""
        if self.is_theory:
            return [self.kept]
        # Constraints around a learner change its predictions; the rules are those of the learner.
        of = getattr(self.kept, "base_", self.kept) if self.kind == _CONSTRAINED else self.kept
        if hasattr(of, "theory_"):
            return [of.theory_]
        found = list(getattr(of, "theories_", []))
        if not found:
            raise click.ClickException(
                f"{self.source}: this {self.kind} has no rules for labels to show"
            )
        return found

    @property
    def about(self) -> "About":
        """How it came about."""
        found: About | None = getattr(self.kept, "about_", self.said)
        if found is None:
            raise click.ClickException(f"{self.source}: nothing is known of how it came about")
        return found

    @property
    def constraints(self) -> "RuleSet | None":
        """The constraints that every prediction satisfies, if it has any."""
        return self.kept.constraints_ if self.kind == _CONSTRAINED else None

    @property
    def theory(self) -> "Theory":
        """Its rules, if they are one theory that determines the predictions."""
        if self.kind == _CONSTRAINED:
            raise click.ClickException(
                f"{self.source}: constraints change the predictions of the rules of this model, "
                "so the rules alone are not the model; explain shows both, row by row"
            )
        return self.rules

    @property
    def rules(self) -> "Theory":
        """Its rules, if they are one theory; constraints may change their predictions."""
        if len(self.theories) > 1:
            raise click.ClickException(
                f"{self.source}: {len(self.theories)} theories vote in this {self.kind}, so "
                "there is no single one"
            )
        return self.theories[0]

    def predict(self, data: "Dataset") -> Any:
        """Labels, rows by labels; or classes, if it was learned from classes."""
        from labelrules.rules import DecisionList, RuleSet, RuleTable

        if not self.is_theory:
            self.kept.engine = self.engine
            return self.kept.predict(data)
        is_flat = isinstance(self.kept, DecisionList | RuleSet)
        applied = RuleTable(self.kept) if is_flat else self.kept
        return applied.predict(data, engine=self.engine)

    def board(self, data: "Dataset") -> "Board":
        """Labels, rows by labels."""
        found: Board = self.predict(data)
        if found.ndim != 2:
            raise click.ClickException(
                f"{self.source}: the model predicts classes, not sets of labels"
            )
        return found

    def repairs(self, data: "Dataset") -> "Repairs | None":
        """The changes that constraints make to the predictions; None without constraints."""
        return self.kept.repairs(data) if self.kind == _CONSTRAINED else None

    def shortcomings(self) -> list[str]:
        """What the model does not do, in lines: labels without a rule, rules often wrong."""
        from labelrules.inspection import doubtful_rules

        try:
            theories = self.theories
        except click.ClickException:
            return []  # rules are made for each row
        reasons = {} if self.is_theory else self.kept.why_without_rules_
        groups: dict[str, list[str]] = {}
        for name in labels_without(theories) if not self.is_theory else []:
            groups.setdefault(reasons.get(name, ""), []).append(name)
        lines = []
        for reason, bare in groups.items():
            verb = "has" if len(bare) == 1 else "have"
            why = f" ({reason})" if reason else ""
            lines.append(f"{counted(len(bare), 'label')} {verb} no rule: {first_names(bare)}{why}")
        wrong = [str(one) for theory in theories for one in doubtful_rules(theory)]
        if wrong:
            verb = "was" if len(wrong) == 1 else "were"
            more = f" and {len(wrong) - MOST_NAMED} more" if len(wrong) > MOST_NAMED else ""
            start = f"{counted(len(wrong), 'rule')} {verb} more often wrong than right"
            lines.append(f"{start}: {', '.join(wrong[:MOST_NAMED])}{more}")
        return lines

    def counted(self, data: "Dataset") -> "Model":
        """Count the evidence of the rules anew, on these rows."""
        from labelrules.rules import DecisionList, LayeredTheory

        if not self.is_theory and self.kept._target.kind != "labels":
            raise click.ClickException(
                f"{self.source}: the model predicts classes, not labels that could be counted"
            )
        rules = self.theories[0]
        if len(self.theories) > 1 or not isinstance(rules, DecisionList | LayeredTheory):
            raise click.ClickException(
                f"{self.source}: the rules of this {self.kind} vote, so no rule alone is right or "
                "wrong; only decision lists and layers of them can be counted"
            )
        if self.is_theory:
            return Model(rules.with_evidence(data, data.Y), self.source)
        if not hasattr(self.kept, "calibrate"):
            raise click.ClickException(f"{self.source}: a {self.kind} cannot be counted anew")
        return Model(copy(self.kept).calibrate(data), self.source)

    def probabilities(self, data: "Dataset") -> "Floats | None":
        """The probability of each label; None for a theory."""
        if self.is_theory:
            return None
        self.kept.engine = self.engine
        found: Floats = self.kept.predict_proba(data)
        return found


def read_model(source: str, schema: "Callable[[], Schema] | None" = None) -> Model:
    """Read a model or theory, or rules as text, which need the schema of their data."""
    from labelrules.data import FileError
    from labelrules.rules import Theory, parse
    from labelrules.storage import from_json
    from labelrules.storage.files import about_in

    if is_data(source):
        raise click.UsageError(f"{source} is a data file, but a model is needed here")
    shown = "standard input" if source == STANDARD else source
    try:
        text = read_text(source)
        if text.lstrip("\ufeff \t\r\n").startswith("{"):
            kept = from_json(text)
            return Model(kept, shown, about_in(text) if isinstance(kept, Theory) else None)
        if schema is None:
            raise click.UsageError(
                f"{shown} is not JSON; if it holds rules as text, give their data by --data"
            )
        return Model(parse(text, schema()), shown)
    except FileError:  # which names the file
        raise
    except ValueError as wrong:
        raise click.ClickException(f"{shown}: {wrong}") from None


def read_text(source: str) -> str:
    """The text of a file in UTF-8, or of the standard input."""
    from labelrules.data.document import read_pieces
    from labelrules.data.files.access import opened_utf8

    if source == STANDARD:
        try:
            return str(read_pieces(sys.stdin.buffer), "utf-8")
        except UnicodeDecodeError as wrong:
            raise click.ClickException(
                f"standard input: this is not UTF-8 text ({wrong.reason})"
            ) from None
    with opened_utf8(Path(source)) as file:
        return read_pieces(file)


def kept_rules(source: str, first: int | None, schema: "Schema") -> "DecisionList":
    """The rules of a file to go on from, or the first of them, over the schema of the data.

    Default rules at the end are left out unless they are asked for: nothing could follow them.
    """
    from labelrules.rules import DecisionList, LayeredTheory, parse, theory_text

    theory = read_model(source, lambda: schema).theory
    if isinstance(theory, LayeredTheory) and len(theory.layers) == 1:
        theory = theory.layers[0]  # rules for rows without labels are learned anew
    if not isinstance(theory, DecisionList):
        raise click.ClickException(
            f"{source}: only the rules of a decision list can be kept, not those of a "
            f"{type(theory).__name__}"
        )
    if first is not None and first > len(theory):
        raise click.UsageError(f"--first: {source} has only {len(theory)} rules, not {first}")
    last = len(theory) if first is None else first
    while first is None and last and not len(theory[last - 1].body):
        last -= 1
    if theory.schema == schema:
        return theory[:last]
    try:
        return DecisionList(schema, parse(theory_text(theory[:last]), schema))
    except ValueError as wrong:
        raise click.ClickException(f"{source} does not fit the data: {wrong}") from None


def option_schema(data: str | None, reading: Reading) -> "Callable[[], Schema] | None":
    """The schema of the data that an option names, read when it is needed."""
    return None if data is None else lambda: read_data(data, reading).schema


def model_and_data(
    model: str, data: str, reading: Reading, *, with_labels: bool
) -> "tuple[Model, Dataset]":
    """Read both; the data in the columns of the model."""
    check_files(None, [model, data])
    if is_data(model):
        raise click.UsageError(f"{model} is a data file: give the model first, then the data")
    rows: list[Dataset] = []

    def schema_of_data() -> "Schema":
        rows.append(read_data(data, reading))
        return rows[0].schema

    found = read_model(model, schema_of_data)
    if rows:
        return found, rows[0]
    labels = found.schema.labels if with_labels else ()
    table = read_data(data, reading, found.schema, labels)
    return found, _conformed(table, found.schema, with_labels)


def model_and_parts(
    model: str, data: str, reading: Reading, *, with_labels: bool
) -> "tuple[Model, Iterator[Dataset]]":
    """Read both; of large files the rows come in partitions, in the columns of the model."""
    paths = None
    if not is_data(model) and STANDARD not in (model, data) and _is_json(model):
        paths = large_files(data, reading, LARGE)
    if paths is None:
        found, rows = model_and_data(model, data, reading, with_labels=with_labels)
        return found, iter([rows])
    from labelrules.data import scan
    from labelrules.data.partitions.scanning import format_of

    found, form = read_model(model), format_of(paths)
    reading.check(form)
    labels = found.schema.labels if with_labels else ()
    given = reading.given() | known_columns_of(paths, form, reading, found.schema, labels)
    parts = scan(paths, **given)
    return found, (_conformed(part, found.schema, with_labels) for part in parts)


def _is_json(model: str) -> bool:
    """Whether a file is a model, and not rules as text, which need the schema of the data."""
    return Path(model).suffix.lower() == ".json"


def data_for(data: str, reading: Reading, schema: "Schema") -> "Dataset":
    """Read labelled data in the columns of a model."""
    return _conformed(read_data(data, reading, schema), schema, with_labels=True)


def _conformed(data: "Dataset", schema: "Schema", with_labels: bool) -> "Dataset":
    from labelrules.data.memory.encoding import conform

    if with_labels and not len(data):
        raise click.ClickException("the data have no rows, so there is nothing to compare with")
    return conform(data, schema, with_labels=with_labels)


def other_part(data: str | None, reading: Reading, schema: "Schema", part: str) -> "Dataset | None":
    """Read labelled data for a model: this part, if the other part of a data set is in use."""
    if data is None:
        return None
    return data_for(data, replace(reading, part=reading.part and part, more=()), schema)


def check_label(name: str, schema: "Schema") -> None:
    """Refuse a label that the model does not have."""
    if name not in schema.label_index:
        near = suggestion(name, schema.labels)
        raise click.UsageError(f"--label: there is no label {quoted(name)}{near}")


HEADING = ["old", "new"]
"""The cells of a first line that is a heading, and not a pair of names."""


def names_option() -> Callable[..., Any]:
    """The option for a file of old and new names."""
    about = "other names of features and labels: CSV with lines old,new or a JSON object"
    return click.option("--names", type=File(), help=about)


def with_names_of(thing: Any, source: str | None) -> Any:
    """A model or data with the names of a file, if one is given."""
    if source is None:
        return thing
    names = read_names(source)
    try:
        if isinstance(thing, Model):
            return Model(thing.kept.rename(names), thing.source)
        found: Dataset = thing.rename(names)
        return found
    except ValueError as wrong:
        raise click.ClickException(f"{source}: {wrong}") from None


def read_names(source: str) -> dict[str, str]:
    """From old names to new ones, as a file lists them."""
    from labelrules.data import FileError

    try:
        text = read_text(source).lstrip("\ufeff")
        return _from_json(text) if text.lstrip().startswith("{") else _from_csv(text)
    except FileError:  # which names the file
        raise
    except (ValueError, csv.Error) as wrong:
        raise click.ClickException(f"{source}: {wrong}") from None


def _from_json(text: str) -> dict[str, str]:
    from labelrules.data.document import read_document

    names: dict[str, str] = read_document(text)
    for old, new in names.items():
        if not isinstance(new, str):
            raise ValueError(f"the new name of {quoted(old)} must be text, not {new!r:.60}")
    return names


def _from_csv(text: str) -> dict[str, str]:
    names: dict[str, str] = {}
    reader = csv.reader(StringIO(text), strict=True)
    for cells in reader:
        if not cells or (reader.line_num == 1 and cells == HEADING):
            continue
        if len(cells) != 2:
            raise ValueError(
                f"line {reader.line_num}: expected an old name, a comma and a new name, but it has "
                f"{len(cells)} cells; a name with a comma stands in double quotes"
            )
        if cells[0] in names:
            raise ValueError(f"line {reader.line_num}: {quoted(cells[0])} is renamed twice")
        names[cells[0]] = cells[1]
    return names


# -------------------------------------------------------------------- rules as text

_ORDER_NAMES = {"order": "list", "label": "label", "table": "table"}
_HEADINGS = {"latex": "% {}", "markdown": "## {}\n", "html": "<h2>{}</h2>"}


def is_terminal() -> bool:
    """Whether results are shown to a person, and not to a program."""
    return sys.stdout.isatty()


def reading_text(model: Model, by: str | None = None, evidence: bool = True) -> str:
    """The rules laid out for reading; by default tables of points, or rules in their order."""
    titles, theories = _titled(model)
    texts = [_reading_text(theory, by, evidence) for theory in theories]
    if len(texts) > 1:
        texts = [f"{title}\n{text}" for title, text in zip(titles, texts, strict=True)]
    return "\n\n".join(texts)


def _width() -> int:
    """The width of the terminal, or of `COLUMNS`; 100 in a pipe."""
    if is_terminal() or os.environ.get("COLUMNS"):
        return shutil.get_terminal_size((100, 24)).columns
    return 100


def _reading_text(theory: "Theory", by: str | None, evidence: bool) -> str:
    from labelrules.rules import RuleSet, theory_table, theory_view
    from labelrules.rules.views.tables import NARROWEST

    width = max(_width(), NARROWEST)
    colour = is_terminal() and not os.environ.get("NO_COLOR")
    if by is None:
        by = "table" if isinstance(theory, RuleSet) and theory.gives_points else "order"
    if by == "table":
        _check_table(theory)
        return theory_table(theory, width=width, colour=colour)
    order: Any = _ORDER_NAMES[by]
    return theory_view(theory, width=width, order=order, evidence=evidence, colour=colour)


def _check_table(theory: "Theory") -> None:
    if theory.ordered:
        raise click.UsageError("--by table is for rule sets that give points: use --by label")


def _titled(model: Model) -> tuple[list[str], "list[Theory]"]:
    """The theories of a model, and the constraints, with their titles."""
    theories = list(model.theories)
    if model.constraints is None:
        return [f"theory {n} of {len(theories)}" for n in range(1, len(theories) + 1)], theories
    titles = ["rules", "constraints, which every prediction satisfies"]
    return titles, [*theories, model.constraints]


def shown_rules_text(
    model: Model,
    style: str,
    evidence: bool = True,
    label: str | None = None,
    by: str | None = None,
) -> str:
    """The rules as text; several theories, and the constraints, with a heading each."""
    titles, theories = _titled(model)
    texts = [_text(theory, style, evidence, label, by) for theory in theories]
    if len(texts) > 1:
        heading = _HEADINGS.get(style, "# {}")
        texts = [f"{heading.format(t)}\n{text}" for t, text in zip(titles, texts, strict=True)]
    if style == "html":
        from labelrules._html import html_page

        return html_page("\n".join(texts), f"Rules of {model.source}").rstrip("\n")
    return "\n\n".join(texts)


def document(model: Model, label: str | None = None) -> dict[str, Any]:
    """The rules as values for JSON, counted from 0."""
    schema = model.schema
    found = {
        "kind": model.kind,
        "labels": list(schema.labels),
        "features": schema.n_features,
        "rules": [
            {"theory": number, "place": place, **rule}
            for number, theory in enumerate(model.theories)
            for place, rule in _rules(theory, label)
        ],
    }
    sets = [one for number, theory in enumerate(model.theories) for one in _sets(theory, number)]
    if sets:
        found["label_sets"] = sets
    if model.constraints is not None:
        found["constraints"] = [rule for _, rule in _rules(model.constraints, label)]
    return found


def _rules(theory: "Theory", label: str | None) -> Iterator[tuple["Place", dict[str, Any]]]:
    """The places of the rules that mention a label, and the rules as values."""
    from labelrules.inspection.summaries import places_of
    from labelrules.rules.json import rule_document
    from labelrules.rules.language.text import rule_texts

    texts = rule_texts(theory)
    for place, rule, text in zip(places_of(theory), theory, texts, strict=True):
        if _mentions(rule, label, theory.schema):
            yield place, {"text": text, **rule_document(rule, theory.schema)}


def _sets(theory: "Theory", number: int) -> Iterator[dict[str, Any]]:
    """The usual label sets of rule sets, counted from 0, and whether each row gets a label."""
    from labelrules.rules import RuleSet

    for layer, part in enumerate(theory.layers):
        if isinstance(part, RuleSet) and part.decides_rows:
            names = part.schema.labels
            sets = [
                {"labels": [names[label] for label in labels], "bonus": bonus}
                for labels, bonus in part.label_sets
            ]
            where = {"theory": number, "layer": layer}
            yield {**where, "sets": sets, "at_least_one": part.at_least_one}


def _mentions(rule: "Rule", label: str | None, schema: "Schema") -> bool:
    if label is None:
        return True
    number = schema.label_index[label]
    in_head = any(place == number for place, _ in rule.head)
    return in_head or any(c.on_label and c.column == number for c in rule.body)


def _text(theory: "Theory", style: str, evidence: bool, label: str | None, by: str | None) -> str:
    from labelrules.inspection.summaries import places_of
    from labelrules.rules import theory_html, theory_latex, theory_markdown, theory_text
    from labelrules.rules.language.text import rule_texts

    signs: Any = style if style in ("unicode", "ascii") else "plain"
    if label is not None:
        texts = rule_texts(theory, signs, evidence)
        return "\n".join(
            f"{place}: {text}"
            for place, rule, text in zip(places_of(theory), theory, texts, strict=True)
            if _mentions(rule, label, theory.schema)
        )
    if style == "latex":
        return theory_latex(theory, evidence)
    if style == "markdown":
        return theory_markdown(theory, evidence)
    if style == "html":
        if by == "table":
            _check_table(theory)
        order: Any = by and _ORDER_NAMES[by]
        return theory_html(theory, evidence=evidence, order=order)
    return theory_text(theory, signs, evidence)
