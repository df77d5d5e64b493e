"""Generates `docs/reference/facts.md` from the catalogue: every fact that a probe returns or a join derives."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from rackcheck.model.capture import named
from rackcheck.model.catalogue import Entry
from rackcheck.model.path import parse
from rackcheck.model.question import Load, Redfish, Shell
from rackcheck.model.text import natural
from rackcheck.probe.contract import AnyProbe
from rackcheck.probe.registry import Registry

HEAD = """\
# Facts

The facts that rackcheck can collect from a node. This page is generated from the catalogue (`make schemas`), never
edited by hand. `rackcheck facts` shows the facts of this machine, `rackcheck probe show NAME` those of one probe;
`docs/guide/profiles.md` explains how a rule refers to a fact.

- **Fact**: the path used in a profile. `*` stands for an item's name: `gpu/module-3.margin`, `mount/"/".used_share`.
- **Type** determines the operators. A *quantity* is written with any unit of its dimension. A *version* has a scheme
  that orders it; an opaque version can only be equal or different. A *setting* is compared as a number if its value
  is a number. A *collection* is used by `each`, `any`, `no` and `count`.
- **Class** defines what may be compared. An *identity* differs from node to node; *config* and *version* are the same
  on nodes with the same setup; a *counter* only grows until it is reset; a *measurement* differs from reading
  to reading.
- **From** is the plane and the probe. *os* is the node itself, *bmc* its BMC. *root* marks facts that only root can
  read (`docs/guide/least-privilege.md`). *derived* facts follow from other facts.

A fact that could not be read is unknown, with the reason; a fact that the node does not have is absent. Neither
is ever 0, an empty text or a pass.

"""

AREAS: Mapping[str, str] = {
    "bios": "BIOS settings as the BMC reports them: under vendor-neutral names, and each under its vendor's name.",
    "bmc": "The BMC, and the systems behind it.",
    "burnin": "What a burn-in measured (`docs/guide/burnin.md`).",
    "cmdline": "The kernel's command line.",
    "container": "The container runtime of the node, and its GPU support.",
    "cpu": "Processors: model, clocks, errors.",
    "dimm": "Memory modules by slot, as the firmware lists them.",
    "driver": "NVIDIA's driver and its components: libraries, kernel module, daemons, Fabric Manager, IMEX.",
    "fan": "Fans, as the BMC reports them.",
    "firmware": "Firmware versions, as the BMC lists them.",
    "fleet": "All nodes of the inventory together; for rules with `scope: fleet`.",
    "gpu": "NVIDIA's GPUs by module or PCI address.",
    "gpu.amd": "AMD's GPUs by PCI address. Checking GPUs of both vendors takes two rules.",
    "iommu": "The IOMMU, which isolates the memory of devices.",
    "kernel": "The running kernel, its packages and module options, and its faults and taint flags.",
    "leak": "Leak detectors, as the BMC reports them.",
    "limits": "Resource limits of processes.",
    "log": "The node's logs, except the kernel's ring buffer (`log.kernel`).",
    "log.kernel": "Messages in the kernel's ring buffer about devices and the kernel; counted by kind of error.",
    "memory": "Memory as the kernel reports it, the total of its modules, and its errors.",
    "module": "Loaded kernel modules.",
    "mount": "Filesystems by mount point.",
    "nic": "RDMA devices, InfiniBand and RoCE, by the driver's name.",
    "nic.adapter": "The PCI functions of NVIDIA's NICs: link, module, firmware, and the firmware's settings. Bit error "
    "rates are shares; those of a GPU's NVLinks are compared as a power of ten (`…_ber_exponent`).",
    "nic.bond": "Bonds of network interfaces.",
    "nic.interface": "Network interfaces by the kernel's name: link, settings, module, counters, addresses.",
    "nic.lldp": "The switch and its port that each network interface is connected to, as the switch reports them.",
    "nic.vlan": "VLANs on network interfaces.",
    "node": "The machine as a whole: vendor, product, serial numbers, slots.",
    "numa": "NUMA nodes: the processors and the memory of each.",
    "nvme": "NVMe drives: firmware, wear, health, errors.",
    "nvswitch": "NVSwitches that are devices of this node.",
    "os": "The operating system: release, boot, processes, files, libraries.",
    "package": "Packages of the distribution.",
    "pcie": "PCI functions: link, capabilities, errors, position in the tree.",
    "psu": "Power supplies, as the BMC reports them.",
    "rack": "A rack as a whole, from the facts of all its nodes; for rules with `scope: rack`.",
    "scheduler": "Slurm: the node's own files, and the node's state in its controller.",
    "sensor": "Temperatures, as the BMC measures them.",
    "service": "Services of systemd.",
    "storage": "Block devices, arrays, pools, and clients of network filesystems.",
    "sysctl": "The kernel's tunables. A tunable that is not listed is collected if a profile names it.",
    "time": "The clock, and its synchronisation.",
}
"""A description of each area of facts, by path prefix; if two prefixes match a fact, the longer one counts."""


@dataclass(frozen=True)
class PageQuestion:
    """A probe's request as shown on the page: the heading of its list, and its lines."""

    heading: str
    lines: tuple[str, ...]


ROOT, COMMANDS, FILES, REDFISH = "Commands as root", "Commands", "Files", "Redfish"
LOAD, DERIVED = "Burn-in", "Derived"
WORDS = {
    ROOT: "Run through `sudo -n` by a login that is not root; `rackcheck doctor --sudoers` prints the list that is "
    "needed. `{}` is the last part of every name that matches the patterns.",
    COMMANDS: "Run as the user who logs in, by the node's `sh`. `{}` is the last part of every name that matches the "
    "patterns.",
    FILES: "Read with `head`; a pattern without a match is not an error.",
    REDFISH: "Read by following links from the service root, with GET requests only.",
    LOAD: "Measured by `rackcheck burnin`, which puts a load on the node; an audit never reads these.",
    DERIVED: "No request is sent: these facts are derived from other facts.",
}


def page(registry: Registry) -> str:
    """Return the page as Markdown."""
    entries = registry.catalogue.entries
    areas: dict[str, list[Entry]] = {}
    for pattern in sorted(entries, key=natural):
        areas.setdefault(area(pattern), []).append(entries[pattern])
    roots = {probe.name for probe in registry.probes if isinstance(probe.ask, Shell) and probe.ask.root}
    names = sorted(areas)
    says = ", ".join(f"[{name}](#{_anchor(name)})" for name in names)
    givers = f"{len(registry.probes)} probes and {len(registry.joins)} joins"
    parts = [
        f"{HEAD}{len(entries)} facts and collections of {givers}: {says}. Their requests: [Requests](#requests).\n"
    ]
    for name in names:
        words = f"{AREAS[name]}\n\n" if name in AREAS else ""
        parts.append(f"\n## {name}\n\n{words}" + "".join(f"{row}\n" for row in _table(areas[name], roots)))
    parts.append("".join(f"{line}\n" for line in ("\n## Requests", *_questions(registry))))
    return "".join(parts)


def area(pattern: str) -> str:
    """Return the area of a fact: the longest prefix in AREAS that matches, or else the first word of the path."""
    word = parse(pattern.removesuffix(".**")).segments[0].word
    return max((name for name in AREAS if re.match(rf"{re.escape(name)}(?:[./]|$)", pattern)), key=len, default=word)


def _anchor(heading: str) -> str:
    """Return the link anchor that repository hosts generate for a heading: lower case, without dots."""
    return heading.lower().replace(".", "")


def _table(entries: list[Entry], roots: set[str]) -> Iterator[str]:
    yield "| fact | meaning | type | class | from |"
    yield "| --- | --- | --- | --- | --- |"
    for entry in entries:
        kind = entry.kind
        typed = f"{kind}, or unlimited" if kind.unlimited else str(kind)
        cls = "" if typed == "collection" else kind.cls.value
        plane = f"{entry.plane.value}, root" if entry.probe in roots else entry.plane.value
        cells = f"`{entry.pattern}`", _sentence(kind.help, kind.words), typed, cls, f"{plane}: {entry.probe}"
        yield f"| {' | '.join(map(_cell, cells))} |"


def _sentence(message: str, words: Iterable[str]) -> str:
    """Return a fact's help as a sentence, with its possible values."""
    first, _, rest = message.partition(" ")
    # Names keep the case of their first letter: amd-smi, full/half, eMMC.
    shown = f"{first.capitalize() if re.fullmatch(r'[a-z]+[.,;:]?', first) else first} {rest}".rstrip()
    closed = ", ".join(words)
    return f"{shown if shown.endswith('.') else f'{shown}.'}{f' One of: {closed}.' if closed else ''}"


def _cell(text: str) -> str:
    """Format a text for a table cell: on one line, with Markdown escaped except within backticks."""
    parts = " ".join(text.split()).split("`")
    shown = (part if place % 2 else re.sub(r"([\\*<>])", r"\\\1", part) for place, part in enumerate(parts))
    return "`".join(shown).replace("|", r"\|")


def _questions(registry: Registry) -> Iterator[str]:
    """Yield the Markdown lines of the section Requests: each different request, with the probes that send it."""
    asked: dict[PageQuestion, list[str]] = {}
    for probe in registry.probes:
        asked.setdefault(_question(probe), []).append(probe.name)
    for join in registry.joins:
        facts = (*join.needs, *(f"{fact}, where it was collected" for fact in join.also))
        asked.setdefault(PageQuestion(DERIVED, tuple(sorted(facts, key=natural))), []).append(join.name)
    for heading, words in WORDS.items():
        found = {", ".join(sorted(names)): question for question, names in asked.items() if question.heading == heading}
        if found:
            yield from ("", f"### {heading}", "", words)
        for names in sorted(found):
            question = found[names]
            yield from ("", f"- {names}", "", *(f"      {line}".rstrip() for line in question.lines))


def _question(probe: AnyProbe) -> PageQuestion:
    ask = probe.ask
    if isinstance(ask, Shell):
        each = tuple(f"{{}}: {glob}" for glob in ask.each.split())
        return PageQuestion(ROOT if ask.root else COMMANDS, (*named(ask.command).splitlines(), *each))
    if isinstance(ask, Redfish):
        return PageQuestion(REDFISH, tuple(str(link) or "/" for link in ask.every))
    if isinstance(ask, Load):
        return PageQuestion(LOAD, (str(ask),))
    family = (f"{ask.family[1]}/…: any file that a profile refers to as {ask.family[0]}.…",) if ask.family else ()
    return PageQuestion(FILES, (*ask.globs, *family))


def main() -> None:
    """Write `facts.md` into a folder: `python -m rackcheck.report.facts_page FOLDER`."""
    import sys  # noqa: PLC0415  only when generating
    from pathlib import Path  # noqa: PLC0415

    from rackcheck.probe.registry import registry  # noqa: PLC0415

    (Path(sys.argv[1]) / "facts.md").write_text(page(registry()), encoding="utf-8")


if __name__ == "__main__":
    main()
