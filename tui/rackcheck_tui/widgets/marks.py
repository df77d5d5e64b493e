"""Selected rows of a listing: by cursor, by marks, by name. Marks are names, so they survive a new order."""

from collections.abc import Set as AbstractSet

from rackcheck.views.listing import Listing


def find(listing: Listing, name: str) -> int | None:
    """Return the number of the row of this name; None where there is none."""
    return next((row for row in range(len(listing)) if listing.name(row) == name), None)


def marked(listing: Listing, marks: AbstractSet[str]) -> tuple[int, ...]:
    """Return the numbers of the marked rows; does not compute row names where there are no marks."""
    return tuple(row for row in range(len(listing)) if listing.name(row) in marks) if marks else ()


def settle(listing: Listing, before: str | None, at: int, marks: AbstractSet[str]) -> tuple[int, set[str]]:
    """Return the cursor's row among other rows, and the marks whose rows still exist.

    The cursor stood on row `at`, named `before`; where that name is gone it stays where it was. Rows are named once
    at most, and only one of them while nothing is marked and the cursor's row has not moved.
    """
    here = max(min(at, len(listing) - 1), 0)
    found = here if before is not None and len(listing) and listing.name(here) == before else None
    if not marks:
        if found is None and before is not None:
            found = find(listing, before)
        return here if found is None else found, set()
    kept = set[str]()
    for row in range(len(listing)):
        name = listing.name(row)
        if name in marks:
            kept.add(name)
        if found is None and name == before:
            found = row
    return here if found is None else found, kept
