"""What a probe asks: a command, files, resources of a BMC, or what a burn-in measured. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rackcheck.model.documents import LinkPattern
from rackcheck.model.path import Path
from rackcheck.model.text import covers

SECONDS = 10.0
"""How long one command may take on a node."""

CAP = 1 << 20
"""How many bytes one command may answer."""


@dataclass(frozen=True)
class Shell:
    """A command of the node's `sh`; its standard output is the answer.

    With `root`, it is one plain command with fixed words that only root gets an answer to: it is what a list of
    sudoers can name. With `each`, globs parted by blanks, it is asked once for every match, whose last part stands
    in the command for `{}`; `read.each` takes the answers apart. The last parts of root's globs have a fixed length
    (`nvme[0-9]`): in a list of sudoers a star would let any words through.

    A `quick` question reads the kernel's own files, or those of /etc, with the shell's words and the plainest of
    tools; no device and no server answers it. Such questions share one process and its time. So do questions of one
    `lane`: one server or one part of the kernel answers them all, each in milliseconds, and hangs for all or for none.
    """

    command: str
    ok: tuple[int, ...] = (0,)
    seconds: float = SECONDS
    cap: int = CAP
    root: bool = False
    each: str = ""
    quick: bool = False
    lane: str = ""

    def __post_init__(self) -> None:
        if self.root and not re.fullmatch(r"[a-z][\w.-]*( [\w./:=,+%{}-]+)*", self.command):
            raise ValueError(f"only a plain command can be run as root: {self.command!r}")
        if self.quick and (self.root or self.each or self.lane):
            raise ValueError(f"neither root's commands nor those of devices or lanes are quick: {self.command!r}")
        if self.each and "{}" not in self.command:
            raise ValueError(f"asked once for each, and always of the same: {self.command!r}")
        loose = [glob for glob in self.each.split() if re.search(r"[*?]", glob.rpartition("/")[2])]
        if self.root and loose:
            raise ValueError(f"root's command may take names of fixed length only: {loose[0]!r}")

    @property
    def named(self) -> tuple[str, ...]:
        """The command with the last part of each glob in it: what a list of sudoers names."""
        lasts = dict.fromkeys(glob.rpartition("/")[2] for glob in self.each.split())
        return tuple(self.command.replace("{}", last) for last in lasts) or (self.command,)

    def asking(self, _: Iterable[Path]) -> "Shell":
        """Ask the same, whatever facts are wanted."""
        return self

    def __str__(self) -> str:
        return self.command


@dataclass(frozen=True, init=False)
class Read:
    """Files of the node, by globs; `family` adds the files that the wanted facts of one word name.

    `family=("sysctl", "/proc/sys")` reads `/proc/sys/vm/swappiness` where `sysctl.vm.swappiness` is wanted:
    a family without end is asked only for the members that somebody names. What a glob of `never` covers is
    not read, whoever names it.
    """

    globs: tuple[str, ...]
    family: tuple[str, str] | None = None
    never: tuple[str, ...] = ()
    seconds: float = SECONDS
    cap: int = CAP

    def __init__(
        self,
        *globs: str,
        family: tuple[str, str] | None = None,
        never: tuple[str, ...] = (),
        seconds: float = SECONDS,
        cap: int = CAP,
    ) -> None:
        given = {"globs": globs, "family": family, "never": never, "seconds": seconds, "cap": cap}
        for name, value in given.items():
            object.__setattr__(self, name, value)

    def asking(self, wanted: Iterable[Path]) -> "Read":
        """Name the files to read for these facts."""
        if self.family is None:
            return self
        files = {file for path in wanted if (file := self.member(path)) is not None}
        return Read(*self.globs, *sorted(files - set(self.globs)), seconds=self.seconds, cap=self.cap)

    def member(self, path: Path) -> str | None:
        """Name the file of a fact of the family; none for another fact, and for what must never be read."""
        if self.family is None or path.segments[0].word != self.family[0] or len(path.segments) < 2:
            return None
        parts = [p for s in path.segments[1:] for p in (s.word, s.key) if p is not None]
        # A key comes from a profile's author: it must not climb out of the folder, nor name files by the dozen.
        if any(part in {".", ".."} or re.search(r"[/*?\[\]]", part) or not part.isprintable() for part in parts):
            return None
        file = "/".join((self.family[1], *parts))
        return None if any(covers(glob, file) for glob in self.never) else file

    def __str__(self) -> str:
        return " ".join(self.globs)


@dataclass(frozen=True, init=False)
class Redfish:
    """Resources of the BMC, by the names of the links that lead to them from the service root.

    `Systems/*/Bios` follows Systems, every member, then its Bios link; where a `Walk` stands, a reader chooses. No URI
    is ever guessed. What is `dear` takes a
    GET for each of hundreds of parts: it is asked where one of its facts is named, and not where all facts are.
    """

    links: tuple[LinkPattern, ...]
    dear: bool

    def __init__(self, *links: LinkPattern, dear: bool = False) -> None:
        object.__setattr__(self, "links", links)
        object.__setattr__(self, "dear", dear)

    def asking(self, _: Iterable[Path]) -> "Redfish":
        """Ask the same, whatever facts are wanted."""
        return self

    def __str__(self) -> str:
        return " ".join(link or "/" for link in self.links if isinstance(link, str))


@dataclass(frozen=True)
class Load:
    """What a burn-in measured: asked of nobody by an audit, since it puts a load on the node."""

    def asking(self, _: Iterable[Path]) -> "Load":
        """Ask the same, whatever facts are wanted."""
        return self

    def __str__(self) -> str:
        return "burn-in"


Ask = Shell | Read | Redfish | Load
