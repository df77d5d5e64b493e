"""Keeps on disk what was made of a profile's files, so that most commands need not parse, check and compile them again.

What is kept is found by the program, the profile's own file and the values of its params, and is used only if each file
that was read has the same text again, and the same name in messages. Profiles with an error are not kept, so that each
message is made from the files themselves; nor are profiles that call a rule in Python, because its code is not a part
of the program, and any profiles while probes of other packages are installed, because they add facts.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rackcheck.base import program, state
from rackcheck.base.sealed_file import SealedFiles
from rackcheck.base.user_error import UserError
from rackcheck.probe.registry import only_own

OFF = "RACKCHECK_KEPT_PROFILES"
"""With the value `0` of this environment variable, no profiles are kept and none are read."""

COMPILED = "compiled"
"""The use of a profile's files that keeps the compiled profile; other uses keep a short result."""

MOST = {COMPILED: 64}
OTHERS = 512
"""Number of kept files: a compiled profile takes up to 500 KB, another result a few KB."""


class FileRead(NamedTuple):
    """A file that a profile was made of: the name by which it was found, its name in messages, its parser, its text.

    `wanted` is the name of a profile, empty for the first one, or the name of a file of sources or built-in rules.
    """

    wanted: str
    shown: str
    ours: bool
    text: str

    @property
    def mark(self) -> list[object]:
        """What must be the same again, as JSON."""
        return [self.wanted, self.shown, self.ours, _digest(self.text)]


Reread = Callable[[Sequence[str]], Sequence[FileRead]]
"""A function that reads all files of a profile again, in the same order; it is given what `wanted` was for each."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The place where one use of one profile keeps its result."""

    files: SealedFiles
    key: str

    def load(self, reread: Reread) -> tuple[str, Sequence[FileRead]] | None:
        """Return what is kept, and the files read again; None if there is nothing, or if a file is another now."""
        content = self.files.load(self.key)
        if content is None:
            return None
        head, _, body = content.partition(b"\n")
        try:
            marks = json.loads(head)
            again = reread([str(mark[0]) for mark in marks])
            return (body.decode(), again) if marks == [file.mark for file in again] else None
        except (UserError, OSError, ValueError, TypeError, IndexError):
            return None

    def store(self, read: Sequence[FileRead], body: str) -> None:
        """Keep a result with the files from which it was made."""
        marks = json.dumps([file.mark for file in read], separators=(",", ":"))
        self.files.store(self.key, f"{marks}\n{body}".encode())


def kept(use: str, name: str, head: FileRead, values: Mapping[str, str]) -> Kept | None:
    """Return the place for one use of a profile; None if nothing may be kept.

    `name` is the name that the profile must have, empty for a file that the user named.
    """
    code = "" if os.environ.get(OFF) == "0" or not only_own() else program.digest()
    if not code:
        return None
    folder = state.program_cache_folder(f"profiles-{use}")
    files = SealedFiles(folder, f"rackcheck {use} 1\n".encode(), MOST.get(use, OTHERS))
    return Kept(files, json.dumps([use, code, name, head.mark, sorted(values.items())]))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=24).hexdigest()
