"""Files of a node as collected, found by globs."""

import bisect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from rackcheck.model.fact import Absent, Reason, Sourced, Unknown, Unreadable, Value
from rackcheck.model.regex import regex
from rackcheck.model.text.values import line, natural

SILENT = Unknown(Reason.NOT_COLLECTED, "head returned neither the file's contents nor an error")
"""The reason for a file for which `head` returned neither contents nor an error."""


def _pattern(glob: str) -> str:
    parts = re.split(r"(\*|\?|\[[^\]]+\])", glob)
    return "".join(
        "([^/]*)" if p == "*" else "([^/])" if p == "?" else f"({p})" if p[:1] == "[" else re.escape(p) for p in parts
    )


@lru_cache(maxsize=4096)
def _glob(glob: str) -> re.Pattern[str]:
    return re.compile(_pattern(glob))


@lru_cache(maxsize=64)
def covering(globs: Sequence[str]) -> Callable[[str], bool]:
    """Return whether one of these globs would match a file, as a function: one pattern, for millions of files.

    The function caches what it returns: the nodes of a rack have the same files.
    """
    fits = re.compile("|".join(map(_pattern, globs))).fullmatch
    return lru_cache(maxsize=4096)(lambda path: fits(path) is not None)


@dataclass(frozen=True)
class Files:
    """The files collected from a node, and why others could not be read; `trouble` is set if files may be missing."""

    contents: Mapping[str, str]
    refused: Mapping[str, Unknown]
    trouble: Unknown | None = None

    def text(self, path: str) -> str:
        """Return a file's whole text; raises Unreadable if the file does not exist or could not be read."""
        if path in self.contents:
            return self.contents[path]
        trouble = self.refused.get(path, self.trouble)
        if trouble is not None:
            raise Unreadable(f"{path}: {trouble.detail}", trouble.reason)
        raise Unreadable(f"{path} is not there", Reason.NOT_COLLECTED)

    def read(self, path: str, reader: Callable[[str], Value] = line) -> Sourced:
        """Read one file with one reader; absent if the file does not exist, unknown if it cannot be read."""
        if path in self.contents:
            try:
                return Sourced(reader(self.contents[path]), path)
            except Unreadable as error:
                return Sourced(Unknown(error.reason, f"{path}: {error}"), path)
        return Sourced(self.refused.get(path, self.trouble or Absent(f"no {path}")), path)

    def has(self, path: str) -> bool:
        """Whether the file exists, readable or not; raises Unreadable if that is unknown."""
        refusal = self.refused.get(path)
        there = path in self.contents or refusal not in (None, SILENT)
        trouble = SILENT if refusal == SILENT else self.trouble
        if not there and trouble is not None:
            raise Unreadable(f"{path}: {trouble.detail}", trouble.reason)
        return there

    def found(self, glob: str) -> Iterator[tuple[str, ...]]:
        """Yield the texts that the stars of a glob matched, for every existing file, in numeric order.

        Raises Unreadable for a folder that could not be listed, since its contents are unknown. If there may be more
        files, Unreadable is raised after the last file: facts about each file are valid, but facts about all files are
        not.
        """
        hidden = self.refused.get(glob)
        if hidden is not None:
            raise Unreadable(f"{glob}: {hidden.detail}", hidden.reason)
        pattern = _glob(glob)
        matches = (pattern.fullmatch(path) for path in {*self.contents, *self.refused})
        yield from sorted({m.groups() for m in matches if m}, key=lambda keys: [natural(k) for k in keys])
        if self.trouble is not None:
            raise Unreadable(f"{glob}: {self.trouble.detail}", self.trouble.reason)


def covers(glob: str, path: str) -> bool:
    """Whether a glob would match this file in the node's shell."""
    return _glob(glob).fullmatch(path) is not None


def matching(paths: Sequence[str], glob: str) -> Iterator[str]:
    """Yield the matches of a glob in a sorted list of paths.

    The pattern is compared only with paths that begin and end as the glob does: a glob of a file of each processor has
    the beginning of thousands of paths.
    """
    prefix = _WILD.split(glob, maxsplit=1)[0]
    first = bisect.bisect_left(paths, prefix)
    if prefix == glob:
        if first < len(paths) and paths[first] == glob:
            yield glob
        return
    last = bisect.bisect_left(paths, True, first, key=lambda path: not path.startswith(prefix))
    suffix = glob[max(map(glob.rfind, "*?]")) + 1 :]
    fits = _glob(glob).fullmatch
    yield from (path for path in paths[first:last] if path.endswith(suffix) and fits(path))


_WILD = regex(r"[*?\[]")


class SortedPaths(tuple[str, ...]):
    """The paths of a node's files in order, with the matches of globs that were searched before."""

    MOST = 1024
    """Maximum number of searches whose matches are kept."""

    @cached_property
    def _found(self) -> dict[tuple[str, ...], tuple[str, ...]]:
        return {}

    def named_or_matching(self, globs: tuple[str, ...]) -> tuple[str, ...]:
        """Return all globs, each followed by its matches, without duplicates."""
        found = self._found.get(globs)
        if found is None:
            if len(self._found) >= self.MOST:
                self._found.clear()
            found = tuple(dict.fromkeys(path for glob in globs for path in (glob, *matching(self, glob))))
            self._found[globs] = found
        return found


@lru_cache(maxsize=16)
def sorted_paths(paths: tuple[str, ...]) -> SortedPaths:
    """Return sorted paths as one object: the nodes of a rack have the same files, which are searched once."""
    return SortedPaths(paths)
