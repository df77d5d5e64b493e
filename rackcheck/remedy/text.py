"""Remedies as text for review: shell commands with their reasons as comments, and the bodies for BMCs. Pure."""

import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rackcheck.model.fact import clean
from rackcheck.model.fold import fold
from rackcheck.remedy.bios import Patch
from rackcheck.remedy.fixes import ByHand, Lines, RemedyGroup, grouped

HEAD = (
    "# Nothing was applied: rackcheck wrote this for review, and contacted no machine.",
    "# Read every command, try it on one node without jobs, and audit that node again before the others.",
)

ASK = (
    "# Set NETRC to a file (mode 0600) with a line `machine HOST login USER password SECRET` for each BMC,",
    "# and BMC_CA to a file with the CA certificates of the BMCs.",
    ': "${NETRC:?}" "${BMC_CA:?}"',
)

CURL = 'curl -sS --fail --netrc-file "$NETRC" --cacert "$BMC_CA"'

NOTHING = "# No rule fails or warns."

FIX = 1000
"""Maximum number of characters that are shown of a rule's `fix` text."""


@dataclass(frozen=True)
class BmcOrder:
    """The PATCH request for one BMC of a node."""

    node: str
    url: str
    patch: Patch
    number: int = 1

    @property
    def file(self) -> str:
        """The name of the file to which the body of the request is written."""
        return f"{self.node}.bios.json" if self.number == 1 else f"{self.node}.bios-{self.number}.json"


@dataclass(frozen=True)
class RemedyText:
    """All remedies of a run: the commands by node, the requests for BMCs, and the findings to fix by hand.

    `simulated` is true if no machine was read.
    """

    run: str
    profile: str
    steps: Mapping[str, Sequence[Lines]]
    orders: tuple[BmcOrder, ...]
    hands: tuple[tuple[ByHand, tuple[str, ...]], ...]
    simulated: bool = False

    @property
    def title(self) -> str:
        """The run, marked if it is simulated."""
        return f"{self.run} (SIMULATION)" if self.simulated else self.run

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.orders or self.hands or self.groups)

    @property
    def groups(self) -> tuple[RemedyGroup, ...]:
        """The nodes, grouped by the commands they need."""
        return grouped(self.steps, {order.node for order in self.orders})


def text(remedy_text: RemedyText) -> Iterator[str]:
    """Yield all remedies as lines: BIOS settings, commands by group of nodes, reboots, then findings to fix by hand."""
    yield from head_lines(remedy_text)
    yield from setting_lines(remedy_text)
    restarted = [group for group in remedy_text.groups if group.reboot]
    if restarted:
        yield from ("", "# ---- Then reboot once, after all of the above is written")
        yield from (f"# {fold(group.nodes)}: systemctl reboot" for group in restarted)
    yield from hand_lines("By hand", [(hand, nodes) for hand, nodes in remedy_text.hands if not hand.part])
    yield from hand_lines("No setting fixes these", [(hand, nodes) for hand, nodes in remedy_text.hands if hand.part])
    if remedy_text.is_empty:
        yield NOTHING


def head_lines(remedy_text: RemedyText) -> Iterator[str]:
    """Yield the first lines: that nothing was applied, and the run."""
    yield from HEAD
    yield f"# Run {remedy_text.title}, profile {remedy_text.profile}."


def setting_lines(remedy_text: RemedyText) -> Iterator[str]:
    """Yield the requests that change BIOS settings, and the commands by group of nodes."""
    if remedy_text.orders:
        yield from (
            "",
            "# ---- BIOS: from a machine that reaches the BMCs",
            *bmc_lines(remedy_text.orders, inline=True),
        )
    for group in remedy_text.groups:
        if group.steps:
            yield from ("", f"# ---- {fold(group.nodes)}: on each of them, as root", *_steps(group.steps))


def _steps(steps: Sequence[Lines]) -> Iterator[str]:
    for step in steps:
        chosen = f" ({step.how})" if step.how else ""
        yield f"# {', '.join(step.rules)}: {clean(step.fact)} = {clean(step.value)}{chosen}; applies {_from(step)}"
        if step.note:
            yield f"# {step.note}"
        yield from step.lines


def _from(step: Lines) -> str:
    return "immediately" if step.when.value == "now" else step.when.value


def hand_lines(
    head: str, hands: Sequence[tuple[ByHand, tuple[str, ...]]], names: Callable[[Sequence[str]], str] = fold
) -> Iterator[str]:
    """Yield the findings that are fixed by hand, with a heading; nothing if there is none. `names` formats nodes."""
    if hands:
        yield from ("", f"# ---- {head}")
    for hand, nodes in hands:
        yield f"# {hand.rule} on {names(nodes)}: {clean(hand.title)}"
        if not hand.part:
            yield f"#     why no command: {clean(hand.why, 400)}"
        if hand.fix:
            yield f"#     {clean(hand.fix, FIX)}"


def script(group: RemedyGroup, run: str) -> str:
    """Format the script for one group of nodes; the reboot is a comment at the end."""
    lines = ["#!/bin/sh", *HEAD, f"# For {fold(group.nodes)}; from run {run}. As root, on each of them.", "set -eu", ""]
    lines += _steps(group.steps)
    if group.reboot:
        first = " The BIOS settings must be sent first." if group.firmware else ""
        lines += ["", f"# Reboot once, here, at the end.{first}", "# systemctl reboot"]
    return "\n".join(lines) + "\n"


def bmc_script(orders: Sequence[BmcOrder], run: str) -> str:
    """Format the script that sends the PATCH to each BMC; the script reads the bodies from files in its own folder."""
    head = ["#!/bin/sh", *HEAD, f"# For the BMCs of {fold([o.node for o in orders])}; from run {run}.", "set -eu"]
    return "\n".join([*head, 'cd "$(dirname "$0")"', "", *bmc_lines(orders, inline=False)]) + "\n"


def bmc_lines(orders: Sequence[BmcOrder], *, inline: bool) -> Iterator[str]:
    """Yield the commands for all BMCs; if `inline`, they contain the bodies (a shared body once), else file names."""
    yield from ASK
    alike: dict[str, list[BmcOrder]] = {}
    for order in orders:
        alike.setdefault(json.dumps([order.patch.place, body(order.patch)]), []).append(order)
    for same in alike.values():
        patch = same[0].patch
        yield f"# {fold([order.node for order in same])}: applies after a reboot; sending it again changes nothing"
        for change in patch.changes:
            yield f"#     {change.rule}: {change.setting} by {change.attribute}, spelling from {change.how}"
        if inline:
            yield f"body={shlex.quote(body(patch))}"
        for order in same:
            place = shlex.quote(order.url.rstrip("/") + patch.place)
            etag = "sed -n 's/^[Ee][Tt]ag: *//p' | tr -d '\\r' | head -n 1"
            yield f"etag=$({CURL} -o /dev/null -D - {place} | {etag})"
            data = '"$body"' if inline else shlex.quote(f"@{order.file}")
            match = '${etag:+-H "If-Match: $etag"}'
            yield f"{CURL} -X PATCH -H 'Content-Type: application/json' {match} --data {data} {place}"


def body(patch: Patch, indent: int | None = None) -> str:
    """Format the body of a PATCH, deterministically."""
    return json.dumps(patch.body, indent=indent, ensure_ascii=True, sort_keys=True)


def document(remedy_text: RemedyText) -> dict[str, object]:
    """Return the settings as JSON: commands by group of nodes, and requests for BMCs."""
    return {
        "run": remedy_text.run,
        "simulated": remedy_text.simulated,
        "profile": remedy_text.profile,
        "applied": False,
        "sets": [
            {
                "nodes": list(group.nodes), "folded": fold(group.nodes), "reboot": group.reboot,
                "steps": [
                    {"rule": s.rule, "fact": s.fact, "value": s.value, "chosen": s.how, "holds": s.when.value,
                     "lines": list(s.lines), "note": s.note, "also": list(s.also)} for s in group.steps
                ],
            }
            for group in remedy_text.groups
        ],
        "bios": [
            {
                "node": o.node, "url": o.url, "place": o.patch.place, "body": o.patch.body, "holds": "after a reboot",
                "changes": [
                    {"rule": c.rule, "setting": c.setting, "attribute": c.attribute, "value": c.value, "spelt": c.how}
                    for c in o.patch.changes
                ],
            }
            for o in remedy_text.orders
        ],
    }  # fmt: skip
