"""The house is in order: names, imports, sizes, and documents that say what is there."""

import ast
import doctest
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import labelrules
from labelrules.measures import formula_names
from labelrules.measures.formulas import entry

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "benchmarks"))
from house import source_figures  # noqa: E402

SOURCE = ROOT / "src" / "labelrules"
MODULES = sorted(SOURCE.rglob("*.py"))
ROOMS = [
    "constraints",
    "data",
    "export",
    "inspection",
    "lab",
    "learners",
    "measures",
    "mining",
    "rules",
    "search",
    "serving",
    "storage",
    "studio",
]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    SOURCE / "kernels" / "README.md",
]
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
HEAVY = {"numba", "pandas", "polars", "pyarrow", "matplotlib", "sqlglot"}


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


# ---------------------------------------------------------------- public names


def api_names() -> set[str]:
    """What the reference lists: names of `labelrules`, or of a room as ``room.name``."""
    listed = re.findall(r"^   ([\w.]+)$", page("docs/api.rst"), re.MULTILINE)
    assert len(listed) == len(set(listed))
    return {*listed, *re.findall(r"^\.\. data:: (\w+)$", page("docs/api.rst"), re.MULTILINE)}


@pytest.mark.parametrize("room", ["", *ROOMS])
def test_public_names_exist_and_are_sorted_and_documented(room):
    module = importlib.import_module(f"labelrules.{room}".rstrip("."))
    assert sorted(module.__all__, key=_constants_first) == module.__all__
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            # Neither inherited from a base class nor made up by dataclass.
            assert not (value.__doc__ or f"{name}(").startswith(f"{name}("), f"{room}.{name}"


def _constants_first(name: str) -> tuple[int, str]:
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def test_the_reference_lists_every_public_name():
    assert set(labelrules.__all__) <= {name.rpartition(".")[2] for name in api_names()}
    for room in ROOMS:
        module = importlib.import_module(f"labelrules.{room}")
        for name in module.__all__:
            is_constant = not callable(getattr(module, name))
            assert is_constant or {name, f"{room}.{name}"} & api_names(), f"{room}.{name}"


def test_dir_shows_public_names_only():
    rooms = {name for name in ROOMS if not name.startswith("_")}
    assert set(dir(labelrules)) == {*labelrules.__all__, *rooms, "__version__"}


def test_the_reference_lists_nothing_else():
    for name in api_names():
        *room, last = name.split(".")
        module = importlib.import_module(".".join(["labelrules", *room]))
        assert last in module.__all__, name


@pytest.mark.parametrize("name", formula_names())
def test_every_formula_is_documented(name):
    function, _ = entry(name)
    assert inspect.getdoc(function)
    assert f"`{name}" in page("docs/measures.md")


# ---------------------------------------------------------------- imports


def test_importing_labelrules_imports_nothing_heavy():
    program = f"import labelrules, sys; print(*({HEAVY!r} & sys.modules.keys()))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_numba_is_imported_by_kernels_only(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {
        alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names
    }
    imported |= {str(n.module) for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    uses_numba = any(name.split(".")[0] == "numba" for name in imported)
    assert not uses_numba or "kernels" in path.parts


def test_the_layers_of_the_house_are_those_that_are_checked():
    import tomllib

    settings = tomllib.loads(page("pyproject.toml"))
    (contract,) = settings["tool"]["importlinter"]["contracts"]
    drawn = page("docs/house.md").split("## Layers")[1].split("```")[1]
    assert drawn.splitlines()[1:] == contract["layers"]


# ---------------------------------------------------------------- names


FIGURES = source_figures(ROOT / "src")

RIDDLES = re.compile(r"(That|Those|The same|See)\b")
"""How no docstring begins: a summary names the thing, or begins with a verb."""


def test_class_names_are_unique():
    assert FIGURES["class names used twice"] == []


def test_a_function_name_means_one_thing():
    """Module-level functions: no room has the name of one in another room."""
    assert FIGURES["function names in two rooms"] == []


def test_no_module_is_named_like_a_function_that_it_or_its_package_exports():
    assert FIGURES["modules named like a function"] == []


def test_no_small_module_has_a_single_importer():
    """Commands and public names apart: what is only ever read together stands together."""
    alone = FIGURES["small modules with one importer"]
    apart = (".commands.", ".cli.", ".public")
    small = [name for name in alone if not any(part in name for part in apart)]
    assert small == []


def test_house_md_has_some_thirty_nouns_and_says_where_each_is():
    rows = [line.strip("| ").split(" | ") for line in nouns().splitlines() if "| **" in line]
    assert 28 <= len(rows) <= 36
    for noun, _, where, _ in rows:
        name = noun.strip("*")
        text = "".join(page(f"src/labelrules/{path}") for path in re.findall(r"`(.+?)`", where))
        assert text
        assert name[0].islower() or re.search(rf"^class {name}\b", text, re.MULTILINE), name


def nouns() -> str:
    return page("docs/house.md").split("## Nouns")[1].split("\n\n- ")[0]


def test_house_md_names_files_and_what_is_in_them():
    text = page("docs/house.md")
    tour = text.split("## A reading tour of eight files")[1].split("## ")[0]
    assert len(re.findall(r"^\d\. ", tour, re.MULTILINE)) == 8
    for path in re.findall(r"`([\w/]+\.(?:py|md))`", text):
        assert (SOURCE / path).is_file() or (ROOT / path).is_file(), path
    for folder in re.findall(r"`([\w/]+)/`", text):
        assert (SOURCE / folder).is_dir() or (ROOT / folder).is_dir(), folder
    for name, path in re.findall(r"`([\w.]+)` \(`([\w/]+\.py)`\)", text):
        code = page(path if (ROOT / path).is_file() else f"src/labelrules/{path}")
        for part in name.split("."):
            assert re.search(rf"\b{part}\b", code), f"{name} in {path}"


def test_summary_lines_name_the_thing_or_begin_with_a_verb():
    found = [
        f"{named(path)}: {getattr(node, 'name', 'module')}"
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, DOCUMENTED) and RIDDLES.match(ast.get_docstring(node) or "")
    ]
    assert found == []


# ---------------------------------------------------------------- imports of tests


READERS = [
    *sorted((ROOT / "tests").rglob("*.py")),
    *sorted((ROOT / "benchmarks").rglob("*.py")),
    *sorted((ROOT / "docs").rglob("*.py")),
]


@pytest.mark.parametrize("path", READERS, ids=named)
def test_public_names_are_imported_from_their_rooms(path):
    """Not from the modules that they happen to be in, so that these can be moved."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and _is_inner(node.module):
            room = importlib.import_module(".".join(node.module.split(".")[:2]))
            public = {*labelrules.__all__, *getattr(room, "__all__", ())}
            folder = SOURCE.parent / node.module.replace(".", "/")
            modules = {path.stem for path in folder.glob("*.py")}
            assert not (public - modules) & {alias.name for alias in node.names}


def _is_inner(module: str) -> bool:
    return module.startswith("labelrules.") and module.count(".") > 1


# ---------------------------------------------------------------- sizes


def budgets() -> dict[str, int]:
    """The lines that each room may have, by the table in docs/house.md."""
    table = page("docs/house.md").split("## Budgets")[1].split("## ")[0]
    rows = re.findall(r"^\| `?([\w()]+)`? \| ([\d,]+) \|", table, re.MULTILINE)
    return {room: int(lines.replace(",", "")) for room, lines in rows}


def test_every_room_keeps_to_its_budget_of_lines():
    """To raise a budget is a decision, which the commit explains."""
    rooms = {
        room: found["lines"] for room, found in FIGURES["rooms"].items() if room.upper() != room
    }
    allowed = budgets()
    assert allowed.keys() == rooms.keys()
    assert {room: n for room, n in rooms.items() if n > allowed[room]} == {}


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_files_and_functions_are_small(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 700
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
            length = int(node.body[-1].end_lineno or 0) - first.lineno + 1
            assert length <= 60, f"{node.name} has {length} lines"


# ---------------------------------------------------------------- documents


def map_rows() -> list[list[str]]:
    """The rows of all tables of the paper map, as lists of cells."""
    lines = [line for line in page("docs/paper-map.md").splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in rows if row[0] not in ("in the chapter", "---")]


def paths_in(cell: str) -> list[str]:
    return re.findall(r"`([\w./-]+\.\w+)`", cell)


@pytest.mark.parametrize("row", map_rows(), ids=lambda row: row[0][:40])
def test_the_paper_map_is_true(row):
    item, where, shown_by = row
    if where == "prose" or where.startswith("to come: "):
        assert paths_in(item + where + shown_by) == []
        assert shown_by == ""
        return
    assert paths_in(shown_by), "what is there has a test"
    for path in paths_in(where):
        assert (SOURCE / path).is_file() or (ROOT / path).is_file(), path
    assert all((ROOT / "tests" / path).is_file() for path in paths_in(shown_by)), shown_by


def test_the_paper_map_names_the_whole_chapter():
    """Seven sections with their subsections, ten equations, nine figures, three tables."""
    items = " ".join(row[0] for row in map_rows())
    for letter, last in (("E", 10), ("F", 9), ("T", 3)):
        for number in range(1, last + 1):
            assert re.search(rf"\b{letter}{number}[ab]?\b", items), f"{letter}{number}"
    depth = {"2.3": 3, "3.1": 2, "4.2": 2, "5.1": 1, "5.2": 1, "6.1": 3, "6.2": 3}
    depth |= {"2": 3, "3": 3, "4": 2, "5": 2, "6": 2}
    sections = {"1", "7", *(f"{top}.{i}" for top, n in depth.items() for i in range(1, n + 1))}
    # A section with subsections is named by them.
    found = set(re.findall(r"§([\d.]+)", items))
    assert all(any(f"{have}.".startswith(f"{section}.") for have in found) for section in sections)
    assert found <= sections | set(depth)


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_tests_that_pages_name_are_there(path):
    mentioned = re.findall(r"`(tests/[\w/]+\.py)((?:::\w+)*)`", path.read_text(encoding="utf-8"))
    for file, name in mentioned:
        assert (ROOT / file).is_file(), file
        for part in name.split("::")[1:]:
            assert re.search(rf"(def|class) {part}\b", page(file)), f"{file}{name}"


def test_every_decision_says_where_it_is_and_which_test_shows_it():
    decisions = re.split(r"^### \d\. ", page("docs/how-it-works.md"), flags=re.MULTILINE)[1:]
    assert len(decisions) == 7
    for decision in decisions:
        assert "*Where:*" in decision, decision
        assert re.search(r"\*Test:\* .*`tests/", decision), decision


def test_the_example_in_contributing_runs():
    found = doctest.testfile(str(ROOT / "CONTRIBUTING.md"), module_relative=False, encoding="utf-8")
    assert found.attempted > 0
    assert found.failed == 0


def test_the_version_is_the_same_everywhere():
    assert f"version: {labelrules.__version__}\n" in page("CITATION.cff")
    assert re.search(rf"\b{re.escape(labelrules.__version__)}\b", page("CHANGELOG.md"))


def test_every_make_target_is_explained():
    (targets,) = re.findall(r"^\.PHONY: (.*)$", page("Makefile"), re.MULTILINE)
    for target in targets.split():
        assert f"`make {target}`" in page("CONTRIBUTING.md"), target


def test_every_extra_for_users_is_named_in_the_readme():
    import tomllib

    extras = tomllib.loads(page("pyproject.toml"))["project"]["optional-dependencies"]
    for extra in extras.keys() - {"test", "docs"}:
        assert extra in page("README.md")
