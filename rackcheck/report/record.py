r"""Writes the whole dossier as one canonical JSON document, the record, and reads it.

Equal dossiers give equal bytes: fields have the order of the model's data classes, enum members as keys of a mapping
have the order of the enum, and other keys are sorted. The record contains no terminal control characters; invalid
characters (a single surrogate) are kept as \uXXXX.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, get_args, get_origin

from rackcheck.base.user_error import UserError
from rackcheck.model.fact import clean
from rackcheck.report.record_schema import BYTES, FORMAT, FORMS, LATER, optional, shapes
from rackcheck.report.report_model import Dossier

LARGEST = 256 << 20
"""Maximum number of characters of a record to read; 1,000 nodes with 180 rules need about 10 million."""


def text(dossier: Dossier) -> str:
    """Return the record as text; the last character is a newline."""
    return "".join(pieces(dossier))


def pieces(dossier: Dossier) -> Iterator[str]:
    """Yield the record's text in pieces: the record of a thousand nodes is larger than its dossier."""
    yield f'{{\n "rackcheck": {FORMAT},\n "report": {{'
    comma = ""
    for field in fields(dossier):
        value = getattr(dossier, field.name)
        yield f'{comma}\n  "{field.name}": '
        if value and isinstance(value, tuple):
            yield from _array(value, 2)
        else:
            yield _json(value, 2)
        comma = ","
    yield "\n }\n}\n"


def digest_of(dossier: Dossier) -> str:
    """Return the digest of the record's text, without the text."""
    found = hashlib.sha256()
    for piece in pieces(dossier):
        found.update(piece.encode())
    return found.hexdigest()


def digest(text: str) -> str:
    """Return the SHA-256 of a record's text in hex, which is also the digest of the file."""
    return hashlib.sha256(text.encode()).hexdigest()


def read(text: str) -> Dossier:
    """Read a record; raises UserError, which contains the first error and its position in the document."""
    if len(text) > LARGEST:
        raise UserError(
            f"the record has more than {LARGEST >> 20} million characters; rackcheck never writes such a record"
        )
    try:
        doc = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise UserError(f"the record is not JSON: {clean(str(error))}") from None
    if not isinstance(doc, dict) or type(doc.get("rackcheck")) is not int or doc["rackcheck"] != FORMAT:
        raise UserError(f"not a record of format {FORMAT}")
    _keys(doc, ("rackcheck", "report"), "the record")
    found = _value(doc["report"], Dossier, "report")
    assert isinstance(found, Dossier)
    return found


def _json(value: Any, depth: int) -> str:
    """Return a value of the model as JSON, indented by one more blank for each level below `depth`."""
    match value:
        case Enum():
            return _json(value.value, depth)
        case str():
            return _quoted(value)
        case bool() | int() | None:
            return json.dumps(value)
        case bytes():
            return _quoted(base64.b64encode(value).decode())
        case tuple():
            return "".join(_array(value, depth))
        case Mapping():
            entries = [(_key(key), value[key]) for key in _ordered(value)]
        case _:
            entries = [(f'"{field.name}"', getattr(value, field.name)) for field in fields(value)]
    if not entries:
        return "{}"
    start = f"\n{' ' * (depth + 1)}"
    inner = ",".join(f"{start}{key}: {_json(each, depth + 1)}" for key, each in entries)
    return f"{{{inner}\n{' ' * depth}}}"


def _array(value: tuple[Any, ...], depth: int) -> Iterator[str]:
    if not value:
        yield "[]"
        return
    comma = "["
    for each in value:
        yield f"{comma}\n{' ' * (depth + 1)}{_json(each, depth + 1)}"
        comma = ","
    yield f"\n{' ' * depth}]"


def _key(key: Any) -> str:
    return _quoted(key.value if isinstance(key, Enum) else key)


_QUOTE = json.JSONEncoder(ensure_ascii=False).encode


def _quoted(text: str) -> str:
    """Return a text as JSON, with an escape for each character that a terminal would not print."""
    quoted = _QUOTE(str(text))
    return quoted if quoted.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in quoted)


def _ordered(mapping: Mapping[Any, Any]) -> Iterable[Any]:
    """Return a mapping's keys in canonical order: members of an enum are in the enum's order, texts are sorted."""
    first = next(iter(mapping), None)
    return (key for key in type(first) if key in mapping) if isinstance(first, Enum) else sorted(mapping)


def _value(doc: Any, shape: Any, place: str) -> Any:
    """Convert a JSON value to a type of the model; `place` is its position in the document, for a UserError."""
    inner = optional(shape)
    if inner is not None:
        return None if doc is None else _value(doc, inner, place)
    if is_dataclass(shape):
        assert isinstance(shape, type)
        _keys(doc, shapes(shape), place, LATER.get(shape, frozenset()))
        known = (name for name in shapes(shape) if name in doc)
        return shape(**{name: _field(shape, name, doc[name], f"{place}.{name}") for name in known})
    if get_origin(shape) is tuple:
        return _tuple(doc, get_args(shape), place)
    if get_origin(shape) is Mapping:
        _is(doc, dict, "an object", place)
        key, value = get_args(shape)
        return {_value(k, key, place): _value(v, value, f"{place}.{k}") for k, v in doc.items()}
    if issubclass(shape, Enum):
        words = [member.value for member in shape]
        if doc not in words:
            raise UserError(f"{clean(place)} must be one of {', '.join(words)}, not {_shown(doc)}")
        return shape(doc)
    if shape is bytes:
        return _bytes(doc, place)
    _is(doc, shape, {str: "a text", bool: "true or false", int: "a whole number"}[shape], place)
    return doc


def _field(cls: type, name: str, doc: Any, place: str) -> Any:
    found = _value(doc, shapes(cls)[name], place)
    form = FORMS.get((cls, name))
    if form is not None and not _fits(form, found):
        raise UserError(f"{clean(place)} cannot be {_shown(doc)}: it must match {form}")
    return found


def _fits(form: str, text: str) -> bool:
    return re.search(form.removesuffix("$") + r"\Z", text) is not None


def _tuple(doc: Any, shape: tuple[Any, ...], place: str) -> tuple[Any, ...]:
    _is(doc, list, "a list", place)
    if shape[-1] is Ellipsis:
        return tuple(_value(item, shape[0], f"{place}[{n}]") for n, item in enumerate(doc))
    if len(doc) != len(shape):
        raise UserError(f"{clean(place)} must be a list of {len(shape)}, not of {len(doc)}")
    return tuple(_value(item, inner, f"{place}[{n}]") for n, (item, inner) in enumerate(zip(doc, shape, strict=True)))


def _bytes(doc: Any, place: str) -> bytes:
    _is(doc, str, "base64", place)
    if not _fits(BYTES, doc):
        raise UserError(f"{clean(place)} is not base64")
    return base64.b64decode(doc, validate=True)


def _is(doc: Any, kind: type, words: str, place: str) -> None:
    if type(doc) is not kind:  # isinstance would accept True as a number
        raise UserError(f"{clean(place)} must be {words}, not {_shown(doc)}")


def _keys(doc: Any, wanted: Iterable[str], place: str, later: Set[str] = frozenset()) -> None:
    _is(doc, dict, "an object", place)
    missing = [name for name in wanted if name not in doc and name not in later]
    strange = [name for name in doc if name not in set(wanted)]
    if missing or strange:
        rows = [f"lacks {', '.join(missing)}"] if missing else []
        rows += [f"has no such key: {', '.join(clean(name, 60) for name in strange[:5])}"] if strange else []
        raise UserError(f"{clean(place)} {'; it '.join(rows)}")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; raise ValueError for a duplicate key, as readers differ in which value they take."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key appears twice in one object")
    return found


def _shown(doc: Any) -> str:
    words = {dict: "an object", list: "a list", type(None): "null"}
    return words[type(doc)] if type(doc) in words else clean(json.dumps(doc), 80)
