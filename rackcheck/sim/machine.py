"""Reads a simulated machine from a machine folder, a run, a capture or a Redfish tree."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from rackcheck.base.user_error import UserError
from rackcheck.model.capture import BmcCapture, NodeCapture
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.resource import Body
from rackcheck.profile.layers import did_you_mean
from rackcheck.run import captured, store
from rackcheck.run.event import Answered
from rackcheck.sim import template
from rackcheck.transport.redfish.answer import parsed

FOLDER = Path(__file__).parent / "machines"
"""The folder of the machines that are shipped with rackcheck."""

HOSTS = 254
"""Number of nodes whose IPv4 addresses differ in the last octet only."""


@dataclass(frozen=True)
class SimMachine:
    """One simulated machine: the data of its operating system and its BMC.

    The capture of a machine folder has no `globs`, so its `files` serve requests with any glob. Machines share texts
    and bodies, so a machine must never be modified in place: create a changed copy.
    """

    host: NodeCapture
    bmc: BmcCapture


class FolderKind(StrEnum):
    """The kind of data in a machine's folder."""

    MACHINE = "machine"
    RUN = "run"
    CAPTURE = "capture"
    TREE = "tree"


def shipped() -> dict[str, Path]:
    """Return the machines that are shipped with rackcheck, by name."""
    return {path.parent.name: path.parent for path in sorted(FOLDER.glob("*/machine.yaml"))}


def of_folder(path: Path) -> FolderKind:
    """Return the kind of data in a machine's folder; raises UserError if the folder contains no machine."""
    marks = {
        FolderKind.MACHINE: path / "machine.yaml",
        FolderKind.RUN: path / "run.json",
        FolderKind.CAPTURE: path / captured.HEAD,
        FolderKind.TREE: path / "redfish" / "v1",
    }
    for kind, mark in marks.items():
        if mark.exists():
            return kind
    if not path.is_dir():
        raise UserError(f"{path} is not a folder")
    raise UserError(
        f"{path} is not a machine: it contains no machine.yaml (machine folder), run.json (stored run), "
        "capture.json (capture) or redfish/v1/ (Redfish tree)"
    )


def load(folder: Path, node: str, number: int) -> SimMachine:
    """Return one node of a machine folder; `number` is the node's position in the rack, from 1.

    Raises BadFile if a file of the folder is invalid, UserError if a file cannot be read or the folder has no data.
    """
    kind = _template(folder.resolve())
    net, host = divmod(number - 1, HOSTS)
    names = {
        "node": node,
        "n": str(number),
        "n3": _three(number),
        "net": str(net),
        "host": str(host + 1),
        "x4": f"{net:02x}{host + 1:02x}",
        "octets": f"{number // 100 % 100:02}:{number % 100:02}",
    }
    system = NodeCapture(commands=kind.commands.of(names), files=kind.files.of(names), refused=kind.refused.of(names))
    return SimMachine(system, BmcCapture(kind.bodies.of(names)))


def _three(number: int) -> str:
    """Return three hexadecimal digits for a node, as MAC addresses and GUIDs need: the number itself up to 999.

    Larger numbers have the other triples, those with a letter, up to 4,095.
    """
    return f"{number:03}" if number < FIRST_LETTERED else _LETTERED.get(number, f"{number:04}")


FIRST_LETTERED = 1000
_TRIPLES = (triple for triple in map("{:03x}".format, range(0x1000)) if not triple.isdecimal())
_LETTERED = dict(enumerate(_TRIPLES, start=FIRST_LETTERED))


@lru_cache(maxsize=32)
def _template(folder: Path) -> template.Template:
    return template.read(folder)


def from_tree(folder: Path) -> BmcCapture:
    """Return the BMC of a recorded Redfish tree; each body is read on first use.

    Raises UserError if the folder is not a Redfish tree.
    """
    if of_folder(folder) is not FolderKind.TREE:
        raise UserError(f"{folder} is not a Redfish tree: it has no redfish/v1/")
    return BmcCapture(BodyTree(folder))


def from_run(folder: Path, node: str) -> SimMachine:
    """Return one node of a stored run with its recorded data; raises UserError if the run has no such node."""
    seen: dict[str, list[Answered]] = {}
    for answer in store.find(str(folder)).answers():
        kept = seen.setdefault(answer.node, [])
        if answer.node == node:
            kept.append(answer)
    if node not in seen:
        raise UserError(f"the run {folder} has no node {node}{did_you_mean(node, list(seen))}")
    return _of_answers(seen[node])


def from_capture(found: captured.Captured, node: str) -> SimMachine:
    """Return one node of a capture, with its recorded data; raises UserError if the capture is damaged."""
    return _of_answers(found.answers(node))


def _of_answers(answers: Iterable[Answered]) -> SimMachine:
    """Return a machine with this recorded data; a plane without recorded data is empty."""
    host, bmc = NodeCapture(), BmcCapture()
    for answer in answers:
        if answer.reading > 1:  # later readings have only a few commands
            continue
        if isinstance(answer.capture, NodeCapture):
            host = answer.capture
        elif isinstance(answer.capture, BmcCapture):
            bmc = answer.capture
    return SimMachine(host, bmc)


# A recorded Redfish tree in the DMTF's layout: the path of a folder is the URI, and its index.json has the body.

BODY = 8 << 20
"""Maximum size of one Redfish body, in bytes; an audit accepts replies of the same maximum size."""


class BodyTree(Mapping[str, Body | Unknown]):
    """The bodies of a Redfish tree by URI; each body is read on first use, and is unparsable if it is not JSON.

    Folder names may contain `$`, `?` and `=`. If no folder has exactly the name of a URI, letter case is ignored.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._spelt: dict[str, Path] | None = None
        self._read = lru_cache(maxsize=None)(_body)

    def __getitem__(self, uri: str) -> Body | Unknown:
        file = self._file(uri)
        if file is None:
            raise KeyError(uri)
        return self._read(file)

    def __contains__(self, uri: object) -> bool:
        return isinstance(uri, str) and self._file(uri) is not None

    def __iter__(self) -> Iterator[str]:
        for file in sorted((self.folder / "redfish").rglob("index.json")):
            yield f"/{file.parent.relative_to(self.folder).as_posix()}"

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _file(self, uri: str) -> Path | None:
        words = uri.split("/")
        if len(words) < 2 or words[0] or any(word in {"", ".", ".."} or "\0" in word for word in words[1:]):
            return None
        file = self.folder.joinpath(*words[1:], "index.json")
        try:
            if file.is_file():
                return file
        except OSError:  # a name that is too long for a file
            return None
        # Recorded BMCs that ignore letter case may spell links to their own resources differently.
        return self._folded().get("/".join(words).casefold())

    def _folded(self) -> Mapping[str, Path]:
        if self._spelt is None:
            files = sorted((self.folder / "redfish").rglob("index.json"))
            self._spelt = {f"/{file.parent.relative_to(self.folder).as_posix()}".casefold(): file for file in files}
        return self._spelt


def _body(file: Path) -> Body | Unknown:
    try:
        with file.open("rb") as opened:
            data = opened.read(BODY + 1)
    except OSError as error:
        return Unknown(Reason.UNPARSABLE, f"cannot read {file.name}: {error.strerror}")
    return parsed(data) if len(data) <= BODY else Unknown(Reason.TOO_LARGE, f"more than {BODY} bytes")
