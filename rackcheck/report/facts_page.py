"""`docs/reference/facts.md`: every fact that a probe gives or a join derives, from the catalogue itself."""

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

What rackcheck can know of a node. This page is made from the catalogue (`make schemas`), never by hand. `rackcheck
facts` shows what this machine says, `rackcheck probe show NAME` what one probe promises; how a rule asks for a fact
stands in `docs/guide/profiles.md`.

- **Fact**: the path that a profile names. `*` stands for an item's name: `gpu/0.temperature`, `mount/"/".used_share`.
- **Type** says which operators fit. A *quantity* is written with any unit of its dimension. A *version* has a scheme
  that puts it in order; an opaque one is only the same or another. A *setting* is compared as a number where it is
  one. A *collection* is what `each`, `any`, `no` and `count` look at.
- **Class** says what may be compared. An *identity* differs from node to node; *config* and *version* are alike on
  nodes that are set up alike; a *counter* only grows until something is reset; a *measurement* differs from reading
  to reading.
- **From** names the plane and the probe. *os* is the node itself, *bmc* its BMC. *root* marks what only root gets an
  answer to (`docs/guide/least-privilege.md`). *derived* follows from other facts.

A fact that could not be read is unknown, with the reason; one that was looked for and is not there is absent. Neither
is ever 0, an empty text or a pass.

"""

AREAS: Mapping[str, str] = {
    "bios": "BIOS settings as the BMC tells them: in neutral words, and each as its maker spells it.",
    "bmc": "The BMC, and the systems behind it.",
    "burnin": "What a burn-in measured (`docs/guide/burnin.md`).",
    "cmdline": "The command line that the kernel was started with.",
    "container": "What runs containers on the node, and what gives them GPUs.",
    "cpu": "Processors: what they are, how they are clocked, what they complain of.",
    "dimm": "Memory modules, slot by slot, as firmware lists them.",
    "driver": "NVIDIA's driver and what goes with it: libraries, kernel module, daemons, Fabric Manager, IMEX.",
    "fan": "Fans, as the BMC sees them.",
    "firmware": "Firmware, as the BMC lists it.",
    "fleet": "All nodes of the inventory together; for rules with `scope: fleet`.",
    "gpu": "NVIDIA's GPUs by the driver's index.",
    "gpu.amd": "AMD's GPUs by PCI address. A rule for GPUs of both makers is two rules.",
    "iommu": "What keeps the memory of devices apart.",
    "kernel": "The running kernel, its modules' packages, and what it holds against itself.",
    "leak": "Leak detectors, as the BMC sees them.",
    "limits": "What a process may use.",
    "log": "What the node's logs say, but for the kernel's own ring (`log.kernel`).",
    "log.kernel": "What the kernel's ring says of devices and of itself; lines are counted by what they complain of.",
    "memory": "Memory as the kernel has it, its modules taken together, and its errors.",
    "module": "Modules that are loaded into the kernel.",
    "mount": "Filesystems where they are mounted.",
    "nic": "RDMA devices, of InfiniBand and of RoCE, by the driver's name.",
    "nic.adapter": "The PCI functions of NVIDIA's NICs: link, module, firmware, and the firmware's settings. Bit error "
    "rates are shares; those of a GPU's NVLinks are compared as a power of ten (`…_ber_exponent`).",
    "nic.bond": "Bonds of network interfaces.",
    "nic.interface": "Network interfaces by the kernel's name: link, settings, module, counters, addresses.",
    "nic.lldp": "Which switch, and which port of it, each network interface hangs on, as the switch says.",
    "nic.vlan": "VLANs on network interfaces.",
    "node": "The machine as a whole: maker, product, serial numbers, slots.",
    "numa": "Which processors and which memory are near each other.",
    "nvme": "NVMe drives: firmware, wear, health, errors.",
    "nvswitch": "NVSwitches that are devices of this node.",
    "os": "The operating system: release, boot, processes, files, libraries.",
    "package": "Packages of the distribution.",
    "pcie": "PCI functions: link, capabilities, errors, place in the tree.",
    "psu": "Power supplies, as the BMC sees them.",
    "rack": "A rack as a whole, from the facts of all its nodes; for rules with `scope: rack`.",
    "scheduler": "Slurm: what the node's own files say, and how its controller sees the node.",
    "sensor": "Temperatures, as the BMC measures them.",
    "service": "Services of systemd.",
    "storage": "Block devices, arrays, pools, and clients of network filesystems.",
    "sysctl": "The kernel's tunables. Any other is known by its name, too: it is asked for where a profile names it.",
    "time": "The clock, and who keeps it.",
}
"""The areas by the words that their facts begin with, each with a sentence; of two that fit, the longer."""


@dataclass(frozen=True)
class PageQuestion:
    """One thing that is asked, as the page shows it."""

    heading: str
    lines: tuple[str, ...]


ROOT, COMMANDS, FILES, REDFISH = "Commands as root", "Commands", "Files", "Redfish"
LOAD, DERIVED = "Burn-in", "Derived"
WORDS = {
    ROOT: "Asked through `sudo -n` by a login that is not root; `rackcheck doctor --sudoers` prints the list that is "
    "needed. `{}` is the last part of every name that fits the patterns.",
    COMMANDS: "Asked as the user who logs in, by the node's `sh`. `{}` is the last part of every name that fits the "
    "patterns.",
    FILES: "Read with `head`; a pattern that matches nothing is no error.",
    REDFISH: "Followed link by link from the service root, with GET alone.",
    LOAD: "Measured by `rackcheck burnin`, which puts a load on the node; an audit never asks for these.",
    DERIVED: "Nobody is asked: these follow from other facts.",
}


def page(registry: Registry) -> str:
    """Write the page."""
    entries = registry.catalogue.entries
    areas: dict[str, list[Entry]] = {}
    for pattern in sorted(entries, key=natural):
        areas.setdefault(area(pattern), []).append(entries[pattern])
    roots = {probe.name for probe in registry.probes if isinstance(probe.ask, Shell) and probe.ask.root}
    names = sorted(areas)
    says = ", ".join(f"[{name}](#{_anchor(name)})" for name in names)
    givers = f"{len(registry.probes)} probes and {len(registry.joins)} joins"
    parts = [
        f"{HEAD}{len(entries)} facts and collections of {givers}: {says}. What is asked: [Questions](#questions).\n"
    ]
    for name in names:
        words = f"{AREAS[name]}\n\n" if name in AREAS else ""
        parts.append(f"\n## {name}\n\n{words}" + "".join(f"{row}\n" for row in _table(areas[name], roots)))
    parts.append("".join(f"{line}\n" for line in ("\n## Questions", *_questions(registry))))
    return "".join(parts)


def area(pattern: str) -> str:
    """Name the area of a fact; that of a package of somebody else's is its first word."""
    word = parse(pattern.removesuffix(".**")).segments[0].word
    return max((name for name in AREAS if re.match(rf"{re.escape(name)}(?:[./]|$)", pattern)), key=len, default=word)


def _anchor(heading: str) -> str:
    """Spell a heading as the hosts of repositories name its place: small letters, without dots."""
    return heading.lower().replace(".", "")


def _table(entries: list[Entry], roots: set[str]) -> Iterator[str]:
    yield "| fact | what it says | type | class | from |"
    yield "| --- | --- | --- | --- | --- |"
    for entry in entries:
        kind = entry.kind
        typed = f"{kind}, or unlimited" if kind.unlimited else str(kind)
        cls = "" if typed == "collection" else kind.cls.value
        plane = f"{entry.plane.value}, root" if entry.probe in roots else entry.plane.value
        cells = f"`{entry.pattern}`", _sentence(kind.help, kind.words), typed, cls, f"{plane}: {entry.probe}"
        yield f"| {' | '.join(map(_cell, cells))} |"


def _sentence(message: str, words: Iterable[str]) -> str:
    """Write a fact's help as a sentence, with the words that it may have."""
    first, _, rest = message.partition(" ")
    # A name keeps its own letters: amd-smi, full/half, eMMC.
    shown = f"{first.capitalize() if re.fullmatch(r'[a-z]+[.,;:]?', first) else first} {rest}".rstrip()
    closed = ", ".join(words)
    return f"{shown if shown.endswith('.') else f'{shown}.'}{f' One of: {closed}.' if closed else ''}"


def _cell(text: str) -> str:
    """Write a text into a table: on one line, and no letter of it a mark, but within backticks."""
    parts = " ".join(text.split()).split("`")
    shown = (part if place % 2 else re.sub(r"([\\*<>])", r"\\\1", part) for place, part in enumerate(parts))
    return "`".join(shown).replace("|", r"\|")


def _questions(registry: Registry) -> Iterator[str]:
    """Name each question once, with the probes that read its answer."""
    asked: dict[PageQuestion, list[str]] = {}
    for probe in registry.probes:
        asked.setdefault(_asked(probe), []).append(probe.name)
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


def _asked(probe: AnyProbe) -> PageQuestion:
    ask = probe.ask
    if isinstance(ask, Shell):
        each = tuple(f"{{}}: {glob}" for glob in ask.each.split())
        return PageQuestion(ROOT if ask.root else COMMANDS, (*named(ask.command).splitlines(), *each))
    if isinstance(ask, Redfish):
        return PageQuestion(REDFISH, tuple(str(link) or "/" for link in ask.links))
    if isinstance(ask, Load):
        return PageQuestion(LOAD, (str(ask),))
    family = (f"{ask.family[1]}/…: any that a profile names as {ask.family[0]}.…",) if ask.family else ()
    return PageQuestion(FILES, (*ask.globs, *family))


def main() -> None:
    """Write the page that ships: `python -m rackcheck.report.facts_page FOLDER`."""
    import sys  # noqa: PLC0415  only when generating
    from pathlib import Path  # noqa: PLC0415

    from rackcheck.probe.registry import registry  # noqa: PLC0415

    (Path(sys.argv[1]) / "facts.md").write_text(page(registry()), encoding="utf-8")


if __name__ == "__main__":
    main()
