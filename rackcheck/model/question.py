"""The source of a probe: a command, files, resources of a BMC, or the results of a burn-in. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rackcheck.model.documents import LinkPattern
from rackcheck.model.path import Path
from rackcheck.model.text import covers

SECONDS = 10.0
"""Default time limit of one command on a node."""

CAP = 1 << 20
"""Maximum number of bytes of one command's output."""


@dataclass(frozen=True)
class Shell:
    """A command run by the node's `sh`; its standard output is the answer.

    With `root`, the command needs root and is one plain command with fixed words, so that a sudoers list can name it.
    With `each` (globs separated by blanks), the command runs once for every match; the last path segment of the match
    replaces `{}` in the command, and `rackcheck.core.read.each` splits the output. With both `root` and `each`, the
    last path segment of each glob must have a fixed length (`nvme[0-9]`), since in a sudoers list a star would match
    any words.

    A `quick` question reads files of the kernel or of /etc, with shell builtins and basic tools; no device and no
    server is involved. Quick questions share a few processes, each with one time limit. All questions with the same
    `lane` also share a process and a time limit: they depend on the same server or the same part of the kernel, take
    milliseconds each, and either all hang or none hangs.

    With `newest`, an output of more than `cap` bytes is cut at its beginning, and the answer begins with the first
    whole line that is left: the newest part of a log. Without `newest`, an output of more than `cap` bytes is unknown.
    """

    command: str
    ok: tuple[int, ...] = (0,)
    seconds: float = SECONDS
    cap: int = CAP
    root: bool = False
    each: str = ""
    quick: bool = False
    lane: str = ""
    newest: bool = False

    def __post_init__(self) -> None:
        if self.root and not re.fullmatch(r"[a-z][\w.-]*( [\w./:=,+%{}-]+)*", self.command):
            raise ValueError(f"only a plain command can be run as root: {self.command!r}")
        if self.quick and (self.root or self.each or self.lane):
            raise ValueError(f"`quick` cannot be combined with `root`, `each` or `lane`: {self.command!r}")
        if self.newest and (self.each or self.quick or self.lane):
            raise ValueError(f"`newest` cannot be combined with `each`, `quick` or `lane`: {self.command!r}")
        if self.each and "{}" not in self.command:
            raise ValueError(f"runs once for each match, but has no {{}}: {self.command!r}")
        loose = [glob for glob in self.each.split() if re.search(r"[*?]", glob.rpartition("/")[2])]
        if self.root and loose:
            raise ValueError(
                f"with `root`, the last segment of a glob needs a fixed length, without * and ?: {loose[0]!r}"
            )

    @property
    def named(self) -> tuple[str, ...]:
        """The commands of a sudoers list: for each glob of `each`, the last path segment replaces `{}`."""
        lasts = dict.fromkeys(glob.rpartition("/")[2] for glob in self.each.split())
        return tuple(self.command.replace("{}", last) for last in lasts) or (self.command,)

    def asking(self, _: Iterable[Path]) -> "Shell":
        """Return the question itself, since it does not depend on the requested facts."""
        return self

    def __str__(self) -> str:
        return self.command


@dataclass(frozen=True, init=False)
class Read:
    """Files of the node, by globs; `family` adds the files of requested facts.

    `family` is a pair of the facts' first word and a folder: with `("sysctl", "/proc/sys")`, a request for
    `sysctl.vm.swappiness` adds `/proc/sys/vm/swappiness`. Files that match a glob of `never` are not read, even if
    requested.
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
        """Return the question with the files of these facts added."""
        if self.family is None:
            return self
        last: tuple[object, Read] | None = self.__dict__.get(
            "_asked"
        )  # all nodes of a run are asked for the same facts
        if last is not None and last[0] is wanted:
            return last[1]
        files = {file for path in wanted if (file := self.member(path)) is not None}
        asked = Read(*self.globs, *sorted(files - set(self.globs)), seconds=self.seconds, cap=self.cap)
        if isinstance(wanted, tuple):
            self.__dict__["_asked"] = wanted, asked
        return asked

    def member(self, path: Path) -> str | None:
        """Return the file with a fact of the family; None for other facts, and for files that must never be read."""
        if self.family is None or path.segments[0].word != self.family[0] or len(path.segments) < 2:
            return None
        parts = [p for s in path.segments[1:] for p in (s.word, s.key) if p is not None]
        # A key comes from a profile's author: it must not leave the folder, nor match many files.
        if any(part in {".", ".."} or re.search(r"[/*?\[\]]", part) or not part.isprintable() for part in parts):
            return None
        file = "/".join((self.family[1], *parts))
        return None if any(covers(glob, file) for glob in self.never) else file

    def __str__(self) -> str:
        return " ".join(self.globs)


@dataclass(frozen=True, init=False)
class Redfish:
    """Resources of the BMC, by the names of the links that lead to them from the service root.

    The path `Systems/*/Bios` follows the link Systems, every member of this collection, then the member's link Bios; in
    a `Walk`, a function chooses the links. URIs are never guessed. A `dear` question needs a GET for each of hundreds
    of parts: it is collected only if one of its facts is named, but not if all facts are requested. The links of
    `named` also need a GET for each part, and are not followed if all facts are requested; other facts of the probe are
    then collected. The links of `whole` are followed only on a BMC that returns whole collections with $expand.
    """

    links: tuple[LinkPattern, ...]
    dear: bool
    named: tuple[LinkPattern, ...]
    whole: tuple[LinkPattern, ...]

    def __init__(
        self,
        *links: LinkPattern,
        dear: bool = False,
        named: tuple[LinkPattern, ...] = (),
        whole: tuple[LinkPattern, ...] = (),
    ) -> None:
        object.__setattr__(self, "links", (*links, *named))
        object.__setattr__(self, "dear", dear)
        object.__setattr__(self, "named", named)
        object.__setattr__(self, "whole", whole)

    def unnamed(self) -> "Redfish":
        """Return the question for the case that none of its facts is named."""
        links = (link for link in self.links if link not in self.named)
        return Redfish(*links, dear=self.dear, whole=self.whole)

    @property
    def every(self) -> tuple[LinkPattern, ...]:
        """All links, also those that are followed only on some BMCs."""
        return (*self.links, *self.whole)

    def asking(self, _: Iterable[Path]) -> "Redfish":
        """Return the question itself, since it does not depend on the requested facts."""
        return self

    def __str__(self) -> str:
        return " ".join(link or "/" for link in self.every if isinstance(link, str))


@dataclass(frozen=True)
class Load:
    """The results of a burn-in: never collected by an audit, since a burn-in puts a load on the node."""

    def asking(self, _: Iterable[Path]) -> "Load":
        """Return the question itself, since it does not depend on the requested facts."""
        return self

    def __str__(self) -> str:
        return "burn-in"


Ask = Shell | Read | Redfish | Load
