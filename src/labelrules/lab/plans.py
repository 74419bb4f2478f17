"""Plans of experiments as TOML files: learners, data sets, measures, splits and statistics.

A plan can name classes of scikit-learn and of this library, and of no other package unless the
caller allows it: importing a module runs its code.
"""

import inspect
import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from labelrules._checks import quoted, suggestion
from labelrules.cli.io import Reading, is_data, read_data, unpacked_extension_of
from labelrules.data import DataError, Dataset, FileError, load
from labelrules.data.document import FrozenRecord, at, converted
from labelrules.data.files.access import opened_utf8
from labelrules.learners import registered

PACKAGES = ("sklearn", "labelrules")
"""Packages whose classes any plan may name."""

Test = Literal["friedman", "nemenyi", "wilcoxon", "bayes"]


class LearnerPlan(FrozenRecord, frozen=True):
    """A learner by name, or a pipeline of several, with settings."""

    learner: str | None = None
    pipeline: list[Any] | None = None
    settings: dict[str, Any] | None = None


class DataPlan(FrozenRecord, frozen=True):
    """A data set by name, a file, or a folder, and how it is read."""

    source: str
    name: str | None = None
    test: str | None = None
    sets: list[str] | None = None
    labels: list[str] | None = None
    format: str | None = None
    xml: str | None = None
    nominal: list[str] | None = None
    ignore: list[str] | None = None
    delimiter: str | None = None
    missing: str | None = None
    encoding: str | None = None

    def reading(self) -> Reading:
        """The options that are given."""
        return Reading(**{name: getattr(self, name) for name in Reading.names() if name != "part"})


class StatisticsPlan(FrozenRecord, frozen=True):
    """Which tests, and their settings; by default those that fit the number of learners."""

    tests: list[Test] | None = None
    alpha: float = 0.05
    rope: float = 0.01
    control: str | None = None


class ExperimentPlan(FrozenRecord, frozen=True):
    """An experiment as a TOML file describes it."""

    learners: dict[str, str | LearnerPlan]
    data: list[str | DataPlan]
    measures: str | list[str] | None = None
    split: int | float | str = 5
    repeats: int = 1
    random_state: int = 0
    time_limit: float | None = None
    categories: Literal["columns", "codes"] = "columns"
    folder: str | None = None
    statistics: StatisticsPlan = StatisticsPlan()


def read_plan(path: str) -> ExperimentPlan:
    """Read the file of a plan."""
    try:
        with opened_utf8(Path(path)) as file:
            value = tomllib.loads(file.read())
        with at("$"):
            return converted(value, ExperimentPlan)
    except FileError:
        raise
    except tomllib.TOMLDecodeError as wrong:
        raise FileError(f"not valid TOML: {wrong}", path) from None
    except DataError as wrong:
        raise FileError(str(wrong), path) from None


@dataclass(frozen=True)
class PlanReader:
    """Makes the learners and reads the data sets of a plan.

    Attributes
    ----------
    path : str
        The file of the plan; files that it names are looked for beside it.
    allowed : tuple of str
        Further packages whose classes it may name.
    """

    path: str
    allowed: tuple[str, ...] = ()

    # ------------------------------------------------------------ learners

    def learners(self, plan: ExperimentPlan) -> dict[str, Any]:
        """The learners by their names in the plan."""
        return {
            name: self._located(f"$.learners.{name}", self._learner, given)
            for name, given in plan.learners.items()
        }

    def _located(self, place: str, call: Any, *given: Any) -> Any:
        """Call a function, and name this place of the plan in its errors."""
        try:
            with at(place):
                return call(*given)
        except FileError:
            raise
        except DataError as wrong:
            raise FileError(str(wrong), self.path) from None

    def _learner(self, given: str | LearnerPlan) -> Any:
        if isinstance(given, str):
            given = LearnerPlan(learner=given)
        if (given.learner is None) == (given.pipeline is None):
            raise ValueError('give either "learner" or "pipeline"')
        if given.pipeline is None:
            return self._made(self._class(str(given.learner)), given.settings or {})
        if given.settings is not None:
            raise ValueError('a pipeline has no "settings": give them to its steps')
        from sklearn.pipeline import make_pipeline

        return make_pipeline(*(self._value(step, is_learner=True) for step in given.pipeline))

    def _class(self, name: str) -> Any:
        known = registered()
        if name in known:
            return known[name]
        if "." not in name:
            near = suggestion(name, known) or f"; there are {', '.join(known)}"
            raise ValueError(
                f"there is no learner {quoted(name)}{near}; those of scikit-learn have dotted "
                "names such as sklearn.tree.DecisionTreeClassifier"
            )
        package = name.partition(".")[0]
        if package not in (*PACKAGES, *self.allowed):
            raise ValueError(
                f"{name} is in the package {package}, whose code would be run: if you trust this "
                f"plan, write --allow {package}"
            )
        module, _, last = name.rpartition(".")
        try:
            owner = import_module(module)
        except ImportError as wrong:
            raise ValueError(f"{name} cannot be imported: {wrong}") from None
        found = getattr(owner, last, None)
        if not (inspect.isclass(found) and hasattr(found, "fit")):
            classes = [one for one, value in vars(owner).items() if hasattr(value, "fit")]
            raise ValueError(
                f"{module} has no class {quoted(last)} with the method fit"
                f"{suggestion(last, classes)}"
            )
        return found

    def _made(self, kind: Any, settings: dict[str, Any]) -> Any:
        """An object of the class with these settings, each of a known name."""
        parameters = inspect.signature(kind).parameters
        takes_any = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
        for name in settings:
            if name not in parameters and not takes_any:
                near = suggestion(name, parameters) or f"; it has {', '.join(parameters) or 'none'}"
                raise ValueError(f"{kind.__name__} has no parameter {quoted(name)}{near}")
        is_own = kind in registered().values()
        values = {
            name: self._setting(name, value, parameters[name]) if is_own else self._value(value)
            for name, value in settings.items()
        }
        try:
            return kind(**values)
        except TypeError as wrong:
            raise ValueError(f"{kind.__name__}: {wrong}") from None

    def _setting(self, name: str, value: Any, parameter: inspect.Parameter) -> Any:
        """A setting of a learner of this library: a base by its name, a bonus as for --set."""
        if name == "base" and isinstance(value, str):
            return self._learner(value)
        if name == "size_bonus" and isinstance(value, str):
            from labelrules.cli.settings import parsed_value

            return parsed_value(name, value, parameter)
        return self._value(value)

    def _value(self, value: Any, is_learner: bool = False) -> Any:
        """A value of TOML; tables that name a learner become one, also in lists."""
        if is_learner and isinstance(value, str):
            return self._learner(value)
        if isinstance(value, dict) and (is_learner or {*value} & {"learner", "pipeline"}):
            return self._learner(converted(value, LearnerPlan))
        if isinstance(value, list):
            return [self._value(one) for one in value]
        return value

    # ------------------------------------------------------------ data

    def data(self, plan: ExperimentPlan) -> dict[str, Any]:
        """The data sets by name, each whole or as a pair of a train and a test part."""
        found: dict[str, Any] = {}
        for number, given in enumerate(plan.data):
            one = DataPlan(given) if isinstance(given, str) else given
            place = f"$.data[{number}]"
            for name, data in self._located(place, self._listed, one, plan.split == "given"):
                if name in found:
                    raise FileError(
                        f"{place}: a data set is called {quoted(name)} already: give it another "
                        '"name"',
                        self.path,
                    )
                found[name] = data
        if not found:
            raise FileError("$.data: there is no data set", self.path)
        return found

    def _listed(self, given: DataPlan, is_given: bool) -> list[tuple[str, Any]]:
        return list(self._sets(given, is_given))

    def _sets(self, given: DataPlan, is_given: bool) -> Iterator[tuple[str, Any]]:
        """The data sets of an entry: one, or all of a folder."""
        path = self.beside(given.source)
        if path.is_dir():
            if given.name is not None or given.test is not None:
                raise ValueError(
                    f'{given.source} is a folder: "name" and "test" are for one data set'
                )
            yield from self._of_folder(path, given, is_given)
            return
        if given.sets is not None:
            raise ValueError(f'{given.source} is no folder: leave "sets" out')
        if given.test is not None:
            yield given.name or path.stem, (self._read(given, given.source),
                                            self._read(given, given.test))  # fmt: skip
        elif is_given:
            if self._is_file(given.source):
                raise ValueError(
                    f'{given.source} is not divided: give the rows for testing by "test"'
                )
            parts = [load(given.source, part=part) for part in ("train", "test")]
            yield given.name or given.source, tuple(parts)
        else:
            data = self._read(given, given.source)
            yield given.name or data.name or path.stem, data

    def _of_folder(
        self, folder: Path, given: DataPlan, is_given: bool
    ) -> Iterator[tuple[str, Any]]:
        """The data sets of a folder: ARFF files in parts or whole, and tables."""
        names: dict[str, Path] = {}
        for path in sorted(folder.iterdir()):
            ending = unpacked_extension_of(path.name)
            if path.is_file() and ending in (".arff", ".csv", ".parquet"):
                stem = path.name[: path.name.lower().rindex(ending)]
                is_mulan = ending == ".arff" and given.format != "meka"
                name = stem.removesuffix("-train").removesuffix("-test") if is_mulan else stem
                names.setdefault(name, path)
        chosen = list(names) if given.sets is None else given.sets
        for name in chosen:
            if name not in names:
                near = suggestion(name, names) or f"; there are {', '.join(names) or 'none'}"
                raise ValueError(f"{given.source} has no data set {quoted(name)}{near}")
            path = names[name]
            if unpacked_extension_of(path.name) != ".arff" or given.format == "meka":
                if is_given:
                    raise ValueError(
                        f"{path.name} is not divided into parts for training and testing"
                    )
                yield name, self._read(given, str(path))
            elif is_given:
                yield name, tuple(load(name, folder, part=part) for part in ("train", "test"))
            else:
                yield name, load(name, folder)

    def _read(self, given: DataPlan, source: str) -> Dataset:
        """A file beside the plan, or a data set by name."""
        place = str(self.beside(source)) if self._is_file(source) else source
        return read_data(place, given.reading())

    def _is_file(self, source: str) -> bool:
        return (is_data(source) and ":" not in source) or self.beside(source).is_file()

    def beside(self, source: str) -> Path:
        """A path of the plan, from the folder of its file."""
        return Path(self.path).parent / Path(os.path.expanduser(source))


def folder_of(plan: ExperimentPlan, path: str) -> Path:
    """Where the fits of a plan are kept: what it says, or a folder named like its file."""
    file = Path(path)
    return file.parent / plan.folder if plan.folder else file.with_name(f"{file.stem}-results")
