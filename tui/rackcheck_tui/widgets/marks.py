"""Which rows of a listing are meant: by the cursor, by marks, by a name. Marks are names, so they outlive an order."""

from collections.abc import Set as AbstractSet

from rackcheck.views.listing import Listing


def find(listing: Listing, name: str) -> int | None:
    """Give the number of the row of this name; None where there is none."""
    return next((row for row in range(len(listing)) if listing.name(row) == name), None)


def marked(listing: Listing, marks: AbstractSet[str]) -> tuple[int, ...]:
    """Give the numbers of the rows whose names are marked; no row is named where nothing is."""
    return tuple(row for row in range(len(listing)) if listing.name(row) in marks) if marks else ()


def settle(listing: Listing, before: str | None, at: int, marks: AbstractSet[str]) -> tuple[int, set[str]]:
    """Give the cursor's row among other rows, and the marks whose rows are still there.

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
