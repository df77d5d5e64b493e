"""A worker process: reads stored replies, and returns the facts in them through a pipe.

It prints nothing, contacts no node and gets no secrets. It ends when the process that started it ends, for whatever
reason: a thread waits for the end of the pipe, and the kernel ends a parser that runs for too long.
"""

import os
import select
import signal
import struct
import threading
from collections.abc import Iterator
from typing import Any

from rackcheck.base import program
from rackcheck.base.cycles import search_rarely
from rackcheck.model.fact import clean
from rackcheck.probe.registry import only_own, registry
from rackcheck.run import raw_reply
from rackcheck.run.reading import missing_planes, parsed_without
from rackcheck.run.worker_forms import NONE, SentFacts, answers_of, packed, plan_of, unpacked

HEAD = struct.Struct(">Qii")
"""Before each message: its size in bytes, and two numbers.

In a task, the first number is that of its plan, or PLAN if the message is the next plan. In a result, the first is that
of its base, or FAILED, and the second that of the tree itself if it is in full.
"""

PLAN = -1
"""In place of the number of a plan: the message is a plan."""

FAILED = -2
"""In place of the number of a base: the replies could not be read here."""

SECONDS = 300.0
"""Maximum time for the replies of one node, which take 0.3 seconds of CPU time for a node with eight GPUs."""


def main() -> None:
    """Read tasks from standard input until it ends, and write their results to what was standard output."""
    source, out = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for place in (0, 1, 2):  # a parser that reads or prints must not damage the messages
        os.dup2(nothing, place)
    search_rarely()
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    threading.Thread(target=_end_with, args=(source,), daemon=True).start()
    known = registry()
    _send(out, NONE, NONE, packed({"program": program.digest() if only_own() and not known.broken else ""}))
    plans: list[Any] = []
    sent = SentFacts()
    for number, doc in _messages(source):
        if number == PLAN:
            plans.append(plan_of(doc, known.probes, known.joins))
            continue
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            answers = answers_of(doc, raw_reply.reply)
            tree = parsed_without(missing_planes(host=doc["host"], bmc=doc["bmc"]), plans[number], answers)
            base, own, data = sent.message(tree)
        except Exception as error:  # noqa: BLE001  the replies are read again by the process that reports errors
            _send(out, FAILED, NONE, packed(clean(repr(error))))
        else:
            _send(out, base, own, data)
        signal.setitimer(signal.ITIMER_PROF, 0)


def _end_with(source: int) -> None:
    """End this process when the other end of the pipe is closed, also in the middle of a task."""
    waiting = select.poll()
    waiting.register(source, 0)  # a closed pipe is always reported
    waiting.poll()
    os._exit(0)


def _messages(source: int) -> Iterator[tuple[int, Any]]:
    while True:
        size, number, _ = HEAD.unpack(_exactly(source, HEAD.size))
        yield number, unpacked(_exactly(source, size))


def _exactly(source: int, size: int) -> bytes:
    parts = []
    while size:
        part = os.read(source, size)
        if not part:
            raise SystemExit(0)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _send(out: int, first: int, second: int, data: bytes) -> None:
    rest = memoryview(HEAD.pack(len(data), first, second) + data)
    while rest:
        rest = rest[os.write(out, rest) :]
