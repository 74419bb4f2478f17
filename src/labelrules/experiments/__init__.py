"""COMPARE: learners side by side: quality against size, and ranks and tests over data sets."""

from labelrules.experiments.comparing.bayesian import (
    BayesianSignedRank,
    Posterior,
    bayesian_signed_rank,
)
from labelrules.experiments.comparing.diagrams import (
    critical_difference_svg,
    plot_critical_difference,
)
from labelrules.experiments.comparing.nemenyi import (
    NemenyiPair,
    NemenyiTest,
    critical_difference,
    nemenyi_test,
)
from labelrules.experiments.comparing.ranks import (
    AverageRanks,
    FriedmanTest,
    average_ranks,
    friedman_test,
)
from labelrules.experiments.comparing.score_tables import ScoreTable, score_table
from labelrules.experiments.comparing.signed_ranks import SignedRanks, WilcoxonHolm, wilcoxon_holm
from labelrules.experiments.cross_validation import FrontierProgress, frontier
from labelrules.experiments.fold_scores import CrossValidation, FoldProgress, cross_validate
from labelrules.experiments.frontier_values import FoldValues, Frontier, FrontierPoint
from labelrules.experiments.measuring import FitMeasure
from labelrules.experiments.running.fitting import FitOutcome
from labelrules.experiments.running.results import Fit, Results
from labelrules.experiments.running.run import ExperimentProgress, experiment
from labelrules.experiments.splitter import IterativeStratifiedKFold

__all__ = [
    "AverageRanks",
    "BayesianSignedRank",
    "CrossValidation",
    "ExperimentProgress",
    "Fit",
    "FitMeasure",
    "FitOutcome",
    "FoldProgress",
    "FoldValues",
    "FriedmanTest",
    "Frontier",
    "FrontierPoint",
    "FrontierProgress",
    "IterativeStratifiedKFold",
    "NemenyiPair",
    "NemenyiTest",
    "Posterior",
    "Results",
    "ScoreTable",
    "SignedRanks",
    "WilcoxonHolm",
    "average_ranks",
    "bayesian_signed_rank",
    "critical_difference",
    "critical_difference_svg",
    "cross_validate",
    "experiment",
    "friedman_test",
    "frontier",
    "nemenyi_test",
    "plot_critical_difference",
    "score_table",
    "wilcoxon_holm",
]
