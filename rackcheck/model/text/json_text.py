"""JSON of tools and BMCs; a name that occurs twice in one object is an error, because either value may be right."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any


def loaded(text: str) -> Any:
    """Return the content of a JSON text; raises ValueError or RecursionError if it has none or repeats a name."""
    return json.loads(text, object_pairs_hook=once)


def once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object from its names and values; raises ValueError if a name is repeated."""
    found = dict(pairs)
    if len(found) < len(pairs):
        name = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise ValueError(f"{name!r} appears twice in one object")
    return found
