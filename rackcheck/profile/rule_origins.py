"""Explains a rule: for every key, the file and line that set it, and the value it replaced."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from rackcheck.base.user_error import UserError
from rackcheck.model.catalogue import Catalogue, Entry
from rackcheck.model.profile import Profile, Rule, Source
from rackcheck.profile.document import Scalar, SourcePlace, YamlMapping, YamlNode, YamlSequence
from rackcheck.profile.layers import FORMS, LEAVES, LayerEntry, Layers, did_you_mean, rule_over, word
from rackcheck.profile.schema import LOOKS, NARROWING


@dataclass(frozen=True, slots=True)
class WrittenValue:
    """The value of a key, its layer and location (FILE:LINE); `before` are the values it replaced, the newest first."""

    key: str
    value: str
    layer: str
    place: str
    before: tuple["WrittenValue", ...] = ()


@dataclass(frozen=True, slots=True)
class RemovedKey:
    """A key that no longer applies; `by` is the new value that removed it."""

    was: WrittenValue
    by: WrittenValue


@dataclass(frozen=True, slots=True)
class Dropped:
    """A dropped rule: the reason, the layer and the location."""

    reason: str
    layer: str
    place: str


@dataclass(frozen=True, slots=True)
class Param:
    """A param that the rule uses: its value (None if the site has not set one) and its origin."""

    name: str
    value: str | None
    origin: WrittenValue | None
    given: bool
    type: str
    about: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact or collection that the rule reads, and its catalogue entry."""

    path: str
    entry: Entry


@dataclass(frozen=True)
class Explained:
    """A rule with all its origins; if it is dropped, `rule` is None, and params, facts and sources are empty."""

    id: str
    rule: Rule | None
    keys: tuple[WrittenValue, ...]
    gone: tuple[RemovedKey, ...]
    drops: tuple[Dropped, ...]
    params: tuple[Param, ...] = ()
    facts: tuple[Fact, ...] = ()
    sources: tuple[Source, ...] = ()
    needed_by: tuple[str, ...] = ()


def explain(rule_id: str, profile: Profile, laid: Layers, catalogue: Catalogue, values: Mapping[str, str]) -> Explained:
    """Explain a rule of a profile loaded with the site's `values`.

    Raises UserError with the nearest id if the profile has no such rule.
    """
    if rule_id not in laid.rules_written:
        near = did_you_mean(rule_id, list(laid.rules_written))
        hint = near or f"; rackcheck profile show {profile.name} lists them"
        raise UserError(f"profile {profile.name} has no rule {rule_id}{hint}")
    value = _Telling()
    for written in laid.rules_written[rule_id]:
        value.lay(written)
    rule = next((rule for rule in profile.rules if rule.id == rule_id), None)
    keys, gone, drops = tuple(value.keys.values()), tuple(value.gone), tuple(value.drops)
    if rule is None:
        return Explained(rule_id, None, keys, gone, drops)
    return Explained(
        rule_id, rule, keys, gone, drops,
        tuple(_params(laid.rules[rule_id], profile, laid, values)), tuple(_facts(rule, catalogue)),
        tuple(profile.sources[ref] for ref in rule.refs),
        tuple(other.id for other in profile.rules if rule_id in other.needs),
    )  # fmt: skip


@dataclass
class _Telling:
    """Merges the layers of a rule as `layers` does, and records which layer set each key."""

    keys: dict[str, WrittenValue] = field(default_factory=dict)
    gone: list[RemovedKey] = field(default_factory=list)
    drops: list[Dropped] = field(default_factory=list)
    table: YamlMapping | None = None
    ended: bool = False

    def lay(self, written: LayerEntry) -> None:
        assert isinstance(written.node, YamlMapping)
        if "drop" in written.node.items:
            reason = word(written.node, "drop")
            self.drops.append(Dropped(reason, written.layer, line(written.node.keys["drop"])))
            self.ended = True
            return
        if self.ended:  # defined again: earlier values do not count
            self.keys, self.gone, self.table, self.ended = {}, [], None, False
        self.table = rule_over(self.table, written.node)
        news = {key: _written_value(key, node, written) for key, node in written.node.items.items()}
        for key in [key for key in self.keys if key not in self.table.items]:
            self.gone.append(RemovedKey(self.keys.pop(key), _taker(key, news)))
        for key, value in news.items():
            old = self.keys.get(key)
            before = (WrittenValue(old.key, old.value, old.layer, old.place), *old.before) if old is not None else ()
            self.keys[key] = WrittenValue(value.key, value.value, value.layer, value.place, before)


def _written_value(key: str, node: YamlNode, written: LayerEntry) -> WrittenValue:
    assert isinstance(written.node, YamlMapping)
    return WrittenValue(key, spelt(node), written.layer, line(written.node.keys[key]))


def _taker(key: str, news: Mapping[str, WrittenValue]) -> WrittenValue:
    """Return the new key, with its value, that removed an old key.

    A new selection of items removes the filters of the old selection. A new fact removes the operators of the old fact.
    A key of another kind of rule removes all keys of the old kind of rule.
    """
    group = LOOKS if key in {*LOOKS, *NARROWING} else LEAVES
    makes = [name for names, _ in FORMS for name in names]
    return next(news[name] for name in (*group, *makes) if name in news)


def line(place: SourcePlace) -> str:
    """Format a location as FILE:LINE."""
    return f"{place.file}:{place.line}"


def spelt(node: YamlNode) -> str:
    """Format a YAML node on one line."""
    match node:
        case Scalar():
            return node.text
        case YamlSequence():
            return f"[{', '.join(map(spelt, node.items))}]"
        case YamlMapping():
            return f"{{ {', '.join(f'{key}: {spelt(item)}' for key, item in node.items.items())} }}"


def _params(table: YamlMapping, profile: Profile, laid: Layers, values: Mapping[str, str]) -> Iterator[Param]:
    for name in dict.fromkeys(text[1:] for text in _texts(table) if text.startswith("$")):
        if name not in laid.params:
            continue
        node = laid.params[name]
        assert isinstance(node, YamlMapping)
        value: WrittenValue | None = None
        for written in laid.params_written[name]:
            place, default = _default(written)
            if default is not None:
                before = (
                    ()
                    if value is None
                    else (WrittenValue(value.key, value.value, value.layer, value.place), *value.before)
                )
                value = WrittenValue("default", default, written.layer, line(place), before)
        yield Param(name, profile.params[name], value, name in values, word(node, "type"), word(node, "about"))


def _default(written: LayerEntry) -> tuple[SourcePlace, str | None]:
    match written.node:
        case Scalar(text):
            return written.place, text
        case YamlMapping() as table if "default" in table.items:
            return table.keys["default"], word(table, "default")
    return written.place, None


def _texts(node: YamlNode) -> Iterator[str]:
    match node:
        case Scalar():
            yield node.text
        case YamlSequence():
            yield from (text for item in node.items for text in _texts(item))
        case YamlMapping():
            yield from (text for item in node.items.values() for text in _texts(item))


def _facts(rule: Rule, catalogue: Catalogue) -> Iterable[Fact]:
    for path in sorted(rule.facts(), key=str):
        entry = catalogue.find(path)
        if entry is not None:
            yield Fact(str(path), entry)
