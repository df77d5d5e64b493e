"""Names the texts that a redacted copy withholds, so that no rendering shows `none` for a text that was removed."""

from collections.abc import Mapping

WITHHELD = "withheld at this level"

_CUSTOMER = frozenset({"operator", "address"})
_PUBLIC = _CUSTOMER | {
    "brand", "bill", "inventory", "baseline", "targets", "slot", "person", "ticket", "reason", "place",
}  # fmt: skip

HIDDEN: Mapping[str, frozenset[str]] = {"customer": _CUSTOMER, "public": _PUBLIC}
"""For each level, the names of the texts that are always empty, because `report.redact` removes them."""

MISSING: Mapping[str, str] = {
    "operator": "unknown", "address": "none", "brand": "not set", "bill": "not stated", "inventory": "none",
    "baseline": "none", "targets": "not stated", "slot": "none", "person": "not stated", "ticket": "none",
    "reason": "none", "place": "not stated",
}  # fmt: skip
"""What is shown for an empty text that is not withheld, by the name of the text."""


def missing(level: str, what: str) -> str:
    """Return what a document of this redaction level shows for an empty text; `what` is a key of MISSING."""
    return WITHHELD if what in HIDDEN.get(level, ()) else MISSING[what]
