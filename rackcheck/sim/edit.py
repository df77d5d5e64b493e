"""Functions that return a changed copy of a simulated node; the original node is not changed."""

import json
import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rackcheck.base.user_error import UserError
from rackcheck.model.capture import BmcCapture, NodeCapture, Output
from rackcheck.model.fact import Unknown, clean
from rackcheck.model.fold import fold
from rackcheck.model.resource import Body
from rackcheck.model.text import natural
from rackcheck.profile.layers import did_you_mean
from rackcheck.run.simulated_run import MARKED_FILE
from rackcheck.sim.behaviour import Station

FUNCTIONS = "/sys/bus/pci/devices/"

LETTERS = 200
"""Maximum number of characters of the names that an error lists."""


def host(station: Station, **parts: Mapping[str, object]) -> Station:
    """Return a copy of the simulated node in which commands, files or unreadable files are replaced."""
    return replace(station, machine=replace(station.machine, host=replace(station.machine.host, **parts)))  # type: ignore[arg-type]


def files(station: Station, changed: Mapping[str, str | None]) -> Station:
    """Return a copy of the simulated node with changed files; a file with the text None is removed."""
    left = {**station.machine.host.files, **changed}
    return host(station, files={path: text for path, text in left.items() if text is not None})


def commands(station: Station, changed: Mapping[str, Output]) -> Station:
    """Return a copy of the simulated node with changed outputs of commands."""
    return host(station, commands={**station.machine.host.commands, **changed})


def bodies(station: Station, changed: Mapping[str, Body]) -> Station:
    """Return a copy of the simulated node with changed bodies of the BMC's resources."""
    held: Mapping[str, Body | Unknown] = ChainMap(dict(changed), station.machine.bmc.bodies)  # type: ignore[arg-type]
    return replace(station, machine=replace(station.machine, bmc=BmcCapture(held)))


MARK = "rackcheck"
"""The name of this simulator, by which its nodes and BMCs mark themselves."""

ROOTS = ("/redfish/v1", "/redfish/v1/")


def marked(station: Station) -> Station:
    """Return a copy of the simulated node that marks itself as simulated on both planes, in every stored reply."""
    if station.machine.host != NodeCapture():
        station = files(station, {MARKED_FILE: f"{MARK}\n"})
    roots: dict[str, Body] = {}
    for uri in ROOTS:
        body = station.machine.bmc.bodies.get(uri)
        if isinstance(body, Mapping):
            oem = body.get("Oem")
            own = {**(oem if isinstance(oem, Mapping) else {}), "Rackcheck": {"Simulator": MARK}}
            roots[uri] = {**body, "Oem": own}
    return bodies(station, roots) if roots else station


def without_resources(station: Station, uri: str) -> Station:
    """Return a copy of the simulated node whose BMC has neither the resource at a URI nor any resource below it."""
    held = station.machine.bmc.bodies
    return replace(station, machine=replace(station.machine, bmc=BmcCapture(_Left(held, uri))))


@dataclass(frozen=True, slots=True)
class _Left(Mapping[str, Body | Unknown]):
    """The bodies of a tree without one resource and those below it; a body is read on first use, as in the tree."""

    held: Mapping[str, Body | Unknown]
    gone: str

    def __getitem__(self, uri: str) -> Body | Unknown:
        if self._is_gone(uri):
            raise KeyError(uri)
        return self.held[uri]

    def __iter__(self) -> Iterator[str]:
        return (uri for uri in self.held if not self._is_gone(uri))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _is_gone(self, uri: str) -> bool:
        return f"{uri}/".casefold().startswith(f"{self.gone}/".casefold())  # some BMCs ignore letter case


def resources(station: Station, pattern: str) -> dict[str, Body]:
    """Return the resources whose whole URI matches a regular expression; raises UserError if there is none."""
    found = {uri: body for uri, body in station.machine.bmc.bodies.items() if re.fullmatch(pattern, uri)}
    values = {uri: body for uri, body in found.items() if not isinstance(body, Unknown)}
    if not values:
        raise UserError(f"the machine of {station.name} has no resource {pattern}")
    return values


def resource(station: Station, uri: str) -> Body:
    """Return the resource at a URI; raises UserError with the most similar URI if the resource does not exist."""
    found = station.machine.bmc.bodies.get(uri)
    if found is None or isinstance(found, Unknown):
        near = did_you_mean(uri, list(station.machine.bmc.bodies))
        raise UserError(f"the machine of {station.name} has no resource {uri}{near}")
    return found


def gpus(station: Station) -> tuple[str, Output, dict[str, Any]]:
    """Return the command that queries NVML, its whole output, and the JSON document in the output's last line.

    Raises UserError if no command output of the machine contains GPUs.
    """
    for command, answer in station.machine.host.commands.items():
        if isinstance(answer, Output) and '"gpus"' in answer.out:
            return command, answer, json.loads(answer.out.rstrip("\n").rpartition("\n")[2])
    raise UserError(f"the machine of {station.name} has no GPU reported by NVML")


def gpu(values: Mapping[str, Any], index: int) -> dict[str, Any]:
    """Return the values of the GPU with this index; raises UserError with the valid indices if there is no such GPU."""
    if not 0 <= index < len(values["gpus"]):
        raise UserError(f"no GPU {index}: the machine has 0 to {len(values['gpus']) - 1}")
    found: dict[str, Any] = values["gpus"][index]
    return found


def with_gpus(station: Station, command: str, answer: Output, values: Mapping[str, Any], gone: str = "") -> Station:
    """Return a copy of the simulated node with changed NVML values.

    `gone` is the PCI address of a GPU that is no longer on the bus.
    """
    head, _, _ = answer.out.rstrip("\n").rpartition("\n")
    rows = [row for row in head.split("\n") if row != f"bus {gone}"]
    return commands(station, {command: replace(answer, out="\n".join((*rows, json.dumps(values))) + "\n")})


def address(values: Mapping[str, Any]) -> str:
    """Return a GPU's PCI address, converted from NVML's format to the kernel's format."""
    domain, _, rest = str(values["pci"]["value"]).partition(":")
    return f"{int(domain, 16):04x}:{rest.lower()}"


def below(station: Station, folder: str) -> list[str]:
    """Return the files below a folder; if there are none, raises UserError with similar folders, or with all."""
    prefix = folder.rstrip("/") + "/"
    found = [path for path in station.machine.host.files if path.startswith(prefix)]
    if not found:
        above, _, name = folder.rstrip("/").rpartition("/")
        held = station.machine.host.files
        beside = {path[len(above) + 1 :].partition("/")[0] for path in held if path.startswith(f"{above}/")}
        raise UserError(f"the machine of {station.name} has no {folder}{near_or_all(name, beside)}")
    return found


def near_or_all(name: str, known: Iterable[str]) -> str:
    """Format a hint with the similar names that a machine has; with all of them, folded, if none is similar."""
    names = sorted(known, key=natural)
    return did_you_mean(name, names) or f"; it has {clean(fold(names), LETTERS) or 'none'}"


def outputs(station: Station, change: Callable[[str, Output], Output]) -> Station:
    """Return a copy of the simulated node in which `change` computes the output of every command."""
    held = station.machine.host.commands
    return commands(station, {c: change(c, a) for c, a in held.items() if isinstance(a, Output)})


_RECORD = re.compile(r"(?:device )?[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7] |lrwx")
"""Matches the first line about a PCI function in an output; lines up to the next match are about the same function."""


def off_the_bus(station: Station, gone: str) -> Station:
    """Return a copy of the simulated node whose command outputs and files in /sys lack one PCI function."""

    def without(_: str, answer: Output) -> Output:
        kept: list[str] = []
        dropping = False
        for line in answer.out.split("\n"):
            if _RECORD.match(line):
                dropping = line.startswith((f"{gone} ", f"device {gone} ")) or f" {gone} -> " in line
            if not dropping:
                kept.append(line)
        return replace(answer, out="\n".join(kept)) if len(kept) < answer.out.count("\n") + 1 else answer

    return files(outputs(station, without), dict.fromkeys(below(station, f"{FUNCTIONS}{gone}")))


_SECTION = re.compile(r"==> |port \S+/ports/|hca_id:")
"""Matches the first line of a section about one device; a section ends before the next such line."""

_SECTION_END = re.compile(r"<== [0-9]|end$")


def without_device(station: Station, names: frozenset[str]) -> Station:
    """Return a copy of the simulated node without a device, in all command outputs and files.

    `names` is a set of the device's names, addresses and network interfaces.
    """

    def left(_: str, answer: Output) -> Output:
        if answer.out.startswith("[{"):
            items = json.loads(answer.out)
            kept = [one for one in items if one.get("ifname") not in names]
            return replace(answer, out=json.dumps(kept) + "\n") if len(kept) < len(items) else answer
        return replace(answer, out="\n".join(_rows_without(answer.out.split("\n"), names)))

    paths = [path for path in station.machine.host.files if not names.isdisjoint(path.split("/"))]
    return files(outputs(station, left), dict.fromkeys(paths))


def _rows_without(rows: Iterable[str], names: frozenset[str]) -> Iterator[str]:
    """Yield the rows of an output that are not about the device with these names.

    A row is about the device if one of the device's names is a word or a value (`KNAME="nvme0n1"`) of the row, or of
    the first line of the row's section.
    """
    dropping = False
    for row in rows:
        named = not names.isdisjoint(word.rstrip(":") for word in re.split(r'[\s/]+|="|"(?=\s|$)', row))
        if _SECTION.match(row):
            dropping = named
        if not (named or dropping):
            yield row
        dropping = dropping and not _SECTION_END.match(row)


def capture(station: Station) -> NodeCapture:
    """Return the capture of the node's operating system."""
    return station.machine.host
