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
    """What will be asked: the probes, one list of node questions, one of Redfish links."""

    probes: tuple[AnyProbe, ...]
    wanted: tuple[Path, ...] = ()
    joins: tuple[Join, ...] = ()
    gatherings: tuple[Aggregate, ...] = ()
    comparisons: tuple[Comparison, ...] = ()

    @property
    def questions(self) -> tuple[Shell | Read, ...]:
        """The questions to a node's operating system, without doubles: commands, then the files of each place."""
        asks = [probe.ask.asking(self.wanted) for probe in self.probes]
        # What may take longest begins first: the others are done while it waits.
        commands = sorted(dict.fromkeys(ask for ask in asks if isinstance(ask, Shell)), key=lambda ask: -ask.seconds)
        return (*commands, *bundled(ask for ask in asks if isinstance(ask, Read)))

    @property
    def links(self) -> tuple[LinkPattern, ...]:
        """The links to follow on a BMC, without doubles."""
        asks = (probe.ask for probe in self.probes)
        return tuple(dict.fromkeys(link for ask in asks if isinstance(ask, Redfish) for link in ask.links))

    @property
    def planes(self) -> frozenset[Plane]:
        """The planes that are asked at all."""
        return frozenset(probe.plane for probe in self.probes)


CAP = 16 << 20
"""Bytes of all files of one place together."""


def bundled(reads: Iterable[Read]) -> tuple[Read, ...]:
    """Ask for the files of one place at once: a process for every probe would cost more than the files do.

    Not for all files at once: what a driver answers may hang, and costs the files of its own place then.
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
"""Places whose files a device's driver answers, asking the device or waiting for its lock."""


def _place(glob: str) -> str:
    """Name what answers for a file: a disk, the kernel from its memory, or a driver that may wait for its device."""
    parts = glob.split("/")[1:]
    match parts[:4]:
        case ["sys", "class", place, *_] | ["proc", "driver", place, *_] if place in DRIVEN:
            return place
        case ["sys", "bus", *_] | ["proc", "fs", *_]:
            return "/".join(parts[:3])
        case ["sys", "devices", "system", "cpu", *_] if "*" in glob:
            return "cpus"  # hundreds of each: all names together must fit into one command
        case ["proc" | "sys", *_]:
            return "kernel"
    return "disk"


def affordable(probes: Iterable[AnyProbe], named: Iterable[str] = ()) -> tuple[AnyProbe, ...]:
    """Choose what is asked where no profile says what is wanted: all but the dear ones, of which a fact must be named.

    `named` are the beginnings of paths that somebody typed.
    """
    words = tuple(named)
    return tuple(
        probe
        for probe in probes
        if not (isinstance(probe.ask, Redfish) and probe.ask.dear)
        or any(pattern.startswith(word) or word.startswith(bare(pattern)) for pattern in probe.gives for word in words)
    )


def bare(pattern: str) -> str:
    """Give the beginning of a pattern that names no item."""
    return pattern.partition("/*")[0]


ALWAYS = tuple(map(parse_path, ("node.product", "os.release.name")))
"""Facts every audit reads beside those its rules name: they say what machine the verdict is about."""


def plan(
    wanted: Iterable[Path],
    probes: Sequence[AnyProbe],
    catalogue: Catalogue,
    joins: Sequence[Join] = (),
    gatherings: Sequence[Aggregate] = (),
    comparisons: Sequence[Comparison] = (),
) -> Plan:
    """Choose the probes that give these facts, or what these follow from, and those that list their collections."""
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
    """Name the probes of facts that chosen gatherings read on planes that are asked anyway.

    What only root gets an answer to is among them where something else is asked as root: no right is wanted for them.
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
    """Every fact that wanted ones follow from, and those that these follow from."""
    needs = {giver.name: [parse_path(need) for need in giver.needs] for giver in givers}
    todo, found = list(paths), dict[Path, None]()
    while todo:
        entry = catalogue.find(todo.pop())
        for need in needs.get(entry.probe, ()) if entry is not None else ():
            if need not in found:
                found[need] = None
                todo.append(need)
    return sorted(found, key=str)
