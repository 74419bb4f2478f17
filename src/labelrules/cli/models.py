"""Models and theories named on the command line."""

import sys
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelrules.cli.errors import CommandError, UsageError
from labelrules.cli.reading import is_data
from labelrules.cli.writing import STANDARD

if TYPE_CHECKING:
    from labelrules._types import Board, Floats
    from labelrules.data import Dataset, Schema
    from labelrules.discovery import Repairs
    from labelrules.rules import RuleSet, Theory

_CONSTRAINED = "ConstrainedClassifier"

MODEL_HELP = "a model or theory (.json), rules as text, or - for standard input"


def add_model(parser: ArgumentParser, name: str = "model") -> None:
    """The operand for a model."""
    parser.add_argument(name, metavar=name.upper(), help=MODEL_HELP)


@dataclass(frozen=True)
class Model:
    """A fitted learner or a theory, whichever the file has.

    Attributes
    ----------
    kept : fitted learner or theory
    source : str
        Where it comes from.
    """

    kept: Any
    source: str

    @property
    def schema(self) -> "Schema":
        """The columns it knows."""
        schema: Schema = self.kept.schema if self.is_theory else self.kept.schema_
        return schema

    @property
    def is_theory(self) -> bool:
        """Whether there are rules alone, without a learner."""
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
        # Around a learner, constraints change its predictions; the rules are those of the learner.
        of = getattr(self.kept, "base_", self.kept) if self.kind == _CONSTRAINED else self.kept
        if hasattr(of, "theory_"):
            return [of.theory_]
        found = list(getattr(of, "theories_", []))
        if not found:
            raise CommandError(f"{self.source}: this {self.kind} has no rules for labels to show")
        return found

    @property
    def constraints(self) -> "RuleSet | None":
        """What every prediction satisfies; None if there is nothing of the kind."""
        return self.kept.constraints_ if self.kind == _CONSTRAINED else None

    @property
    def theory(self) -> "Theory":
        """Its rules, if they are one theory and tell all."""
        if self.kind == _CONSTRAINED:
            raise CommandError(
                f"{self.source}: constraints change what the rules of this model say, so the rules "
                "do not tell all; explain does, row by row"
            )
        return self.rules

    @property
    def rules(self) -> "Theory":
        """Its rules, if they are one theory; constraints may change what they say."""
        if len(self.theories) > 1:
            raise CommandError(
                f"{self.source}: {len(self.theories)} theories vote in this {self.kind}, so "
                "there is no single one"
            )
        return self.theories[0]

    def predict(self, data: "Dataset") -> Any:
        """Labels, rows by labels; or classes, if it was learned from classes."""
        from labelrules.rules import DecisionList, RuleSet, RuleTable

        is_flat = isinstance(self.kept, DecisionList | RuleSet)
        return (RuleTable(self.kept) if is_flat else self.kept).predict(data)

    def board(self, data: "Dataset") -> "Board":
        """Labels, rows by labels."""
        found = self.predict(data)
        if found.ndim != 2:
            raise CommandError(f"{self.source}: the model predicts classes, not sets of labels")
        return found  # type: ignore[no-any-return]

    def repairs(self, data: "Dataset") -> "Repairs | None":
        """What constraints change in what the rules say; None if there are no constraints."""
        return self.kept.repairs(data) if self.kind == _CONSTRAINED else None

    def probabilities(self, data: "Dataset") -> "Floats | None":
        """How probable each label is; None if rules alone are known."""
        return None if self.is_theory else self.kept.predict_proba(data)


def read_model(source: str, schema: "Callable[[], Schema] | None" = None) -> Model:
    """Read a model or theory, or rules as text, for which the schema of their data is asked."""
    from labelrules.data import FileError
    from labelrules.rules import parse
    from labelrules.storage import from_json

    if is_data(source):
        raise UsageError(f"{source} is a file of data, but a model is needed here")
    shown = "standard input" if source == STANDARD else source
    try:
        text = _text(source)
        if text.lstrip("\ufeff \t\r\n").startswith("{"):
            return Model(from_json(text), shown)
        if schema is None:
            raise UsageError(
                f"{shown} holds no JSON; if it holds rules as text, say by --data which data they "
                "are for"
            )
        return Model(parse(text, schema()), shown)
    except FileError:  # which names the file
        raise
    except ValueError as wrong:
        raise CommandError(f"{shown}: {wrong}") from None


def _text(source: str) -> str:
    from labelrules.data.document import read_pieces
    from labelrules.data.files.access import opened_utf8

    if source == STANDARD:
        try:
            return str(read_pieces(sys.stdin.buffer), "utf-8")
        except UnicodeDecodeError as wrong:
            raise CommandError(f"standard input: this is not UTF-8 text ({wrong.reason})") from None
    with opened_utf8(Path(source)) as file:
        return read_pieces(file)
