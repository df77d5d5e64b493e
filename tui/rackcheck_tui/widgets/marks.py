"""Selected rows of a listing: by cursor, by marks, by name. Marks are names, so they survive a reordering."""

from collections.abc import Set as AbstractSet

from rackcheck.views.listing import Listing


def find(listing: Listing, name: str) -> int | None:
    """Return the number of the row with this name; None if there is none."""
    return next((row for row in range(len(listing)) if listing.name(row) == name), None)


def marked(listing: Listing, marks: AbstractSet[str]) -> tuple[int, ...]:
    """Return the numbers of the marked rows; without marks, no row names are computed."""
    return tuple(row for row in range(len(listing)) if listing.name(row) in marks) if marks else ()


def settle(listing: Listing, before: str | None, at: int, marks: AbstractSet[str]) -> tuple[int, set[str]]:
    """Return the cursor's row in a new listing, and the marks whose rows still exist.

    The cursor was on row `at` with the name `before`; if no row has this name now, the cursor keeps its row number. Row
    names are computed at most once, and only one name if nothing is marked and the cursor's row has not moved.
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
