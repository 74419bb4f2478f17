"""Interrupt every kernel that Python calls, while the package does its work.

A program of its own, since a crash would end the tests, too; `tests/kernels/test_interrupts.py`
runs it. It prints, as JSON, what came of the interrupts of each kernel, and which types it returns
that it must not return.

Before the package calls a kernel this calls it with the same arguments and an interrupt: one that
is pending from the start, and one by an alarm in the middle if the kernel runs long enough.
Compiled code does not stop for a signal. Python sees it when it next runs, and that may be within
the call, while a result is converted.
"""

import ast
import ctypes
import functools
import importlib
import json
import operator
import pkgutil
import signal
import sys
import threading
import time
from pathlib import Path
from types import ModuleType

import numpy as np
from numba import types
from numba.core.dispatcher import Dispatcher

import labelrules
from labelrules import kernels

MOST = 3
"""Calls of a kernel that are interrupted; further ones are left alone."""

LONG = 5e-4
"""Seconds that a call must take for an alarm to arrive within it."""

MEASURES = ("precision/micro/partial", "hamming/micro/full", "f1/micro/full", "f1/macro/full")
"""Their best heads for many bodies are found by different kernels."""


class Interrupted(KeyboardInterrupt):
    """What Ctrl-C raises, but certainly sent by this program."""


def interrupt(*_):
    raise Interrupted


@functools.cache
def sender():
    """A function that sends the signal from C: it is pending if C calls the next one, too."""
    return functools.partial(ctypes.CDLL(None)["raise"], int(signal.SIGALRM))


# ---------------------------------------------------------------- kernels


class Interrupting:
    """A kernel whose first calls are interrupted."""

    def __init__(self, kernel):
        self.kernel, self.n_calls, self.outcomes = kernel, 0, []

    def __call__(self, *arguments):
        if self.n_calls < MOST and threading.current_thread() is threading.main_thread():
            self.n_calls += 1
            self._interrupt(functools.partial(self.kernel, *arguments), arguments)
        return self.kernel(*arguments)

    def _interrupt(self, call, arguments):
        before = [(array, array.copy()) for array in arrays_of(arguments)]

        def restored():
            for array, contents in before:
                if array.flags.writeable:
                    array[...] = contents
            return call

        call()  # to have it compiled
        begun = time.perf_counter()
        restored()()
        seconds = time.perf_counter() - begun
        self.outcomes.append(outcome(lambda: list(map(operator.call, (sender(), restored())))))
        if seconds > LONG:
            self.outcomes.append(outcome(functools.partial(alarmed, seconds / 2, restored())))
        restored()

    def unsafe_results(self):
        returned = {signature.return_type for signature in self.kernel.nopython_signatures}
        return [str(kind) for kind in returned if not is_safe(kind)]


def alarmed(seconds, call):
    signal.setitimer(signal.ITIMER_REAL, seconds)
    call()
    signal.pause()  # for when the call was faster this time


def outcome(call):
    try:
        call()
    except Interrupted:
        return "interrupted"
    except BaseException as error:
        return repr(error)
    return "not interrupted"


def arrays_of(value):
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from arrays_of(part)


def is_safe(kind):
    """Whether an interrupt is raised as such while a result of this type is converted.

    Converting an array runs Python code. In a tuple the array is then missing, and conversion
    goes on; of a named tuple the class is missing, and it is called.
    """
    if isinstance(kind, types.BaseAnonymousTuple):
        return all(is_number(part) for part in kind)
    return is_number(kind) or isinstance(kind, types.Array | types.NoneType)


def is_number(kind):
    return isinstance(kind, types.Boolean | types.Integer | types.Float)


# ---------------------------------------------------------------- which there are


def modules(package):
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def called_from_python():
    """The compiled functions that the package imports from the kernels, by name."""
    folder = Path(kernels.__file__).parent
    for path in Path(labelrules.__file__).parent.rglob("*.py"):
        if folder not in path.parents:
            for value in imported_from_kernels(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(value, Dispatcher):
                    yield f"{value.py_func.__module__}.{value.py_func.__name__}", value


def imported_from_kernels(tree):
    known = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(kernels.__name__):
            source = sys.modules[node.module]
            known |= {each.asname or each.name: getattr(source, each.name) for each in node.names}
    yield from known.values()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = known.get(node.value.id)
            if isinstance(module, ModuleType):
                yield getattr(module, node.attr)


def put_in_place(entries):
    """Let the package import the interrupting kernels; compiled code still has the others."""
    by_kernel = {id(entry.kernel): entry for (entry,) in entries.values()}
    stand_ins = {}
    for module in list(modules(labelrules)):
        given = {n: by_kernel[id(v)] for n, v in vars(module).items() if id(v) in by_kernel}
        if module.__name__.startswith(f"{kernels.__name__}."):
            stand_in = stand_ins[id(module)] = ModuleType(module.__name__)
            vars(stand_in).update(vars(module))
            sys.modules[module.__name__] = stand_in
            parent, _, name = module.__name__.rpartition(".")
            setattr(sys.modules[parent], name, stand_in)
            module = stand_in
        vars(module).update(given)
    for module in list(modules(labelrules)):  # those that import a module of kernels as a whole
        known = {n: stand_ins[id(v)] for n, v in vars(module).items() if id(v) in stand_ins}
        vars(module).update(known)


def put_made_ones_in_place(entries):
    """The same for kernels that are compiled for a formula."""
    from labelrules.kernels import compile as compiling

    make = compiling.kernels_for
    entries |= {name: [] for name in compiling.FormulaKernels._fields}

    @functools.cache
    def interrupting(name, kernel):
        entries[name].append(Interrupting(kernel))
        return entries[name][-1]

    def interrupting_kernels(formula, counting):
        made = make(formula, counting)
        return type(made)(*map(interrupting, made._fields, made))

    compiling.kernels_for = interrupting_kernels


# ---------------------------------------------------------------- the work


def learn(data):
    from labelrules import (
        AssociativeClassifier,
        BinaryRelevance,
        LazyAssociativeClassifier,
        Ripper,
        Scorecard,
        SeparateAndConquer,
        scan,
    )
    from labelrules.scale.files import codes

    few = {"max_rules": 4, "pruning": None}
    for learner in (
        SeparateAndConquer(),
        SeparateAndConquer(n_jobs=2, label_conditions=False, **few),
        SeparateAndConquer(heads="multi", measure="precision", fixed_head=False, **few),
        SeparateAndConquer(beam_width=3, **few),
        SeparateAndConquer(operators=("<=", ">", "=", "in"), **few),
        SeparateAndConquer(bins=16, operators=("<=", ">", "!=")),
        SeparateAndConquer(bins=16, operators=("<=", ">", "=", "in")),
        BinaryRelevance(Ripper()),
        BinaryRelevance(Ripper(bins=16)),
        AssociativeClassifier(),
        LazyAssociativeClassifier(),
        Scorecard(literal_cost=0.1),
    ):
        learner.fit(data).predict(data)
    codes.SPLITTERS, codes.SAMPLED = 4, 8  # so that values are collected
    SeparateAndConquer(bins=16, max_rules=2).fit(scan(data))


def learn_sets():
    from labelrules import SeparateAndConquer, dataset

    letters = np.array(list("abcdef"))[np.arange(600) % 6]
    present = np.isin(letters, ["a", "c", "f"]) & (np.arange(600) % 5 > 0)
    SeparateAndConquer(bins=16).fit(dataset(letters[:, None], present[:, None].astype(int)))


def discover(data):
    from labelrules import association_rules, frequent_itemsets, scan, subgroups

    for kind in ("all", "closed"):
        frequent_itemsets(data, kind=kind, bins="width")
    association_rules(data, bins="width", heads="multi", productive=True, alpha=0.05)
    frequent_itemsets(scan([data]), bins="width", max_conditions=2)
    subgroups(data, "phi", max_conditions=1)


def grow_by_twins_of_a_gpu(data):
    from labelrules.scale.gpu.codes import binned_on_gpu
    from labelrules.scale.gpu.counts import GpuFoilSearch
    from twins.gpu_kernels import NumpyKernels

    bins, codes = binned_on_gpu(data.X, data.schema, 16, NumpyKernels(), 1 << 30)
    positive = data.Y[:, 0] == 1
    GpuFoilSearch(bins, codes).grow(positive, np.ones_like(positive), 2)


def search_heads(data):
    from labelrules import UNSET, best_head
    from labelrules.measures import Tally
    from labelrules.search import best_heads

    board = np.full_like(data.Y, UNSET)
    board[::3, 0] = 1
    best_head(data.Y, data.Y[:, 0] == 1, "f1/samples/partial", board)
    covered, Y = np.stack([data.Y[:, 0] == 1, data.Y[:, 1] == 0]).astype(np.int64), data.Y
    tally = Tally(covered @ Y, covered @ (1 - Y), Y.sum(axis=0), (1 - Y).sum(axis=0))
    for measure in MEASURES:
        best_heads(tally, data.n_rows, measure)


def change_rules(data):
    from labelrules import DecisionList, SeparateAndConquer, edit
    from labelrules.rules.run import ListReplay

    model = SeparateAndConquer(max_rules=4, pruning=None).fit(data)
    str(edit(model, data).remove(1).preview())
    theory = DecisionList(data.schema, list(model.theory_)[:4])
    ListReplay(theory, data.X, data.Y).changes(theory.rules[1:])


def assign_folds(data):
    from labelrules.lab.stratification import assigned_folds

    order, sizes = np.arange(data.n_rows), np.full(5, data.n_rows // 5)
    assigned_folds(data.Y, order, sizes)
    assigned_folds(data.Y, order, sizes, groups=order // 7)


def main():
    list(modules(kernels))
    entries = {name: [Interrupting(kernel)] for name, kernel in called_from_python()}
    put_in_place(entries)
    put_made_ones_in_place(entries)
    signal.signal(signal.SIGALRM, interrupt)
    data, _ = labelrules.planted(600, n_labels=5, noise=0.1, random_state=3)
    learn(data)
    learn_sets()
    discover(data)
    search_heads(data)
    change_rules(data)
    assign_folds(data)
    grow_by_twins_of_a_gpu(data)
    report = {
        name: {
            "outcomes": [one for entry in made for one in entry.outcomes],
            "unsafe results": [one for entry in made for one in entry.unsafe_results()],
        }
        for name, made in entries.items()
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
