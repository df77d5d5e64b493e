"""Payloads of a burn-in, run by a real python3 as on a node."""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from waiting import PATIENCE

from rackcheck.burnin import pack
from rackcheck.parse.burnin.plan import Tier, document

OLD = Path("~/.pyenv/versions/3.8.18/bin/python3.8").expanduser()
"""An older Python, where this machine has one."""


def plan(seconds: float = 1.0, of: tuple[str, ...] = ("cpu",), **more: Any) -> dict[str, Any]:
    """A plan as a tier makes it, of stages of this many seconds."""
    made = document(Tier.SMOKE, seed=7)
    stages = [stage for stage in made["stages"] if stage["of"] in of]
    for number, stage in enumerate(stages):
        stage["from"], stage["until"] = number * seconds, (number + 1) * seconds
    return {**made, "stages": stages, "deadline": len(stages) * seconds + 10, **more}


@dataclass
class Running:
    """A running payload; `lines` is its output so far."""

    process: "subprocess.Popen[bytes]"
    rest: bytes = b""
    records: list[Mapping[str, Any]] = field(default_factory=list)
    alive: bool = True
    began: float = field(default_factory=time.monotonic)

    def until(self, wanted: Mapping[str, Any], seconds: float = PATIENCE) -> Mapping[str, Any]:
        """Read until a record holds this; raises AssertionError after this many seconds."""
        end = time.monotonic() + seconds
        seen = 0
        while time.monotonic() < end:
            for record in self.records[seen:]:
                seen += 1
                if all(record.get(key) == value for key, value in wanted.items()):
                    return record
            if not self.read(0.1):
                break
        raise AssertionError(f"no {wanted} among {self.records[-5:]}")

    def read(self, seconds: float) -> bool:
        """Read output for this many seconds; returns whether more may come."""
        assert self.process.stdout is not None
        out = self.process.stdout.fileno()
        if self.alive and self.process.stdin is not None and not self.process.stdin.closed:
            with suppress(BrokenPipeError):
                self.process.stdin.write(b"\n")
                self.process.stdin.flush()
        if not select.select([out], [], [], seconds)[0]:
            return True
        data = os.read(out, 1 << 16)
        lines = (self.rest + data).split(b"\n")
        self.rest = lines.pop()
        self.records += [json.loads(line) for line in lines]
        return bool(data)

    def end(self, seconds: float = 30.0) -> float:
        """Read to the end; returns how many seconds that took."""
        began = time.monotonic()
        while self.read(0.1):
            assert time.monotonic() - began < seconds, self.records[-5:]
        self.process.wait(5)
        return time.monotonic() - began

    def kind(self, kind: str) -> list[Mapping[str, Any]]:
        """The records of one kind."""
        return [record for record in self.records if record["k"] == kind]


def start(made: Mapping[str, Any], python: str = sys.executable, **env: str) -> Running:
    """Run a payload as the controller does: a loader on the command line, the text on a pipe that stays open."""
    text = pack.payload(made).encode()
    loader = pack.LOADER.format(size=len(text))
    process = subprocess.Popen(
        [python, "-I", "-S", "-c", loader], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, **env}, start_new_session=True,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(text)
    process.stdin.flush()
    return Running(process)


def of_session(session: int) -> list[int]:
    """Every process of a session that still lives, zombies left out."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found
