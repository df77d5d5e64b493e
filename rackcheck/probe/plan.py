"""Finds the fewest questions that provide the facts of a profile; each probe and each question is included once."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rackcheck.model.catalogue import Catalogue
from rackcheck.model.documents import LinkPattern
from rackcheck.model.fact import Plane
from rackcheck.model.part_kinds import is_part_fact
from rackcheck.model.path import Path
from rackcheck.model.path import parse as parse_path
from rackcheck.model.question import Read, Redfish, Shell
from rackcheck.probe.compare import Comparison
from rackcheck.probe.contract import AnyProbe, Probe
from rackcheck.probe.group import Aggregate
from rackcheck.probe.join import Join


@dataclass(frozen=True)
class Plan:
    """What will be collected: the probes, the questions to a node, and the Redfish links.

    `spare` has the names of expensive probes whose facts cause only minor findings if they are unknown.
    """

    probes: tuple[AnyProbe, ...]
    wanted: tuple[Path, ...] = ()
    joins: tuple[Join, ...] = ()
    gatherings: tuple[Aggregate, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    spare: frozenset[str] = frozenset()

    @cached_property
    def questions(self) -> tuple[Shell | Read, ...]:
        """Return the questions to a node's operating system without duplicates: commands, then files by location."""
        asks = [probe.ask.asking(self.wanted) for probe in self.probes]
        # The slowest commands start first; the others run in the meantime.
        commands = sorted(dict.fromkeys(ask for ask in asks if isinstance(ask, Shell)), key=lambda ask: -ask.seconds)
        return (*commands, *bundled(ask for ask in asks if isinstance(ask, Read)))

    @cached_property
    def links(self) -> tuple[LinkPattern, ...]:
        """Return the links to follow on every BMC, without duplicates."""
        asks = (probe.ask for probe in self.probes if probe.name not in self.spare)
        return tuple(dict.fromkeys(link for ask in asks if isinstance(ask, Redfish) for link in ask.links))

    @cached_property
    def whole_links(self) -> tuple[LinkPattern, ...]:
        """Return further links, to follow only on a BMC that returns whole collections."""
        asks = ((probe.name in self.spare, probe.ask) for probe in self.probes)
        links = (
            link
            for spare, ask in asks
            if isinstance(ask, Redfish)
            for link in (*(ask.links if spare else ()), *ask.whole)
        )
        needed = set(self.links)
        return tuple(dict.fromkeys(link for link in links if link not in needed))

    @cached_property
    def planes(self) -> frozenset[Plane]:
        """Return the planes that are collected."""
        return frozenset(probe.plane for probe in self.probes)


CAP = 16 << 20
"""Maximum total size in bytes of the files that one question reads from one location."""


def bundled(reads: Iterable[Read]) -> tuple[Read, ...]:
    """Merge the file questions of each location: one process per probe would take longer than reading the files.

    Questions for files of different locations are not merged: if a driver hangs, only the files of its location are
    lost.
    """
    places: dict[str, list[tuple[str, Read]]] = {}
    for read in reads:
        for glob in read.globs:
            places.setdefault(_place(glob), []).append((glob, read))
    return tuple(
        Read(
            *dict.fromkeys(glob for glob, _ in asked),
            seconds=max(read.seconds for _, read in asked),
            cap=min(CAP, sum({id(read): read.cap for _, read in asked}.values())),
        )
        for asked in places.values()
    )


DRIVEN = frozenset({"infiniband", "net", "hwmon", "drm", "scsi_host", "nvidia", "nvidia-nvswitch", "nvidia-fs"})
"""Folders whose files are served by a device's driver, which accesses the device or waits for its lock."""


def _place(glob: str) -> str:
    """Return the location of a file: `disk`, `kernel`, `cpus`, or the name of a folder that a driver serves."""
    parts = glob.split("/")[1:]
    match parts[:4]:
        case ["sys", "class", place, *_] | ["proc", "driver", place, *_] if place in DRIVEN:
            return place
        case ["sys", "bus", *_] | ["proc", "fs", *_]:
            return "/".join(parts[:3])
        case ["sys", "devices", "system", "cpu", *_] if "*" in glob:
            return "cpus"  # hundreds of each kind: all their names must fit in one command
        case ["proc" | "sys", *_]:
            return "kernel"
    return "disk"


def affordable(probes: Iterable[AnyProbe], named: Iterable[str] = ()) -> tuple[AnyProbe, ...]:
    """Return the probes to run without a profile: all cheap probes, and expensive probes with a fact in `named`.

    `named` has the paths, or beginnings of paths, that the user typed. A probe without a fact in `named` does not
    follow the links that need a GET for each of hundreds of parts.
    """
    words = tuple(named)

    def typed(probe: AnyProbe) -> bool:
        return any(p.startswith(word) or word.startswith(bare(p)) for p in probe.gives for word in words)

    return tuple(probe if typed(probe) else _unnamed(probe) for probe in probes if not _dear(probe) or typed(probe))


def _unnamed(probe: AnyProbe) -> AnyProbe:
    """Return a probe that does not follow the links which are followed only if a fact of the probe is named."""
    ask = probe.ask
    if not isinstance(ask, Redfish) or not ask.named:
        return probe
    return Probe(probe.name, ask.unnamed(), probe.gives, probe.parse, probe.help)


def bare(pattern: str) -> str:
    """Return the part of a pattern before its first star: `gpu` for `gpu/*.name`."""
    return pattern.partition("/*")[0]


ALWAYS = tuple(map(parse_path, ("node.product", "os.release.name")))
"""Facts that every audit reads in addition to the facts in its rules, since they show which machine was judged."""


def plan(
    wanted: Iterable[Path],
    probes: Sequence[AnyProbe],
    catalogue: Catalogue,
    joins: Sequence[Join] = (),
    gatherings: Sequence[Aggregate] = (),
    comparisons: Sequence[Comparison] = (),
    spare: Iterable[Path] = (),
) -> Plan:
    """Choose the probes that provide these facts or their inputs, and the probes that list their collections.

    If all wanted facts of an expensive probe are in `spare`, the probe is read only on BMCs that return whole
    collections.
    """
    names: dict[str, None] = {}
    needed: set[str] = set()
    spared = frozenset(spare)
    asked_for = {*wanted, *(p for p in ALWAYS if catalogue.find(p) is not None)}
    paths = tuple(sorted(asked_for | _functions(asked_for, catalogue), key=str))
    for path in (*paths, *_followed(paths, catalogue, (*joins, *gatherings, *comparisons))):
        for asked in (path, *path.collections):
            entry = catalogue.find(asked)
            if entry is not None:
                names[entry.probe] = None
                needed |= set() if path in spared else {entry.probe}
    names |= _beside(names, probes, catalogue, gatherings)
    return Plan(
        tuple(probe for probe in probes if probe.name in names), paths,
        tuple(j for j in joins if j.name in names), tuple(g for g in gatherings if g.name in names),
        tuple(c for c in comparisons if c.name in names),
        frozenset(p.name for p in probes if p.name in names and p.name not in needed and _dear(p)),
    )  # fmt: skip


def part_facts(chosen: Plan, probes: Sequence[AnyProbe], catalogue: Catalogue) -> Iterator[Path]:
    """Yield the facts that list the parts of a node with their serial numbers and part numbers.

    If a plan reads parts of a plane, the facts of all kinds of parts of this plane are yielded. Those of commands as
    root are yielded only if the plan reads parts with such a command anyway. Those of probes that give optional inputs
    are left out: if such an input could not be read, a verdict would be unknown that is known without it.
    """
    entries = {fact: entry for fact, entry in catalogue.entries.items() if is_part_fact(fact)}
    givers = {entry.probe for entry in entries.values()}
    names = {probe.name for probe in chosen.probes}
    rooted = any(_as_root(probe) for probe in chosen.probes if probe.name in givers)
    given = {probe.name for probe in probes if rooted or not _as_root(probe)}
    also = (*(each.also for each in chosen.joins), *(each.also for each in chosen.gatherings))
    inputs = (catalogue.find(parse_path(fact)) for facts in also for fact in facts)
    optional = {entry.probe for entry in inputs if entry is not None} - names
    planes = {entry.plane for entry in entries.values() if entry.probe in names}
    for fact, entry in entries.items():
        derived = entry.plane is Plane.DERIVED and bool(entry.inputs) and entry.inputs <= planes
        if derived or (entry.plane in planes and entry.probe in given - optional):
            yield parse_path(fact)


def _functions(paths: Iterable[Path], catalogue: Catalogue) -> set[Path]:
    """Return the fact `pci` of each collection on these paths; items with the same PCI address are one part."""
    collections = {collection for path in paths for collection in path.collections}
    functions = (parse_path(f"{collection.item('*')}.pci") for collection in collections)
    return {path for path in functions if catalogue.find(path) is not None}


def _beside(
    names: Mapping[str, None], probes: Sequence[AnyProbe], catalogue: Catalogue, gatherings: Iterable[Aggregate]
) -> dict[str, None]:
    """Return the probes for optional inputs (`beside`) of the chosen aggregates, on planes that are collected anyway.

    Probes that need root are included only if another command runs as root anyway.
    """
    chosen = [probe for probe in probes if probe.name in names]
    planes = {probe.plane for probe in chosen}
    rooted = any(_as_root(probe) for probe in chosen)
    given = {probe.name for probe in probes if rooted or not _as_root(probe)}
    wanted = [parse_path(fact) for each in gatherings if each.name in names for fact in each.beside]
    entries = (catalogue.find(asked) for path in wanted for asked in (path, *path.collections))
    return {e.probe: None for e in entries if e is not None and e.plane in planes and e.probe in given}


def _dear(probe: AnyProbe) -> bool:
    return isinstance(probe.ask, Redfish) and probe.ask.dear


def _as_root(probe: AnyProbe) -> bool:
    return isinstance(probe.ask, Shell) and probe.ask.root


def _followed(
    paths: Iterable[Path], catalogue: Catalogue, givers: Iterable[Join | Aggregate | Comparison]
) -> Iterable[Path]:
    """Return every direct or indirect input of the requested facts."""
    needs = {giver.name: [parse_path(need) for need in giver.needs] for giver in givers}
    todo, found = list(paths), dict[Path, None]()
    while todo:
        entry = catalogue.find(todo.pop())
        for need in needs.get(entry.probe, ()) if entry is not None else ():
            if need not in found:
                found[need] = None
                todo.append(need)
    return sorted(found, key=str)
