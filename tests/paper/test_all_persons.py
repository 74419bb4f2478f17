"""Every person there could be: 36 combinations, four models of the chapter."""

import numpy as np

from goldens import bits, golden
from labelrules import Dataset, RuleTable, load

# code (education, marital status, sex, C: children): single, multi, level 1, level 2
PERSONS = {
    "PSM-": ("0000", "0000", "0000", "0000"),
    "PSMC": ("0000", "0000", "0001", "0001"),
    "PSF-": ("0010", "0000", "0000", "0000"),
    "PSFC": ("0010", "0000", "0010", "0010"),
    "PMM-": ("0100", "0100", "0100", "0100"),
    "PMMC": ("0100", "0100", "0101", "0100"),
    "PMF-": ("0000", "0000", "1000", "0000"),
    "PMFC": ("0010", "0000", "1010", "0010"),
    "PDM-": ("0000", "0000", "0100", "0100"),
    "PDMC": ("0000", "0000", "0101", "0100"),
    "PDF-": ("0010", "0000", "1100", "0110"),
    "PDFC": ("0010", "0000", "1110", "0110"),
    "SSM-": ("0100", "0100", "0100", "0100"),
    "SSMC": ("0100", "0100", "0101", "1100"),
    "SSF-": ("0010", "0110", "0100", "0110"),
    "SSFC": ("0110", "0110", "0110", "0110"),
    "SMM-": ("1100", "1100", "1100", "0101"),
    "SMMC": ("1100", "1100", "1101", "1101"),
    "SMF-": ("1000", "1011", "1000", "0001"),
    "SMFC": ("0010", "1011", "1010", "0011"),
    "SDM-": ("1001", "1001", "1001", "1001"),
    "SDMC": ("0000", "0000", "1101", "1001"),
    "SDF-": ("1001", "1001", "1001", "1001"),
    "SDFC": ("0010", "1011", "1110", "0011"),
    "USM-": ("1100", "1100", "1100", "1100"),
    "USMC": ("1100", "1100", "1101", "1101"),
    "USF-": ("1010", "1010", "1100", "1110"),
    "USFC": ("1110", "1010", "1110", "1110"),
    "UMM-": ("1100", "1100", "1100", "1100"),
    "UMMC": ("1100", "1100", "1101", "1101"),
    "UMF-": ("1000", "1010", "1000", "1000"),
    "UMFC": ("1010", "1010", "1010", "1010"),
    "UDM-": ("1100", "1100", "1100", "1100"),
    "UDMC": ("1100", "1100", "1101", "1101"),
    "UDF-": ("1010", "1010", "1100", "1110"),
    "UDFC": ("1110", "1010", "1110", "1110"),
}
CATEGORIES = {
    "P": "Primary", "S": "Secondary", "U": "University", "M": "Male", "F": "Female",
    "C": "Yes", "-": "No",
}  # fmt: skip
MARITAL = {"S": "Single", "M": "Married", "D": "Divorced"}


def _everybody() -> Dataset:
    schema = load("magazines").schema
    rows = []
    for education, marital, sex, children in PERSONS:
        names = [CATEGORIES[education], MARITAL[marital], CATEGORIES[sex], CATEGORIES[children]]
        rows.append([f.categories.index(n) for f, n in zip(schema.features, names, strict=True)])
    return Dataset(schema, np.array(rows, dtype=float), np.zeros((len(rows), 4)))


def test_all_36_persons():
    people = _everybody()
    for twin in (lambda theory: theory, RuleTable):
        level_1 = twin(golden("magazines-sbr-1")).predict(people)
        level_2 = twin(golden("magazines-sbr-2")).apply(people, reads=level_1)
        single = twin(golden("magazines-single")).predict(people)
        multi = twin(golden("magazines-multi")).predict(people)
        for row, expected in enumerate(PERSONS.values()):
            found = (bits(single[row]), bits(multi[row]), bits(level_1[row]), bits(level_2[row]))
            assert found == expected
