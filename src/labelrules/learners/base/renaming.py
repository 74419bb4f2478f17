"""Fitted learners with other names of features and labels."""

from collections.abc import Mapping
from copy import copy
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from sklearn.utils.validation import check_is_fitted

from labelrules.data import Schema
from labelrules.rules import Theory

Names: TypeAlias = Mapping[str, str]
"""From old names to new ones."""


class RenamedByCopy:
    """A fitted learner that can be copied with other names of features and labels."""

    schema_: Schema
    _naming_parameters: ClassVar[tuple[str, ...]] = ()
    """Parameters whose values name features or labels."""

    def rename(self, names: Names) -> Self:
        """Rename features and labels of a model, from old names to new ones.

        It predicts the same: for frames that have the new names, and for arrays as before.

        Examples
        --------
        >>> from labelrules import SeparateAndConquer, load
        >>> readers = load("magazines")
        >>> names = {"education": "school", "quality": "serious"}
        >>> model = SeparateAndConquer(max_rules=1).fit(readers)
        >>> other = model.rename(names)
        >>> print(other.theory_)
        serious <- school = University
        >>> bool((other.predict(readers.rename(names)) == model.predict(readers)).all())
        True
        """
        check_is_fitted(self, "schema_")
        self.schema_.rename(names)  # refuses names that are unknown or clash
        found: Self = self._renamed(names)
        return found

    def _renamed(self, names: Names) -> Any:
        """A model with other names, which are known; see `rename`."""
        return renamed_model(self, names)


def renamed_model(model: Any, names: Names) -> Any:
    """A fitted learner with other names; what it predicts stays the same."""
    other = copy(model)
    for name, value in vars(model).items():
        setattr(other, name, _renamed(value, names))
    other.labels_ = list(other.schema_.labels)
    reasons = model.why_without_rules_.items()
    other.why_without_rules_ = {names.get(name, name): reason for name, reason in reasons}
    if hasattr(model, "feature_names_in_"):
        other.feature_names_in_ = np.array(other.schema_.feature_names, dtype=object)
    other.set_params(**renamed_parameters(model, names))
    return other


def _renamed(value: Any, names: Names) -> Any:
    """A schema, theory or model with those of the names that it knows, or several of them."""
    if isinstance(value, list) and value and isinstance(value[0], Theory):
        return [_renamed(one, names) for one in value]
    if isinstance(value, Schema):
        return value.rename(known_names(value, names))
    if isinstance(value, Theory):
        return value.rename(known_names(value.schema, names))
    if hasattr(value, "rename") and isinstance(getattr(value, "schema_", None), Schema):
        return value.rename(known_names(value.schema_, names))
    return value


def known_names(schema: Schema, names: Names) -> dict[str, str]:
    """The names that a schema has, of some."""
    known = {*schema.feature_names, *schema.labels}
    return {old: new for old, new in names.items() if old in known}


def renamed_parameters(learner: Any, names: Names) -> dict[str, Any]:
    """The parameters of a learner, and of its base, that name features or labels."""
    found: dict[str, Any] = {}
    for name, value in learner.get_params(deep=False).items():
        if name in getattr(learner, "_naming_parameters", ()) and not isinstance(value, str):
            found[name] = _renamed_texts(value, names)
        elif hasattr(value, "_naming_parameters"):
            found[name] = copy(value).set_params(**renamed_parameters(value, names))
    return found


def _renamed_texts(value: Any, names: Names) -> Any:
    """Names, alone or in lists and pairs; anything else stays as it is."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, list | tuple | set | frozenset):
        return type(value)(_renamed_texts(one, names) for one in value)
    return value
