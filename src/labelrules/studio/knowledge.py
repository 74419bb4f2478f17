"""What a person knows and a learner shall heed."""

from labelrules._checks import counted, whole_number
from labelrules.data.document import FrozenRecord
from labelrules.data.schema import Schema
from labelrules.rules.language.text import label_text, name_text
from labelrules.search.bodies.rule_language import Wish, language
from labelrules.studio.constraint_rules import constraint_texts


class Knowledge(FrozenRecord, frozen=True, kw_only=True):
    """What a person knows before rules are learned again.

    Parameters
    ----------
    forbidden : tuple of str or (str, str)
        Features that no new rule tests, and pairs of labels: new rules for the first do not test
        the second.
    preferred : tuple of str
        Features to explain with first: rules are searched for with these features alone, as long
        as any is found, and only then with all others.
    constraints : tuple of str
        Rules that test labels only, such as ``"infection <- flu"`` or ``"not flu <- pneumonia"``:
        no new rule breaks them. Constraints that were discovered may be given as they are.
    max_conditions : int, optional
        The largest body of a new rule.
    max_rules : int, optional
        The longest list, with rules that are kept, guards of constraints and a default rule; those
        for rows without labels and disabled rules are not part of it.
    max_literals : int, optional
        The most conditions and labels in heads of all new rules together.

    Examples
    --------
    >>> Knowledge(forbidden=("region",), max_conditions=3).expression()
    "Knowledge(forbidden=('region',), max_conditions=3)"
    """

    forbidden: tuple[Wish, ...] = ()
    preferred: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    max_conditions: int | None = None
    max_rules: int | None = None
    max_literals: int | None = None

    def expression(self) -> str:
        """The knowledge in Python, without what is as usual."""
        usual = Knowledge()
        given = [
            f"{name}={getattr(self, name)!r}"
            for name in self.__struct_fields__
            if getattr(self, name) != getattr(usual, name)
        ]
        return f"Knowledge({', '.join(given)})"

    def words(self) -> list[str]:
        """The knowledge in plain English, each part of it in a phrase.

        >>> Knowledge(forbidden=("region", ("flu", "pneumonia")), max_rules=9).words()
        ['no new rule tests region', 'no new rule for flu tests pneumonia', 'at most 9 rules']
        """
        features = [name_text(one) for one in self.forbidden if isinstance(one, str)]
        pairs = [one for one in self.forbidden if not isinstance(one, str)]
        limits = {
            "in a new rule": (self.max_conditions, "condition"),
            "": (self.max_rules, "rule"),
            "in new rules": (self.max_literals, "literal"),
        }
        return [
            *([f"no new rule tests {' or '.join(features)}"] if features else []),
            *(f"no new rule for {label_text(a)} tests {label_text(b)}" for a, b in pairs),
            *(
                [f"tried first: {', '.join(map(name_text, self.preferred))}"]
                if self.preferred
                else []
            ),
            *(f"constraint: {one}" for one in self.constraints),
            *(
                f"at most {counted(most, noun)} {where}".rstrip()
                for where, (most, noun) in limits.items()
                if most is not None
            ),
        ]


def checked_knowledge(knowledge: Knowledge | None, schema: Schema) -> Knowledge:
    """The knowledge with names that are known, and constraints as text."""
    if knowledge is None:
        return Knowledge()
    if not isinstance(knowledge, Knowledge):
        raise TypeError(f"knowledge must be a Knowledge, not {knowledge!r:.60}")
    for name in ("forbidden", "preferred", "constraints"):
        if isinstance(getattr(knowledge, name), str):
            raise ValueError(
                f"{name} must be a list, not one text: ({getattr(knowledge, name)!r},)"
            )
    forbidden = tuple(tuple(one) if isinstance(one, list) else one for one in knowledge.forbidden)
    language(schema, forbidden=forbidden)  # refuses names that are unknown
    language(schema, forbidden=knowledge.preferred)
    limits = {
        name: whole_number(value, name, low=low)
        for name, low in (("max_conditions", 0), ("max_rules", 0), ("max_literals", 0))
        if (value := getattr(knowledge, name)) is not None
    }
    texts = constraint_texts(knowledge.constraints, schema)
    return Knowledge(
        forbidden=forbidden, preferred=tuple(knowledge.preferred), constraints=texts, **limits
    )
