"""The JSON Schemas of the files that users write, built from the lists of operators, severities and phases.

They use no `oneOf`. A value may be a text, a number or a boolean, because editors convert YAML values; rackcheck reads
each value as text.
"""

from typing import Any

from rackcheck.model.operator import ORDER, SIBLINGS, WORDS
from rackcheck.model.profile import Phase, Severity

Schema = dict[str, Any]

VALUE: Schema = {"type": ["string", "number", "boolean"]}
TEXT: Schema = VALUE
VALUES: Schema = {"type": "array", "items": VALUE, "minItems": 1}
ONE_OR_MORE: Schema = {"type": ["string", "number", "boolean", "array"], "items": VALUE, "minItems": 1}
WHOLE: Schema = {
    "type": ["string", "integer"],
    "pattern": r"^(\d{1,9}|\$[a-z][a-z0-9_]*)$",
    "description": "a whole number of at most 9 digits, or a param as $name",
}
NUMBER: Schema = {
    "type": ["string", "integer"],
    "pattern": r"^\d{1,9}$",
    "description": "a whole number of at most 9 digits",
}
COUNT: Schema = {
    "type": ["string", "integer"],
    "minimum": 1,
    "maximum": 9999,
    "pattern": r"^[1-9]\d{0,3}$",
    "description": "a whole number from 1 to 9999",
}
KILOWATTS: Schema = {
    "type": ["string", "number"],
    "pattern": r"^(?!0+(\.0*)?$)\d{1,6}(\.\d{1,3})?$",
    "description": "a power in kilowatts, more than 0, of at most 6 digits and 3 decimals",
}
PORT: Schema = {
    "type": ["string", "integer"],
    "minimum": 1,
    "maximum": 65535,
    "pattern": r"^([1-9]\d{0,3}|[1-5]\d{4}|6([0-4]\d{3}|5([0-4]\d{2}|5([0-2]\d|3[0-5]))))$",
    "description": "a whole number from 1 to 65535",
}
WIDTH: Schema = {
    "type": ["string", "integer"],
    "enum": ["1", "2", "3", "4", 1, 2, 3, 4],
    "description": "concurrent GETs to one BMC: 1 to 4, by default 2",
}
TRUTH: Schema = {"type": ["string", "boolean"], "enum": ["true", "false", True, False]}
ROLE: Schema = {
    "type": "string",
    "pattern": "^[a-z][a-z0-9-]*$",
    "description": "a word of small letters, digits and hyphens, a letter first",
}
IDENTIFIER: Schema = {
    "type": "string",
    "pattern": "^[a-z0-9][a-z0-9_.-]*$",
    "description": "a word of small letters, digits, dots, hyphens and underscores, a letter or a digit first",
}
REFERENCE: Schema = {
    "type": "string",
    "pattern": "^(env:.+|file:.+|keyring:.+/.+|prompt:.*)$",
    "description": "env:NAME, file:PATH, keyring:SERVICE/USER or prompt:TEXT",
}
"""A reference to a secret, never the secret itself."""

DIGEST: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "a SHA-256 in hexadecimal"}
DAY: Schema = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d$", "description": "a day as YYYY-MM-DD"}
LABELLED: Schema = {
    "type": "string",
    "pattern": "^[a-z][a-z0-9-]*$",
    "description": "small letters, digits and hyphens, a letter first",
}
LABEL: Schema = {
    "pattern": "^[A-Za-z0-9][A-Za-z0-9_.-]*$",
    "description": "letters, digits, dots, hyphens and underscores, a letter or a digit first",
}
"""The name of a group or of a slot."""

DEVICE: Schema = {
    "type": ["string", "number"],
    "pattern": r"^[0-9a-f]([0-9a-f?]{3}|[0-9a-f?]{0,2}\*)(:([0-9a-f?]{4}|[0-9a-f?]{0,3}\*))?$",
    "description": "a PCI vendor or VENDOR:DEVICE, each of four hexadecimal digits or a glob, as 10de or 10de:23*",
}
PARAM: Schema = {
    "pattern": "^[a-z][a-z0-9_]*$",
    "description": "small letters, digits and underscores, a letter first",
}
RULE: Schema = {
    "pattern": "^[a-z][a-z0-9_.-]*$",
    "description": "small letters, digits, dots, hyphens and underscores, a letter first",
}

LOOKS = ("each", "any", "no", "count")
"""Keys that select items from a collection; a rule has at most one of them."""

NARROWING = ("where", "expect-count", "allow-failing", "allow-empty")
"""Keys that filter the items of a selection, or state how many there must be and how many may fail."""


def table(properties: Schema, *, required: tuple[str, ...] = (), **more: Any) -> Schema:
    """The schema of a table with these keys and no other keys."""
    found: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return found | ({"required": list(required)} if required else {}) | more


def words(given: tuple[str, ...] | list[str]) -> Schema:
    """The schema of a text from a fixed list of words."""
    return {"type": "string", "enum": list(given)}


def _several(shape: Schema) -> Schema:
    """The schema of one value that has this shape, or of a list of such values."""
    return shape | {"type": [*shape["type"], "array"], "items": shape, "minItems": 1}


def _named(names: Schema, shape: Schema) -> Schema:
    return {"type": "object", "propertyNames": names, "additionalProperties": shape}


def operators() -> Schema:
    """The schema of every operator."""
    shapes: Schema = dict.fromkeys((*ORDER, "is", "is-not", "like", "matches", "same-as"), VALUE)
    shapes |= dict.fromkeys(("one-of", "none-of"), VALUES)
    shapes |= dict.fromkeys(("includes", "excludes"), ONE_OR_MORE)
    shapes["within"] = table({"of": VALUE, "by": VALUE}, required=("of", "by"))
    shapes["spread"] = table({"at-most": VALUE}, required=("at-most",))
    shapes["mask"] = table({"bits": VALUE, "is": VALUE}, required=("bits", "is"))
    shapes["rate"] = table({"at-most": VALUE}, required=("at-most",))
    held: Schema = {"type": ["string", "boolean"], "enum": ["true", True]}
    shapes |= {"present": TRUTH, "equal": held, "steady": held}
    return {op: shapes[op] for op in WORDS}


def clause(judged: Schema | None = None) -> Schema:
    """The schema of one test: a fact with its operators, by default without the operators that compare siblings."""
    plain = {op: shape for op, shape in operators().items() if op not in SIBLINGS}
    return table({"fact": VALUE} | (judged or plain), required=("fact",), minProperties=2)


def rule() -> Schema:
    """The schema of one rule; no key is required, because a rule of an overlay contains only its changes."""
    leaves: Schema = {"type": "array", "items": clause(), "minItems": 1}
    whole = clause(operators())
    fact: Schema = whole | {"type": ["string", "object"]}
    return table(
        {
            "title": TEXT, "severity": words([s.value for s in Severity]), "why": TEXT, "fix": TEXT,
            "refs": {"type": "array", "items": TEXT}, "drop": TEXT,
            "scope": words(["node", "rack", "fleet"]), "role": ONE_OR_MORE,
            "phase": words([p.value for p in Phase]), "needs": {"type": "array", "items": TEXT},
            **dict.fromkeys(LOOKS, VALUE),
            "where": clause(), "when": clause(), "expect-count": WHOLE, "allow-failing": WHOLE, "allow-empty": TRUTH,
            "unknown": words(["minor"]),
            "across": table(
                {"role": ROLE, "facts": ONE_OR_MORE, "except": ONE_OR_MORE}, required=("facts",)
            ),
            "agree": table({"quorum": VALUE}, required=("quorum",)),
            "call": IDENTIFIER, "fact": fact, "all-of": leaves | {"items": whole}, "any-of": leaves,
            **operators(),
        }
    )  # fmt: skip


def profile() -> Schema:
    """The schema of a profile file."""
    param = table({"type": TEXT, "default": VALUE, "about": TEXT}) | {"type": ["object", "string", "number", "boolean"]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "rackcheck profile, format 1",
        **table(
            {
                "rackcheck": {"type": ["string", "integer"], "enum": ["1", 1]},
                "profile": IDENTIFIER,
                "version": VALUE,
                "title": TEXT,
                "fragment": TRUTH,
                "extends": {
                    "type": "string",
                    "pattern": r"^[a-z0-9][a-z0-9_.-]*@\S+$",
                    "description": "a profile and its version, as NAME@VERSION",
                },
                "include": {
                    "type": "array",
                    "minItems": 1,
                    "items": {
                        "type": "string",
                        "pattern": r"^[a-z0-9][a-z0-9_.-]*(@\S+)?$",
                        "description": "a profile, as NAME or NAME@VERSION",
                    },
                },
                "reviewed": TRUTH,
                "reviewed-by": TEXT,
                "applies-to": table(
                    {
                        **dict.fromkeys(("product", "board", "cpu"), ONE_OR_MORE),
                        "device": _several(DEVICE),
                        "role": TEXT,
                    }
                ),
                "params": _named(PARAM, param),
                "rules": _named(RULE, rule()),
                "waivers": {"type": "array", "items": _waiver()},
            },
            required=("rackcheck", "profile", "version"),
        ),
    }  # fmt: skip


def inventory() -> Schema:
    """The schema of an inventory file."""
    ssh = table(
        {
            "user": TEXT, "key": TEXT, "port": PORT, "known-hosts": TEXT, "sudo": TRUTH, "jump": TEXT,
            "password": REFERENCE, "passphrase": REFERENCE,
        }
    )  # fmt: skip
    bmc = table(
        {
            "url": TEXT, "user": TEXT, "password": REFERENCE, "fingerprint": TEXT, "ca": TEXT,
            "width": WIDTH, "expand": TRUTH,
        }
    )  # fmt: skip
    ways: Schema = {"role": ROLE, "ssh": ssh, "bmc": bmc, "power": KILOWATTS}
    places: Schema = {"rack": TEXT, "height": NUMBER, "pdu": TEXT}
    budget: Schema = {"power-budget": KILOWATTS}
    shelf = table({"row": TEXT, "type": IDENTIFIER, **budget})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "rackcheck inventory, format 1",
        **table(
            {
                "rackcheck": {"type": ["string", "integer"], "enum": ["1", 1]},
                "inventory": TEXT,
                "defaults": table(ways | places),
                "racks": {"type": "object", "additionalProperties": shelf},
                "pdus": {"type": "object", "additionalProperties": table(budget)},
                "limits": {"type": "object", "additionalProperties": table({"os": COUNT, "bmc": COUNT})},
                "groups": _named(LABEL, table({"nodes": ONE_OR_MORE, **ways}, required=("nodes",))),
                "nodes": {
                    "type": "object",
                    "minProperties": 1,
                    "additionalProperties": table({"host": TEXT, **ways, **places, "u": NUMBER, "slot": TEXT}),
                },
            },
            required=("rackcheck", "nodes"),
        ),
    }


def rack_type() -> Schema:
    """The schema of a rack type's file: the rack's height and, if they have names, its slots."""
    slot = table({"u": NUMBER, "height": NUMBER, "role": ROLE}, required=("u",))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "rackcheck rack type, format 1",
        **table(
            {
                "rackcheck": {"type": ["string", "integer"], "enum": ["1", 1]},
                "rack-type": IDENTIFIER,
                "title": TEXT,
                "height": NUMBER,
                "slots": _named(LABEL, slot),
            },
            required=("rackcheck", "rack-type", "height"),
        ),
    }


def _waiver() -> Schema:
    """The schema of one waiver, in a file of waivers or in a profile."""
    pin = table({"item": TEXT, "observed": TEXT}, required=("item", "observed"))
    return table(
        {
            "rule": TEXT, "rule-hash": DIGEST, "nodes": ONE_OR_MORE,
            "only-while": pin | {"type": ["object", "array"], "items": pin, "minItems": 1},
            "until": DAY, "by": TEXT, "ticket": TEXT, "reason": TEXT,
        },
        required=("rule", "rule-hash", "nodes", "only-while", "until", "by", "ticket", "reason"),
    )  # fmt: skip


def waivers() -> Schema:
    """The schema of a file of waivers."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "rackcheck waivers, format 1",
        **table(
            {
                "rackcheck": {"type": ["string", "integer"], "enum": ["1", 1]},
                "waivers": {"type": "array", "items": _waiver()},
            },
            required=("rackcheck", "waivers"),
        ),
    }


def brand() -> Schema:
    """The schema of a brand: the text and logo that a site puts on the cover of its reports."""
    party = table({"role": LABELLED, "name": TEXT}, required=("role",))
    names = ("title", "integrator", "customer", "site", "hall", "contract", "revision", "footer", "logo")
    parties = {"type": "array", "items": party, "minItems": 1, "maxItems": 6}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "rackcheck brand, format 1",
        **table(
            {
                "rackcheck": {"type": ["string", "integer"], "enum": ["1", 1]},
                "brand": table({**dict.fromkeys(names, TEXT), "parties": parties}),
            },
            required=("rackcheck", "brand"),
        ),
    }


def sources() -> Schema:
    """The schema of `sources.yaml`, which rules cite."""
    confidence = ["read in source", "read in secondary source", "derived by us", "from memory", "measured by us"]
    names = ("title", "section", "publisher", "date", "confidence")
    source = table({**dict.fromkeys(names, TEXT), "confidence": words(confidence)}, required=names)
    return table(
        {"rackcheck": {"enum": ["1", 1]}, "sources": {"type": "object", "additionalProperties": source}},
        required=("rackcheck", "sources"),
    )


FILES = {"inventory": inventory, "rack-type": rack_type, "sources": sources, "waivers": waivers, "brand": brand}
"""The published schemas by file name; the schema of a profile also contains the facts, see `profile.editor`."""


def main() -> None:
    """Write the schemas that are shipped with rackcheck: `python -m rackcheck.profile.schema FOLDER`."""
    import json  # noqa: PLC0415  only when generating
    import sys  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415

    for name, build in FILES.items():
        text = json.dumps(build(), indent=2, ensure_ascii=False) + "\n"
        (Path(sys.argv[1]) / f"{name}.schema.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
