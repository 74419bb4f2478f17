"""Labels learned side by side: with news, and with an end by Ctrl-C that keeps what is done."""

from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any

from sklearn.utils.parallel import Parallel, delayed

from labelrules.kernels.interrupts import heard_interrupts
from labelrules.learners.interrupts import warn_of_early_end
from labelrules.learners.members import Job, Member, Work
from labelrules.learners.progress import LabelProgress


class Crew:
    """Learns the models of many labels, by the workers that joblib provides.

    Parameters
    ----------
    n_jobs : int, optional
        Labels that are learned at the same time, as joblib counts.
    tell : function
        Called with each `LabelProgress`.
    """

    def __init__(self, n_jobs: int | None, tell: Callable[[LabelProgress], object]) -> None:
        self.n_jobs, self.tell = checked_jobs(n_jobs), tell
        self.n_done = self.n_asked = self.n_phases = 0
        self.was_interrupted = False

    def learn(self, work: Work, jobs: Iterable[Job], phase: str) -> dict[Job, Member]:
        """The models of the jobs that were finished: all, unless somebody interrupts.

        After that nothing more is learned.
        """
        found: dict[Job, Member] = {}
        wanted = list(dict.fromkeys(jobs))
        self.n_asked += len(wanted)
        self.n_phases += 1
        if self.was_interrupted or not wanted:
            return found
        parallel = Parallel(n_jobs=self.n_jobs, return_as="generator_unordered")
        try:
            for job, member in parallel(delayed(_learn)(work, job) for job in wanted):
                found[job] = member
                self.n_done += 1
                name = work.data.schema.labels[job.label]
                self.tell(LabelProgress(len(found), len(wanted), name, phase))
        except KeyboardInterrupt:
            self.was_interrupted = True
        return found

    def unless_interrupted(self, work: Callable[[], None]) -> None:
        """Do some further work, unless somebody interrupts, or has."""
        if self.was_interrupted:
            return
        try:
            work()
        except KeyboardInterrupt:
            self.was_interrupted = True

    def warn(self) -> None:
        """Say so if not everything was learned."""
        if self.was_interrupted:
            warn_of_early_end("it was interrupted", self._kept())

    def _kept(self) -> str:
        share = f"{self.n_done} of {self.n_asked}"
        if self.n_done == 0:
            return "no label was learned yet, so only default rules are kept"
        if self.n_phases == 1:
            return f"the {share} labels learned so far are kept"
        # A label has several models, and some are needed only for what was not begun.
        return f"{share} models were learned, and what can be used of them is kept"


@heard_interrupts()
def _learn(work: Work, job: Job) -> tuple[Job, Member]:
    return job, work.learn(job)


def checked_jobs(given: Any) -> int | None:
    """A number of workers as joblib counts, if it is one."""
    whole = isinstance(given, Integral) and not isinstance(given, bool)
    if given is not None and not (whole and given != 0):
        raise ValueError(f"n_jobs must be a number of workers, or -1 for all, not {given!r}")
    return None if given is None else int(given)
