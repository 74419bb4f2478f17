"""What the chapter prints in its case studies: data sets, labels, rules, a report and counts."""

from collections.abc import Mapping

STATISTICS: Mapping[str, tuple[str, ...]] = {
    "emotions": ("593", "0", "72", "6", "1.869", "0.311", "27"),
    "scene": ("2407", "0", "294", "6", "1.074", "0.179", "15"),
    "flags": ("194", "9", "10", "7", "3.392", "0.485", "54"),
    "yeast": ("2417", "0", "103", "14", "4.237", "0.303", "198"),
    "birds": ("645", "2", "258", "19", "1.014", "0.053", "133"),
    "genbase": ("662", "1186", "0", "27", "1.252", "0.046", "32"),
    "medical": ("978", "1449", "0", "45", "1.245", "0.028", "94"),
    "enron": ("1702", "1001", "0", "53", "3.378", "0.064", "753"),
    "CAL500": ("502", "0", "68", "174", "26.0", "0.150", "502"),
}
"""By data set: rows, nominal and numeric features, labels, cardinality, density, label sets."""

SINGLE_HEADS = ("emotions", "scene", "flags", "yeast", "genbase", "medical", "enron")
"""The sets of the first study here; the chapter speaks of all but flags."""

MULTI_HEADS = ("emotions", "scene", "flags", "yeast", "birds", "genbase", "medical", "CAL500")
"""The eight sets of the second study: all but enron."""

LABEL_NAMES: Mapping[str, Mapping[str, str]] = {
    "medical": {
        "Class-4-753_0": "Cough",
        "Class-31-780_6": "Pneumonia",
        "Class-32-486": "Fever",
        "Class-34-V13_02": "Asthma",
        "Class-10-518_0": "Pulmonary_collapse",
    },
    "enron": {"B.B12": "Joke", "A.A2": "Personal"},
}
"""Names that the chapter uses, for labels that the files name by codes.

They were found by the rules that the chapter prints and the words of the rows that have the labels;
some codes of medical have changed places.
"""

SHOWN_LABELS: Mapping[str, str] = {"yeast": "Class4", "medical": "Cough", "enron": "Joke"}
"""The label of each set for which the chapter's figure shows rules."""

RULES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "yeast": {
        "BR": (
            "Class4 <- x23 > 0.08, x49 < -0.09",
            "Class4 <- x68 < 0.05, x33 > 0.00, x24 > 0.00, x66 > 0.00, x88 > -0.06",
            "Class4 <- x3 < -0.03, x71 > 0.03, x91 > -0.01",
            "Class4 <- x68 < 0.03, x83 > -0.00, x44 > 0.029, x93 < 0.01",
            "Class4 <- x96 < -0.03, x10 > 0.01, x78 < -0.07",
        ),
        "SBR": (
            "Class4 <- Class3, not Class2",
            "Class4 <- Class5, not Class6",
            "Class4 <- Class3, Class1, x22 > -0.02",
        ),
        "Single": (
            "Class4 <- Class3, x91 > -0.02, x50 < -0.02, x68 < 0.03",
            "Class4 <- Class3, x90 > -0.02, x77 < -0.04",
            "Class4 <- x60 < -0.03, x57 < -0.07, x19 > -0.01",
        ),
    },
    "medical": {
        "BR": (
            'Cough <- "cough", not "lobe"',
            'Cough <- "cough", "atelectasis"',
            'Cough <- "cough", "opacity"',
            'Cough <- "cough", "airways"',
            'Cough <- "cough", not "pneumonia", not "2"',
            'Cough <- "coughing"',
            'Cough <- "cough", "early"',
        ),
        "SBR": (
            'Cough <- "cough", not Pneumonia, not Pulmonary_collapse, not Asthma',
            'Cough <- "coughing"',
            'Cough <- Asthma, "mild"',
        ),
        "Single": (
            'Cough <- "cough", not "lobe", not "asthma"',
            'Cough <- "cough", "opacity"',
            'Cough <- "cough", "atelectasis"',
            'Cough <- "cough", "airways"',
            'Cough <- "cough", Fever',
        ),
    },
    "enron": {
        "BR": ('Joke <- "mail", "fw", "didn"',),
        "SBR": ('Joke <- Personal, "day", "mail"',),
        "Single": ('Joke <- "didn", not "wednesday"', 'Joke <- Personal, "forwarded"'),
    },
}
"""The rules of the figure, in the rule language; only the lines that name no feature of yeast can
be read back, since the file names those Att1 to Att103."""

REPORT = """Cough for one month. Mild hyperinflation can be seen in viral illness or reactive
airway disease. Streaky opacity at the right base is favored to represent atelectasis."""
"""The radiological report that the chapter has classified."""

FLAG_ROW = 39
"""The US Virgin Islands among the training rows of flags, from 0."""

FLAG_RULES: Mapping[str, tuple[tuple[str, tuple[int, int]], ...]] = {
    "multi": (
        ("red, green, blue, yellow, white <- colours > 5, stripes <= 3", (65, 0)),
        (
            "not red, green, not blue, yellow, white, not black, not orange"
            " <- animate = 1, stripes <= 0, crosses <= 0",
            (11, 0),
        ),
    ),
    "single": (
        ("yellow <- colours > 4", (21, 0)),
        ("red <- yellow", (21, 0)),
        ("blue <- colours > 5", (14, 0)),
        ("white <- blue", (14, 0)),
        ("green <- text = 1", (11, 0)),
        ("not orange <- saltires <= 0", (1, 0)),
        ("not black <- area <= 10", (12, 0)),
    ),
}
"""All rules that cover that flag, with their true and false positives; thresholds as in ours."""

ALPHA = 0.05
"""The level of significance of the second study."""

NOT_REJECTED = ("subset accuracy", "micro F1", "macro F1")
"""Measures by which the chapter finds no difference between the algorithms."""

LARGEST_PER_LABEL = 6.4
"""Rules per label of the largest model, Single on enron: 340 rules for 53 labels."""

USUAL_SIZES: Mapping[str, tuple[int, int]] = {
    "yeast": (50, 100),
    "medical": (50, 100),
    "enron": (76, 340),
}
"""The fewest and the most rules of the three models of the first study."""
