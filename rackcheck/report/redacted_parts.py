"""The texts that a copy withholds on purpose, so that no rendering shows `none` for a text that was removed."""

from collections.abc import Mapping

WITHHELD = "withheld at this level"

_CUSTOMER = frozenset({"operator", "address"})
_PUBLIC = _CUSTOMER | {
    "brand", "bill", "inventory", "baseline", "targets", "slot", "person", "ticket", "reason", "place",
}  # fmt: skip

HIDDEN: Mapping[str, frozenset[str]] = {"customer": _CUSTOMER, "public": _PUBLIC}
"""By level, the texts that are always empty because `report.redact` removes them."""

MISSING: Mapping[str, str] = {
    "operator": "unknown", "address": "none", "brand": "not set", "bill": "not stated", "inventory": "none",
    "baseline": "none", "targets": "not stated", "slot": "none", "person": "not stated", "ticket": "none",
    "reason": "none", "place": "not stated",
}  # fmt: skip
"""The meaning of an empty text, by sort, if the text is not withheld."""


def missing(level: str, what: str) -> str:
    """Return the meaning of an empty text at a level; `what` is a key of MISSING."""
    return WITHHELD if what in HIDDEN.get(level, ()) else MISSING[what]
