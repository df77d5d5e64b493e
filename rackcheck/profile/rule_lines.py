"""Locations of the keys of a loaded profile: the file, line and column of each key of a rule, after merging."""

from collections.abc import Iterator
from dataclasses import dataclass

from rackcheck.profile.document import Scalar, SourcePlace, YamlMapping, YamlNode
from rackcheck.profile.layers import Layers


@dataclass(frozen=True)
class LayerPlaces:
    """Looks up locations in the layers of a profile."""

    laid: Layers

    def rule(self, rule_id: str) -> SourcePlace:
        """Return the location of a rule's id, in the last file that writes the rule."""
        written = self.laid.rules_written.get(rule_id)
        return written[-1].place if written else self.laid.head.place

    def node(self, rule_id: str, *keys: str | int) -> YamlNode | None:
        """Return the YAML node to which these keys lead in a merged rule; None if there is none."""
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
        """Return the location of the value to which these keys of a rule lead; if there is no value, of the rule."""
        node = self.node(rule_id, *keys) if keys else None
        return self.rule(rule_id) if node is None else node.place

    def param(self, name: str) -> SourcePlace:
        """Return the location where a param is first declared."""
        written = self.laid.params_written.get(name)
        return written[0].place if written else self.laid.head.place

    def applies(self, key: str) -> SourcePlace:
        """Return the location of a key of `applies-to`."""
        node = self.laid.applies.get(key)
        return self.laid.head.place if node is None else node.place

    def head(self, key: str) -> SourcePlace:
        """Return the location of a key of the profile's own file."""
        return self.laid.head.keys.get(key, self.laid.head.place)

    def of_site(self, rule_id: str) -> bool:
        """Whether a rule uses a param, so that a site can set one of its values."""
        rule = self.laid.rules.get(rule_id)
        return rule is not None and any(text.startswith("$") for text in _texts(rule))

    def used(self) -> frozenset[str]:
        """Return every param that a rule of any layer uses, including rules that were dropped or replaced.

        The result includes the params of rules that a child profile drops, so that these params do not count as unused.
        """
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
