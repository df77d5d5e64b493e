"""Remedies as text for review: lines for a shell with their reasons as comments, and the bodies for BMCs. Pure."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rackcheck.model.fact import clean
from rackcheck.model.fold import fold
from rackcheck.remedy.bios import Patch
from rackcheck.remedy.fixes import ByHand, Lines, RemedyGroup, grouped

HEAD = (
    "# Nothing of this was applied: rackcheck wrote it for review, and asked no machine.",
    "# Read every line, try it on one node that no job runs on, and audit that node again before the others.",
)

ASK = (
    "# NETRC names a file (mode 0600) with a line `machine HOST login USER password SECRET` for each BMC,",
    "# BMC_CA the certificates that the BMCs are trusted by.",
    ': "${NETRC:?}" "${BMC_CA:?}"',
)

CURL = 'curl -sS --fail --netrc-file "$NETRC" --cacert "$BMC_CA"'

FIX = 1000
"""Maximum characters shown of a rule's own words."""


@dataclass(frozen=True)
class BmcOrder:
    """One BMC and the request for it."""

    node: str
    url: str
    patch: Patch
    number: int = 1

    @property
    def file(self) -> str:
        """The file to which its body is written."""
        return f"{self.node}.bios.json" if self.number == 1 else f"{self.node}.bios-{self.number}.json"


@dataclass(frozen=True)
class RemedyText:
    """All remedies of a run: the shell lines by node, the BMCs' bodies, and what is left to people."""

    run: str
    profile: str
    steps: Mapping[str, Sequence[Lines]]
    orders: tuple[BmcOrder, ...]
    hands: tuple[tuple[ByHand, tuple[str, ...]], ...]

    @property
    def groups(self) -> tuple[RemedyGroup, ...]:
        """The nodes that get the same lines."""
        return grouped(self.steps, {order.node for order in self.orders})


def text(remedy_text: RemedyText) -> Iterator[str]:
    """Format all remedies: the BIOS first, then the nodes, one reboot for each set, and what is left to people."""
    yield from HEAD
    yield f"# Run {remedy_text.run}, profile {remedy_text.profile}."
    if remedy_text.orders:
        yield from (
            "",
            "# ---- BIOS: from a machine that reaches the BMCs",
            *bmc_lines(remedy_text.orders, inline=True),
        )
    for group in remedy_text.groups:
        if group.steps:
            yield from ("", f"# ---- {fold(group.nodes)}: on each of them, as root", *_steps(group.steps))
    restarted = [group for group in remedy_text.groups if group.reboot]
    if restarted:
        yield from ("", "# ---- Then reboot, once, when all of the above is written")
        yield from (f"# {fold(group.nodes)}: systemctl reboot" for group in restarted)
    yield from _people("By hand", [(hand, nodes) for hand, nodes in remedy_text.hands if not hand.part])
    yield from _people("No setting mends these", [(hand, nodes) for hand, nodes in remedy_text.hands if hand.part])
    if not (remedy_text.orders or remedy_text.hands or remedy_text.groups):
        yield "# Nothing fails and nothing warns."


def _steps(steps: Sequence[Lines]) -> Iterator[str]:
    for step in steps:
        chosen = f" ({step.how})" if step.how else ""
        yield f"# {step.rule}: {clean(step.fact)} = {clean(step.value)}{chosen}; holds {_from(step)}"
        if step.note:
            yield f"# {step.note}"
        yield from step.lines


def _from(step: Lines) -> str:
    return "from now on" if step.when.value == "now" else step.when.value


def _people(head: str, hands: Sequence[tuple[ByHand, tuple[str, ...]]]) -> Iterator[str]:
    if hands:
        yield from ("", f"# ---- {head}")
    for hand, nodes in hands:
        yield f"# {hand.rule} on {fold(nodes)}: {clean(hand.title)}"
        if not hand.part:
            yield f"#     why no line: {clean(hand.why, 400)}"
        if hand.fix:
            yield f"#     {clean(hand.fix, FIX)}"


def script(group: RemedyGroup, run: str) -> str:
    """Format the script for one set of nodes; the reboot is a comment at its end."""
    lines = ["#!/bin/sh", *HEAD, f"# For {fold(group.nodes)}; from run {run}. As root, on each of them.", "set -eu", ""]
    lines += _steps(group.steps)
    if group.reboot:
        first = " The BIOS must have been sent its settings before." if group.firmware else ""
        lines += ["", f"# Reboot once, here, at the end.{first}", "# systemctl reboot"]
    return "\n".join(lines) + "\n"


def bmc_script(orders: Sequence[BmcOrder], run: str) -> str:
    """Format the script that sends each BMC its body; it reads the files beside it."""
    head = ["#!/bin/sh", *HEAD, f"# For the BMCs of {fold([o.node for o in orders])}; from run {run}.", "set -eu"]
    return "\n".join([*head, 'cd "$(dirname "$0")"', "", *bmc_lines(orders, inline=False)]) + "\n"


def bmc_lines(orders: Sequence[BmcOrder], *, inline: bool) -> Iterator[str]:
    """Yield the lines for all BMCs; a body shared by several is written once, or is in a file."""
    yield from ASK
    alike: dict[str, list[BmcOrder]] = {}
    for order in orders:
        alike.setdefault(json.dumps([order.patch.place, body(order.patch)]), []).append(order)
    for same in alike.values():
        patch = same[0].patch
        yield f"# {fold([order.node for order in same])}: holds after a reboot; sent anew it changes nothing"
        for change in patch.changes:
            yield f"#     {change.rule}: {change.setting} by {change.attribute}, spelt as in {change.how}"
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
    """Return the document for `--json`."""
    return {
        "run": remedy_text.run,
        "profile": remedy_text.profile,
        "applied": False,
        "sets": [
            {
                "nodes": list(group.nodes), "folded": fold(group.nodes), "reboot": group.reboot,
                "steps": [
                    {"rule": s.rule, "fact": s.fact, "value": s.value, "chosen": s.how, "holds": s.when.value,
                     "lines": list(s.lines), "note": s.note} for s in group.steps
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
        "by_hand": [
            {"rule": h.rule, "title": h.title, "fix": h.fix, "why": h.why, "part": h.part, "nodes": list(nodes),
             "folded": fold(nodes)} for h, nodes in remedy_text.hands
        ],
    }  # fmt: skip
