"""The context in which all parts of a rule are read: the catalogue, the params, and the list of problems."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from rackcheck.model import path as paths
from rackcheck.model.catalogue import Catalogue, Entry
from rackcheck.model.path import EVERY, Path
from rackcheck.model.profile import Scope, Source
from rackcheck.profile.document import Problem, Scalar, SourcePlace
from rackcheck.profile.layers import did_you_mean

T = TypeVar("T")

GROUPS = frozenset({Scope.RACK.value, Scope.FLEET.value})
"""First path segments of the facts of a rack and of the fleet; all other facts belong to a node."""


class Bad(Exception):
    """Raised if a part of a rule cannot be read; the problem has already been added to the context."""


@dataclass
class CompileContext:
    """The context in which rules are read; problems are collected in `problems` and do not stop the reading.

    `unset` and `scope` belong to the current rule: the params without a value that it uses, and its scope.
    """

    catalogue: Catalogue
    sources: Mapping[str, Source]
    params: Mapping[str, str | None]
    problems: list[Problem] = field(default_factory=list)
    unset: list[str] = field(default_factory=list)
    scope: Scope = Scope.NODE

    def note(self, place: SourcePlace, text: str) -> None:
        """Add a problem at a location of a file; all problems are reported together."""
        self.problems.append(Problem(place, text))

    def quiet(self, read: Callable[[], T]) -> T | None:
        """Return the result of `read`, or None if it raised Bad."""
        try:
            return read()
        except Bad:
            return None

    def given(self, node: Scalar) -> str | None:
        """Return an operand's text, or for `$name` the param's value; None if the param has no value.

        Raises Bad for a param that the profile does not have.
        """
        if not node.text.startswith("$"):
            return node.text
        name = node.text[1:]
        if name not in self.params:
            self.note(node.place, f"no param {name}{did_you_mean(name, list(self.params))}")
            raise Bad
        if self.params[name] is None:
            self.unset.append(name)
        return self.params[name]

    def fact(self, node: Scalar, within: Path | None) -> tuple[Entry, Path]:
        """Return the catalogue entry and the path of a fact; raises Bad if no probe provides it or its scope is wrong.

        With a collection `within`, the written path starts at an item of the collection.
        """
        try:
            path = paths.parse(node.text)
        except paths.BadPath as error:
            self.note(node.place, str(error))
            raise Bad from error
        prefix = "" if within is None else f"{within.item(EVERY)}."
        whole = path if within is None else within.item(EVERY) + path
        entry = self.catalogue.find(whole)
        if entry is None:
            near = [n.removeprefix(prefix) for n in self.catalogue.near(prefix + node.text, within=prefix)]
            hint = f"; did you mean {near[0]}?" if near else ""
            inside = f" in {within}" if within is not None else ""
            self.note(node.place, f"no probe provides {node.text}{inside}{hint}")
            raise Bad
        if not self.held(node.place, whole):
            raise Bad
        return entry, path if within is None else within + path

    def held(self, place: SourcePlace, whole: Path) -> bool:
        """Return whether a fact has the scope of the rule; if not, add a problem."""
        first = whole.segments[0].word
        holder = Scope(first) if first in GROUPS else Scope.NODE
        if holder is not self.scope:
            self.note(place, f"{whole} is a fact of a {holder}, but the rule's scope is `{self.scope}`")
        return holder is self.scope
