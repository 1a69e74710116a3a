"""What every page of the console is built from."""

from stigmer.console.base.acting import ActionAdmin, RowAction, act_of
from stigmer.console.base.filters import ChoiceFilter, ExactFilter, OneOfManyFilter
from stigmer.console.base.marks import Table, badge, code, linked, minute, moment, prose
from stigmer.console.base.reading import ReadOnlyAdmin

__all__ = [
    "ActionAdmin",
    "ChoiceFilter",
    "ExactFilter",
    "OneOfManyFilter",
    "ReadOnlyAdmin",
    "RowAction",
    "Table",
    "act_of",
    "badge",
    "code",
    "linked",
    "minute",
    "moment",
    "prose",
]
