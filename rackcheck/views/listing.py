"""Rows of a screen that can be written one by one: of a hundred thousand, only those in sight ever are."""

from collections.abc import Sequence
from typing import Protocol

from rackcheck.views.terminal import Line


class Listing(Protocol):
    """Rows in their order; a row is named by its number, and by a name that stays its own when others come or go."""

    def __len__(self) -> int:
        """How many rows there are."""

    def name(self, row: int) -> str:
        """Name a row, so that cursor and marks find it again among others."""

    def nodes(self, row: int) -> tuple[str, ...]:
        """The nodes that a row is about: those that are acted on."""

    def head(self, width: int) -> Line | None:
        """Head the columns, for a line of so many cells; None where there is nothing to say."""

    def line(self, row: int, width: int) -> Line:
        """Write a row in exactly so many cells."""

    def details(self, row: int, width: int) -> Sequence[Line]:
        """Tell all there is of a row, in lines of at most so many cells."""
