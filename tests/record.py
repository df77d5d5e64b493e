"""Record what this machine answers to a probe: python tests/record.py PROBE CASE [OLD=NEW ...]

Writes tests/recorded/PROBE/CASE.json, the answer, and CASE.facts.json, the facts read from it. Look at both before
you keep them: the second is what the test will hold us to. The host name becomes `node1`; every OLD becomes its NEW,
and a line with an OLD that has no NEW is left out.
"""

import json
import re
import sys

from recordings import OURS, as_json, ask, facts, os_probes

from rackcheck.core.capture import NodeCapture


def scrub(raw: str, changes: dict[str, str]) -> str:
    """Put other words for names that are nobody's business."""
    for old, new in changes.items():
        raw = raw.replace(old, new) if new else re.sub(rf"(?m)^.*{re.escape(old)}.*\n?", "", raw)
    return raw


def main(name: str, case: str, *changes: str) -> None:
    """Record one probe."""
    probe = os_probes()[name]
    named = {old: new for old, _, new in (change.partition("=") for change in changes)}
    capture = ask(probe).to_json()
    for output in capture["commands"].values():
        output.update({key: scrub(value, named) for key, value in output.items() if isinstance(value, str)})
    capture["files"] = {path: scrub(text, named) for path, text in capture["files"].items()}
    if "/proc/sys/kernel/hostname" in capture["files"]:
        capture["files"]["/proc/sys/kernel/hostname"] = "node1\n"
    place = OURS / name / f"{case}.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(capture, indent=1, sort_keys=True) + "\n")
    told = {path: as_json(reading) for path, reading in facts(probe, NodeCapture.from_json(capture)).items()}
    place.with_suffix(".facts.json").write_text(json.dumps(told, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
