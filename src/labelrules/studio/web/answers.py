"""What the JSON interface answers with, as types; its description is made of them."""

from datetime import datetime

from msgspec import UNSET, UnsetType

from labelrules.data.document import Record


class StateAnswer(Record):
    """The present state: a change must name its revision. Measures are given for each part."""

    revision: int
    data: str
    branch: str
    n_rules: int
    can_undo: bool
    can_redo: bool
    is_learning: bool
    measures: dict[str, dict[str, float]]


class FeatureAnswer(Record):
    """A feature; only some kinds have categories."""

    name: str
    kind: str
    categories: list[str] | None


class NamesAnswer(Record):
    """Labels and features, in the order of the data."""

    labels: list[str]
    features: list[FeatureAnswer]


class CountsAnswer(Record):
    """How often a rule is right and wrong, the share of right, and its 95 % interval."""

    right: int
    wrong: int
    share: float
    low: float
    high: float


class ListedRuleAnswer(Record):
    """A rule; a disabled one has no counts, and only one in layers has a layer."""

    number: int
    id: int
    text: str
    note: str | None
    locked: bool
    disabled: bool
    layer: int | None
    for_no_label: bool
    training: CountsAnswer | None
    validation: CountsAnswer | None


class RuleAnswer(ListedRuleAnswer):
    """A rule, and the state that it is of."""

    revision: int


class RulesAnswer(Record):
    """All rules in their order, and the state that they are of."""

    revision: int
    rules: list[ListedRuleAnswer]


class RulePairAnswer(Record):
    """A rule that changes, as text."""

    before: str
    after: str


class LabelChangeAnswer(Record):
    """In how many rows a label changes, is gained or lost, becomes right or wrong."""

    label: str
    n_rows: int
    n_gained: int
    n_lost: int
    n_righted: int
    n_wronged: int


class MeasureChangeAnswer(Record):
    """A measure before and after."""

    name: str
    before: float
    after: float


class PartAnswer(Record):
    """What changes in a part of the data; of many rows only the first are listed."""

    n_rows: int
    n_changed_cells: int
    n_changed_rows: int
    rows: list[int]
    labels: list[LabelChangeAnswer]
    measures: list[MeasureChangeAnswer]


class PreviewAnswer(Record):
    """What a change would do to the state with this revision; rules are given as text."""

    revision: int
    removed: list[str]
    added: list[str]
    changed: list[RulePairAnswer]
    reordered: bool
    parts: dict[str, PartAnswer]


class ExplainedLabelAnswer(Record):
    """A label of a row: 1 if it is present, 0 if it is absent, null if that is unknown."""

    predicted: int
    truth: int | None
    sentence: str


class ExplanationAnswer(Record):
    """Why a row gets its labels."""

    row: int
    part: str
    labels: dict[str, ExplainedLabelAnswer]


class FindingAnswer(Record):
    """Something to look at, perhaps with a way to settle it, and what that would do."""

    kind: str
    sentence: str
    fix: str | None
    effect: str | None


class FindingsAnswer(Record):
    """What is to be looked at."""

    findings: list[FindingAnswer]


class StepAnswer(Record):
    """A step of the history."""

    number: int
    text: str
    author: str | None
    time: datetime


class VersionAnswer(Record):
    """A named version, with the measures of each part."""

    name: str
    reason: str
    author: str | None
    step: int
    time: datetime
    measures: dict[str, dict[str, float]]


class HistoryAnswer(Record):
    """The steps that lead to the present rules, the versions, and the step of each branch."""

    steps: list[StepAnswer]
    versions: list[VersionAnswer]
    branches: dict[str, int]
    branch: str


class LearningAnswer(Record):
    """The progress of learning; `job` is 0 if nothing is learned, and no proposal waits."""

    job: int
    is_running: bool
    share: float
    text: str
    error: str
    has_proposal: bool


class OpeningAnswer(Record):
    """A look at the test part."""

    number: int
    reason: str
    author: str | None
    step: int
    time: datetime
    measures: dict[str, float]


class OpeningsAnswer(Record):
    """The looks at the test part, if there is one."""

    has_test: bool
    openings: list[OpeningAnswer]


class ErrorAnswer(Record):
    """Why a request was refused; with the present revision if another one was named."""

    error: str
    revision: int | UnsetType = UNSET
