"""Checks a file against its schema, and reports every deviation with line and column, in words for users."""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rackcheck.profile.document import BadFile, Problem, Scalar, SourcePlace, YamlMapping, YamlNode, YamlSequence, plain
from rackcheck.profile.schema import Schema, rule

MEANT: Mapping[str, str] = {
    "between": "within", "range": "within", "equals": "is", "eq": "is", "value": "is", "not": "is-not",
    "ne": "is-not", "in": "one-of", "not-in": "none-of", "min": "at-least", "ge": "at-least", "gte": "at-least",
    "minimum": "at-least", "max": "at-most", "le": "at-most", "lte": "at-most", "maximum": "at-most", "gt": "above",
    "lt": "below", "glob": "like", "regex": "matches", "pattern": "matches", "contains": "includes",
    "exists": "present", "all": "each", "for-each": "each", "none": "no", "length": "count", "if": "when",
    "only-if": "when", "filter": "where", "select": "where", "depends": "needs", "requires": "needs",
    "depends-on": "needs", "description": "why", "reason": "why", "rationale": "why", "remedy": "fix",
    "remediation": "fix", "sources": "refs", "references": "refs", "level": "severity", "priority": "severity",
    "critical": "blocker", "high": "major", "medium": "minor", "low": "advisory", "info": "advisory",
    "warning": "advisory", "inherits": "extends", "parent": "extends", "variables": "params", "vars": "params",
    "parameters": "params", "checks": "rules", "tests": "rules", "name": "profile", "roles": "role",
    "stage": "phase", "burnin": "burn-in",
}  # fmt: skip
"""Maps terms of other tools to rackcheck's terms for the same thing, which error messages suggest."""

FEW = 5
"""Maximum number of keys that a table may have for its complete form to be shown in a message."""

MANY = 16
"""A message about a wrong key lists all keys of the table if no key is similar and there are at most this many."""

PLAINLY: Mapping[str, str] = {"drop": "; it must be the reason, in words"}
"""Explanations of what a key's value must be, for keys whose name does not show it."""

LISTED: Mapping[str, str] = {"is": "one-of", "is-not": "none-of"}
"""Maps each operator that takes one value to the operator that takes a list."""


def conform(node: YamlNode, schema: Schema) -> YamlMapping:
    """Return the file's table if it matches the schema; raises BadFile with every deviation."""
    problems = [problem for _, problem in deviations(node, schema)]
    if problems:
        raise BadFile(problems)
    assert isinstance(node, YamlMapping)
    return node


def deviations(node: YamlNode, schema: Schema) -> Iterator[tuple[tuple[str | int, ...], Problem]]:
    """Yield every deviation from the schema, with the keys that lead to it."""
    import jsonschema  # noqa: PLC0415  loaded for files only, so that help stays fast

    for error in jsonschema.Draft202012Validator(schema).iter_errors(plain(node)):
        for problem in _problems(node, error):
            yield tuple(error.absolute_path), problem


def _problems(root: YamlNode, error: Any) -> Iterable[Problem]:
    node, place = _at(root, error.absolute_path)
    name = _name(list(error.absolute_path))
    match error.validator:
        case "additionalProperties":
            assert isinstance(node, YamlMapping)
            known = error.schema.get("properties", {})
            for key in node.items:
                if key not in known:
                    ours = "rules" in (*known, *list(error.absolute_path)[:1])
                    yield Problem(node.keys[key], _stranger(key, list(known), name if ours else ""))
        case "required":
            missing = [key for key in error.validator_value if key not in error.instance]
            yield Problem(place, f"{name} lacks {', '.join(f'`{key}`' for key in missing)}")
        case "enum":
            words = [str(w) for w in error.validator_value if isinstance(w, str)]
            message = f"{name} must be one of {', '.join(words)}, not {error.instance!r}"
            yield Problem(place, message + _near(error.instance, words))
        case "type":
            message = f"{name} must be {_shape(error.validator_value)}, not {_shape(_type(node))}"
            yield Problem(place, message + _as_wanted(node, error))
        case "pattern" if isinstance(node, YamlMapping):  # the pattern of a key: jsonschema reports it for the table
            message = f"a name in {name} cannot be {_spelt(error)}"
            yield Problem(node.keys.get(error.instance, place), message)
        case "pattern":
            yield Problem(place, f"{name} cannot be {_spelt(error)}")
        case "minProperties" | "minItems" if "fact" not in error.schema.get("properties", {}):
            yield Problem(place, f"{name} is empty")
        case "minProperties" if "fact" in error.instance:
            yield Problem(place, f"{name} is incomplete: a fact without an operator asserts nothing")
        case "minProperties":
            return  # reported as a missing fact
        case _:
            yield Problem(place, f"{name}: {error.message[:200]}")


def _name(path: list[str | int]) -> str:
    """Return the name of the value at a path: a key, the n-th item of a list, or the whole file."""
    match path:
        case []:
            return "the file"
        case [*_, str(table), int(number)]:
            return f"item {number + 1} of `{table}`"
        case _:
            return f"`{path[-1]}`"


def _as_wanted(node: YamlNode, error: Any) -> str:
    """Format a hint on the correct form of a value that has the wrong type; empty if no form is obvious."""
    other = LISTED.get(str(error.absolute_path[-1])) if error.absolute_path else None
    if isinstance(node, YamlSequence) and other:
        return f"; `{other}` takes a list"
    if isinstance(node, Scalar) and error.validator_value == "array":
        return f"; write [{node.text[:80]}]"
    if error.absolute_path and error.absolute_path[-1] in PLAINLY:
        return PLAINLY[str(error.absolute_path[-1])]
    keys = list(error.schema.get("properties", {}))
    few = error.validator_value == "object" and 0 < len(keys) <= FEW
    if few:
        return f"; write {{ {', '.join(f'{key}: …' for key in keys)} }}"
    rules = error.validator_value == "object" and list(error.absolute_path)[:1] == ["rules"]
    return "; each rule is a table under its own name" if rules else ""


def _spelt(error: Any) -> str:
    """Format the error for a text that does not match its pattern: what it must be, and the nearest valid text."""
    message = f"{error.instance!r}; it must be {_wanted(error.schema)}"
    small = str(error.instance).casefold()
    changes = ((r"^0x|(?<=:)0x", ""), (r"[^a-z0-9_.-]+", "-"), (r"[^a-z0-9]+", "_"))
    near = [re.sub(*change, small).strip("-_") for change in changes]
    fits = [word for word in near if not word.isdecimal() and re.search(error.schema["pattern"], word)]
    return f"{message}; did you mean {fits[0]}?" if fits else message


def _wanted(schema: Schema) -> str:
    """Return the schema's description of a valid text; if the schema has no description, its pattern."""
    return str(schema.get("description") or f"a text like {schema['pattern']}")


def _stranger(key: str, known: list[str], name: str) -> str:
    """Format the error for an unknown key; `name` is the table that contains the key, empty outside of profiles."""
    hint = _near(key, known)
    if not hint and name and key in rule()["properties"]:
        hint = f"; it is a key of a rule, not of {name}"
    elif not hint and len(known) <= MANY:
        hint = f"; there are {', '.join(f'`{word}`' for word in known)}"
    return f"no such key: `{key}`{hint}"


def _near(word: object, words: list[str]) -> str:
    meant = MEANT.get(str(word).casefold().replace("_", "-"), "")
    near = [meant] if meant in words else difflib.get_close_matches(str(word), words, n=1, cutoff=0.6)
    return f"; did you mean `{near[0]}`?" if near else ""


def _at(root: YamlNode, path: Iterable[str | int]) -> tuple[YamlNode, SourcePlace]:
    """Return the YAML node at a path of keys and list indexes, with its location."""
    node = root
    for step in path:
        if isinstance(node, YamlMapping):
            node = node.items[str(step)]
        elif isinstance(node, YamlSequence):
            node = node.items[int(step)]
    return node, node.place


def _type(node: YamlNode) -> str:
    return {Scalar: "string", YamlSequence: "array", YamlMapping: "object"}[type(node)]


def _shape(types: str | list[str]) -> str:
    words = {"object": "a table", "array": "a list"}
    named = {words.get(t, "a single value") for t in ([types] if isinstance(types, str) else types)}
    return " or ".join(sorted(named))
