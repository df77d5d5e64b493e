"""From a file's tree to a typed profile: parents laid under, params put in, every fact and operand read by its kind."""

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rackcheck.conform import deviations
from rackcheck.core import operator, unit
from rackcheck.core import path as paths
from rackcheck.core.catalogue import FAMILY, Catalogue, Entry, Kind, Type
from rackcheck.core.fact import Class, Plane
from rackcheck.core.operator import ORDER, SIBLINGS, WARNING, WORDS, BadOperand, Operand, Test
from rackcheck.core.path import EVERY, Path
from rackcheck.core.pinned import unpinned
from rackcheck.core.profile import Across, Clause, Look, Phase, Profile, Rule, Scope, Severity, Shared, Source
from rackcheck.document import BadFile, Listing, Node, Place, Problem, Scalar, Table, plain
from rackcheck.layers import LEAVES, Layers, did_you_mean, entries, texts, word
from rackcheck.pin import rule_digest
from rackcheck.schema import LOOKS, NARROWING
from rackcheck.schema import profile as profile_schema


def compile_profile(
    found: Layers,
    catalogue: Catalogue,
    sources: Mapping[str, Source],
    values: Mapping[str, str],
    known: Sequence[Problem] = (),
) -> Profile:
    """Read every rule; raises BadFile with all problems at once, the `known` ones of the files among them."""
    compiler = _Compiler(catalogue, sources, _params(found, values))
    rules = unpinned(compiler.rule(rule_id, table) for rule_id, table in found.rules.items())
    compiler.problems += known
    if not known:  # a rule that could not be read is missing, and would be told as a need that nobody meets
        compiler.order({rule.id: rule for rule in rules}, found.rules)
    if not rules and not known:
        compiler.problems.append(Problem(found.head.place, f"profile {found.name} has no rule"))
    if compiler.problems:
        raise BadFile(compiler.problems)
    applies = {k: v.text for k, v in found.applies.items() if isinstance(v, Scalar)}
    resolved = {"rules": {i: plain(t) for i, t in found.rules.items()}, "params": compiler.params, "name": found.name}
    digest = hashlib.sha256(json.dumps(resolved, sort_keys=True).encode()).hexdigest()
    cited = {ref: sources[ref] for rule in rules for ref in rule.refs}
    head = found.head
    return Profile(
        found.name, word(head, "version"), word(head, "title"), rules, applies,
        compiler.params, found.dropped, found.lineage, cited, digest,
    )  # fmt: skip


def _params(found: Layers, values: Mapping[str, str]) -> dict[str, str | None]:
    strangers = [name for name in values if name not in found.params]
    if strangers:
        hint = did_you_mean(strangers[0], list(found.params)) or f"; it has {', '.join(found.params) or 'none'}"
        raise BadFile([Problem(found.head.place, f"profile {found.name} has no param {strangers[0]}{hint}")])
    params: dict[str, str | None] = {}
    for name, node in found.params.items():
        default = word(node, "default", "unset") if isinstance(node, Table) else "unset"
        value = values.get(name, default)
        params[name] = None if value == "unset" else value
    return params


HALF, WHOLE = 50.0, 100.0
"""Shares of the expected nodes, in %, between which a quorum lies."""

GROUPS = frozenset({Scope.RACK.value, Scope.FLEET.value})
"""First words of facts that are no node's."""


class _Bad(Exception):
    """One clause cannot be read; its problem has been noted."""


@dataclass
class _Compiler:
    """Reads rules, and notes what is wrong instead of stopping at it."""

    catalogue: Catalogue
    sources: Mapping[str, Source]
    params: Mapping[str, str | None]
    problems: list[Problem] = field(default_factory=list)
    _unset: list[str] = field(default_factory=list)
    _scope: Scope = Scope.NODE

    def rule(self, rule_id: str, table: Table) -> Rule:
        """Read one rule; what is wrong with it is noted and the rest still read."""
        self._unset = []
        self._scope = Scope(word(table, "scope", "node"))
        across = self._across(table)
        look = self._look(table)
        clauses, join = ((), "all") if "across" in table.items else self._clauses(rule_id, table, look)
        refs = self._refs(table)
        roles = tuple(s.text for s in texts(table, "role"))
        when = table.get("when")
        from_memory = bool(refs) and all(self.sources[r].from_memory for r in refs)
        return Rule(
            rule_id, clauses, look, join,
            self._quiet(lambda: self._clause(when, None, plain_only="when")) if isinstance(when, Table) else None,
            tuple(s.text for s in texts(table, "needs")),
            Severity(word(table, "severity", "major")), Phase(word(table, "phase", "config")),
            roles or ((across.role,) if across is not None else ("compute",)),
            word(table, "title"), word(table, "why"), word(table, "fix"), refs,
            from_memory, tuple(dict.fromkeys(self._unset)), f"{table.place.file}:{table.place.line}",
            rule_digest(table, self.params, from_memory=from_memory), self._scope, across,
        )  # fmt: skip

    def order(self, rules: Mapping[str, Rule], tables: Mapping[str, Table]) -> None:
        """Check that `needs` name rules and run in no circle."""
        for rule in rules.values():
            for need in texts(tables[rule.id], "needs"):
                if need.text not in rules:
                    self._note(need.place, f"no rule {need.text}{did_you_mean(need.text, list(rules))}")
                elif rules[need.text].scope is not rule.scope:
                    self._note(
                        need.place, f"{need.text} is judged of a {rules[need.text].scope}, not of a {rule.scope}"
                    )
                elif rules[need.text].across is not None and rule.across is None:
                    said = f"{need.text} looks across nodes: it is judged when all of them are, after this rule"
                    self._note(need.place, said)
        done: set[str] = set()
        for first in rules:
            # The rules that lead here, each with those of its needs that are still to be followed.
            trail = {} if first in done else {first: iter(rules[first].needs)}
            while trail:
                at = next(reversed(trail))
                then = next(trail[at], None)
                if then is None:
                    done.add(at)
                    del trail[at]
                elif then in trail:
                    circle = [*trail][[*trail].index(then) :]
                    self._note(tables[then].place, f"needs run in a circle: {' -> '.join((*circle, then))}")
                elif then in rules and then not in done:
                    trail[then] = iter(rules[then].needs)

    def _note(self, place: Place, text: str) -> None:
        self.problems.append(Problem(place, text))

    def _quiet(self, read: Callable[[], Clause]) -> Clause | None:
        try:
            return read()
        except _Bad:
            return None

    def _refs(self, table: Table) -> tuple[str, ...]:
        refs: list[str] = []
        for ref in texts(table, "refs"):
            if ref.text in self.sources:
                refs.append(ref.text)
            else:
                self._note(
                    ref.place, f"no source {ref.text} in sources.yaml{did_you_mean(ref.text, list(self.sources))}"
                )
        return tuple(refs)

    def _across(self, table: Table) -> Across | None:
        """Read whom a rule holds side by side, and in what; a wrong one is noted and the rest still read."""
        node, agree = table.get("across"), table.get("agree")
        if not isinstance(node, Table):
            if agree is not None:
                self._note(table.keys["agree"], "`agree` goes with `across`")
            return None
        for key in (*LOOKS, *NARROWING, *LEAVES, *WORDS):
            if key in table.items:
                self._note(table.keys[key], f"`{key}` does not go with `across`: it has `facts`, `except` and `agree`")
        if self._scope is not Scope.NODE:
            self._note(table.items["scope"].place, "`across` looks at nodes: its scope is `node`")
        if word(table, "severity", "major") == "blocker":
            self._note(table.items["severity"].place, "what others say is at most `major`: sameness is not rightness")
        role = word(node, "role", "compute")
        for given in texts(table, "role"):
            if given.text != role:
                self._note(given.place, f"`role` is {given.text}, and `across` looks at {role}")
        shared = [each for fact in texts(node, "facts") for each in self._shared(fact)]
        left = {each.fact for fact in texts(node, "except") for each in self._shared(fact)}
        quorum = self._quorum(table, agree)
        unique = {each.fact: each for each in shared if each.fact not in left}
        if shared and not unique:
            self._note(node.place, "`except` leaves no fact to agree on")
        single = frozenset(path for path in left if path.items)
        return None if quorum is None else Across(role, tuple(unique.values()), quorum, single)

    def _quorum(self, table: Table, agree: Node | None) -> float | None:
        if not isinstance(agree, Table):
            self._note(table.keys["across"], "`across` without `agree: { quorum: … }` asserts nothing")
            return None
        node = agree.items["quorum"]
        assert isinstance(node, Scalar)
        try:
            text = self._given(node)
            share = 100.0 if text is None else unit.parse(text).to("%")
        except (unit.BadUnit, _Bad) as error:
            if isinstance(error, unit.BadUnit):
                self._note(node.place, f"`quorum` is a share of the expected nodes, as 75 %: {error}")
            return None
        if not HALF < share <= WHOLE:
            self._note(node.place, f"`quorum` is more than {HALF:g} % and at most {WHOLE:g} %, not {share:g} %")
            return None
        return share

    def _shared(self, node: Scalar) -> Iterator[Shared]:
        """Give the fact, or with a last segment `*` every one below that is configuration or a version.

        A view of other facts is left out: these say the same, and a machine that has no such view does not lack them.
        """
        if node.text.endswith(".*"):
            below = node.text.removesuffix("*")
            found = [
                Shared(paths.parse(entry.pattern), entry.kind, entry.plane, entry.inputs)
                for entry in self.catalogue.entries.values()
                if entry.pattern.startswith(below) and not entry.pattern.endswith(FAMILY)
                and entry.kind.type is not Type.COLLECTION and entry.kind.cls in {Class.CONFIG, Class.VERSION}
                and not entry.kind.view
            ]  # fmt: skip
            if not found:
                near = did_you_mean(below[:-1], sorted({e.partition(".")[0] for e in self.catalogue.entries}))
                self._note(node.place, f"no probe gives configuration or versions below {below[:-1]}{near}")
            yield from found
            return
        try:
            entry, path = self._fact(node, None)
        except _Bad:
            return
        if entry.kind.type is Type.COLLECTION:
            self._note(node.place, f"{node.text} is a collection; its items' facts are {node.text}/*.…")
        else:
            yield Shared(path, entry.kind, entry.plane, entry.inputs)

    def _look(self, table: Table) -> Look | None:
        modes = [mode for mode in LOOKS if mode in table.items]
        if len(modes) > 1:
            self._note(table.keys[modes[1]], f"`{modes[0]}` and `{modes[1]}`: a rule looks in one way")
        narrowing = [key for key in NARROWING if key in table.items]
        if not modes:
            for key in narrowing:
                self._note(table.keys[key], f"`{key}` narrows a look, and this rule has none ({', '.join(LOOKS)})")
            return None
        mode, node = modes[0], table.items[modes[0]]
        assert isinstance(node, Scalar)
        try:
            entry, path = self._fact(node, None)
        except _Bad:
            return None
        if entry.kind.type is not Type.COLLECTION:
            self._note(node.place, f"{node.text} is no collection but a fact of type {entry.kind}")
            return None
        for key in narrowing:
            fits = {"where": True, "expect-count": mode in {"each", "any"}, "allow-failing": mode == "each"}
            if not fits.get(key, mode in {"each", "any"}):
                self._note(table.keys[key], f"`{key}` does not go with `{mode}`")
        where = table.get("where")
        expect = self._whole(table, "expect-count")
        if expect == 0:
            self._note(table.items["expect-count"].place, "expects none; `count:` with `is: 0` says that")
        return Look(
            mode, path, entry.plane,
            self._quiet(lambda: self._clause(where, path, plain_only="where")) if isinstance(where, Table) else None,
            expect, self._whole(table, "allow-failing") or 0, word(table, "allow-empty") == "true",
        )  # fmt: skip

    def _whole(self, table: Table, key: str) -> int | None:
        node = table.get(key)
        if not isinstance(node, Scalar):
            return None
        try:
            text = self._given(node)
        except _Bad:
            return None
        if text is None or text.isdecimal():
            return None if text is None else int(text)
        self._note(node.place, f"`{key}` wants a whole number, not {text!r}")
        return None

    def _clauses(self, rule_id: str, table: Table, look: Look | None) -> tuple[tuple[Clause, ...], str]:
        given = [key for key in LEAVES if key in table.items]
        operators = [op for op in WORDS if op in table.items]
        within = look.collection if look is not None else None
        if "count" in table.items:
            return self._count(table, operators, given), "all"
        if len(given) != 1:
            several = f"{' and '.join(f'`{key}`' for key in given)}; one of them is enough"
            self._note(table.place, f"rule {rule_id} has {several if given else 'no `fact`, `all-of` or `any-of`'}")
            return (), "all"
        node = table.items[given[0]]
        if isinstance(node, Scalar):
            if not operators:
                self._note(table.place, f"rule {rule_id} has no operator: it asserts nothing")
                return (), "all"
            leaves: list[Table] = [table]
        else:
            parts = node.items if isinstance(node, Listing) else (node,)
            leaves = [part for part in parts if isinstance(part, Table)]
            for op in operators:
                self._note(table.keys[op], f"`{op}` stands beside `{given[0]}`; it belongs to a fact inside")
        if look is None and any(mode in table.items for mode in LOOKS):
            return (), "all"  # the look itself is wrong and has been told
        only = "no" if look is not None and look.mode == "no" else ""
        found = [self._quiet(lambda leaf=leaf: self._clause(leaf, within, plain_only=only)) for leaf in leaves]  # type: ignore[misc]
        for leaf in leaves:
            for op in SIBLINGS & set(leaf.items):
                if look is None or look.mode != "each" or look.allow_failing:
                    self._note(leaf.keys[op], f"`{op}` compares siblings: it goes with `each`, without allow-failing")
        return tuple(c for c in found if c is not None), "any" if given[0] == "any-of" else "all"

    def _count(self, table: Table, operators: list[str], given: list[str]) -> tuple[Clause, ...]:
        for key in given:
            self._note(table.keys[key], f"`count` counts items; `{key}` belongs under `where`")
        if not operators:
            self._note(table.place, "`count` without an operator asserts nothing")
        kind = Kind(Type.INTEGER, "how many items")
        for op in operators:
            if op in WARNING | SIBLINGS | {"mask", "same-as", "present"}:
                self._note(table.keys[op], f"`{op}` does not go with `count`")
        tests = tuple(t for op in operators if (t := self._test(op, table.items[op], kind)) is not None)
        return (Clause(Path(()), kind, Plane.DERIVED, tests),)

    def _clause(self, table: Table, within: Path | None, *, plain_only: str) -> Clause:
        node = table.items["fact"]
        assert isinstance(node, Scalar)
        entry, path = self._fact(node, within)
        if entry.kind.type is Type.COLLECTION:
            self._note(node.place, f"{node.text} is a collection; look at its items with {', '.join(LOOKS)}")
            raise _Bad
        tests: list[Test] = []
        other: Path | None = None
        other_plane, at_item, inputs = entry.plane, False, entry.inputs
        for op in (op for op in WORDS if op in table.items):
            if op in WARNING and plain_only:
                self._note(table.keys[op], f"`{op}` does not go with `{plain_only}`, which has no middle")
                continue
            if op == "same-as":
                other, found, at_item = self._other(table.items[op], entry, within)
                other_plane, inputs = found.plane, inputs | found.inputs
                tests.append(Test(op, other))
            elif (test := self._test(op, table.items[op], entry.kind)) is not None:
                tests.append(test)
        relative = path if within is None else Path(path.segments[len(within.segments) :])
        if any(segment.key == EVERY for segment in relative.segments):
            self._note(node.place, f"`*` stands in a look; {node.text} is one fact")
        return Clause(relative, entry.kind, entry.plane, tuple(tests), other, other_plane, at_item, inputs)

    def _fact(self, node: Scalar, within: Path | None) -> tuple[Entry, Path]:
        """Find a fact in the catalogue; inside a look it starts at the item."""
        try:
            path = paths.parse(node.text)
        except paths.BadPath as error:
            self._note(node.place, str(error))
            raise _Bad from error
        prefix = "" if within is None else f"{within.item(EVERY)}."
        whole = path if within is None else within.item(EVERY) + path
        entry = self.catalogue.find(whole)
        if entry is None:
            near = [n.removeprefix(prefix) for n in self.catalogue.near(prefix + node.text, within=prefix)]
            hint = f"; did you mean {near[0]}?" if near else ""
            inside = f" in {within}" if within is not None else ""
            self._note(node.place, f"no probe gives {node.text}{inside}{hint}")
            raise _Bad
        self._held_by(node, whole)
        return entry, path if within is None else within + path

    def _held_by(self, node: Scalar, whole: Path) -> None:
        """Note a fact of a rack in a rule of a node, or the other way about."""
        first = whole.segments[0].word
        holder = Scope(first) if first in GROUPS else Scope.NODE
        if holder is not self._scope:
            self._note(node.place, f"{node.text} is a fact of a {holder}, and the rule's scope is `{self._scope}`")
            raise _Bad

    def _other(self, node: Node, entry: Entry, within: Path | None) -> tuple[Path, Entry, bool]:
        assert isinstance(node, Scalar)
        at_item = node.text.startswith(".")
        if at_item and within is None:
            self._note(node.place, f"{node.text} starts at the item of a look, and this rule has none")
            raise _Bad
        target = Scalar(node.text.removeprefix("."), node.place)
        other, path = self._fact(target, within if at_item else None)
        if any(segment.key == EVERY for segment in path.segments[len(within.segments) if at_item and within else 0 :]):
            self._note(node.place, f"`*` stands in a look; {node.text} is to be one fact")
            raise _Bad
        if (other.kind.type, other.kind.unit) != (entry.kind.type, entry.kind.unit):
            self._note(node.place, f"{node.text} is {other.kind}, and what it is compared with is {entry.kind}")
            raise _Bad
        relative = Path(path.segments[len(within.segments) :]) if at_item and within is not None else path
        return relative, other, at_item

    def _given(self, node: Scalar) -> str | None:
        """Give an operand's text; `$name` is the param's value, None where the site has not set it."""
        if not node.text.startswith("$"):
            return node.text
        name = node.text[1:]
        if name not in self.params:
            self._note(node.place, f"no param {name}{did_you_mean(name, list(self.params))}")
            raise _Bad
        if self.params[name] is None:
            self._unset.append(name)
        return self.params[name]

    def _test(self, op: str, node: Node, kind: Kind) -> Test | None:
        try:
            operator.allowed(op, kind)
            operand = self._operand(op, node, kind)
            return None if operand is None else Test(op, operand)
        except (BadOperand, unit.BadUnit) as error:
            self._note(node.place, f"`{op}`: {error}")
        except _Bad:
            pass  # noted where it was found
        return None

    def _operand(self, op: str, node: Node, kind: Kind) -> Operand | None:
        if isinstance(node, Table):
            return self._compound(op, node, kind)
        if op in {"one-of", "none-of", "includes", "excludes"}:
            items = node.items if isinstance(node, Listing) else (node,)
            texts = [self._given(i) for i in items if isinstance(i, Scalar)]
            if None in texts:
                return None
            listed = kind.type is Type.LIST
            return tuple(operator.member(t) if listed else operator.value(t, kind) for t in texts if t is not None)
        assert isinstance(node, Scalar)
        text = self._given(node)
        if text is None:
            return None
        if op in {"present", "equal"}:
            return text == "true"
        if op == "matches":
            return _pattern(text)
        if op == "like":
            return text
        if op in ORDER:
            operator.orderable(text, kind)
        return operator.value(text, kind)

    def _compound(self, op: str, node: Table, kind: Kind) -> Operand | None:
        parts = {k: self._given(v) for k, v in node.items.items() if isinstance(v, Scalar)}
        if None in parts.values():
            return None
        texts = {k: v for k, v in parts.items() if v is not None}
        if op == "mask":
            bits, wanted = (operator.value(texts[k], Kind(Type.INTEGER, "")) for k in ("bits", "is"))
            assert isinstance(bits, int) and isinstance(wanted, int)  # noqa: PT018
            if wanted & ~bits:
                raise BadOperand(f"{wanted:#x} has bits outside {bits:#x}: it can never hold")
            return operator.Mask(bits, wanted)
        if op == "spread":
            return unit.parse(texts["at-most"]).to("%")
        of = operator.value(texts["of"], kind)
        share = texts["by"].rstrip().endswith("%") and kind.unit != "%"
        by = unit.parse(texts["by"]).to("%") if share else operator.value(texts["by"], kind)
        assert isinstance(of, (int, float)) and isinstance(by, (int, float))  # noqa: PT018
        if math.inf in (of, by):
            raise BadOperand("`unlimited` has no band around it")
        if by < 0:
            raise BadOperand("a band is not negative")
        return operator.Within(float(of), float(by), share)


def _pattern(text: str) -> str:
    import re2  # noqa: PLC0415  loaded for the few profiles that use it

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(text, options=options)
    except re2.error as error:
        said = error.args[0] if error.args else error
        shown = said.decode(errors="replace") if isinstance(said, bytes) else said
        raise BadOperand(f"not a pattern of RE2: {shown}") from None
    return text


def read_profile(node: Node) -> tuple[Table, list[Problem]]:
    """Give a profile file's table without the rules whose shape is wrong, and what is wrong with those.

    So that what is wrong with the other rules can be told in the same breath; raises BadFile where the head is wrong.
    """
    found = list(deviations(node, profile_schema()))
    spoilt = {path[1] for path, _ in found if len(path) > 1 and path[0] == "rules"}
    problems = [problem for _, problem in found]
    if any(len(path) < 2 or path[0] != "rules" for path, _ in found):
        raise BadFile(problems)
    assert isinstance(node, Table)
    if not spoilt:
        return node, []
    rules = {key: rule for key, rule in entries(node, "rules").items() if key not in spoilt}
    keys = node.items["rules"]
    assert isinstance(keys, Table)
    return Table({**node.items, "rules": Table(rules, keys.keys, keys.place)}, node.keys, node.place), problems
