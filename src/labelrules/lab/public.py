"""The public names of the room `lab`."""

from labelrules.lab.comparing.diagrams import (
    critical_difference_svg,
    plot_critical_difference,
)
from labelrules.lab.comparing.pairs import (
    BayesianSignedRank,
    Posterior,
    SignedRanks,
    WilcoxonHolm,
    bayesian_signed_rank,
    wilcoxon_holm,
)
from labelrules.lab.comparing.ranks import (
    AverageRanks,
    FriedmanTest,
    NemenyiPair,
    NemenyiTest,
    average_ranks,
    critical_difference,
    friedman_test,
    nemenyi_test,
)
from labelrules.lab.comparing.score_tables import ScoreTable, score_table
from labelrules.lab.cross_validation import CrossValidation, FoldProgress, cross_validate
from labelrules.lab.measuring import FitMeasure
from labelrules.lab.running.fitting import FitOutcome
from labelrules.lab.running.results import Fit, Results
from labelrules.lab.running.run import ExperimentProgress, experiment
from labelrules.lab.size_frontier import (
    FoldValues,
    Frontier,
    FrontierPoint,
    FrontierProgress,
    frontier,
)
from labelrules.lab.stratification import IterativeStratifiedKFold

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
