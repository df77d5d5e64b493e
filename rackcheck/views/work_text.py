"""Formats the lists of work: as comments of a script, as JSON, and as the content of files. Pure.

A node may return any text: it is cleaned, and stands only in comments, JSON, cells, and code blocks of Markdown.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from rackcheck.model.fact import clean
from rackcheck.model.text import natural
from rackcheck.probe.group import is_group
from rackcheck.remedy.text import FIX, hand_lines
from rackcheck.views import locations
from rackcheck.views.summary import several
from rackcheck.views.work_lists import CableWork, Case, CaseFinding, FirmwareUpdate, PowerCycle, WorkLists

LONGEST = 400
"""Maximum number of characters of a text from a node in a line."""

SERIALS = 6
"""Maximum number of serial numbers that are listed for a part that many nodes have at the same place."""

UNKNOWN_PART = "a part that the run does not identify"


def lines(lists: WorkLists) -> Iterator[str]:
    """Yield the lists as comments, in the order of the work; a list without work is left out."""
    yield from _section("Firmware to update", map(_firmware, lists.firmware))
    yield from _section("Power cycle: each node once, after the settings and the firmware", map(_power, lists.power))
    yield from _section("Cables: check, clean or swap", _cables(lists.cables))
    yield from _section("Parts: reseat or replace, one case for each part", _cases(lists.cases))
    yield from hand_lines("By hand", lists.hands, locations.names_text)


def _section(head: str, blocks: Iterable[Iterable[str]]) -> Iterator[str]:
    found = [line for block in blocks for line in block]
    if found:
        yield from ("", f"# ---- {head}")
        yield from (f"# {line}" for line in found)


def _firmware(update: FirmwareUpdate) -> Iterator[str]:
    change = f"{clean(update.now, LONGEST) or 'not read'} -> {clean(update.wanted, LONGEST)}"
    yield f"{locations.names_text(update.nodes)}: {clean(update.component, LONGEST)}: {change} ({update.rule})"
    yield from _fix(update.fix)


def _power(cycle: PowerCycle) -> Iterator[str]:
    yield f"{locations.names_text(cycle.nodes)}: {_restart(cycle)}"
    yield from (f"    {reason}: {', '.join(rules)}" for reason, rules in cycle.reasons)
    yield from (f"    {rule}: {clean(fix, FIX)}" for rule, fix in cycle.fixes)


def _restart(cycle: PowerCycle) -> str:
    return "power off and on" if cycle.off else "systemctl reboot"


def _fix(text: str) -> Iterator[str]:
    if text:
        yield f"    {clean(text, FIX)}"


def _cables(rows: Iterable[CableWork]) -> Iterator[Iterator[str]]:
    """Yield the lines of each cable; the same end of a cable with the same values is one for all its nodes."""
    alike: dict[tuple[str, ...], list[CableWork]] = {}
    for row in rows:
        key = (
            str(replace(row.link, serial="")),
            _state(row),
            *(f"{each.rule} {each.evidence}" for each in row.findings),
        )
        alike.setdefault(key, []).append(row)
    for same in alike.values():
        yield _cable(same)


def _state(row: CableWork) -> str:
    return ", ".join(f"{name} {text}" for name, text in row.link.values)


def _cable(same: Sequence[CableWork]) -> Iterator[str]:
    row, nodes = same[0], [each.node for each in same]
    link = row.link if len(same) == 1 else replace(row.link, serial="")
    state = f": {clean(_state(row), LONGEST)}" if link.values else ""
    yield f"{locations.names_text(nodes)}: {clean(str(link), LONGEST)}{state}"
    if len(same) > 1:
        yield from _serials([(each.node, each.link.serial) for each in same])
    yield from (f"    {each.rule} ({each.severity}): {clean(each.evidence, LONGEST)}" for each in row.findings)
    yield from _fixes(each.fix for each in row.findings)


def _fixes(texts: Iterable[str]) -> Iterator[str]:
    for text in dict.fromkeys(texts):
        yield from (line.replace("    ", "    fix: ", 1) for line in _fix(text))


def _cases(cases: Iterable[Case]) -> Iterator[Iterator[str]]:
    """Yield the lines of each case; cases of the same place in many nodes with the same rules are one."""
    alike: dict[tuple[object, ...], list[Case]] = {}
    for case in cases:
        part = case.part.part if case.part is not None else None
        place = () if part is None else (part.word, part.name, part.slot, part.pci)
        missing = case.part is not None and case.part.missing
        key = (place, missing, case.xids, tuple((each.rule, _general(case, each)) for each in case.findings))
        alike.setdefault(key, []).append(case)
    for same in alike.values():
        yield _case(same)


def _general(case: Case, finding: CaseFinding) -> tuple[str, ...]:
    """Return the evidence without the serial number of the part, by which cases of many nodes differ."""
    serial = case.part.part.serial if case.part is not None else ""
    return tuple(text.replace(serial, "") if serial else text for text in finding.evidence)


def _case(same: Sequence[Case]) -> Iterator[str]:
    first = same[0]
    nodes = locations.names_text(case.node for case in same)
    if len(same) == 1:
        yield f"{nodes}: {clean(part_text(first), LONGEST)}"
    else:
        yield f"{nodes}: {clean(_place(first), LONGEST)}; {several(len(same), 'case')}"
        yield from _serials([(case.node, case.part.part.serial) for case in same if case.part])
    if first.xids:
        yield f"    kernel log: {clean(', '.join(first.xids), LONGEST)}"
    for finding in first.findings:
        more = f" and {len(finding.evidence) - 1} more" if len(finding.evidence) > 1 else ""
        yield f"    {finding.rule} ({finding.severity}): {clean(finding.evidence[0], LONGEST)}{more}"
    yield from _fixes(finding.fix for finding in first.findings)


def _serials(numbers: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield a line with the serial numbers of parts at the same place of several nodes, if any is known."""
    known = [f"{node} {serial}" for node, serial in numbers if serial]
    more = f" and {len(known) - SERIALS} more (all in --json)" if len(known) > SERIALS else ""
    if known:
        yield f"    serial numbers: {clean(', '.join(known[:SERIALS]), LONGEST)}{more}"


def _place(case: Case) -> str:
    """Format the part of many cases, without what differs from node to node."""
    if case.part is None:
        return UNKNOWN_PART
    part = replace(case.part.part, serial="")
    return f"{part} is missing" if case.part.missing else str(part)


def part_text(case: Case) -> str:
    """Format the part of a case, with its part number."""
    if case.part is None:
        return UNKNOWN_PART
    number = case.part.part.part_number
    return f"{case.part}; part number {number}" if number else str(case.part)


def document(lists: WorkLists) -> dict[str, Any]:
    """Return the lists as JSON."""
    return {
        "firmware": [
            {"rule": f.rule, "component": f.component, "from": f.now, "to": f.wanted, **_nodes(f.nodes), "fix": f.fix}
            for f in lists.firmware
        ],
        "power_cycle": [
            {**_nodes(p.nodes), "restart": _restart(p), "reasons": {why: list(rules) for why, rules in p.reasons},
             "fixes": dict(p.fixes)} for p in lists.power
        ],
        "cables": [_cable_json(row) for row in lists.cables],
        "cases": [_case_json(case) for case in lists.cases],
        "by_hand": [
            {"rule": h.rule, "title": h.title, "fix": h.fix, "why": h.why, "part": h.part, **_nodes(nodes)}
            for h, nodes in lists.hands
        ],
    }  # fmt: skip


def _nodes(nodes: Sequence[str]) -> dict[str, Any]:
    return {"nodes": list(nodes), "folded": locations.names_text(nodes)}


def _cable_json(row: CableWork) -> dict[str, Any]:
    link = row.link
    texts = {"port": link.port, "interface": link.interface, "pci": link.pci, "slot": link.slot, "serial": link.serial}
    far = {"switch": link.switch, "switch_port": link.switch_port}
    findings = [
        {"rule": f.rule, "severity": f.severity, "evidence": f.evidence, "fix": f.fix} for f in row.findings
    ]  # fmt: skip
    known = {word: text for word, text in {**texts, **far}.items() if text}
    return {"node": row.node, "device": link.device, **known, "link": dict(link.values), "findings": findings}


def _case_json(case: Case) -> dict[str, Any]:
    known: dict[str, Any] = {}
    if case.part is not None:
        part = case.part.part
        serial, run = case.part.earlier
        texts = {
            "name": part.name, "slot": part.slot, "pci": part.pci, "serial": part.serial or serial,
            "serial_from_run": run, "part_number": part.part_number, "model": part.model,
        }  # fmt: skip
        known = {"kind": part.word, **{word: text for word, text in texts.items() if text}}
        known |= {"missing": case.part.missing}
    findings = [
        {"rule": f.rule, "title": f.title, "status": f.status.value, "severity": f.severity,
         "evidence": list(f.evidence), "fix": f.fix} for f in case.findings
    ]  # fmt: skip
    return {"node": case.node, "part": known or None, "xids": list(case.xids), "findings": findings}


CABLES = (
    "node", "device", "port", "interface", "pci", "slot", "serial", "switch", "switch_port", "link", "rules",
    "evidence", "fix",
)  # fmt: skip
"""The columns of `cables.csv`."""


def cable_rows(rows: Iterable[CableWork]) -> Iterator[tuple[str, ...]]:
    """Yield one row of `cables.csv` for each cable."""
    for row in rows:
        link = row.link
        found = row.findings
        yield (
            _name(row.node), link.device, link.port, link.interface, link.pci, link.slot, link.serial, link.switch,
            link.switch_port, _state(row), " ".join(each.rule for each in found),
            "; ".join(each.evidence for each in found), " / ".join(dict.fromkeys(each.fix for each in found)),
        )  # fmt: skip


FIRMWARE = ("nodes", "component", "from", "to", "rule", "fix")
"""The columns of `firmware.csv`."""


def firmware_rows(updates: Iterable[FirmwareUpdate]) -> Iterator[tuple[str, ...]]:
    """Yield one row of `firmware.csv` for each component and version."""
    for each in updates:
        yield locations.names_text(each.nodes), each.component, each.now, each.wanted, each.rule, each.fix


def power_text(cycles: Iterable[PowerCycle]) -> str:
    """Return the content of `power-cycle.txt`: each node once, with the reasons."""
    return "\n".join(line for cycle in cycles for line in _power(cycle)) + "\n"


def case_files(cases: Iterable[Case], run: str, profile: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the content of a Markdown file for each case."""
    names: dict[str, int] = {}
    for case in sorted(cases, key=lambda each: natural(each.node)):
        part = case.part.part if case.part is not None else None
        name = _slug(f"{_name(case.node)}-{f'{part.word}-{part.name}' if part is not None else 'part'}")
        names[name.casefold()] = count = names.get(name.casefold(), 0) + 1
        yield f"{name}.md" if count == 1 else f"{name}-{count}.md", _markdown(case, run, profile)


def _name(node: str) -> str:
    return locations.names_text((node,)) if is_group(node) else node


def _slug(text: str) -> str:
    """Return a text as a file name: letters, digits and `.`, `_`, `-`."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.")[:120]


def _markdown(case: Case, run: str, profile: str) -> str:
    """Format a case; every text of a node stands in a code block, on a line that begins with a word of ours."""
    rows = [("node", _name(case.node))]
    if case.part is not None:
        part = case.part.part
        serial, earlier = case.part.earlier
        known = (
            ("part", f"{part.word} {part.name}"), ("state", "missing" if case.part.missing else ""),
            ("slot", part.slot), ("PCI address", part.pci),
            ("serial number", part.serial or (f"{serial} (in run {earlier})" if serial else "")),
            ("part number", part.part_number), ("model", part.model),
        )  # fmt: skip
        rows += [(word, text) for word, text in known if text]
    else:
        rows.append(("part", UNKNOWN_PART))
    rows += [*(("kernel log", text) for text in case.xids), ("run", run), ("profile", profile)]
    text = ["# Case for a part", "", *_block(rows), "", "## Evidence", ""]
    for finding in case.findings:
        head = (("rule", f"{finding.rule} ({finding.severity}): {finding.title}"), ("verdict", finding.status.value))
        text += [*_block([*head, *(("value", value) for value in finding.evidence), ("fix", finding.fix)]), ""]
    return "\n".join(text)


def _block(rows: Iterable[tuple[str, str]]) -> list[str]:
    return ["~~~text", *(f"{word}: {clean(text, FIX)}" for word, text in rows if text), "~~~"]
