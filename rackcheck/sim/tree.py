"""A recorded Redfish tree in the DMTF's layout: the folder's path is the URI, the body lies in its index.json."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from rackcheck.core.fact import Reason, Unknown
from rackcheck.core.resource import Body
from rackcheck.redfish.answer import parsed

BODY = 8 << 20
"""Bytes that one body may have: as much as an audit takes of one answer."""


class Tree(Mapping[str, Body | Unknown]):
    """The bodies of a tree by URI, each read when it is asked for; one that is not JSON is unparsable.

    Names are taken as they are: letter case counts, and so do `$`, `?` and `=`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
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
            return file if file.is_file() else None
        except OSError:  # a name too long for any file
            return None


def _body(file: Path) -> Body | Unknown:
    try:
        with file.open("rb") as opened:
            data = opened.read(BODY + 1)
    except OSError as error:
        return Unknown(Reason.UNPARSABLE, f"cannot read {file.name}: {error.strerror}")
    return parsed(data) if len(data) <= BODY else Unknown(Reason.TOO_LARGE, f"more than {BODY} bytes")
