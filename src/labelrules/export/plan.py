"""What every export does with a theory: its layers, the columns it uses, free names."""

from collections.abc import Iterable
from dataclasses import dataclass

from labelrules.data.schema import Schema
from labelrules.rules.inference import Gibbs, Inference, Once
from labelrules.rules.layered_theory import LayeredTheory
from labelrules.rules.rule import Rule
from labelrules.rules.theory import DecisionList, RuleSet, Theory


@dataclass(frozen=True)
class Plan:
    """A theory, ready to be written down in another language.

    Parameters
    ----------
    schema : Schema
    layers : tuple of DecisionList or RuleSet
        The first reads what it writes itself, each other one what the one before has written.
    inference : Inference
        How the last layer is asked.
    fallback : DecisionList, optional
        For rows in which the layers find no label.
    """

    schema: Schema
    layers: tuple[Theory, ...]
    inference: Inference
    fallback: DecisionList | None

    @classmethod
    def of(cls, theory: Theory) -> "Plan":
        """The plan of a theory; refused if chance decides."""
        if not isinstance(theory, Theory):
            raise TypeError(
                f"a theory can be exported, not a {type(theory).__name__}: of a fitted learner, "
                "give theory_"
            )
        if not isinstance(theory, LayeredTheory):
            return cls(theory.schema, (theory,), Once(), None)
        if isinstance(theory.inference, Gibbs):
            raise ValueError(
                "a layer that is sampled from (Gibbs) cannot be exported, since it needs the same "
                "lots: choose another way by theory.with_inference(UntilStable()), or keep the "
                "theory by labelrules.save"
            )
        return cls(theory.schema, theory.layers, theory.inference, theory.fallback)

    @property
    def parts(self) -> tuple[Theory, ...]:
        """All lists and sets of rules."""
        return (*self.layers, *(() if self.fallback is None else (self.fallback,)))

    @property
    def used(self) -> tuple[int, ...]:
        """The features that some rule tests, in the order of the schema."""
        return used_features(rule for part in self.parts for rule in part)

    def only_once(self, what: str) -> "Plan":
        """The same plan, if its last layer is asked once."""
        if not isinstance(self.inference, Once):
            raise ValueError(
                f"{what} has no loops, so a last layer that is asked again and again cannot be "
                "exported to it: use to_python, or theory.with_inference(Once())"
            )
        return self


def used_features(rules: Iterable[Rule]) -> tuple[int, ...]:
    """The features that some of the rules test, in order."""
    return tuple(sorted({c.column for rule in rules for c in rule.body.on_features}))


class FreeNames:
    """Names that differ from those taken, whether or not case matters.

    Examples
    --------
    >>> names = FreeNames(["Age"])
    >>> names.free("age"), names.free("rule 1")
    ('age_', 'rule 1')
    """

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = {name.casefold() for name in taken}

    def free(self, name: str) -> str:
        """The name, with as many underscores behind it as it takes."""
        while name.casefold() in self._taken:
            name = f"{name}_"
        self._taken.add(name.casefold())
        return name


def steps(rules: Iterable[Rule], reads_itself: bool, most_shared: int) -> list[list[Rule]]:
    """Split a list so that no rule tests what a rule of the same step writes.

    Parameters
    ----------
    rules : iterable of Rule
    reads_itself : bool
        Whether conditions on labels look at what the list writes.
    most_shared : int
        How many rules of a step may decide about several labels.
    """
    found: list[list[Rule]] = [[]]
    written: set[int] = set()
    n_shared = 0
    for rule in rules:
        looks = {condition.column for condition in rule.body.on_labels}
        is_shared = len(rule.head) > 1 or rule.stops
        if (reads_itself and looks & written) or n_shared + is_shared > most_shared:
            found.append([])
            written, n_shared = set(), 0
        found[-1].append(rule)
        written |= set(rule.head.labels)
        n_shared += is_shared
    return [step for step in found if step]


def other_categories(schema: Schema, column: int, code: int) -> tuple[str, ...]:
    """The categories that a value other than this one can have; an unknown one is no value."""
    categories = schema.features[column].categories or ()
    return tuple(text for number, text in enumerate(categories) if number != code)


def is_list(part: Theory) -> bool:
    """Whether rules have an order; otherwise they vote."""
    return not isinstance(part, RuleSet)
