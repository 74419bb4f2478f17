"""Write a file of each learner and each kind of theory, to be read by all later versions.

Run it once for a new version: ``PYTHONPATH=src:tests python -m storage.golden``. Files of older
versions stay as they are.
"""

from pathlib import Path

import numpy as np

from labelrules import Dataset, LabelSet, Ripper, RuleSet, Schema, load, parse, save
from labelrules.learners import ClassifierChain, LabelPowerset, registered
from labelrules.learners.registry import can_be_stored
from labelrules.storage.files import VERSION

FOLDER = Path(__file__).parents[1] / "golden" / "models"

RULES = "quality <- education = University (5/1)\nnot quality, * <- true"
VOTES = "in any order:\nquality +3, sports -1 <- education = University\nsports <- quality"
LAYERS = (
    "layer 1:\nquality <- education = University\nlayer 2, until stable in at most 7 rounds:\n"
    "sports <- quality\nif no label was found:\nfashion <- true"
)


def stored():
    """What is written, by name."""
    readers = load("magazines")
    for name, rules in (("decision-list", RULES), ("rule-set", VOTES), ("layers", LAYERS)):
        yield name, parse(rules, readers.schema)
    label_sets = [LabelSet((0, 3), 2), LabelSet((), -1)]
    yield "label-sets", RuleSet(readers.schema, parse(VOTES, readers.schema), label_sets, True)
    for name, learner in registered().items():
        if learner is Ripper:
            schema = Schema(readers.schema.features, readers.schema.labels[:1])
            yield name, Ripper().fit(Dataset(schema, readers.X, readers.Y[:, :1]))
        elif can_be_stored(learner):
            yield name, learner().fit(readers)
    yield "chains", ClassifierChain(n_chains=2).fit(readers)
    yield (
        "label-powerset-of-rules",
        LabelPowerset(registered()["separate-and-conquer"]()).fit(readers),
    )


def main():
    FOLDER.mkdir(exist_ok=True)
    for name, one in stored():
        path = FOLDER / f"version-{VERSION}-{name}.json"
        save(one, path, about=False)
        np.savetxt(path.with_suffix(".txt"), one.predict(load("magazines")), fmt="%d")


if __name__ == "__main__":
    main()
