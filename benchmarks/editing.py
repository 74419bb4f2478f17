"""How long an edit and its preview take on imdb (120,919 rows, 28 labels) with 200 rules.

    python benchmarks/editing.py [DATA] [N_RULES]

needs the folder of data sets, `LABELRULES_DATA`. CPU times of this process, in milliseconds: the
median and the worst of edits spread over the list. Memory is what the editors hold beyond the data.
"""

import resource
import sys
import time
from statistics import median

from labelrules import SeparateAndConquer, edit, evaluate, load
from labelrules.studio import Editor, Preview


def learned(name: str, n_rules: int) -> Editor:
    """An editor of a list with this number of rules, three quarters of the rows for training."""
    data = load(name)
    last = data.n_rows * 3 // 4
    train, validation = data.take(range(last)), data.take(range(last, data.n_rows))
    learner = SeparateAndConquer(
        max_rules=n_rules, pruning=None, max_conditions=4, last_resort=None, default_rule=False
    )
    return edit(learner.fit(train), train, validation=validation)


def edits(editor: Editor, n_edits: int) -> list[tuple[str, Editor]]:
    """Editors after one edit each, of all kinds and at places all over the list."""
    found = []
    n_rules = len(editor.history.present.entries)
    for k in range(n_edits):
        number = 1 + k * n_rules // n_edits
        other = 1 + (number * 7) % n_rules
        found.append((f"disable {number}", editor.disable(number)))
        found.append((f"move {number} to {other}", editor.move(number, to=other)))
        found.append((f"drop a condition of {number}", editor.drop_condition(number, condition=1)))
    return found


def seconds_of(editor: Editor) -> tuple[float, Preview]:
    """The processor time of a preview of the last step, with all that a page shows of it."""
    start = time.process_time()
    preview = editor.preview()
    for part in preview.parts.values():
        _ = part.labels, part.rows, part.measures
    return time.process_time() - start, preview


def check(editor: Editor) -> None:
    """The preview has the numbers that a computation from scratch has."""
    part = editor.preview().training
    expected = evaluate(editor.data.Y, editor.theory.apply(editor.data))
    if {one.name: one.after for one in part.measures} != dict(expected):
        raise SystemExit("a preview has other measures than evaluate")


def main() -> None:
    """Print the times."""
    name = sys.argv[1] if len(sys.argv) > 1 else "imdb"
    n_rules = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    editor = learned(name, n_rules)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    editor.measures  # noqa: B018
    check(editor.disable(n_rules // 2))
    times, evidence = [], []
    for _, one in edits(editor, 10):
        times.append(seconds_of(one)[0])
    for _, one in edits(editor, 2):
        start = time.process_time()
        _ = one.rules
        evidence.append(time.process_time() - start)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak
    print(f"{editor.data!r}, {n_rules} rules")
    print(f"edit and preview: median {1000 * median(times):.0f} ms, worst {1000 * max(times):.0f}")
    print(f"rules with evidence: median {1000 * median(evidence):.0f} ms of CPU")
    print(f"memory beyond learning: {grown / 1024:.0f} MB")


if __name__ == "__main__":
    main()
