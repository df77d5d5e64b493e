"""Generates the JSON Schema of the record from the model's types, so that both always agree; `oneOf` is not used.

In this schema an object has exactly the fields of its data class; a mapping (params, counts) may have any keys.
Patterns are defined only for texts that rackcheck generates. Times have no pattern, because they are copied from a
stored run, which another program may have changed.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from rackcheck.profile.schema import Schema, table
from rackcheck.report.burn_model import FIGURE, POINTS, ROLES, BurnFigure, BurnLimit, BurnLine, BurnRun
from rackcheck.report.report_model import (
    LETTERS,
    OUT,
    Baseline,
    Billed,
    BomComparison,
    DeviatingPart,
    Dossier,
    FindingEntry,
    Hardware,
    Logo,
    NodeRow,
    Punch,
    RawReply,
    ReportSubject,
)
from rackcheck.views.steps import AUDIT, BURN_IN, COUNTERS, Step

FORMAT = 1

DIGEST = r"^([0-9a-f]{64})?$"
"""Regular expression for a SHA-256 in hex, or an empty text."""

FORMS: Mapping[tuple[type, str], str] = {
    (Dossier, "level"): "^(full|customer|public)$",
    (Logo, "kind"): r"^(png|jpeg|svg\+xml)$",
    (ReportSubject, "kind"): "^(run|acceptance)$",
    (ReportSubject, "state"): "^(draft|superseded)$",
    (ReportSubject, "digest"): DIGEST,
    (NodeRow, "vector"): f"^[{''.join(LETTERS.values())}{OUT}]*$",
    (BomComparison, "digest"): DIGEST,
    (Billed, "kind"): "^(missing|moved|extra|swapped|unread)$",
    (Punch, "cls"): "^[ABC]$",
    (Step, "kind"): f"^({AUDIT}|{BURN_IN}|{COUNTERS})$",
    (Baseline, "digest"): DIGEST,
    (RawReply, "digest"): DIGEST,
    (BurnRun, "seconds"): FIGURE,
    **{(BurnFigure, name): FIGURE for name in ("lowest", "median", "highest", "spread")},
    **{(BurnLimit, name): FIGURE for name in ("rate", "limit_low", "limit_high", "lowest", "median", "highest")},
    (BurnLine, "role"): f"^({'|'.join(ROLES)})$",
    (BurnLine, "points"): POINTS,
}
"""Regular expressions for the texts in fields, by data class and name of the field."""

LATER: Mapping[type, frozenset[str]] = {
    DeviatingPart: frozenset({"on_bmc"}),
    Dossier: frozenset({"removed", "steps", "unlisted"}),
    FindingEntry: frozenset({"fix"}),
    Hardware: frozenset({"items", "serials", "part_numbers", "no_serial", "no_part_number", "notes", "repeat"}),
}
"""Fields that were added to the model after records had been written; such a record lacks them."""

BYTES = r"^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
"""Regular expression for bytes, which are written as base64."""


@cache
def shapes(cls: type) -> Mapping[str, Any]:
    """Return the fields of a dataclass of the model with their types, in the dataclass's order."""
    hints = get_type_hints(cls)
    return {field.name: hints[field.name] for field in fields(cls)}


def optional(shape: Any) -> Any:
    """Return T if the type is `T | None`; None for any other type."""
    if get_origin(shape) is not UnionType:
        return None
    (inner,) = (arg for arg in get_args(shape) if arg is not NoneType)
    return inner


def schema() -> Schema:
    """Return the schema of the whole document."""
    known: dict[str, Schema] = {}
    report = _schema(Dossier, known)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "rackcheck report, format 1",
        **table({"rackcheck": {"const": FORMAT}, "report": report}, required=("rackcheck", "report")),
        "$defs": dict(sorted(known.items())),
    }


def _schema(shape: Any, known: dict[str, Schema]) -> Schema:
    inner = optional(shape)
    if inner is not None:
        return _or_null(inner, known)
    if is_dataclass(shape):
        assert isinstance(shape, type)
        if shape.__name__ not in known:
            known[shape.__name__] = {}  # ends the recursion for a type that contains itself
            known[shape.__name__] = _object(shape, known)
        return {"$ref": f"#/$defs/{shape.__name__}"}
    if get_origin(shape) is tuple:
        return _array(get_args(shape), known)
    if get_origin(shape) is Mapping:
        key, value = get_args(shape)
        names = {"propertyNames": _schema(key, known)} if key is not str else {}
        return {"type": "object", **names, "additionalProperties": _schema(value, known)}
    if issubclass(shape, Enum):
        return {"type": "string", "enum": [member.value for member in shape]}
    if shape is bytes:
        return {"type": "string", "contentEncoding": "base64", "pattern": BYTES}
    return {"type": {str: "string", bool: "boolean", int: "integer"}[shape]}


def _object(cls: type, known: dict[str, Schema]) -> Schema:
    found = {name: _schema(shape, known) for name, shape in shapes(cls).items()}
    for name, held in found.items():
        if (cls, name) in FORMS:
            found[name] = held | {"pattern": FORMS[cls, name]}
    message = (cls.__doc__ or "").partition("\n")[0]
    later = LATER.get(cls, frozenset())
    return {"description": message, **table(found, required=tuple(name for name in found if name not in later))}


def _array(shape: tuple[Any, ...], known: dict[str, Schema]) -> Schema:
    if shape[-1] is Ellipsis:
        return {"type": "array", "items": _schema(shape[0], known)}
    items = [_schema(inner, known) for inner in shape]
    return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}


def _or_null(shape: Any, known: dict[str, Schema]) -> Schema:
    """Return a schema that also allows null, as one object without `oneOf`, which editors explain badly."""
    found = _object(shape, known) if is_dataclass(shape) and isinstance(shape, type) else _schema(shape, known)
    null = {"enum": [*found["enum"], None]} if "enum" in found else {}
    return found | null | {"type": [found["type"], "null"]}


def main() -> None:
    """Write `report.schema.json` into a folder: `python -m rackcheck.report.record_schema FOLDER`."""
    import json  # noqa: PLC0415  only when generating
    import sys  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415

    text = json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
    (Path(sys.argv[1]) / "report.schema.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
