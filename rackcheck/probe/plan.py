"""From the facts a profile names to the fewest questions: each probe once, each question once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rackcheck.model.catalogue import Catalogue
from rackcheck.model.documents import LinkPattern
from rackcheck.model.fact import Plane
from rackcheck.model.path import Path
from rackcheck.model.path import parse as parse_path
from rackcheck.model.question import Read, Redfish, Shell
from rackcheck.probe.compare import Comparison
from rackcheck.probe.contract import AnyProbe
from rackcheck.probe.group import Aggregate
from rackcheck.probe.join import Join


@dataclass(frozen=True)
class Plan:
    """What will be collected: the probes, one list of node questions, one of Redfish links."""

    probes: tuple[AnyProbe, ...]
    wanted: tuple[Path, ...] = ()
    joins: tuple[Join, ...] = ()
    gatherings: tuple[Aggregate, ...] = ()
    comparisons: tuple[Comparison, ...] = ()

    @property
    def questions(self) -> tuple[Shell | Read, ...]:
        """The questions to a node's operating system, without duplicates: commands, then the files of each place."""
        asks = [probe.ask.asking(self.wanted) for probe in self.probes]
        # The slowest command starts first: the others run meanwhile.
        commands = sorted(dict.fromkeys(ask for ask in asks if isinstance(ask, Shell)), key=lambda ask: -ask.seconds)
        return (*commands, *bundled(ask for ask in asks if isinstance(ask, Read)))

    @property
    def links(self) -> tuple[LinkPattern, ...]:
        """The links to follow on a BMC, without duplicates."""
        asks = (probe.ask for probe in self.probes)
        return tuple(dict.fromkeys(link for ask in asks if isinstance(ask, Redfish) for link in ask.links))

    @property
    def planes(self) -> frozenset[Plane]:
        """The planes that are collected."""
        return frozenset(probe.plane for probe in self.probes)


CAP = 16 << 20
"""Maximum bytes of all files of one place together."""


def bundled(reads: Iterable[Read]) -> tuple[Read, ...]:
    """Merge the file questions of each place: one process for every probe would cost more than the files do.

    Files of different places are not merged: a driver may hang, and then costs only the files of its own place.
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
"""Places whose files are served by a device's driver, which accesses the device or waits for its lock."""


def _place(glob: str) -> str:
    """Return the place that serves a file: a disk, the kernel's memory, or a driver that may wait for its device."""
    parts = glob.split("/")[1:]
    match parts[:4]:
        case ["sys", "class", place, *_] | ["proc", "driver", place, *_] if place in DRIVEN:
            return place
        case ["sys", "bus", *_] | ["proc", "fs", *_]:
            return "/".join(parts[:3])
        case ["sys", "devices", "system", "cpu", *_] if "*" in glob:
            return "cpus"  # hundreds of each: all names together must fit in one command
        case ["proc" | "sys", *_]:
            return "kernel"
    return "disk"


def affordable(probes: Iterable[AnyProbe], named: Iterable[str] = ()) -> tuple[AnyProbe, ...]:
    """Return the probes to run if no profile names facts: all, but dear ones only if one of their facts is named.

    `named` are the beginnings of paths that the user typed.
    """
    words = tuple(named)
    return tuple(
        probe
        for probe in probes
        if not (isinstance(probe.ask, Redfish) and probe.ask.dear)
        or any(pattern.startswith(word) or word.startswith(bare(pattern)) for pattern in probe.gives for word in words)
    )


def bare(pattern: str) -> str:
    """Return the beginning of a pattern up to its first item."""
    return pattern.partition("/*")[0]


ALWAYS = tuple(map(parse_path, ("node.product", "os.release.name")))
"""Facts every audit reads in addition to those its rules name: they identify the machine of the verdict."""


def plan(
    wanted: Iterable[Path],
    probes: Sequence[AnyProbe],
    catalogue: Catalogue,
    joins: Sequence[Join] = (),
    gatherings: Sequence[Aggregate] = (),
    comparisons: Sequence[Comparison] = (),
) -> Plan:
    """Choose the probes that provide these facts or their inputs, and those that list their collections."""
    names: dict[str, None] = {}
    paths = tuple(sorted({*wanted, *(p for p in ALWAYS if catalogue.find(p) is not None)}, key=str))
    for path in (*paths, *_followed(paths, catalogue, (*joins, *gatherings, *comparisons))):
        for asked in (path, *path.collections):
            entry = catalogue.find(asked)
            if entry is not None:
                names[entry.probe] = None
    names |= _beside(names, probes, catalogue, gatherings)
    return Plan(
        tuple(probe for probe in probes if probe.name in names), paths,
        tuple(j for j in joins if j.name in names), tuple(g for g in gatherings if g.name in names),
        tuple(c for c in comparisons if c.name in names),
    )  # fmt: skip


def _beside(
    names: Mapping[str, None], probes: Sequence[AnyProbe], catalogue: Catalogue, gatherings: Iterable[Aggregate]
) -> dict[str, None]:
    """Name the probes of facts that chosen gatherings read on planes that are collected anyway.

    Probes that need root are included only if another command runs as root: no rights are requested for them alone.
    """
    chosen = [probe for probe in probes if probe.name in names]
    planes = {probe.plane for probe in chosen}
    rooted = any(_as_root(probe) for probe in chosen)
    given = {probe.name for probe in probes if rooted or not _as_root(probe)}
    wanted = [parse_path(fact) for each in gatherings if each.name in names for fact in each.beside]
    entries = (catalogue.find(asked) for path in wanted for asked in (path, *path.collections))
    return {e.probe: None for e in entries if e is not None and e.plane in planes and e.probe in given}


def _as_root(probe: AnyProbe) -> bool:
    return isinstance(probe.ask, Shell) and probe.ask.root


def _followed(
    paths: Iterable[Path], catalogue: Catalogue, givers: Iterable[Join | Aggregate | Comparison]
) -> Iterable[Path]:
    """Yield every input of the wanted facts, and the inputs of these."""
    needs = {giver.name: [parse_path(need) for need in giver.needs] for giver in givers}
    todo, found = list(paths), dict[Path, None]()
    while todo:
        entry = catalogue.find(todo.pop())
        for need in needs.get(entry.probe, ()) if entry is not None else ():
            if need not in found:
                found[need] = None
                todo.append(need)
    return sorted(found, key=str)
