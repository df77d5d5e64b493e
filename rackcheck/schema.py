"""The JSON Schemas of the files people write, generated from the grammar's own tables; no `oneOf` anywhere.

Values may be texts, numbers or booleans, because editors read YAML their own way; rackcheck reads every one as text.
"""

from typing import Any

from rackcheck.core.operator import LATER, ORDER, SIBLINGS, WORDS
from rackcheck.core.profile import Phase, Severity

Schema = dict[str, Any]

VALUE: Schema = {"type": ["string", "number", "boolean"]}
TEXT: Schema = VALUE
VALUES: Schema = {"type": "array", "items": VALUE, "minItems": 1}
ONE_OR_MORE: Schema = {"type": ["string", "number", "boolean", "array"], "items": VALUE, "minItems": 1}
WHOLE: Schema = {"type": ["string", "integer"], "pattern": r"^(\d{1,9}|\$[a-z][a-z0-9_]*)$"}
NUMBER: Schema = {"type": ["string", "integer"], "pattern": r"^\d{1,9}$"}
TRUTH: Schema = {"type": ["string", "boolean"], "enum": ["true", "false", True, False]}

LOOKS = ("each", "any", "no", "count")
"""Ways to look at a collection; a rule has one at most."""

NARROWING = ("where", "expect-count", "allow-failing", "allow-empty")
"""Keys that say which items of a look count, and how."""

LATER_KEYS = frozenset({"across", "include", "waivers", *LATER})
"""Keys of the grammar that this version knows by name and does not judge yet."""


def _table(properties: Schema, *, required: tuple[str, ...] = (), **more: Any) -> Schema:
    found: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return found | ({"required": list(required)} if required else {}) | more


def _words(words: tuple[str, ...] | list[str]) -> Schema:
    return {"type": "string", "enum": list(words)}


def _named(pattern: str, shape: Schema) -> Schema:
    return {"type": "object", "propertyNames": {"pattern": pattern}, "additionalProperties": shape}


def operators() -> Schema:
    """The schema of every operator."""
    shapes: Schema = dict.fromkeys((*ORDER, "is", "is-not", "like", "matches", "same-as"), VALUE)
    shapes |= dict.fromkeys(("one-of", "none-of"), VALUES)
    shapes |= dict.fromkeys(("includes", "excludes"), ONE_OR_MORE)
    shapes["within"] = _table({"of": VALUE, "by": VALUE}, required=("of", "by"))
    shapes["spread"] = _table({"at-most": VALUE}, required=("at-most",))
    shapes["mask"] = _table({"bits": VALUE, "is": VALUE}, required=("bits", "is"))
    shapes |= {"present": TRUTH, "equal": {"type": ["string", "boolean"], "enum": ["true", True]}}
    return {op: shapes[op] for op in WORDS}


def clause(judged: Schema | None = None) -> Schema:
    """The schema of a leaf: a fact and its operators, without those that compare siblings unless they are given."""
    plain = {op: shape for op, shape in operators().items() if op not in SIBLINGS}
    return _table({"fact": VALUE} | (judged or plain), required=("fact",), minProperties=2)


def rule() -> Schema:
    """The schema of one rule; an overlay's rule may hold any part of one."""
    leaves: Schema = {"type": "array", "items": clause(), "minItems": 1}
    whole = clause(operators())
    fact: Schema = whole | {"type": ["string", "object"]}
    return _table(
        {
            "title": TEXT, "severity": _words([s.value for s in Severity]), "why": TEXT, "fix": TEXT,
            "refs": {"type": "array", "items": TEXT}, "drop": TEXT,
            "scope": _words(["node", "rack", "fleet"]), "role": ONE_OR_MORE,
            "phase": _words([p.value for p in Phase]), "needs": {"type": "array", "items": TEXT},
            **dict.fromkeys(LOOKS, VALUE),
            "where": clause(), "when": clause(), "expect-count": WHOLE, "allow-failing": WHOLE, "allow-empty": TRUTH,
            "fact": fact, "all-of": leaves | {"items": whole}, "any-of": leaves,
            **operators(),
        }
    )  # fmt: skip


def profile() -> Schema:
    """The schema of a profile file."""
    param = _table({"type": TEXT, "default": VALUE, "about": TEXT}) | {
        "type": ["object", "string", "number", "boolean"]
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "rackcheck profile, format 1",
        **_table(
            {
                "rackcheck": {"type": ["string", "integer"], "enum": ["1", 1]},
                "profile": {"type": "string", "pattern": r"^[a-z0-9][a-z0-9_.-]*$"},
                "version": VALUE,
                "title": TEXT,
                "extends": {"type": "string", "pattern": r"^[a-z0-9][a-z0-9_.-]*@\S+$"},
                "applies-to": _table({"product": TEXT, "role": TEXT}),
                "params": _named("^[a-z][a-z0-9_]*$", param),
                "rules": _named("^[a-z][a-z0-9_.-]*$", rule()),
            },
            required=("rackcheck", "profile", "version"),
        ),
    }  # fmt: skip


def inventory() -> Schema:
    """The schema of an inventory file."""
    ssh = _table({"user": TEXT, "key": TEXT, "port": NUMBER, "known-hosts": TEXT})
    bmc = _table({"url": TEXT, "user": TEXT, "password": TEXT, "fingerprint": TEXT, "ca": TEXT})
    places: Schema = {"role": TEXT, "rack": TEXT, "u": NUMBER}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "rackcheck inventory, format 1",
        **_table(
            {
                "rackcheck": {"type": ["string", "integer"], "enum": ["1", 1]},
                "inventory": TEXT,
                "defaults": _table({"ssh": ssh, "bmc": bmc, **places}),
                "racks": {"type": "object", "additionalProperties": _table({"row": TEXT, "type": TEXT})},
                "nodes": {
                    "type": "object",
                    "minProperties": 1,
                    "additionalProperties": _table({"host": TEXT, "ssh": ssh, "bmc": bmc, **places}),
                },
            },
            required=("rackcheck", "nodes"),
        ),
    }


def sources() -> Schema:
    """The schema of `sources.yaml`, which rules cite."""
    confidence = ["read in source", "read in secondary source", "derived by us", "from memory", "measured by us"]
    names = ("title", "section", "publisher", "date", "confidence")
    source = _table({**dict.fromkeys(names, TEXT), "confidence": _words(confidence)}, required=names)
    return _table(
        {"rackcheck": {"enum": ["1", 1]}, "sources": {"type": "object", "additionalProperties": source}},
        required=("rackcheck", "sources"),
    )


FILES = {"profile": profile, "inventory": inventory, "sources": sources}
"""The published schemas, by the name of their file."""


def main() -> None:
    """Write the schemas that ship: `python -m rackcheck.schema FOLDER`."""
    import json  # noqa: PLC0415  only when generating
    import sys  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415

    for name, build in FILES.items():
        text = json.dumps(build(), indent=2, ensure_ascii=False) + "\n"
        (Path(sys.argv[1]) / f"{name}.schema.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
