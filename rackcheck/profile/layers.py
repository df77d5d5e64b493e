"""Merges a profile with its parents and fragments: rules and params merge by id; lists and operators are replaced.

The oldest parent is merged first; for each profile, its fragments come before its own entries. `drop` removes a rule.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from rackcheck.base.names import either, similar
from rackcheck.model.operator import WORDS
from rackcheck.profile.document import BadFile, Problem, Scalar, SourcePlace, YamlMapping, YamlNode, YamlSequence
from rackcheck.profile.schema import LOOKS, NARROWING

LEAVES = ("fact", "all-of", "any-of")
"""Keys that contain the tests of a rule; a rule has at most one of these keys."""

FORMS = (
    ((*LOOKS, *LEAVES), (*LOOKS, *NARROWING, *LEAVES, *WORDS)),
    (("across",), ("across", "agree")),
    (("call",), ("call",)),
)
"""The three kinds of rules: for each kind, the keys that define it, and all keys that belong to it."""

MACHINE = frozenset({"product", "board", "cpu", "device"})
"""Keys of `applies-to` that name a machine; a profile with any of these keys inherits none of them from its parents."""


@dataclass(frozen=True, slots=True)
class LayerEntry:
    """A rule or a param as one file writes it; `layer` is the file's NAME@VERSION, `place` the key's location."""

    layer: str
    place: SourcePlace
    node: YamlNode


@dataclass(frozen=True)
class Layers:
    """A profile's file merged with its parents and fragments; `dropped` maps rules to the reason.

    `built_in` has the ids of the rules that are part of every profile, including dropped rules. `rules_written` and
    `params_written` map each id to all entries that the files write for this id, the lowest layer first, including
    entries that drop a rule.
    """

    name: str
    head: YamlMapping
    params: Mapping[str, YamlNode]
    rules: Mapping[str, YamlMapping]
    dropped: Mapping[str, str]
    lineage: tuple[str, ...]
    applies: Mapping[str, YamlNode] = field(default_factory=dict)
    rules_written: Mapping[str, tuple[LayerEntry, ...]] = field(default_factory=dict)
    params_written: Mapping[str, tuple[LayerEntry, ...]] = field(default_factory=dict)
    built_in: frozenset[str] = frozenset()


@dataclass
class Pile:
    """The layers merged so far; problems are collected, so that all are reported together."""

    params: dict[str, YamlNode] = field(default_factory=dict)
    rules: dict[str, YamlMapping] = field(default_factory=dict)
    dropped: dict[str, str] = field(default_factory=dict)
    applies: dict[str, YamlNode] = field(default_factory=dict)
    rules_written: dict[str, list[LayerEntry]] = field(default_factory=dict)
    params_written: dict[str, list[LayerEntry]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    built_in: frozenset[str] = frozenset()

    def build_in(self, table: YamlMapping) -> None:
        """Add the built-in rules as the lowest layer."""
        self.add(table)
        self.built_in = frozenset(self.rules)

    def lay(self, table: YamlMapping) -> None:
        """Merge a profile's own rules, params and machines over the layers so far."""
        for rule_id, written in _written(table, "rules"):
            rule = written.node
            assert isinstance(rule, YamlMapping)
            reason = rule.get("drop")
            if isinstance(reason, Scalar):
                if rule_id not in self.rules:
                    hint = did_you_mean(rule_id, list(self.rules))
                    self._note(rule.place, f"drops `{rule_id}`, which no parent has{hint}")
                self.rules.pop(rule_id, None)
                self.dropped[rule_id] = reason.text
            elif rule_id in self.built_in:
                self._note(written.place, f"rule `{rule_id}` is built in: it can be dropped with a reason, not changed")
            else:
                self.rules[rule_id] = rule_over(self.rules.get(rule_id), rule)
                self.dropped.pop(rule_id, None)
            self.rules_written.setdefault(rule_id, []).append(written)
        for name, written in _written(table, "params"):
            self.params[name] = _param_over(self.params.get(name), written.node)
            self.params_written.setdefault(name, []).append(written)
        applies = entries(table, "applies-to")
        if MACHINE & applies.keys():  # a child's machines replace its parent's machines, they are not added
            self.applies = {key: node for key, node in self.applies.items() if key not in MACHINE}
        self.applies |= applies

    def add(self, fragment: YamlMapping) -> None:
        """Add a fragment's rules and params.

        A fragment that changes an existing rule or param, or that drops a rule, is reported as a problem.
        """
        name = word(fragment, "profile")
        for rule_id, written in _written(fragment, "rules"):
            rule = written.node
            assert isinstance(rule, YamlMapping)
            there = self.rules_written.get(rule_id)
            if "drop" in rule.items:
                message = f"fragment {name} drops `{rule_id}`; a fragment only adds: an including profile may drop it"
                self._note(written.place, message)
            elif there and rule_id in self.dropped:
                message = f"rule `{rule_id}` of fragment {name} was dropped by {there[-1].layer}: {there[-1].place}"
                self._note(written.place, message)
            elif there:
                message = f"rule `{rule_id}` of fragment {name} is also in {there[0].layer}: {there[0].place}"
                self._note(written.place, f"{message}; a fragment only adds")
            else:
                self.rules[rule_id] = rule
                self.rules_written[rule_id] = [written]
        for param, written in _written(fragment, "params"):
            first = self.params_written.setdefault(param, [written])[0]
            if first is written:
                self.params[param] = _whole(written.node)
            elif _defined(first.node) != _defined(written.node):
                ours, theirs = (" and default ".join(_defined(n)) for n in (written.node, first.node))
                message = f"param `{param}` of fragment {name} has type {ours}"
                self._note(written.place, f"{message}; in {first.layer} it has type {theirs}: {first.place}")

    def laid(self, head: YamlMapping, lineage: tuple[str, ...]) -> Layers:
        """Return the merged layers as the profile with this head; raises BadFile with all problems."""
        if self.problems:
            raise BadFile(self.problems)
        rules, params = (
            {name: tuple(each) for name, each in written.items()}
            for written in (self.rules_written, self.params_written)
        )
        name = word(head, "profile")
        ordered = dict(sorted(self.rules.items(), key=lambda rule: rule[0] in self.built_in))  # its own rules first
        return Layers(
            name, head, self.params, ordered, self.dropped, lineage, self.applies, rules, params, self.built_in
        )

    def _note(self, place: SourcePlace, text: str) -> None:
        self.problems.append(Problem(place, text))


def _written(table: YamlMapping, key: str) -> Iterator[tuple[str, LayerEntry]]:
    """Yield the rules or params that a file writes: the id, and the entry with its layer and location."""
    held = table.get(key)
    if isinstance(held, YamlMapping):
        for name, node in held.items.items():
            yield name, LayerEntry(version_of(table), held.keys[name], node)


def rule_over(under: YamlMapping | None, over: YamlMapping) -> YamlMapping:
    """Merge a rule over its older version, key by key.

    If the newer version of a rule selects items, it removes the older version's selection and filters. If the newer
    version of a rule tests facts, it removes the older version's facts and operators. If the newer version of a rule is
    of another kind, it removes all keys of the older kind.
    """
    if under is None:
        return over
    gone: set[str] = set()
    for group, hanging in ((LOOKS, NARROWING), (LEAVES, tuple(WORDS))):
        if any(key in over.items for key in group):
            gone |= {*group, *hanging}
    for makes, _ in FORMS:
        if any(key in over.items for key in makes):
            gone |= {key for others, keys in FORMS if others is not makes for key in keys}
    items = {k: v for k, v in under.items.items() if k not in gone} | dict(over.items)
    return YamlMapping(items, {**under.keys, **over.keys}, over.place)


def _whole(param: YamlNode) -> YamlNode:
    """Return a param as a table; a bare value becomes the table's `default`."""
    return (
        YamlMapping({"default": param}, {"default": param.place}, param.place) if isinstance(param, Scalar) else param
    )


def _param_over(under: YamlNode | None, over: YamlNode) -> YamlNode:
    over = _whole(over)
    if isinstance(under, YamlMapping) and isinstance(over, YamlMapping):
        return YamlMapping({**under.items, **over.items}, {**under.keys, **over.keys}, over.place)
    return over


def _defined(param: YamlNode) -> tuple[str, str]:
    """Return a param's type and default, which must be equal wherever several files declare the param."""
    table = _whole(param)
    assert isinstance(table, YamlMapping)
    return word(table, "type", "none"), word(table, "default", "unset")


def version_of(table: YamlMapping) -> str:
    """Return a profile's name as `extends` writes it: NAME@VERSION."""
    return f"{word(table, 'profile')}@{word(table, 'version')}"


def entries(table: YamlMapping, key: str) -> Mapping[str, YamlNode]:
    """Return the entries of the table at a key; empty if there is no table."""
    node = table.get(key)
    return node.items if isinstance(node, YamlMapping) else {}


def word(table: YamlMapping, key: str, default: str = "") -> str:
    """Return the text of a single value at a key; if there is none, the default."""
    node = table.get(key)
    return node.text if isinstance(node, Scalar) else default


def texts(table: YamlMapping, key: str) -> tuple[Scalar, ...]:
    """Return the values at a key, which may be one value or a list."""
    return listed(table.get(key))


def listed(node: YamlNode | None) -> tuple[Scalar, ...]:
    """Return the values of a YAML node, which may be one value or a list."""
    if isinstance(node, Scalar):
        return (node,)
    return tuple(i for i in node.items if isinstance(i, Scalar)) if isinstance(node, YamlSequence) else ()


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """Format the hint `; did you mean A, B or C?` with the known words that are similar; empty if none is similar."""
    near = similar(word, words)
    return f"; did you mean {either(near)}?" if near else ""
