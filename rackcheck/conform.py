"""Hold a file against its schema: every deviation at its own line and column, in the words of the file."""

import difflib
from collections.abc import Iterable, Iterator
from typing import Any

from rackcheck.document import BadFile, Listing, Node, Place, Problem, Scalar, Table, plain
from rackcheck.schema import LATER_KEYS, Schema


def conform(node: Node, schema: Schema) -> Table:
    """Give the file's table if it has the schema's shape; raises BadFile with all that has not."""
    problems = [problem for _, problem in deviations(node, schema)]
    if problems:
        raise BadFile(problems)
    assert isinstance(node, Table)
    return node


def deviations(node: Node, schema: Schema) -> Iterator[tuple[tuple[str | int, ...], Problem]]:
    """Every deviation from the schema, with the keys that lead to it."""
    import jsonschema  # noqa: PLC0415  loaded for files only, so that help stays fast

    for error in jsonschema.Draft202012Validator(schema).iter_errors(plain(node)):
        for problem in _problems(node, error):
            yield tuple(error.absolute_path), problem


def _problems(root: Node, error: Any) -> Iterable[Problem]:
    node, place = _at(root, error.absolute_path)
    name = f"`{error.absolute_path[-1]}`" if error.absolute_path else "the file"
    match error.validator:
        case "additionalProperties":
            assert isinstance(node, Table)
            known = error.schema.get("properties", {})
            for key in node.items:
                if key not in known:
                    yield Problem(node.keys[key], _stranger(key, list(known)))
        case "required":
            missing = [key for key in error.validator_value if key not in error.instance]
            yield Problem(place, f"{name} lacks {', '.join(f'`{key}`' for key in missing)}")
        case "enum":
            words = [str(w) for w in error.validator_value if isinstance(w, str)]
            yield Problem(
                place, f"{name} is one of {', '.join(words)}, not {error.instance!r}{_near(error.instance, words)}"
            )
        case "type":
            yield Problem(place, f"{name} must be {_shape(error.validator_value)}, not {_shape(_type(node))}")
        case "pattern" if isinstance(node, Table):  # of a key, which jsonschema tells as its table's
            said = f"a name in {name} cannot be {error.instance!r}; it is {_wanted(error.schema)}"
            yield Problem(node.keys.get(error.instance, place), said)
        case "pattern":
            yield Problem(place, f"{name} cannot be {error.instance!r}; it is {_wanted(error.schema)}")
        case "minProperties" | "minItems":
            yield Problem(
                place,
                f"{name} says too little: "
                + (
                    "a fact without an operator asserts nothing"
                    if "fact" in error.schema.get("properties", {})
                    else "it is empty"
                ),
            )
        case _:
            yield Problem(place, f"{name}: {error.message[:200]}")


def _wanted(schema: Schema) -> str:
    """Say what a text must be, in the schema's own words; a bare pattern is for who can read one."""
    return str(schema.get("description") or f"a text like {schema['pattern']}")


def _stranger(key: str, known: list[str]) -> str:
    if key in LATER_KEYS:
        return f"`{key}` is a word of the grammar that this version does not judge yet"
    return f"no such key: `{key}`{_near(key, known)}"


def _near(word: object, words: list[str]) -> str:
    near = difflib.get_close_matches(str(word), words, n=1, cutoff=0.5)
    return f"; did you mean `{near[0]}`?" if near else ""


def _at(root: Node, path: Iterable[str | int]) -> tuple[Node, Place]:
    """Find the node at a path of keys and numbers, with the place its key or itself stands at."""
    node = root
    for step in path:
        if isinstance(node, Table):
            node = node.items[str(step)]
        elif isinstance(node, Listing):
            node = node.items[int(step)]
    return node, node.place


def _type(node: Node) -> str:
    return {Scalar: "string", Listing: "array", Table: "object"}[type(node)]


def _shape(types: str | list[str]) -> str:
    words = {"object": "a table", "array": "a list"}
    named = {words.get(t, "a single value") for t in ([types] if isinstance(types, str) else types)}
    return " or ".join(sorted(named))
