"""The stored raw output of one plane of one node: the source of every fact."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from rackcheck.model.burn_record import Burn
from rackcheck.model.documents import Documents
from rackcheck.model.fact import Plane, Reason, Unknown
from rackcheck.model.question import Read, Shell
from rackcheck.model.resource import Body
from rackcheck.model.secret import scrub_text, scrub_texts
from rackcheck.model.text import Files
from rackcheck.model.text.files import SortedPaths, sorted_paths

PAYLOAD = "\n# payload\n"
"""Separates a command from its payload, a program in the same text that is not part of the command's name."""


def named(command: str) -> str:
    """Return the command without its payload, which may change with a release; captures use the result as a name."""
    return command.partition(PAYLOAD)[0]


@dataclass(frozen=True, slots=True)
class Output:
    """The output of one command."""

    status: int
    out: str
    err: str = ""


class _Later:
    """A capture whose fields may be read when they are first used.

    No field may have a plain default value, which Python would find in the class in place of the value that is read.
    """

    @classmethod
    def later(cls, read: Callable[[], Any], check: Callable[[str], str] = lambda _: "", file: str = "") -> Self:
        """Return a capture with the fields of the one that `read` returns when a field is first used.

        `check` raises an exception if `read` would not find what was stored; it takes less time. It returns a seal, and
        gets the seal that it returned before. `file` is the path of the file that `read` reads.
        """
        made = object.__new__(cls)
        made.__dict__.update(_read=read, _check=check, _file=file)
        return made

    def check(self, seal: str = "") -> str:
        """Make sure that what was stored is still there; raises what the function that checks it raises.

        Return the seal of the file as it is: with this `seal`, a later check of an unchanged file takes less time. An
        empty text is returned for a capture that was not read from a file.
        """
        check = self.__dict__.get("_check")
        if check is None:
            return ""
        self.__dict__["_seal"] = found = str(check(seal or self.__dict__.get("_seal", "")))
        return found

    def sealed(self, seal: str) -> Self:
        """Note the seal of the file that this capture was read from; return the capture."""
        self.__dict__["_seal"] = seal
        return self

    @property
    def file(self) -> str:
        """The path of the file of a stored reply; empty for a capture that was not read from one, also for a copy."""
        return str(self.__dict__.get("_file", ""))

    def load(self) -> None:
        """Read the fields, or make sure that what was stored is still there; raises what the functions for it raise."""
        read = self.__dict__.get("_read")
        if read is None:
            self.check()
            return
        self.__dict__.update(read().__dict__)
        self.__dict__.pop("_read", None)  # another thread may have read them, too

    def __getattr__(self, name: str) -> Any:
        if "_read" in self.__dict__ and not name.startswith("_"):
            self.load()
        try:
            return self.__dict__[name]
        except KeyError:
            raise AttributeError(name) from None


@dataclass(frozen=True)
class NodeCapture(_Later):
    """The output of commands and the contents of files from one node's operating system.

    `globs` are the file globs that were collected, each with the reason if its files are not complete.
    """

    commands: Mapping[str, Output | Unknown] = field(default_factory=dict)
    globs: Mapping[str, Unknown | None] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, Unknown] = field(default_factory=dict)

    def output(self, ask: Shell) -> Output | Unknown:
        """Return the output of a question's command; unknown if this run did not run the command."""
        return self.commands.get(named(ask.command), Unknown(Reason.NOT_COLLECTED, "this run did not run this command"))

    def files_of(self, ask: Read) -> tuple[Files, Unknown | None]:
        """Return the files that a question names, and the reason if some of them may be missing; else None."""
        trouble: Unknown | None = None
        for glob in ask.globs:
            if trouble is None:
                collected = glob in self.globs
                trouble = (
                    self.globs[glob] if collected else Unknown(Reason.NOT_COLLECTED, f"this run did not read {glob}")
                )
        wanted, there, refused = self._sorted().named_or_matching(ask.globs), self.files, self.refused
        return (
            Files(
                {path: there[path] for path in wanted if path in there},
                {path: refused[path] for path in wanted if path in refused},
                trouble,
            ),
            trouble,
        )

    def _sorted(self) -> SortedPaths:
        """All paths of collected files, sorted and without duplicates; cached, since all probes use the list."""
        kept = self.__dict__.get("_paths")
        if not isinstance(kept, SortedPaths):
            kept = self.__dict__["_paths"] = sorted_paths(tuple(sorted({**self.files, **self.refused})))
        return kept

    def scrubbed(self) -> "NodeCapture":
        """Return a copy of the capture in which everything that looks like a secret is replaced."""
        commands = {
            command: answer
            if isinstance(answer, Unknown)
            else Output(answer.status, scrub_text(answer.out), scrub_text(answer.err))
            for command, answer in self.commands.items()
        }
        return NodeCapture(commands, self.globs, scrub_texts(self.files), self.refused)

    def to_json(self) -> dict[str, Any]:
        """Return the capture as a dictionary that can be stored as JSON."""
        return {
            "commands": {
                c: _unknown(a) if isinstance(a, Unknown) else {"status": a.status, "out": a.out, "err": a.err}
                for c, a in self.commands.items()
            },
            "globs": {g: None if u is None else _unknown(u) for g, u in self.globs.items()},
            "files": dict(self.files),
            "refused": {f: _unknown(u) for f, u in self.refused.items()},
        }

    @classmethod
    def from_json(cls, doc: Mapping[str, Any]) -> "NodeCapture":
        """Read a capture from the dictionary that `to_json` returns."""
        return cls(
            {
                c: _known(a) if "unknown" in a else Output(a["status"], a["out"], a["err"])
                for c, a in doc["commands"].items()
            },
            {g: None if u is None else _known(u) for g, u in doc["globs"].items()},
            doc["files"],
            {f: _known(u) for f, u in doc["refused"].items()},
        )


@dataclass(frozen=True)
class BmcCapture(_Later):
    """The resources of one BMC, by URI.

    `times` has the arrival time (ISO 8601, UTC) of each resource that has a `DateTime`.
    """

    bodies: Mapping[str, Body | Unknown] = field(default_factory=dict)
    times: Mapping[str, str] = field(default_factory=dict)

    @property
    def documents(self) -> Documents:
        """The resources, as documents whose links can be followed; cached, since all probes follow the same links."""
        kept = self.__dict__.get("_documents")
        if not isinstance(kept, Documents):
            kept = self.__dict__["_documents"] = Documents(self.bodies, self.times)
        return kept

    def to_json(self) -> dict[str, Any]:
        """Return the capture as a dictionary that can be stored as JSON."""
        bodies = {u: _unknown(b) if isinstance(b, Unknown) else {"body": b} for u, b in self.bodies.items()}
        return {"bodies": bodies, "times": dict(self.times)}

    @classmethod
    def from_json(cls, doc: Mapping[str, Any]) -> "BmcCapture":
        """Read a capture from the dictionary that `to_json` returns; earlier releases stored no `times`."""
        bodies = {u: _known(b) if "unknown" in b else b["body"] for u, b in doc["bodies"].items()}
        return cls(bodies, doc.get("times", {}))


@dataclass(frozen=True)
class BurnCapture(_Later):
    """The records of a burn-in on one node, including readings of the node's BMC, timed by the same clock."""

    records: tuple[Mapping[str, Any], ...] = field(default_factory=tuple)

    @property
    def burn(self) -> Burn:
        """The records, checked for their types; cached, since all probes use them."""
        kept = self.__dict__.get("_burn")
        if not isinstance(kept, Burn):
            kept = self.__dict__["_burn"] = Burn.of(self.records)
        return kept

    def to_json(self) -> dict[str, Any]:
        """Return the capture as a dictionary that can be stored as JSON."""
        return {"records": [dict(record) for record in self.records]}

    @classmethod
    def from_json(cls, doc: Mapping[str, Any]) -> "BurnCapture":
        """Read a capture from the dictionary that `to_json` returns."""
        return cls(tuple(doc["records"]))


Capture = NodeCapture | BmcCapture | BurnCapture


def _unknown(unknown: Unknown) -> dict[str, str]:
    return {"unknown": unknown.reason.value, "detail": unknown.detail}


def _known(doc: Mapping[str, str]) -> Unknown:
    return Unknown(Reason(doc["unknown"]), doc["detail"])


PLANES: Mapping[type[Capture], Plane] = {
    NodeCapture: Plane.OS, BmcCapture: Plane.BMC, BurnCapture: Plane.BURNIN,
}  # fmt: skip
"""The plane of each kind of capture."""

CAPTURES: Mapping[Plane, type[Capture]] = {plane: kind for kind, plane in PLANES.items()}
"""The kind of capture of each plane that is read."""


def merge(captures: Iterable[NodeCapture]) -> NodeCapture:
    """Merge several captures of one node; a later capture overrides an earlier one."""
    commands: dict[str, Output | Unknown] = {}
    globs: dict[str, Unknown | None] = {}
    files: dict[str, str] = {}
    refused: dict[str, Unknown] = {}
    for capture in captures:
        commands |= capture.commands
        globs |= capture.globs
        files |= capture.files
        refused |= capture.refused
    return NodeCapture(commands, globs, files, refused)
