"""What is compared: learners with their settings, on which data sets."""

from typing import Any, NamedTuple

SETS = ("flags", "emotions", "birds", "genbase", "medical", "enron", "scene", "yeast", "CAL500")
BY_SIZE = ("flags", "emotions", "birds", "scene", "yeast", "CAL500", "genbase", "medical", "enron")
"""By the product of training rows, features and labels."""

OURS, RULES, TREES, FORESTS, SETTINGS = "ours", "rules", "trees", "forests", "settings"
"""Groups: learners of this library as they are; other programs that learn rules; single trees;
forests; and further settings of the first two, which are only for the picture."""

PACKAGES = {
    "mlrl-seco": ("mlrl-seco",),
    "mlrl-boomer": ("mlrl-boomer",),
    "wittgenstein": ("wittgenstein",),
    "imodels": ("imodels", "six"),
    "orange3": ("orange3",),
}
"""What is installed for a program into the environment of the other programs."""


class Peer(NamedTuple):
    """A learner of a program with its settings."""

    name: str
    group: str
    program: str
    settings: dict[str, Any]

    @property
    def is_ranked(self) -> bool:
        """Whether it is one of the learners of rules and trees that are ranked."""
        return self.group in (OURS, RULES, TREES)


RIPPER = {"learner": "ripper"}
BEST_SECO = {
    "head_type": "partial",
    "heuristic": "f-measure{beta=1.0}",
    "rule_pruning": "none",
    "instance_sampling": "none",
    "max_rules": 0,
}
"""Of some forty settings the one with the best means on the same test parts."""


def _ours(name: str, group: str = OURS, **settings: Any) -> Peer:
    return Peer(name, group, "labelrules", settings)


def _scikit_learn(name: str, group: str, learner: str, **settings: Any) -> Peer:
    return Peer(name, group, "scikit-learn", {"learner": learner, "random_state": 0, **settings})


def _imodels(name: str, learner: str, **settings: Any) -> Peer:
    return Peer(name, RULES, "imodels", {"learner": learner, **settings})


OWN = (
    _ours("SeparateAndConquer", learner="separate-and-conquer"),
    _ours("Scorecard", learner="scorecard"),
    _ours("BinaryRelevance(Ripper)", learner="binary-relevance", base=RIPPER),
    _ours("ClassifierChain(Ripper)", learner="classifier-chain", base=RIPPER),
    _ours("StackedBinaryRelevance(Ripper)", learner="stacked-binary-relevance", base=RIPPER),
    _ours("AssociativeClassifier", learner="associative-classifier"),
)

BOUNDED = (
    _scikit_learn(
        "decision tree, 32 leaves", SETTINGS, "DecisionTreeClassifier", max_leaf_nodes=32
    ),
    *(
        _ours(
            f"SeparateAndConquer, {most} literals",
            SETTINGS,
            learner="separate-and-conquer",
            max_literals=most,
        )
        for most in (20, 40)
    ),
    *(
        _ours(
            f"Scorecard, cost {cost:g}", SETTINGS, learner="scorecard", literal_cost=cost, ridge=r
        )
        for cost, r in ((5.0, 4.0), (2.7, 2.0), (0.5, 8.0))
    ),
)
"""Settings by which size is bounded are those of `frontier.py`."""

OTHERS = (
    _scikit_learn("decision tree", TREES, "DecisionTreeClassifier"),
    _scikit_learn("BR of decision trees", TREES, "DecisionTreeClassifier", per_label=True),
    _scikit_learn("random forest", FORESTS, "RandomForestClassifier"),
    _scikit_learn("extra trees", FORESTS, "ExtraTreesClassifier"),
    _scikit_learn("random forest, tuned", FORESTS, "tuned forest", kind="random forest"),
    _scikit_learn("extra trees, tuned", FORESTS, "tuned forest", kind="extra trees"),
    Peer("mlrl-seco", RULES, "mlrl-seco", {"random_state": 1}),
    Peer("mlrl-seco, best setting", RULES, "mlrl-seco", {"random_state": 1, **BEST_SECO}),
    Peer("mlrl-boomer", RULES, "mlrl-boomer", {"random_state": 1}),
    Peer(
        "mlrl-boomer, non-decomposable",
        RULES,
        "mlrl-boomer",
        {"random_state": 1, "loss": "logistic-non-decomposable", "head_type": "complete"},
    ),
    Peer("BR of JRip", RULES, "weka", {"layers": "br"}),
    Peer("chain of JRip", RULES, "weka", {"layers": "chain"}),
    _imodels("BR of GreedyRuleList", "GreedyRuleListClassifier"),
    _imodels("BR of FIGS", "FIGSClassifier", random_state=1),
)

SLOW = (
    _imodels("BR of SkopeRules", "SkopeRulesClassifier", random_state=1),
    Peer("BR of wittgenstein", RULES, "wittgenstein", {"random_state": 1}),
    _imodels("BR of RuleFit", "RuleFitClassifier", random_state=1),
    Peer("BR of CN2 (Orange)", RULES, "orange3", {"ordered": True}),
)

PEERS = (*OWN, *OTHERS, *BOUNDED, *SLOW)
"""In the order in which they are run."""
