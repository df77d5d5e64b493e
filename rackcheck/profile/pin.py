"""What a waiver pins of a rule: a digest of all that decides its verdict, and of nothing that is only said."""

import hashlib
import json
from collections.abc import Iterator, Mapping

from rackcheck.profile.document import Table, plain

WORDS = frozenset({"title", "why", "fix", "refs"})
"""Keys that no verdict depends on; whether every source is from memory is told apart."""


def rule_digest(table: Table, params: Mapping[str, str | None], *, from_memory: bool, package: str = "") -> str:
    """Give the SHA-256 of a rule as it is laid, with the values of the params it names, and the package it calls."""
    judged = {key: plain(node) for key, node in table.items.items() if key not in WORDS}
    named = {text[1:] for text in _texts(judged) if text.startswith("$")}
    values = {name: params[name] for name in sorted(named) if name in params}
    told = {"rule": judged, "params": values, "from memory": from_memory, **({"package": package} if package else {})}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _texts(node: object) -> Iterator[str]:
    match node:
        case str():
            yield node
        case dict():
            for value in node.values():
                yield from _texts(value)
        case list():
            for value in node:
                yield from _texts(value)
