"""Find problems of a theory: by proof, and on data."""

from typing import Any

from labelrules._checks import whole_number
from labelrules.data.memory.encoding import encode_labels
from labelrules.data.table import Dataset
from labelrules.inspection.review.empirical import (
    conditions_without_effect,
    conflicts,
    constant_labels,
    doubtful,
    unused_rules,
    with_counts,
)
from labelrules.inspection.review.fixes import EffectOfFixes
from labelrules.inspection.review.logical import (
    circular_labels,
    labels_never_present,
    rules_without_effect,
)
from labelrules.inspection.review.regions import ProofSteps
from labelrules.inspection.review.values import Finding, Findings, sorted_findings
from labelrules.inspection.rule_usage import conflicting_rules
from labelrules.inspection.summaries import places_of
from labelrules.inspection.tracing import encoded_rows
from labelrules.rules import LayeredTheory, Theory, theory_of


def findings(theory: Any, data: Any = None, *, max_steps: int = 1_000_000) -> Findings:
    r"""Find rules that do nothing, contradict others, or are more often wrong than right.

    What follows from the rules alone is proved: rows are divided into regions on which the list
    does the same, with all values that features may have, missing ones too. A proof that would
    take too long is given up, and nothing is claimed. What is found on data holds on these rows.

    Each finding has a sentence, and most have a fix, an edit with its exact effect: whether it is
    proved that no prediction changes, or how many change on the data.

    Parameters
    ----------
    theory : DecisionList, RuleSet, LayeredTheory or fitted learner
    data : Dataset, array, sparse matrix or frame, optional
        Rows to look at; true labels are taken from a Dataset only.
    max_steps : int
        Rules that all proofs together may check on regions, some five million in a minute; then
        further proofs are given up.

    Returns
    -------
    Findings
        Those that are proved come first. Conflicts are looked for in lists, where the earlier rule
        decides: in the rows of the data, or without data wherever both rules could hold.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> text = '''
    ... quality <- sex = Female
    ... quality <- sex = Female, children = No
    ... not sports <- quality
    ... sports <- marital = Divorced, marital = Single
    ... '''
    >>> found = findings(parse(text, load("magazines").schema))
    >>> for one in found.found[:2]:
    ...     print(one)
    Rule 4 can never hold: no value satisfies `marital = Divorced` and `marital = Single`.
      remove rule 4: keeps every prediction, whatever the row (proved)
    Rule 2 says nothing new: rule 1 predicts it for more rows.
      remove rule 2: keeps every prediction, whatever the row (proved)
    """
    max_steps = whole_number(max_steps, "max_steps", low=0)
    theory = theory_of(theory)
    rows = None if data is None else encoded_rows(theory, data)
    truth = encode_labels(data, theory.schema) if isinstance(data, Dataset) else None
    effects = EffectOfFixes(theory, rows, truth, ProofSteps(max_steps))
    found = list(rules_without_effect(theory, effects))
    always_absent = dict(labels_never_present(theory))
    if rows is None:
        found += [*doubtful(theory, effects, False), *_possible_conflicts(theory)]
        found += [*circular_labels(theory), *always_absent.values()]
        return Findings(theory, sorted_findings(found))
    useless = {one.places[0] for one in found if one.effect and one.effect.proved}
    if truth is not None:
        found += doubtful(with_counts(theory, rows, truth, effects), effects, True)
    found += conflicts(theory, rows, truth, effects)
    found += circular_labels(theory)
    found += constant_labels(theory, rows, truth, always_absent)
    on_data = [*unused_rules(theory, rows, effects)]
    on_data += conditions_without_effect(theory, rows, effects)
    # What is proved is not said again for these rows.
    found += [one for one in on_data if one.places[0] not in useless]
    return Findings(theory, sorted_findings(found), len(rows))


def _possible_conflicts(theory: Theory) -> list[Finding]:
    """Pairs of rules of lists that predict opposite values and could hold for the same row.

    A default rule, which holds for every row, is there to be overruled.
    """
    places = places_of(theory)
    parts = theory.parts if isinstance(theory, LayeredTheory) else (theory,)
    can_lose = [part.ordered and bool(rule.body) for part in parts for rule in part]
    return [
        Finding(
            "conflict",
            (places[earlier], places[later]),
            f"{str(places[earlier]).capitalize()} and {places[later]} can hold for the same row "
            "and disagree: the first of them decides.",
        )
        for later, others in conflicting_rules(theory)
        for earlier in others
        if can_lose[later]
    ]
