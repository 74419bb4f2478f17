"""Count what a reader of the code must hold in mind.

    python benchmarks/house.py                 # the package that is imported
    python benchmarks/house.py path/to/src     # another checkout

Counted from the source: files and lines, of the core, of wings and of rooms, and what lines are
(signatures with their decorators, imports, docstrings of modules, classes and functions, comments
alone on a line, blank lines outside of docstrings); classes, and NamedTuples and dataclasses
without a method; docstrings that begin with "See", definitions whose summary says "the same" or
"twin of", which are signs of a thing that is written twice; functions of modules that have the name
of one in another room; modules that one other module imports, class names used twice, modules named
like a function that they or their package export, and sizes of function bodies.

Counted while they run, after a first run has compiled everything: the files that take part in some
flows, and the changes of room. For those, the functions are listed in the order of their first
call, and every change of the top folder from one to the next counts; templates are a room.
"""

import ast
import contextlib
import io
import os
import re
import statistics
import sys
import tempfile
import threading
import tokenize
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
WINGS = ("mining", "scale", "lab", "studio")
TOP = "(top)"
"""The room of modules that are in no folder."""

TWIN = re.compile(r"\bthe same\b|\btwin of\b", re.IGNORECASE)


def modules_in(source: Path) -> dict[str, Path]:
    """The modules of the package by their dotted names."""
    paths = {}
    for path in sorted((source / "labelrules").rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return paths


def imports_of(tree: ast.AST, modules: dict[str, Path]) -> Iterator[str]:
    """The modules of the package that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in modules else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def code_lines(text: str, tree: ast.Module) -> int:
    """Lines without blanks, comments and docstrings."""
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    skipped.add(tokenize.ENDMARKER)
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in skipped:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        # A string that stands alone documents what is before it.
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines -= set(range(node.lineno, (node.end_lineno or 0) + 1))
    return len(lines)


def body_length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its docstring."""
    body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1


def shadowed(modules: dict[str, Path], trees: dict[str, ast.Module]) -> list[str]:
    """Modules with the name of a function that they, or the package around them, export."""
    names = []
    for module in modules:
        package, _, last = module.rpartition(".")
        around = trees.get(package, ast.Module([], []))
        exported = {
            alias.asname or alias.name
            for node in around.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        own = {node.name for node in trees[module].body if isinstance(node, FUNCTIONS)}
        if last in exported or last in own:
            names.append(module)
    return names


def room_of(path: Path) -> str:
    """The folder of the package that a module lies in."""
    parts = path.parts[len(path.parts) - path.parts[::-1].index("labelrules") :]
    return parts[0] if len(parts) > 1 else TOP


def kinds_of_lines(text: str, tree: ast.Module) -> Counter[str]:
    """How many lines a module has of each kind; what is none of the others is code."""
    kinds = dict.fromkeys(range(1, len(text.splitlines()) + 1), "code")
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            kinds[number] = "comments" if line.strip() else "blank"
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            for number in range(first, max(node.lineno + 1, node.body[0].lineno)):
                if kinds[number] == "code":
                    kinds[number] = "signatures"
    for node in ast.walk(tree):
        kind, lines = "imports", node
        if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Module)):
            kind, lines = "docstrings", node.body[0] if ast.get_docstring(node) else None
        if kind == "docstrings" or isinstance(node, (ast.Import, ast.ImportFrom)):
            for number in range(lines.lineno, lines.end_lineno + 1) if lines else ():
                kinds[number] = kind
    return Counter(kinds.values())


def documented(trees: dict[str, ast.Module]) -> Iterator[tuple[ast.AST, str]]:
    """All classes and functions with their docstrings."""
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                yield node, ast.get_docstring(node) or ""


def is_value_without_method(node: ast.AST) -> bool:
    """Whether a class is a NamedTuple or a dataclass that defines no function."""
    if not isinstance(node, ast.ClassDef) or any(isinstance(one, FUNCTIONS) for one in node.body):
        return False
    bases, decorators = ([ast.unparse(one) for one in many]
                         for many in (node.bases, node.decorator_list))  # fmt: skip
    return "NamedTuple" in bases or any("dataclass" in one for one in decorators)


def names_in_two_rooms(modules: dict[str, Path], trees: dict[str, ast.Module]) -> list[str]:
    """Public functions of modules that have the name of one in another room.

    Commands apart: the command line finds each by the name `command` in a module of its own.
    """
    rooms: dict[str, set[str]] = defaultdict(set)
    for module, tree in trees.items():
        for node in tree.body:
            if isinstance(node, FUNCTIONS) and node.name[0] != "_":
                rooms[node.name].add(room_of(modules[module]))
    return sorted(name for name, in_ in rooms.items() if len(in_) > 1 and name != "command")


def room_figures(modules: dict[str, Path], trees: dict[str, ast.Module]) -> dict[str, Counter[str]]:
    """Files and lines of each room, of the core and of the wings, and what the lines are."""
    rooms: dict[str, Counter[str]] = defaultdict(Counter)
    for module, path in modules.items():
        found = kinds_of_lines(path.read_text(encoding="utf-8"), trees[module])
        found += Counter(files=1, lines=found.total())
        room = room_of(path)
        for name in (room, "WINGS" if room in WINGS else "CORE", "ALL"):
            rooms[name] += found
    return dict(sorted(rooms.items(), key=lambda one: (one[0].isupper(), -one[1]["lines"])))


def print_rooms(rooms: dict[str, Counter[str]]) -> None:
    """The table of rooms, with shares of all lines."""
    columns = ("files", "lines", "code", "signatures", "imports", "docstrings", "blank", "comments")
    print(f"{'room':14}" + "".join(f"{name:>12}" for name in columns))
    for name, found in rooms.items():
        print(f"{name:14}" + "".join(f"{found[column]:12,}" for column in columns))
    whole = rooms["ALL"]
    shares = "".join(f"{found / whole['lines']:12.1%}" for found in map(whole.get, columns[2:]))
    print(f"{'shares':38}{shares}\n")


def source_figures(source: Path) -> dict[str, object]:
    """What the source says, without running it."""
    modules = modules_in(source)
    texts = {name: path.read_text(encoding="utf-8") for name, path in modules.items()}
    trees = {name: ast.parse(text) for name, text in texts.items()}
    importers: dict[str, set[str]] = defaultdict(set)
    for name, tree in trees.items():
        for imported in imports_of(tree, modules):
            importers[imported].add(name)
    definitions = list(documented(trees))
    classes = Counter(node.name for node, _ in definitions if isinstance(node, ast.ClassDef))
    functions = [(node, text) for node, text in definitions if isinstance(node, FUNCTIONS)]
    bodies = sorted(body_length(node) for node, _ in functions)
    twins = [node for node, text in definitions if TWIN.search(text.partition("\n")[0])]
    lengths = {name: len(text.splitlines()) for name, text in texts.items()}
    packages = {name for name, path in modules.items() if path.name == "__init__.py"}
    leaves = modules.keys() - packages
    return {
        "rooms": room_figures(modules, trees),
        "files under src": sum(
            path.is_file() and "__pycache__" not in path.parts for path in source.rglob("*")
        ),
        "code lines": sum(code_lines(texts[name], trees[name]) for name in modules),
        "longest file": max(lengths.values()),
        "classes": sum(classes.values()),
        "values without a method": sum(is_value_without_method(node) for node, _ in definitions),
        "methods whose docstring begins with See": sum(
            text.startswith("See ") for _, text in functions
        ),
        "definitions that say the same, twin of": len(twins),
        "their lines": sum(node.end_lineno - node.lineno + 1 for node in twins),
        "files with is_collection outside scale": sum(
            "is_collection" in texts[name] for name in modules if room_of(modules[name]) != "scale"
        ),
        "modules with one importer": sum(len(importers[name]) == 1 for name in leaves),
        "small modules with one importer": sorted(
            name for name in leaves if len(importers[name]) == 1 and lengths[name] < 100
        ),
        "class names used twice": sorted(name for name, n in classes.items() if n > 1),
        "function names in two rooms": names_in_two_rooms(modules, trees),
        "modules named like a function": shadowed(modules, trees),
        "function bodies: median, 95 %, longest": (
            statistics.median(bodies),
            bodies[int(0.95 * len(bodies))],
            bodies[-1],
        ),
    }


def surface_figures() -> dict[str, object]:
    """Public names, parameters of learners, and commands with their options."""
    import click

    import labelrules
    from labelrules.cli.app import COMMANDS, program
    from labelrules.learners import registered

    sys.path.append(str(Path(__file__).parent))
    from records.public import rooms

    names = {name for room in rooms().values() for name in room.__all__}
    parameters = {name: len(one().get_params(deep=False)) for name, one in registered().items()}
    commands = [program.get_command(click.Context(program), name) for name in COMMANDS]
    options = [one for command in commands for one in command.params
               if isinstance(one, click.Option)]  # fmt: skip
    return {
        "public names: at the top, over all rooms": (len(labelrules.__all__), len(names)),
        "parameters: covering, all learners": (
            parameters["separate-and-conquer"], sum(parameters.values())
        ),
        "commands, options": (len(commands), len(options)),
    }  # fmt: skip


def flow(run: Callable[[], object], root: str) -> tuple[int, int]:
    """Files that take part, and changes of room between functions in order of first call."""
    first_calls: dict[tuple[str, str], None] = {}

    def note(frame: object, event: str, _: object) -> None:
        if event == "call":
            code = frame.f_code  # type: ignore[attr-defined]
            if code.co_filename.startswith(root) and code.co_name != "<module>":
                first_calls[code.co_filename[len(root) :], code.co_qualname] = None

    run()
    threading.setprofile(note)  # of threads that begin from now on
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    # Modules beside the rooms, such as _checks, are in no room.
    rooms = [path.split(os.sep)[0] for path, _ in first_calls if os.sep in path]
    changes = sum(a != b for a, b in pairwise(rooms))
    return len({path for path, _ in first_calls}), changes


def flow_figures() -> dict[str, tuple[int, int]]:
    """Files and changes of room of learning, predicting, explaining and editing."""
    import labelrules
    from labelrules import SeparateAndConquer, edit, explain, load
    from labelrules.cli import main

    root = str(Path(labelrules.__file__).parent) + os.sep
    clinic, readers = load("clinic"), load("magazines")
    model, short = SeparateAndConquer().fit(clinic), SeparateAndConquer().fit(readers)
    editor = edit(model, clinic)

    def quietly(*words: str) -> None:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            main(list(words))

    with tempfile.TemporaryDirectory() as folder:
        kept, learned = f"{folder}/model.json", f"{folder}/learned.json"
        labelrules.save(model, kept)
        flows: dict[str, Callable[[], object]] = {
            "load": lambda: load("clinic"),
            "fit": lambda: SeparateAndConquer().fit(clinic),
            "fit, magazines": lambda: SeparateAndConquer().fit(readers),
            "fit, bins=32": lambda: SeparateAndConquer(bins=32).fit(clinic),
            "predict": lambda: model.predict(clinic),
            "predict, magazines": lambda: short.predict(readers),
            "explain and print": lambda: str(explain(model, clinic, 0)),
            "edit": lambda: edit(model, clinic),
            "edit, replace a rule": lambda: edit(model, clinic).replace(3, 'flu <- "aches"'),
            "workbench preview": previewing(editor),
            "labelrules learn": lambda: quietly("learn", "clinic", "-o", learned),
            "labelrules explain": lambda: quietly("explain", kept, "clinic", "--row", "0"),
        }
        return {name: flow(run, root) for name, run in flows.items()}


def previewing(editor: object) -> Callable[[], object]:
    """A call that asks the workbench for the preview of a change, in threads of its own."""
    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    from workbench_site import client_of, site_of

    client = client_of(site_of(editor))
    return lambda: client.get("/preview?op=remove&number=2")


def main() -> None:
    """Print all figures."""
    warnings.simplefilter("ignore")
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "src"
    sys.path.insert(0, str(source))
    figures = source_figures(source) | surface_figures()
    print_rooms(figures.pop("rooms"))
    for name, value in figures.items():
        if isinstance(value, list):
            value = f"{len(value)} {' '.join(value)}".strip()
        print(f"{name:40} {value}")
    for name, (files, changes) in flow_figures().items():
        print(f"{name + ': files, changes of room':40} {files}, {changes}")


if __name__ == "__main__":
    main()
