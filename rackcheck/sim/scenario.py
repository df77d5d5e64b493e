"""Reads scenario files, which describe a simulated rack: its nodes, their machines, and their faults."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rackcheck.base.user_error import UserError
from rackcheck.inventory import unfold
from rackcheck.inventory.nodeset import is_name
from rackcheck.model.capture import NodeCapture
from rackcheck.profile.document import BadFile, Problem, Scalar, YamlMapping, YamlNode, YamlSequence, read
from rackcheck.profile.layers import did_you_mean, word
from rackcheck.profile.library import text_of
from rackcheck.profile.schema import TEXT
from rackcheck.profile.schema_check import deviations
from rackcheck.run import captured, store
from rackcheck.sim import faults, machine
from rackcheck.sim.behaviour import BmcConduct, Station
from rackcheck.sim.scenario_nodes import ALL, MOST, RACK, UNITS, Builder, Growth
from rackcheck.sim.shape import scenario as shape

FOLDER = Path(__file__).parent / "scenarios"
"""The folder of the scenarios that are shipped with rackcheck."""


@dataclass(frozen=True)
class Laid:
    """One fault of a scenario: its kind, the nodes that have it, and its parameters."""

    kind: str
    nodes: tuple[str, ...]
    words: Mapping[str, str]
    about: str = ""


@dataclass(frozen=True)
class Scenario:
    """A simulated rack: its nodes with their faults, and the list of all faults."""

    name: str
    title: str
    stations: tuple[Station, ...]
    faults: tuple[Laid, ...] = ()
    racks: Mapping[str, str] = field(default_factory=dict)


def shipped() -> dict[str, Path]:
    """Return the scenarios that are shipped with rackcheck, by name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.yaml"))}


def growing() -> list[str]:
    """Return the names of the shipped scenarios whose number of nodes can be set."""
    return [name for name, path in shipped().items() if ALL in text_of(path)]


def find(name: str) -> Scenario:
    """Return the simulated rack for the text after `sim:`.

    The text after `sim:` is NAME or NAME:COUNT for a shipped scenario, the path of a scenario file, or the folder of a
    machine, a run, a capture or a Redfish tree. Raises UserError if there is no such rack, and BadFile if a scenario
    file or a machine file is invalid.
    """
    bare, mark, count = name.partition(":")
    known = shipped()
    if bare in known:
        return load(known[bare], _count(count) if mark else None, f"sim:{bare}")
    path = Path(name).expanduser()
    many = None
    if not path.exists() and ":" in name:
        before, _, after = name.rpartition(":")
        path, many = Path(before).expanduser(), after
    if path.is_file():
        return load(path, None if many is None else _count(many))
    if path.is_dir() and path != Path():
        return of_machine(path, None if many is None else _count(many))
    if "/" in name:
        raise UserError(f"{path}: no such file")
    raise UserError(
        f"no simulated rack {name}{did_you_mean(bare, list(known))} (there are {', '.join(known)}; "
        "or give the path of a scenario file, a machine, a stored run, a capture or a Redfish tree)"
    )


def _count(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text) or not 1 <= int(text) <= MOST:
        raise UserError(f"a simulated rack has 1 to {MOST} nodes, not {text!r}")
    return int(text)


def of_machine(folder: Path, count: int | None = None) -> Scenario:
    """Return a rack for a folder: `count` nodes of a machine or a Redfish tree, or the nodes of a run or a capture."""
    kind = machine.of_folder(folder)
    stations: tuple[Station, ...]
    numbers = range(1, (count or 1) + 1)
    if kind is machine.FolderKind.RUN:
        if count is not None:
            raise UserError(f"the stored run {folder.name} has a fixed number of nodes: remove the count")
        names = _of_run(folder)
        stations = tuple(Station(n, i, machine.from_run(folder, n)) for i, n in enumerate(names, start=1))
    elif kind is machine.FolderKind.CAPTURE:
        return _of_capture(captured.load(folder), count)
    elif kind is machine.FolderKind.TREE:
        held = machine.SimMachine(NodeCapture(), machine.from_tree(folder))
        still = BmcConduct(stands_still=True)
        stations = tuple(Station(f"n{i:02}", i, held, bmc=still) for i in numbers)
    else:
        stations = tuple(Station(f"n{i:02}", i, machine.load(folder, f"n{i:02}", i)) for i in numbers)
    return Scenario(folder.name, f"{kind.value} {folder.name}", stations)


def _of_capture(found: captured.Captured, count: int | None) -> Scenario:
    """Return a rack with a capture's nodes and roles; rack positions that a simulated rack cannot have are omitted."""
    if count is not None:
        raise UserError(f"the capture {found.folder.name} has a fixed number of nodes: remove the count")
    units = [unit for node in found.nodes for unit in ((node.rack, u) for u in node.units)]
    fits = len({*units}) == len(units) and all(n.u + n.height - 1 <= UNITS and n.height for n in found.nodes)
    stations = tuple(
        Station(
            node.name, number, machine.from_capture(found, node.name), role=node.role,
            rack=node.rack if fits and node.u else "", u=node.u if fits else 0, height=node.height,
        )
        for number, node in enumerate(found.nodes, start=1)
    )  # fmt: skip
    title = f"capture {found.id}{', anonymised' if found.anonymised else ''}"
    return Scenario(found.folder.name, title, stations, racks={s.rack: RACK for s in stations if s.rack})


def _of_run(folder: Path) -> list[str]:
    """Return the nodes of a stored run, in the run's order; raises UserError if a name is not a valid node name."""
    names = [str(node) for node in store.find(str(folder)).started().nodes]
    wrong = next((name for name in names if not is_name(name)), None)
    if wrong is not None:
        raise UserError(f"the stored run {folder.name} has a node {wrong!a}, which cannot be a node's name")
    return names


def load(path: Path, count: int | None = None, shown: str = "") -> Scenario:
    """Load a scenario file, with `count` nodes if their number can be set; raises BadFile with all errors."""
    table = _shaped(read(text_of(path), str(path)))
    problems: list[Problem] = []
    stations = Builder(path, table, problems).stations(count, shown or str(path), growing())
    if problems:
        raise BadFile(problems)
    listed = table.get("faults")
    grown = Growth(table)
    laid = [
        _lay(stations, entry, grown, problems)
        for entry in (listed.items if isinstance(listed, YamlSequence) else ())
        if isinstance(entry, YamlMapping)
    ]
    if problems:
        raise BadFile(problems)
    racks = {s.rack: RACK for s in stations.values() if s.rack}
    return Scenario(word(table, "scenario"), word(table, "title"), tuple(stations.values()), tuple(laid), racks)


def _shaped(node: YamlNode) -> YamlMapping:
    """Check a scenario file against the schema; the parameters of a fault are checked later, by its kind."""
    schema = shape()
    entry = schema["properties"]["faults"]["items"]
    entry["properties"]["fault"] = TEXT
    del entry["additionalProperties"]
    problems = [Problem(found.place, _numbered(path, found.text)) for path, found in deviations(node, schema)]
    if problems:
        raise BadFile(problems)
    assert isinstance(node, YamlMapping)
    return node


def _numbered(path: tuple[str | int, ...], text: str) -> str:
    """Return an error message with the full path of the wrong value; list items count from 1, as in `faults[1]`."""
    if not any(isinstance(step, int) for step in path):
        return text
    spelt = "".join(f"[{step + 1}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
    return f"`{spelt}`{text.removeprefix(f'`{path[-1]}`')}" if text.startswith(f"`{path[-1]}`") else text


def _lay(stations: dict[str, Station], entry: YamlMapping, grown: Growth, problems: list[Problem]) -> Laid:
    """Add one fault to its nodes; unknown nodes and other errors are added to `problems`."""
    words = {key: value.text for key, value in entry.items.items() if isinstance(value, Scalar)}
    words |= {key: "" for key in entry.items if key not in words}  # the fault rejects these as unknown parameters
    kind, target, about = words.pop("fault"), words.pop("nodes"), words.pop("about", "")
    here: tuple[str, ...] = ()
    try:
        names = unfold(target)
        absent = next((n for n in names if n not in stations and not (grown and n in grown.names)), None)
        if absent is not None:
            raise UserError(f"no node {absent} in this scenario{did_you_mean(absent, list(stations))}")  # noqa: TRY301
        faults.known(kind, words)
        here = tuple(name for name in names if name in stations)
        for name in here:
            stations[name] = faults.lay(stations[name], kind, words)
    except UserError as error:
        problems.append(Problem(entry.place, str(error)))
    return Laid(kind, here, words, about)
