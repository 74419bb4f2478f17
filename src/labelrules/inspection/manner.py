"""How two theories read their rules, where that is not the same."""

from typing import NamedTuple

from labelrules._checks import counted
from labelrules.rules import LayeredTheory, Theory
from labelrules.rules.headings import way_text
from labelrules.rules.inference import Inference, Once

NO_LAYERS = "none"


class MannerDifference(NamedTuple):
    """Something other than rules in which two theories differ.

    Attributes
    ----------
    what : str
        "layers", "order" (perhaps of a layer), "inference", or "rows without labels".
    one, other : str
        What the first theory does, and the second.
    """

    what: str
    one: str
    other: str

    def __str__(self) -> str:
        return f"{self.what}: {self.one}, now {self.other}"


def manner_differences(one: Theory, other: Theory) -> tuple[MannerDifference, ...]:
    r"""Where two theories differ in layers, in order, in inference, and for rows without labels.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> schema = load("magazines").schema
    >>> one = parse("quality <- true", schema)
    >>> other = parse("in any order:\nquality <- true", schema)
    >>> [str(difference) for difference in manner_differences(one, other)]
    ['order: in order (the first rule decides), now in any order (rules vote)']
    """
    found = [MannerDifference("layers", _layers(one), _layers(other))]
    mine, theirs = layers_of(one), layers_of(other)
    has_one_layer = len(mine) == len(theirs) == 1
    for number, (a, b) in enumerate(zip(mine, theirs, strict=False), 1):
        what = "order" if has_one_layer else f"order of layer {number}"
        found.append(MannerDifference(what, _order(a), _order(b)))
    found.append(MannerDifference("inference", _inference(one), _inference(other)))
    found.append(MannerDifference("rows without labels", _fallback(one), _fallback(other)))
    return tuple(difference for difference in found if difference.one != difference.other)


def layers_of(theory: Theory) -> tuple[Theory, ...]:
    """The layers; a theory without is its own."""
    return theory.layers if isinstance(theory, LayeredTheory) else (theory,)


def inference_of(theory: Theory) -> Inference:
    """How its last layer is read."""
    return theory.inference if isinstance(theory, LayeredTheory) else Once()


def _layers(theory: Theory) -> str:
    return str(len(theory.layers)) if isinstance(theory, LayeredTheory) else NO_LAYERS


def _order(theory: Theory) -> str:
    return "in order (the first rule decides)" if theory.ordered else "in any order (rules vote)"


def _inference(theory: Theory) -> str:
    return way_text(inference_of(theory), theory.schema)


def _fallback(theory: Theory) -> str:
    fallback = theory.fallback if isinstance(theory, LayeredTheory) else None
    return "no rules for them" if fallback is None else counted(len(fallback), "rule")
