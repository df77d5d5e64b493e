"""The JSON Schema of a scenario file, with every fault and its parameters."""

from rackcheck.profile.schema import NUMBER, TEXT, Schema, table, words
from rackcheck.sim.faults import KINDS


def scenario() -> Schema:
    """Return the schema of a scenario file."""
    taken = sorted({word for fault in KINDS.values() for word in fault.takes})
    laid = {"nodes": TEXT, "fault": words(list(KINDS)), "about": TEXT, **dict.fromkeys(taken, TEXT)}
    node = {"machine": TEXT, "rack": TEXT, "height": NUMBER}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "rackcheck scenario of a simulated rack, format 1",
        **table(
            {
                "rackcheck": {"type": ["string", "integer"], "enum": ["1", 1]},
                "scenario": {"type": "string", "pattern": r"^[a-z0-9][a-z0-9_.-]*$"},
                "title": TEXT,
                "count": NUMBER,
                "bmc": table({"milliseconds": NUMBER, "workers": NUMBER, "sessions": NUMBER}),
                "load": table({"pace": NUMBER, "seed": NUMBER}),
                "nodes": {
                    "type": "object",
                    "minProperties": 1,
                    "additionalProperties": table(node, required=("machine",)),
                },
                "faults": {"type": "array", "items": table(laid, required=("nodes", "fault"))},
            },
            required=("rackcheck", "scenario", "nodes"),
        ),
    }


def main() -> None:
    """Write the shipped schema: `python -m rackcheck.sim.shape FOLDER`."""
    import json  # noqa: PLC0415  only when generating
    import sys  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415

    text = json.dumps(scenario(), indent=2, ensure_ascii=False) + "\n"
    (Path(sys.argv[1]) / "scenario.schema.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
