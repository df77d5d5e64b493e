"""Simulates a burn-in on a node: reads the plan in the payload, and sends records for it; the payload is never run."""

import ast
import json
import re
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import paramiko

from rackcheck.model.burn_record import WIRE
from rackcheck.model.capture import Output
from rackcheck.sim.behaviour import Station
from rackcheck.sim.burn_parts import LoadableParts, of_station
from rackcheck.sim.load import SimLoad

LARGEST = 1 << 20
"""Maximum size of a payload, in bytes."""

LONGEST = 64 << 10
"""Maximum size of the plan in a payload, in bytes; STAGES is the maximum number of stages in the plan."""
STAGES = 1000

SLOWEST = 30.0
"""Seconds within which a payload must be received."""

STEP = 0.05
"""Seconds between two checks of the connection."""

NO_PYTHON = Output(127, "", "")
_LAUNCH = re.compile(r"sh -c 'for p in .{1,200}import sys;exec\(sys\.stdin\.buffer\.read\(([0-9]{1,7})\)\).{1,60}")
_PLAN = re.compile(rb"^PLAN = json\.loads\((.{2,%d})\)$" % LONGEST, re.MULTILINE)


@dataclass(frozen=True)
class SimBurnin:
    """The node on which a burn-in is simulated; its parts are read on first use.

    `running` has the start of each load that is on the node now, in seconds of the monotonic clock.
    """

    station: Station
    running: list[float] = field(default_factory=list, compare=False)

    @cached_property
    def parts(self) -> LoadableParts:
        """The parts of the node that can be put under load, from the capture of its machine."""
        return of_station(self.station)


def payload_size(command: str) -> int | None:
    """Return the size in bytes of the payload that a command reads; None if the command does not start a burn-in."""
    found = _LAUNCH.fullmatch(command)
    return int(found[1]) if found and int(found[1]) <= LARGEST else None


def plan_of(payload: bytes) -> Mapping[str, Any]:
    """Parse the plan in a payload; raises ValueError if there is no valid plan."""
    found = _PLAN.search(payload)
    if found is None:
        raise ValueError("no plan in the payload")
    try:
        plan = json.loads(ast.literal_eval(found[1].decode("ascii")))
        stages = plan["stages"]
        numbers = [plan[word] for word in ("start", "step", "pulse")]
        numbers += [stage[word] for stage in stages for word in ("from", "until")]
        words = [stage[word] for stage in stages for word in ("of", "stage")] + [plan["tier"]]
        words += plan["tools"]
    except (ValueError, SyntaxError, TypeError, KeyError, RecursionError, MemoryError) as error:
        raise ValueError(f"the plan cannot be read: {type(error).__name__}") from None
    if plan.get("wire") != WIRE or not isinstance(plan.get("seed"), int) or not isinstance(stages, list):
        raise ValueError(f"no plan of format {WIRE}")
    if (
        len(stages) > STAGES
        or len(words) > 3 * STAGES
        or not all(_of_time(one) for one in numbers)
        or not all(isinstance(w, str) for w in words)
    ):
        raise ValueError("the plan contains invalid values")
    return dict(plan)


def _of_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 100_000


def run(channel: paramiko.Channel, size: int, burning: SimBurnin | None) -> Output:
    """Read the payload, send each record of its plan at the record's time, and return the exit status.

    If the connection ends, the node stops sending records soon afterwards.
    """
    if burning is None or not burning.parts.python:
        return NO_PYTHON
    channel.settimeout(SLOWEST)
    payload = bytearray()
    while len(payload) < size and (chunk := channel.recv(min(1 << 16, size - len(payload)))):
        payload += chunk
    try:
        plan = plan_of(bytes(payload))
    except ValueError as error:
        return Output(2, "", f"this simulated node found no valid plan in the payload: {error}\n")
    station = burning.station
    load = SimLoad(burning.parts, plan, station.ills, station.number, station.node.load_seed, time=time.time())
    begun = time.monotonic()
    burning.running.append(begun)
    try:
        return Output(0 if _paced(channel, load, station.node.load_pace) else 1, "")
    finally:
        burning.running.remove(begun)


def _paced(channel: paramiko.Channel, load: SimLoad, pace: float) -> bool:
    """Send each record at its time; return whether all records were sent."""
    line = _Line(channel, float(load.plan["pulse"]))
    began = time.monotonic()
    for rows in _due(load.records(), began, pace):
        channel.sendall("".join(rows).encode("ascii"))
        if rows and json.loads(rows[-1])["k"] == "verdict":  # no second verdict, whatever the connection does now
            return True
        why = line.cut()
        if why:
            last = load.stopped((time.monotonic() - began) * pace, why)
            channel.sendall((json.dumps(last) + "\n").encode("ascii"))
            return False
    return True


def _due(records: Iterator[dict[str, Any]], began: float, pace: float) -> Iterator[list[str]]:
    """Yield, every STEP seconds, the lines of all records that have become due; the list may be empty."""
    rows: list[str] = []
    for record in records:
        while record["t"] > (time.monotonic() - began) * pace:
            yield rows
            rows = []
            threading.Event().wait(STEP)
        rows.append(json.dumps(record, separators=(",", ":")) + "\n")
    yield rows


class _Line:
    """The connection to the controller; it is lost if it is closed, or silent for more than `pulse` seconds."""

    def __init__(self, channel: paramiko.Channel, pulse: float) -> None:
        self._channel, self._pulse, self._heard = channel, pulse, time.monotonic()

    def cut(self) -> str:
        """Return why the connection is lost, or an empty text if the connection is alive."""
        while self._channel.recv_ready() and self._channel.recv(4096):
            self._heard = time.monotonic()
        if self._channel.closed or self._channel.eof_received:
            return "the connection was closed"
        return "the connection is silent" if time.monotonic() - self._heard > self._pulse else ""
