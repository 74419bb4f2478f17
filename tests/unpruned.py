"""The learner as the chapter has it: every setting given, nothing pruned, no other default."""

from labelrules.learners import SeparateAndConquer
from twins.learner import Settings


def learner(n_jobs=None, progress=False, **parameters):
    """A learner with the settings of its slow twin."""
    return SeparateAndConquer(
        **vars(Settings(**parameters)),
        pruning=None,
        last_resort=None,
        n_jobs=n_jobs,
        progress=progress,
    )


def learned(data, **parameters):
    return learner(**parameters).fit(data).theory_


def told(theory):
    """All that there is to a list: heads, conditions in their order, stop marks, evidence."""
    return [(rule.head, rule.body.conditions, rule.stops, rule.evidence) for rule in theory]
