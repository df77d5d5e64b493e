"""A simulated rack as a file: which nodes, of which machine, with which faults."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from rackcheck import store
from rackcheck.conform import conform
from rackcheck.core.capture import NodeCapture
from rackcheck.document import BadFile, Listing, Place, Problem, Scalar, Table, read
from rackcheck.inventory import unfold
from rackcheck.layers import did_you_mean
from rackcheck.library import text_of
from rackcheck.mistake import Mistake
from rackcheck.sim import faults, machine
from rackcheck.sim.conduct import BmcConduct, Station
from rackcheck.sim.shape import scenario as shape

FOLDER = Path(__file__).parent / "scenarios"
"""Where the scenarios that come with rackcheck lie."""

ALL = "@{all}"
"""In a node set of a scenario: as many nodes as our user asks for, `[0001-0072]`."""

MOST = 5000
"""Nodes of one simulated rack."""


@dataclass(frozen=True)
class Laid:
    """One fault of a scenario: its kind, the nodes it is on, and its words."""

    kind: str
    nodes: tuple[str, ...]
    words: Mapping[str, str]
    about: str = ""


@dataclass(frozen=True)
class Scenario:
    """A simulated rack: its stations with the faults laid over them, and the faults for whoever wants to know."""

    name: str
    title: str
    stations: tuple[Station, ...]
    faults: tuple[Laid, ...] = ()
    racks: Mapping[str, str] = field(default_factory=dict)


def shipped() -> dict[str, Path]:
    """Give the scenarios that come with rackcheck, by name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.yaml"))}


def find(name: str) -> Scenario:
    """Find a rack by what stands after `sim:`.

    NAME or NAME:COUNT is a scenario that ships; a path is a scenario file, or the folder of a machine, a run or a
    Redfish tree. Raises Mistake or BadFile.
    """
    bare, _, count = name.partition(":")
    known = shipped()
    if bare in known:
        return load(known[bare], _count(count) if count else None)
    whole = Path(name).expanduser()
    path, many = (
        (whole, "") if whole.exists() else (Path(name.rpartition(":")[0]).expanduser(), name.rpartition(":")[2])
    )
    if path.is_file():
        return load(path, _count(many) if many else None)
    if path.is_dir() and path != Path():
        return of_machine(path, _count(many) if many else 1)
    raise Mistake(
        f"no simulated rack {name}{did_you_mean(bare, list(known))} (there are {', '.join(known)}, "
        "and paths: to a scenario file, a machine, a stored run or a Redfish tree)"
    )


def _count(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", text) or not 1 <= int(text) <= MOST:
        raise Mistake(f"a simulated rack has 1 to {MOST} nodes, not {text!r}")
    return int(text)


def of_machine(folder: Path, count: int = 1) -> Scenario:
    """Make a rack of one machine: `count` nodes of a machine folder, a stored run's own nodes, one Redfish tree."""
    kind = machine.of_folder(folder)
    stations: tuple[Station, ...]
    if kind is machine.Kind.RUN:
        names = _of_run(folder)
        stations = tuple(Station(n, i, machine.from_run(folder, n)) for i, n in enumerate(names, start=1))
    elif kind is machine.Kind.TREE:
        held = machine.Machine(NodeCapture(), machine.from_tree(folder))
        still = BmcConduct(stands_still=True)
        stations = tuple(Station(f"n{i:02}", i, held, bmc=still) for i in range(1, count + 1))
    else:
        stations = tuple(Station(f"n{i:02}", i, machine.load(folder, f"n{i:02}", i)) for i in range(1, count + 1))
    return Scenario(folder.name, f"{kind.value} {folder.name}", stations)


def _of_run(folder: Path) -> list[str]:
    """Name the nodes of a stored run, in its own order."""
    return [str(node) for node in store.find(str(folder)).started().nodes]


def load(path: Path, count: int | None = None) -> Scenario:
    """Load a scenario file; raises BadFile with every mistake's place."""
    table = conform(read(text_of(path), str(path)), shape())
    default = table.get("count")
    count = count or (_count(default.text) if isinstance(default, Scalar) else 0)
    stations = _stations(path, table, count)
    listed = table.get("faults")
    laid: list[Laid] = []
    for entry in listed.items if isinstance(listed, Listing) else ():
        assert isinstance(entry, Table)
        laid.append(_lay(stations, entry, may_miss=bool(count)))
    racks = {s.rack: "rack-48u" for s in stations.values() if s.rack}
    title = table.get("title")
    return Scenario(
        str(_text(table, "scenario")), title.text if isinstance(title, Scalar) else "",
        tuple(stations.values()), tuple(laid), racks,
    )  # fmt: skip


def _text(table: Table, key: str, default: str = "") -> str:
    found = table.get(key)
    return found.text if isinstance(found, Scalar) else default


def _stations(path: Path, table: Table, count: int) -> dict[str, Station]:
    listed = table.items["nodes"]
    assert isinstance(listed, Table)
    bmc = _bmc(table)
    stations: dict[str, Station] = {}
    filled: dict[str, int] = {}
    for key, own in listed.items.items():
        assert isinstance(own, Table)
        try:
            for name in unfold(key.replace(ALL, f"[0001-{count:04}]")):
                number = len(stations) + 1
                if number > MOST or name in stations:
                    raise Mistake(f"{name} stands here twice" if name in stations else f"more than {MOST} nodes")  # noqa: TRY301
                held = machine.load(_machine(_text(own, "machine"), path), name, number)
                height = int(_text(own, "height", "1"))
                rack = _text(own, "rack")
                u = filled.get(rack, 0) + 1 if rack else 0
                filled[rack] = u + height - 1
                stations[name] = Station(name, number, held, bmc=bmc, rack=rack, u=u, height=height)
        except BadFile:
            raise
        except Mistake as error:
            raise BadFile([Problem(listed.keys[key], str(error))]) from None
    return stations


def _bmc(table: Table) -> BmcConduct:
    own = table.get("bmc")
    if not isinstance(own, Table):
        return BmcConduct()
    usual = BmcConduct()
    return replace(
        usual,
        sessions=int(_text(own, "sessions", str(usual.sessions))),
        workers=int(_text(own, "workers", str(usual.workers))),
        latency=int(_text(own, "milliseconds", "0")) / 1000,
    )


def _machine(name: str, beside: Path) -> Path:
    """Find a machine by its name, or by a path from the scenario's own folder."""
    known = machine.shipped()
    if name in known:
        return known[name]
    path = beside.parent / Path(name).expanduser()
    if "/" in name and path.is_dir():
        return path
    raise Mistake(f"no machine {name}{did_you_mean(name, list(known))} (there are {', '.join(known)})")


def _lay(stations: dict[str, Station], entry: Table, *, may_miss: bool) -> Laid:
    place: Place = entry.place
    try:
        words = {k: v.text for k, v in entry.items.items() if isinstance(v, Scalar)}
        kind, target, about = words.pop("fault"), words.pop("nodes"), words.pop("about", "")
        names = unfold(target)
        absent = [name for name in names if name not in stations]
        if absent and not may_miss:
            raise Mistake(f"no node {absent[0]} in this scenario{did_you_mean(absent[0], list(stations))}")  # noqa: TRY301
        here = tuple(name for name in names if name in stations)
        for name in here:
            stations[name] = faults.lay(stations[name], kind, words)
    except Mistake as error:
        raise BadFile([Problem(place, str(error))]) from None
    return Laid(kind, here, words, about)
