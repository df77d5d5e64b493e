"""A recorded Redfish tree in the DMTF's layout: the folder's path is the URI, the body lies in its index.json."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.resource import Body
from rackcheck.transport.redfish.answer import parsed

BODY = 8 << 20
"""Bytes that one body may have: as much as an audit takes of one answer."""


class Tree(Mapping[str, Body | Unknown]):
    """The bodies of a tree by URI, each read when it is asked for; one that is not JSON is unparsable.

    `$`, `?` and `=` count in names; letter case where a name stands in two.
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
        except OSError:  # a name too long for any file
            return None
        # Recorded BMCs that heed no letter case link to their own resources in another one.
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
