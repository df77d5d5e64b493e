"""Computes the progress of a reading: the state and the duration of each plane of each node, and the overall rate.

Pure. Times are in seconds on the clock of the machine that runs rackcheck.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from rackcheck.model.fact import Plane
from rackcheck.model.text import natural
from rackcheck.views.state import Asking, Board

RECENT = 10.0
"""Time, in seconds, over which the rate is measured."""


class Step(StrEnum):
    """The steps that a node can have reached, in the order of display."""

    ASKED = "asked"
    WAITS = "waits"
    SILENT = "silent"
    READ = "read"
    JUDGED = "judged"


@dataclass(frozen=True, slots=True)
class NodeProgress:
    """One node: its step, its time (s) and the states of its planes.

    The time is measured from the node's first request to now, or to the last reply once all planes have replied.
    """

    node: str
    step: Step
    seconds: float | None
    planes: tuple[tuple[Plane, float | None, str], ...]


def progress(board: Board, now: float) -> list[NodeProgress]:
    """Return all nodes of the reading: nodes in progress (the longest time first), waiting nodes, then other nodes."""
    found = [_one(board, node, now) for node in board.due()]
    order = list(Step)
    return sorted(found, key=lambda p: (order.index(p.step), -(p.seconds or 0.0), natural(p.node)))


def _one(board: Board, node: str, now: float) -> NodeProgress:
    asking = board.asking.get(node, {})
    planes = tuple((plane, _seconds(each, now), _step_text(each)) for plane, each in sorted(asking.items()))
    begun = [each.requested for each in asking.values() if each.requested is not None]
    ended = [each.answered for each in asking.values() if each.answered is not None]
    open_ = [each for each in asking.values() if each.requested is not None and each.answered is None]
    seconds = (now if open_ else max(ended, default=now)) - min(begun) if begun else None
    if open_:
        step = Step.ASKED
    elif asking and all(each.trouble is not None for each in asking.values()):
        step = Step.SILENT
    elif not _judged(board, node):
        step = Step.WAITS if not ended else Step.READ
    else:
        step = Step.JUDGED
    return NodeProgress(node, step, seconds, planes)


def _judged(board: Board, node: str) -> bool:
    """Whether the node was judged; while a reading is in progress, whether it was judged in this reading."""
    return node in board.judged and node not in board.waiting and (board.done is not None or node in board.fresh)


def _seconds(each: Asking, now: float) -> float | None:
    if each.requested is None:
        return None
    return (each.answered if each.answered is not None else now) - each.requested


def _step_text(each: Asking) -> str:
    if each.answered is None:
        return "asked" if each.requested is not None else "waits"
    return str(each.trouble) if each.trouble is not None else "answered"


@dataclass(frozen=True, slots=True)
class Pulse:
    """The totals: nodes by step, recent replies per second, estimated time left (s), and median time of a node (s)."""

    nodes: int
    judged: int
    read: int
    requested: int
    silent: int
    rate: float
    left: float | None
    typical: float | None


def pulse(rows: Sequence[NodeProgress], board: Board, now: float) -> Pulse:
    """Count the nodes by step; the rate is computed from the planes that replied in the last `RECENT` seconds."""
    steps = [each.step for each in rows]
    ended = sorted(_ended(board))
    recent = [moment for moment in ended if now - moment <= RECENT]
    span = min(RECENT, now - ended[0]) if ended else 0.0
    rate = len(recent) / span if span > 0 else 0.0
    open_ = sum(len(each) for each in board.asking.values()) - len(ended)
    waiting = sum(step is Step.WAITS for step in steps)
    left = (open_ + waiting * 2) / rate if rate > 0 and board.running else None
    times = [each.seconds for each in rows if each.seconds is not None and each.step in {Step.READ, Step.JUDGED}]
    return Pulse(
        len(steps), sum(_judged(board, each.node) for each in rows), steps.count(Step.READ), steps.count(Step.ASKED),
        steps.count(Step.SILENT), rate, left, median(times) if times else None,
    )  # fmt: skip


def _ended(board: Board) -> Iterator[float]:
    for planes in board.asking.values():
        yield from (each.answered for each in planes.values() if each.answered is not None)
