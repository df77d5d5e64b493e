"""Where the words of a loaded profile stand: the file, line and column of each key of a rule, as it was laid."""

from collections.abc import Iterator
from dataclasses import dataclass

from rackcheck.profile.document import Scalar, SourcePlace, YamlMapping, YamlNode
from rackcheck.profile.layers import Layers


@dataclass(frozen=True)
class LayerPlaces:
    """The layers of a profile, asked for places."""

    laid: Layers

    def rule(self, rule_id: str) -> SourcePlace:
        """Where the id of a rule stands, in the file that wrote it last."""
        written = self.laid.rules_written.get(rule_id)
        return written[-1].place if written else self.laid.head.place

    def node(self, rule_id: str, *keys: str | int) -> YamlNode | None:
        """What stands below these keys of a rule, as it was laid; None where nothing does."""
        node: YamlNode | None = self.laid.rules.get(rule_id)
        for key in keys:
            if isinstance(node, YamlMapping) and isinstance(key, str):
                node = node.get(key)
            elif node is not None and not isinstance(node, (YamlMapping, Scalar)) and isinstance(key, int):
                node = node.items[key] if key < len(node.items) else None
            else:
                return None
        return node

    def key(self, rule_id: str, *keys: str | int) -> SourcePlace:
        """Where these keys lead: the place of the innermost value; of a rule without them, the rule's."""
        node = self.node(rule_id, *keys) if keys else None
        return self.rule(rule_id) if node is None else node.place

    def param(self, name: str) -> SourcePlace:
        """Where a param was declared."""
        written = self.laid.params_written.get(name)
        return written[0].place if written else self.laid.head.place

    def applies(self, key: str) -> SourcePlace:
        """Where a profile says what it applies to."""
        node = self.laid.applies.get(key)
        return self.laid.head.place if node is None else node.place

    def head(self, key: str) -> SourcePlace:
        """Where a key of the profile's own file stands."""
        return self.laid.head.keys.get(key, self.laid.head.place)

    def of_site(self, rule_id: str) -> bool:
        """Whether a rule asks for a param's value: then the site is the source of it."""
        rule = self.laid.rules.get(rule_id)
        return rule is not None and any(text.startswith("$") for text in _texts(rule))

    def used(self) -> frozenset[str]:
        """Every param that any layer's rules name, dropped ones too: a child need not use what its parent has."""
        texts = (text for written in self.laid.rules_written.values() for each in written for text in _texts(each.node))
        return frozenset(text[1:] for text in texts if text.startswith("$"))


def _texts(node: YamlNode) -> Iterator[str]:
    match node:
        case Scalar():
            yield node.text
        case YamlMapping():
            for item in node.items.values():
                yield from _texts(item)
        case _:
            for item in node.items:
                yield from _texts(item)
