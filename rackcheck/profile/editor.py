"""Builds the JSON Schema of a profile for editors: the schema that profiles must match, extended with words to offer.

The offered words do not restrict the input: each list of words is in an `anyOf` beside `{}`, which accepts anything.
rackcheck itself never reads this schema; `rackcheck profile schema` prints it.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from rackcheck.model.catalogue import FAMILY, Catalogue, Entry, Type
from rackcheck.model.fact import Class
from rackcheck.model.path import EVERY
from rackcheck.profile import editor_help as editor_texts
from rackcheck.profile.editor_words import EditorWords, shipped
from rackcheck.profile.schema import LOOKS, VALUE, Schema, profile

MANY = 40
"""Maximum number of facts in a list of choices before the list is split.

If more than MANY facts have the same first path segment, their list is split by the second path segment.
"""

ITEM = f"/{EVERY}."
"""The text between a collection's path and the path of a fact of its items."""

CHOICES = ("is", "is-not")
LISTS = ("one-of", "none-of")
TRUTH = (True, False)
TYPED: Schema = {"type": ["string", "object", "number", "boolean"]}
"""The JSON types of a `fact`; an editor that inserts the key starts with a value of the first type."""

LEAVES = ("all-of", "any-of")


def schema(catalogue: Catalogue, words: EditorWords) -> Schema:
    """Return the schema of a profile, with the catalogue's facts and the given words as choices."""
    whole: Schema = json.loads(json.dumps(profile()))  # a copy: `profile()` shares parts, and each gets other words
    facts = {path: entry for path, entry in catalogue.entries.items() if not path.endswith(FAMILY)}
    collections = {path: entry for path, entry in facts.items() if entry.kind.type is Type.COLLECTION}
    plain = {path: entry for path, entry in facts.items() if path not in collections}
    defs: dict[str, Schema] = {"collections": _offered(collections)}
    defs["node"] = _leaf({path: entry for path, entry in plain.items() if EVERY not in path}, defs, "node")
    looks = []
    for path in collections:
        name = f"in-{path.replace(ITEM, '-')}"
        below = {p.removeprefix(path + ITEM): e for p, e in plain.items() if p.startswith(path + ITEM)}
        own = {p: e for p, e in below.items() if EVERY not in p}
        if own:
            defs[name] = _leaf(own, defs, name, item=True)
            looks.append({"if": _looks_at(path), "then": _rule_of(name)})
    defs["looks"] = {"allOf": looks}
    defs["shared"] = _choice([*_areas(plain), *(p for p, e in plain.items() if EVERY in p and _alike(e))])
    _add_help(whole["properties"], editor_texts.FILE)
    _offer(whole["properties"]["extends"], _choice(words.profiles, words.profiles.values()))
    _offer(whole["properties"]["include"]["items"], _choice(words.profiles, words.profiles.values()))
    _add_help(whole["properties"]["applies-to"]["properties"], editor_texts.APPLIES)
    _add_help(whole["properties"]["params"]["additionalProperties"]["properties"], editor_texts.PARAM)
    defs["sources"] = _choice(words.sources, words.sources.values())
    defs["roles"] = _choice(words.roles)
    _fill_rule(whole["properties"]["rules"]["additionalProperties"])
    _offer(whole["properties"]["applies-to"]["properties"]["role"], _ref("roles"))
    return whole | {"$defs": defs}


def _fill_rule(rule: Schema) -> None:
    """Add the choices to a rule's schema; the facts offered depend on the collection that the rule selects from."""
    keys = rule["properties"]
    _add_help(keys, {**editor_texts.RULE, **editor_texts.TEST})
    for leaf in (keys["where"], keys["when"], *(keys[key]["items"] for key in LEAVES)):
        _add_help(leaf["properties"], {**editor_texts.TEST, "fact": editor_texts.RULE["fact"]})
    short = {key: keys["fact"].pop(key) for key in ("properties", "additionalProperties", "required", "minProperties")}
    keys["fact"] |= {"if": {"type": "object"}, "then": {"type": "object"} | short}
    _add_help(short["properties"], editor_texts.TEST)
    for look in LOOKS:
        _offer(keys[look], _ref("collections"))
    _offer(keys["when"], _ref("node"))
    _offer(keys["refs"]["items"], _ref("sources"))
    keys["role"]["anyOf"] = [_ref("roles"), {"items": _ref("roles")}]
    across = keys["across"]["properties"]
    _add_help(across, editor_texts.ACROSS)
    _offer(across["role"], _ref("roles"))
    for key in ("facts", "except"):
        across[key]["items"] = across[key]["items"] | {"allOf": [_ref("shared"), _ref("node-facts")]}
    rule["if"] = {"anyOf": [{"required": [look]} for look in LOOKS]}
    rule["then"] = _ref("looks")
    rule["else"] = _rule_of("node")


def _rule_of(name: str) -> Schema:
    """Return a schema of a rule with which editors complete the facts of the definition `name` in tests and `where`."""
    leaf = _ref(name)
    keys = {"fact": TYPED | {"allOf": [leaf]}, "where": leaf} | {key: {"items": leaf} for key in LEAVES}
    return {"allOf": [leaf], "properties": keys}


def _looks_at(path: str) -> Schema:
    """Return a schema that a rule matches if it selects from this collection; each `*` in the path matches any item."""
    spelt = re.escape(path).replace(re.escape(f"/{EVERY}"), "/.+")
    return {"patternProperties": {f"^({'|'.join(LOOKS)})$": {"pattern": f"^{spelt}$"}}}


def _leaf(facts: Mapping[str, Entry], defs: dict[str, Schema], name: str, *, item: bool = False) -> Schema:
    """Return a schema that offers these facts and their allowed values for a test.

    The schema refers to the list of facts, which is added to `defs`.
    """
    defs[f"{name}-facts"] = _offered(facts)
    beside = [f".{path}" for path, entry in facts.items() if item and _alike(entry)]
    others = [_ref("node-facts"), *([_choice(beside)] if beside else ())]
    keys: Schema = {"fact": TYPED | {"allOf": [_ref(f"{name}-facts")]}, "same-as": VALUE | {"allOf": others}}
    closed = list(_closed(facts))
    return {"properties": keys} | ({"allOf": closed} if closed else {})


def _closed(facts: Mapping[str, Entry]) -> Iterable[Schema]:
    """Yield schemas that offer the allowed words as operands, for the facts that have a fixed list of words."""
    spoken: dict[tuple[Any, ...], list[str]] = {}
    for path, entry in facts.items():
        words = TRUTH if entry.kind.type is Type.FLAG else tuple(map(_bare, entry.kind.words))
        if words:
            spoken.setdefault(words, []).append(path)
    for words, paths in spoken.items():
        chosen = _choice(words)
        keys: Schema = dict.fromkeys(CHOICES, chosen) | {key: {"items": chosen} for key in LISTS}
        spelt = "|".join(map(re.escape, paths))  # an editor would show an `enum` as the allowed values
        asked = {"properties": {"fact": {"pattern": f"^({spelt})$"}}, "required": ["fact"]}
        yield {"if": asked, "then": {"properties": keys}}


def _bare(word: str) -> str | int:
    """Return a word that is a whole number as an integer, so that editors add no quotes; rackcheck reads it as text."""
    return int(word) if re.fullmatch(r"0|[1-9]\d{0,8}", word) else word


def _areas(facts: Iterable[str]) -> list[str]:
    """Return the wildcard `SEGMENT.*` for each first path segment of these facts that is not a collection."""
    return list(dict.fromkeys(f"{path.split('.')[0]}.{EVERY}" for path in facts if "/" not in path.split(".")[0]))


def _alike(entry: Entry) -> bool:
    return entry.kind.cls in {Class.CONFIG, Class.VERSION} and not entry.kind.view


def _offered(facts: Mapping[str, Entry]) -> Schema:
    """Return a schema that offers paths with their help, split into lists that are short enough for an editor."""
    first = Counter(_words(path, 1) for path in facts)
    second = Counter(_words(path, 2) for path in facts)
    groups: dict[str, dict[str, str]] = {}
    for path, entry in facts.items():
        one, two = _words(path, 1), _words(path, 2)
        groups.setdefault(two if first[one] > MANY and second[two] > 1 else one, {})[path] = _help(entry)
    lists = [{"enum": list(group), "enumDescriptions": list(group.values())} for group in groups.values()]
    return {"anyOf": [*lists, {}]}


def _words(path: str, count: int) -> str:
    return ".".join(path.split(".")[:count])


def _help(entry: Entry) -> str:
    return f"{entry.kind.help} ({entry.kind}, {entry.plane.value})"


def _choice(words: Iterable[Any], helps: Iterable[str] = ()) -> Schema:
    """Return a schema that offers words, each with its help if it has one, and accepts any other word."""
    found: Schema = {"enum": list(words)}
    rows = list(helps)
    if rows:
        found["enumDescriptions"] = rows
    return {"anyOf": [found, {}]} if found["enum"] else {}


def _add_help(keys: Schema, helps: Mapping[str, str]) -> None:
    for key, shape in keys.items():
        if key in helps:
            shape["description"] = helps[key]


def _offer(shape: Schema, choice: Schema) -> None:
    shape["allOf"] = [choice]


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def text(found: Schema) -> str:
    """Format a schema with one line per key and per definition: compact, with readable diffs."""
    lines = []
    for key, value in found.items():
        if key in {"$defs", "properties"}:
            inner = ",\n".join(f"  {_json(name)}: {_json(shape)}" for name, shape in value.items())
            lines.append(f" {_json(key)}: {{\n{inner}\n }}")
        else:
            lines.append(f" {_json(key)}: {_json(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def main() -> None:
    """Write the schema that is shipped with rackcheck: `python -m rackcheck.profile.editor FOLDER`."""
    import sys  # noqa: PLC0415  only when generating
    from pathlib import Path  # noqa: PLC0415

    from rackcheck.probe.registry import registry  # noqa: PLC0415

    written = text(schema(registry().catalogue, shipped()))
    (Path(sys.argv[1]) / "profile.schema.json").write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
