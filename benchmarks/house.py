"""Count what a reader of the code must hold in mind.

    python benchmarks/house.py                 # the package that is imported
    python benchmarks/house.py path/to/src     # another checkout

Counted from the source: files, lines, code lines (no blanks, comments, docstrings), modules that
one other module imports, class names used twice, modules named like a function that they or their
package export, and sizes of function bodies.

Counted while they run, after a first run has compiled everything: the files that take part in
learning, predicting and explaining, and the changes of room. For those, the functions are listed
in the order of their first call, and every change of the top folder from one to the next counts.
"""

import ast
import contextlib
import io
import os
import statistics
import sys
import tempfile
import tokenize
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


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


def source_figures(source: Path) -> dict[str, object]:
    """What the source says, without running it."""
    modules = modules_in(source)
    texts = {name: path.read_text(encoding="utf-8") for name, path in modules.items()}
    trees = {name: ast.parse(text) for name, text in texts.items()}
    importers: dict[str, set[str]] = defaultdict(set)
    for name, tree in trees.items():
        for imported in imports_of(tree, modules):
            importers[imported].add(name)
    classes = Counter(
        node.name for tree in trees.values() for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    )  # fmt: skip
    bodies = sorted(
        body_length(node) for tree in trees.values() for node in ast.walk(tree)
        if isinstance(node, FUNCTIONS)
    )  # fmt: skip
    lengths = {name: len(text.splitlines()) for name, text in texts.items()}
    packages = {name for name, path in modules.items() if path.name == "__init__.py"}
    leaves = modules.keys() - packages
    return {
        "files under src": sum(
            path.is_file() and "__pycache__" not in path.parts for path in source.rglob("*")
        ),
        "Python files": len(modules),
        "lines": sum(lengths.values()),
        "code lines": sum(code_lines(texts[name], trees[name]) for name in modules),
        "longest file": max(lengths.values()),
        "modules with one importer": sum(len(importers[name]) == 1 for name in leaves),
        "small modules with one importer": sorted(
            name for name in leaves if len(importers[name]) == 1 and lengths[name] < 100
        ),
        "class names used twice": sorted(name for name, n in classes.items() if n > 1),
        "modules named like a function": shadowed(modules, trees),
        "function bodies: median, 95 %, longest": (
            statistics.median(bodies),
            bodies[int(0.95 * len(bodies))],
            bodies[-1],
        ),
    }


def flow(run: Callable[[], object], root: str) -> tuple[int, int]:
    """Files that take part, and changes of room between functions in order of first call."""
    first_calls: dict[tuple[str, str], None] = {}

    def note(frame: object, event: str, _: object) -> None:
        if event == "call":
            code = frame.f_code  # type: ignore[attr-defined]
            if code.co_filename.startswith(root) and code.co_name != "<module>":
                first_calls[code.co_filename[len(root) :], code.co_qualname] = None

    run()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    # Modules beside the rooms, such as _checks, are in no room.
    rooms = [path.split(os.sep)[0] for path, _ in first_calls if os.sep in path]
    changes = sum(a != b for a, b in pairwise(rooms))
    return len({path for path, _ in first_calls}), changes


def flow_figures() -> dict[str, tuple[int, int]]:
    """Files and changes of room of learning, predicting and explaining."""
    import labelrules
    from labelrules.cli import main

    root = str(Path(labelrules.__file__).parent) + os.sep
    readers = labelrules.load("magazines")
    model = labelrules.SeparateAndConquer().fit(readers)

    def quietly(*words: str) -> None:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            main(list(words))

    with tempfile.TemporaryDirectory() as folder:
        kept, table = f"{folder}/model.json", f"{folder}/readers.arff"
        labelrules.save(model, kept)
        labelrules.data.write_mulan(readers, table)
        return {
            "fit": flow(lambda: labelrules.SeparateAndConquer().fit(readers), root),
            "predict": flow(lambda: model.predict(readers), root),
            "labelrules explain": flow(lambda: quietly("explain", kept, table, "--row", "0"), root),
        }


def main() -> None:
    """Print all figures."""
    warnings.simplefilter("ignore")
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "src"
    sys.path.insert(0, str(source))
    for name, value in source_figures(source).items():
        if isinstance(value, list):
            value = f"{len(value)} {' '.join(value)}".strip()
        print(f"{name:40} {value}")
    for name, (files, changes) in flow_figures().items():
        print(f"{name + ': files, changes of room':40} {files}, {changes}")


if __name__ == "__main__":
    main()
