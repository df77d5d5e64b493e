"""What a copy withholds on purpose, so that no rendering shows `none` where something was removed."""

from collections.abc import Mapping

WITHHELD = "withheld at this level"

_CUSTOMER = frozenset({"operator", "address"})
_PUBLIC = _CUSTOMER | {
    "brand", "bill", "inventory", "baseline", "targets", "slot", "person", "ticket", "reason", "place",
}  # fmt: skip

HIDDEN: Mapping[str, frozenset[str]] = {"customer": _CUSTOMER, "public": _PUBLIC}
"""By level the texts that are always empty; `report.redact` removes them."""

MISSING: Mapping[str, str] = {
    "operator": "not known", "address": "none", "brand": "not given", "bill": "not told", "inventory": "none",
    "baseline": "none", "targets": "not told", "slot": "none", "person": "not told", "ticket": "none",
    "reason": "none given", "place": "not told",
}  # fmt: skip
"""What an empty text of each sort means where nothing is withheld."""


def missing(level: str, what: str) -> str:
    """Return the meaning of an empty text at a level; `what` is a key of MISSING."""
    return WITHHELD if what in HIDDEN.get(level, ()) else MISSING[what]
