"""Record this machine's answer to a probe: python tests/support/record.py PROBE CASE [OLD=NEW ...]

Writes tests/recorded/PROBE/CASE.json: the answer, and under `facts` what the probe reads from it. Check both before
you keep the file: the test compares the facts. The host name becomes `node1`; every OLD becomes its NEW,
and a line with an OLD that has no NEW is left out. It needs what `make test` sets up in .venv.
"""

import json
import re
import sys
from difflib import get_close_matches

try:
    from recordings import OURS, as_json, ask, facts, os_probes

    from rackcheck.model.capture import NodeCapture
except ModuleNotFoundError as error:
    sys.exit(f"no module {error.name} for {sys.executable}: `make .venv/.dev`, then `. .venv/bin/activate`")

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
"""Valid names of a case: it becomes a file name."""


def scrub(raw: str, changes: dict[str, str]) -> str:
    """Replace private names."""
    for old, new in changes.items():
        raw = raw.replace(old, new) if new else re.sub(rf"(?m)^.*{re.escape(old)}.*\n?", "", raw)
    return raw


def main(*words: str) -> None:
    """Record one probe; exits with a one-line message where it cannot."""
    if len(words) < 2:
        sys.exit(
            "usage: python tests/support/record.py PROBE CASE [OLD=NEW ...]; `rackcheck probe list` shows the probes"
        )
    name, case, *changes = words
    probes = os_probes()
    if name not in probes:
        near = "".join(f"; did you mean {word}?" for word in get_close_matches(name, probes, n=1))
        sys.exit(f"no probe {name!r} asks an operating system{near}; `rackcheck probe list` shows the probes")
    wrong = [change for change in changes if not change.partition("=")[0] or "=" not in change]
    if wrong or NAME.fullmatch(case) is None:
        sys.exit(f"{wrong[0]!r} is not OLD=NEW" if wrong else f"{case!r} is no name of a case: it names a file")
    probe = probes[name]
    named = {old: new for old, _, new in (change.partition("=") for change in changes)}
    capture = ask(probe).to_json()
    for output in capture["commands"].values():
        output.update({key: scrub(value, named) for key, value in output.items() if isinstance(value, str)})
    capture["files"] = {path: scrub(text, named) for path, text in capture["files"].items()}
    if "/proc/sys/kernel/hostname" in capture["files"]:
        capture["files"]["/proc/sys/kernel/hostname"] = "node1\n"
    place = OURS / name / f"{case}.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    read = {path: as_json(reading) for path, reading in facts(probe, NodeCapture.from_json(capture)).items()}
    place.write_text(json.dumps({**capture, "facts": read}, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
