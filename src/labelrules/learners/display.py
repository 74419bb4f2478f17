"""How notebooks show learners: scikit-learn's diagram, and below it the rules."""

from collections.abc import Iterator
from typing import Any

from labelrules.rules import Theory
from labelrules.rules.html import SHOWN_IN_NOTEBOOKS, theory_html


class ShowsRules:
    """A learner whose rules are shown in notebooks, once it is fitted.

    It goes before scikit-learn's `BaseEstimator`, and follows its setting ``display``: no HTML if
    that is "text". Within a pipeline a learner has its box of the diagram, as any other.
    """

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + rules_html(self)  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle


def rules_html(learner: Any) -> str:
    """The rules of a learner in HTML; nothing if it is not fitted, or has none."""
    return "".join(_parts(learner))


def _parts(learner: Any) -> Iterator[str]:
    if hasattr(learner, "theory_"):
        yield _shown(learner.theory_)
    elif getattr(learner, "theories_", None):
        n_theories = len(learner.theories_)
        yield _heading(f"Theory 1 of {n_theories}, which vote; all are in theories_")
        yield _shown(learner.theories_[0])
    elif hasattr(learner, "constraints_"):
        yield _heading("Constraints that every prediction satisfies")
        yield _shown(learner.constraints_)
        before = rules_html(learner.base_)
        if before:
            yield _heading("What the base says before")
            yield before


def _shown(theory: Theory) -> str:
    return theory_html(theory, max_rules=SHOWN_IN_NOTEBOOKS)


def _heading(text: str) -> str:
    return f'<div class="labelrules"><h4>{text}</h4></div>'
