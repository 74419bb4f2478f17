"""Repeat the chapter's case studies: both studies in turn, their statements, and the report."""

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from casestudies.case_study_report import report_page
from casestudies.claims import Claim, Verdict, tally
from casestudies.kept_work import StudyFolder
from casestudies.materials import (
    Materials,
    chosen_sets,
    multi_head_learners,
    single_head_learners,
    studied,
    study_materials,
)
from casestudies.multi_head_claims import claims_on_multi_heads
from casestudies.multi_heads import MultiHeadStudy, multi_head_study
from casestudies.single_head_claims import claims_on_single_heads
from casestudies.single_heads import SingleHeadStudy, single_head_study
from labelrules._checks import counted, truth_value
from labelrules.data import Dataset, Feature, Schema
from labelrules.learners.base.progress import Listener, nested_fit, progress_listener


@dataclass(frozen=True)
class CaseStudyProgress:
    """The progress of the case studies: what is being done, and the share that is finished."""

    share: float
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False, repr=False)
class CaseStudies:
    """Both case studies: printing them shows each statement of the chapter beside what was found.

    Attributes
    ----------
    materials : Materials
        The data sets; those that were not there, with the reason.
    single_heads : SingleHeadStudy or None
        None if none of its data sets is there.
    multi_heads : MultiHeadStudy or None
        The same.
    cpu_seconds : float
        Processor time of this call, without what was kept before.
    """

    materials: Materials
    single_heads: SingleHeadStudy | None
    multi_heads: MultiHeadStudy | None
    cpu_seconds: float

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """The statements of the chapter, each with what was found and whether the two agree."""
        first = claims_on_single_heads(self.single_heads) if self.single_heads else ()
        second = claims_on_multi_heads(self.multi_heads) if self.multi_heads else ()
        return (*first, *second)

    @property
    def verdicts(self) -> dict[Verdict, int]:
        """How many statements were seen, in part, not, or not examined."""
        return tally(self.claims)

    @property
    def headline(self) -> str:
        """The verdicts in words."""
        found = self.verdicts
        not_examined = f"; {found['not examined']} not examined" if found["not examined"] else ""
        return (
            f"{counted(len(self.claims), 'statement')} of the chapter: {found['yes']} seen here, "
            f"too, {found['partly']} in part, {found['no']} not{not_examined}"
        )

    def html(self) -> str:
        """The report as one HTML page, which fetches nothing from elsewhere."""
        return report_page(self)

    def as_dict(self) -> dict[str, list[Any]]:
        """The statements as columns: `study`, `topic`, `chapter`, `found`, `verdict`, `reason`."""
        return {name: [getattr(one, name) for one in self.claims] for name in Claim._fields}

    def __repr__(self) -> str:
        return f"<CaseStudies: {self.headline}>"

    def __str__(self) -> str:
        lines = [self.headline]
        for one in self.claims:
            lines += ["", f"{one.topic}: {one.verdict}", f"  chapter: {one.chapter}"]
            lines += [f"  found: {one.found}"] if one.found else []
            lines += [f"  reason: {one.reason}"] if one.reason else []
        skipped = [
            f"left out: {', '.join(names)}; {why}"
            for why, names in self.materials.skipped_by_reason.items()
        ]
        return "\n".join([*lines, *([""] if skipped else []), *skipped])


def case_studies(
    data_folder: "str | Path | None" = None,
    *,
    folder: "str | os.PathLike[str]" = "casestudies-results",
    sets: "str | Iterable[str] | None" = None,
    quick: bool = False,
    restart: bool = False,
    progress: bool | Listener = False,
) -> CaseStudies:
    """Repeat the chapter's two case studies, and compare what is found with what it says.

    The first study learns rules with one label in the head by binary relevance (BR), stacked binary
    relevance (SBR) and separate-and-conquer, to be read; the second compares ten algorithms with
    single- and multi-label heads over eight data sets.

    Parameters
    ----------
    data_folder : path-like, optional
        Where the data sets are, in Mulan's format; by default the environment variable
        ``LABELRULES_DATA``. Those that are not there are left out, and named.
    folder : path-like, default="casestudies-results"
        Where models, fits and times are kept, each as soon as it is finished. A call with the same
        folder goes on where another one was ended.
    sets : str or iterable of str, optional
        Names of data sets of the chapter; all nine by default.
    quick : bool, default=False
        Whether to take the four smallest sets only.
    restart : bool, default=False
        Whether to begin anew.
    progress : bool or function, default=False
        Whether to show a progress bar, or a function to call with each
        :class:`~labelrules.lab.CaseStudyProgress`.

    Returns
    -------
    CaseStudies
        Its `html` is the report; `claims` are the statements that were examined.

    Examples
    --------
    >>> from casestudies import case_studies
    >>> found = case_studies("../shared/data", quick=True)  # doctest: +SKIP
    >>> print(found.headline)  # doctest: +SKIP
    25 statements of the chapter: 14 seen here, too, 5 in part, 2 not; 4 not examined
    """
    for name, value in (("quick", quick), ("restart", restart)):
        truth_value(value, name)
    materials = study_materials(data_folder, chosen_sets(sets, quick))
    kept = StudyFolder(folder, restart)
    start = time.process_time()
    with progress_listener(progress) as listener, nested_fit():
        report = _Reporter(materials, listener)
        report.tell("compiling")
        _compile()
        first, second = studied(materials)
        single = multi = None
        if first:
            single = single_head_study(first, kept, report.tell, report.fitted)
        if second:
            multi = multi_head_study(second, kept, report.tell, report.fitted)
    return CaseStudies(materials, single, multi, time.process_time() - start)


class _Reporter:
    """Tells a listener of each piece of work; all count alike."""

    def __init__(self, materials: Materials, listener: Listener) -> None:
        first, second = studied(materials)
        n_first, n_second = len(single_head_learners()), len(multi_head_learners())
        self._all = 3 + 2 * n_first * len(first) + (n_second + 7) * len(second)
        self._done, self._listener = 0, listener

    def tell(self, text: str) -> None:
        """A piece of work begins."""
        self._listener(CaseStudyProgress(min(self._done / self._all, 1.0), text))
        self._done += 1

    def fitted(self, news: Any) -> None:
        """A fit of an experiment is finished."""
        self.tell(str(news.fit))


def _compile() -> None:
    """Let all that is timed be compiled before: on a few rows with numbers and categories."""
    features = [Feature("age"), Feature("sex", ("f", "m")), Feature("zone", tuple("abcdef"))]
    rows = np.arange(24)
    X = np.column_stack([rows % 7, rows % 2, rows % 6]).astype(float)
    Y = np.column_stack([rows % 2, rows % 7 > 3, rows % 6 > 2]).astype(np.int8)
    table = Dataset(Schema(features, ["one", "two", "three"]), X, Y)
    for name, learner in multi_head_learners().items():
        if name.startswith(("single", "multi")):
            learner.fit(table)
