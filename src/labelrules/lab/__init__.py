"""COMPARE: learners side by side: quality against size, and ranks and tests over data sets."""

from typing import TYPE_CHECKING

from labelrules._wings import names_from

if TYPE_CHECKING:
    from labelrules.lab.public import *

__getattr__ = names_from("labelrules.lab.public")
