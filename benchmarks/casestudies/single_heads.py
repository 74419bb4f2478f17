"""The first study: rules with one label in the head, by BR, SBR and separate-and-conquer."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from casestudies.chapter import SHOWN_LABELS
from casestudies.kept_work import SINGLE, StudyFolder
from casestudies.materials import (
    StudyData,
    report_row,
    single_head_learners,
)
from labelrules.data import Dataset
from labelrules.inspection import Edge, LabelExplanation, LabelGraph, explain, label_graph
from labelrules.lab import Results
from labelrules.learners.base.progress import Listener
from labelrules.rules import DecisionList, LayeredTheory, Rule, Theory, rule_text

LEARNERS = ("BR", "SBR", "Single", "Single, default")
MEASURES = ("micro F1", "macro F1", "subset accuracy", "Hamming loss")


class ModelSize(NamedTuple):
    """The size of a model; rules that always hold, which end lists, do not count.

    Of two layers the second one is counted, which holds the dependencies of labels.
    """

    rules: int
    conditions: int
    literals: int
    all_literals: int  #: Those of the first layer, too.
    per_label: float  #: Rules per label.
    most: int  #: Rules of the label with most rules.
    full: int  #: Rules that test labels only.
    partial: int  #: Rules that test labels and features.
    used: float  #: Rules that write a label of a row, on average.


@dataclass(frozen=True, eq=False)
class SingleHeadModels:
    """The theories of all learners on one data set, from all its rows."""

    name: str
    data: Dataset
    theories: dict[str, Theory]

    def layer(self, learner: str) -> DecisionList:
        """The list that is shown: the second of two layers, or the only one."""
        theory = self.theories[learner]
        if isinstance(theory, LayeredTheory):
            last: Any = theory.layers[-1]
            return last  # type: ignore[no-any-return]
        return theory  # type: ignore[return-value]

    def rules_for(self, learner: str, label: str) -> list[Rule]:
        """The rules with conditions that predict a label present."""
        place = self.data.schema.label_index[label]
        return [rule for rule in self._rules(learner) if rule.head.literals == ((place, 1),)]

    def texts_for(self, learner: str, label: str) -> list[str]:
        """The same in the rule language, with how often each was right and wrong."""
        schema = self.data.schema
        return [rule_text(rule, schema, evidence=True) for rule in self.rules_for(learner, label)]

    def _rules(self, learner: str) -> list[Rule]:
        return [rule for rule in self.layer(learner) if len(rule.body)]

    def size(self, learner: str) -> ModelSize:
        """The size of the model of a learner."""
        rules = self._rules(learner)
        conditions = sum(len(rule.body) for rule in rules)
        counts = np.bincount(
            [rule.head.labels[0] for rule in rules], minlength=self.data.schema.n_labels
        )
        forms = [rule.form.dependence for rule in rules]
        return ModelSize(
            len(rules),
            conditions,
            conditions + sum(len(rule.head) for rule in rules),
            self.theories[learner].n_literals,
            len(rules) / self.data.schema.n_labels,
            int(counts.max()),
            forms.count("full"),
            forms.count("partial"),
            self._used(learner),
        )

    def _used(self, learner: str) -> float:
        """How many rules with conditions write some label of a row, on average."""
        theory: Any = self.theories[learner]
        run = theory.run(self.data)
        last = run.layers[-1] if isinstance(theory, LayeredTheory) else run
        has_body = np.array([len(rule.body) > 0 for rule in self.layer(learner)])
        counts = [len({i for i in row.tolist() if i >= 0 and has_body[i]}) for row in last.writer]
        return float(np.mean(counts))

    @cached_property
    def graph(self) -> LabelGraph:
        """The dependencies of labels in the second layer of SBR."""
        return label_graph(self.layer("SBR"))

    @cached_property
    def edges(self) -> list[Edge]:
        """The pairs of labels of which the one predicts the other."""
        return self.graph.edges()


@dataclass(frozen=True, eq=False)
class SingleHeadStudy:
    """All models of the first study, their quality, and the report that the chapter explains."""

    models: dict[str, SingleHeadModels]
    quality: Results
    report: dict[str, LabelExplanation]
    """For each learner why the report has the label Cough or has it not; empty without medical."""

    def sizes(self, names: Iterable[str]) -> list[tuple[str, str, ModelSize]]:
        """Data set, learner and size, for those of these sets that there are."""
        return [
            (name, learner, self.models[name].size(learner))
            for name in names
            if name in self.models
            for learner in LEARNERS
        ]


def single_head_study(
    sets: list[StudyData], folder: StudyFolder, tell: Callable[[str], object], progress: Listener
) -> SingleHeadStudy:
    """Learn all models, from all rows to be read and from training rows to be measured.

    Parameters
    ----------
    sets : list of StudyData
        At least one.
    folder : StudyFolder
        Where models are kept.
    tell : function
        Called with a text before each piece of work.
    progress : function
        Called with each `ExperimentProgress`.
    """
    learners = single_head_learners()
    models = {}
    for one in sets:
        theories = {}
        for name, learner in learners.items():
            tell(f"{name} on {one.name}")
            theories[name] = folder.theory(learner, one.whole)
        models[one.name] = SingleHeadModels(one.name, one.whole, theories)
    pairs = {one.name: (one.train, one.test) for one in sets}
    quality = folder.results(SINGLE, learners, pairs, MEASURES, progress)
    tell("the report on a cough")
    return SingleHeadStudy(models, quality, _explained_report(models))


def _explained_report(models: dict[str, SingleHeadModels]) -> dict[str, LabelExplanation]:
    if "medical" not in models:
        return {}
    medical, label = models["medical"], SHOWN_LABELS["medical"]
    row = report_row(medical.data.schema)
    return {
        learner: explain(theory, row, labels=[label], training=medical.data)[label]
        for learner, theory in medical.theories.items()
    }
