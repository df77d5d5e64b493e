"""Finds the rules that read a fact, directly or through derived facts; a fact that no rule reads is unchecked. Pure."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from rackcheck.model import path as paths
from rackcheck.model.catalogue import Kind
from rackcheck.model.path import EVERY, Path
from rackcheck.model.profile import Rule


class FactSource(Protocol):
    """Computes derived facts from other facts, for example a join."""

    @property
    def needs(self) -> tuple[str, ...]:
        """Patterns of the facts from which the derived facts are computed."""

    @property
    def gives(self) -> Mapping[str, Kind]:
        """The kind of each derived fact that is computed, by the fact's pattern."""


class Covering:
    """The rules that read each fact, directly or through derived facts."""

    def __init__(self, rules: Iterable[Rule], derived: Iterable[FactSource] = ()) -> None:
        self._readers: dict[str, dict[str, list[Path]]] = {}
        for rule in rules:
            for fact in rule.facts():
                self._add(fact, rule.id)
        steps = tuple(derived)
        for _ in steps:  # derived facts of derived facts: each round goes one step further
            if sum(map(self._through, steps)) == 0:
                break

    def _add(self, fact: Path, rule: str) -> bool:
        readers = self._readers.setdefault(str(fact.pattern), {}).setdefault(rule, [])
        if fact in readers:
            return False
        readers.append(fact)
        return True

    def _through(self, step: FactSource) -> int:
        """Record that each rule that reads a derived fact also reads its inputs; return the number of additions."""
        readers = dict.fromkeys(rule for given in step.gives for rule in self._readers.get(given, ()))
        return sum(self._add(paths.parse(need), rule) for need in step.needs for rule in readers)

    def of(self, path: str) -> tuple[str, ...]:
        """Return the rules that read a fact; for an item, also the rules that read its collection."""
        parsed = paths.parse(path)
        asked = (parsed,) if parsed.is_collection else (parsed, parsed.collections[-1])
        found: dict[str, None] = {}
        for each in asked:
            for rule, facts in self._readers.get(str(each.pattern), {}).items():
                if any(_meets(fact, each) for fact in facts):
                    found[rule] = None
        return tuple(found)


def _meets(fact: Path, path: Path) -> bool:
    pairs = zip(fact.segments, path.segments, strict=True)
    return all(EVERY in {f.key, p.key} or f.key == p.key for f, p in pairs)
