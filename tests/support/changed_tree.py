"""A recorded BMC with changed, added, renamed, copied and missing resources; the recording itself stays as it is."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mockup_server import Mockup
from trees import ANY_CASE, tree

from rackcheck.model.capture import BmcCapture
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.resource import Body
from rackcheck.transport.redfish.answer import parsed

V1 = "/redfish/v1"
GONE = Unknown(Reason.NOT_COLLECTED, "HTTP 404")
Edited = dict[str, Any]


class Served(Mapping[str, Body | Unknown]):
    """The bodies of a BMC by URI, each read when it is asked for; one that the BMC does not have is unknown (404)."""

    def __init__(self, body: Callable[[str], bytes | None]) -> None:
        self.body = body
        self.known: dict[str, Body | Unknown] = {}

    def __getitem__(self, uri: str) -> Body | Unknown:
        if uri not in self.known:
            data = self.body(uri) if uri.startswith(V1) else None
            self.known[uri] = GONE if data is None else parsed(data)
        return self.known[uri]

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


def link(uri: str) -> dict[str, str]:
    return {"@odata.id": V1 + uri}


def last(uri: str) -> str:
    """The last name of a URI."""
    return uri.rpartition("/")[2]


class ChangedTree(Mockup):
    """A recorded tree that a test changes; URIs are given without `/redfish/v1`.

    `changed[uri]` is a body that may be changed in place. Renames and copies come before all other changes.
    """

    def __init__(self, name: str) -> None:
        super().__init__(tree(name), ignore_case=name in ANY_CASE)
        self.edited: dict[str, Edited | None] = {}
        self.moves: list[tuple[str, str, bool]] = []

    def __getitem__(self, uri: str) -> Edited:
        place = self._place(uri)
        if place not in self.edited:
            text = self._text(V1 + uri, len(self.moves))
            assert text is not None, f"no {uri}"
            self.edited[place] = json.loads(text)
        body = self.edited[place]
        assert body is not None, f"no {uri}"
        return body

    def __setitem__(self, uri: str, body: Mapping[str, Any]) -> None:
        self.edited[self._place(uri)] = {
            "@odata.id": V1 + uri,
            "Id": last(uri),
            "Name": last(uri),
            **json.loads(json.dumps(body)),
        }

    @property
    def capture(self) -> BmcCapture:
        """What an audit reads of it."""
        return BmcCapture(Served(self.body))

    def body(self, uri: str) -> bytes | None:
        uri = uri.rstrip("/")
        place = self._place(uri[len(V1) :])
        if place in self.edited:
            body = self.edited[place]
            return None if body is None else json.dumps(body).encode()
        text = self._text(uri, len(self.moves))
        return None if text is None else text.encode()

    def rename(self, old: str, new: str) -> None:
        """Rename a resource, and everything that refers to it."""
        self._move(old, new, keep=False)

    def copy(self, old: str, new: str) -> None:
        """Add a copy of a resource and of all that is below it; no list contains the copy."""
        self._move(old, new, keep=True)

    def lose(self, *uris: str) -> None:
        """Return 404 for resources that stay linked."""
        self.edited |= dict.fromkeys(map(self._place, uris), None)

    def ids(self, collection: str) -> list[str]:
        return [last(each["@odata.id"]) for each in self[collection]["Members"]]

    def members(self, collection: str, *uris: str) -> None:
        """List exactly these resources."""
        kept = dict(self.edited.get(self._place(collection)) or {})
        self[collection] = {**kept, "Members": [link(uri) for uri in uris], "Members@odata.count": len(uris)}

    def order(self, collection: str, ids: list[str]) -> None:
        """List these members, in this order."""
        self.members(collection, *(f"{collection}/{each}" for each in ids))

    def add(self, collection: str, name: str, body: Mapping[str, Any] | None = None, *, first: bool = False) -> str:
        """List one more member, with its body unless the tree has it already; returns its URI."""
        uri = f"{collection}/{name}"
        if body is not None:
            self[uri] = {**body, "Id": name, "@odata.id": V1 + uri}
        members = self[collection]["Members"]
        members.insert(0 if first else len(members), link(uri))
        self[collection]["Members@odata.count"] = len(members)
        return uri

    def remove(self, collection: str, *ids: str) -> None:
        """Remove members from a collection, and their resources."""
        self.order(collection, [each for each in self.ids(collection) if each not in ids])
        self.lose(*(f"{collection}/{each}" for each in ids))

    def number(self, collection: str, ids: list[str]) -> dict[str, str]:
        """Give the members of a collection the ids 1, 2, 3, ... in this order; returns the new id of each old one."""
        bodies = [self[f"{collection}/{each}"] for each in ids]
        self.lose(*(f"{collection}/{each}" for each in ids))
        self.members(collection)
        for number, body in enumerate(bodies, start=1):
            self.add(collection, str(number), body)
        return {each: str(number) for number, each in enumerate(ids, start=1)}

    def _place(self, uri: str) -> str:
        return uri.casefold() if self.ignore_case else uri

    def _move(self, old: str, new: str, *, keep: bool) -> None:
        assert not self.edited, "renames and copies come first"
        self.moves.append((V1 + old, V1 + new, keep))

    def _text(self, uri: str, moves: int) -> str | None:
        """The body at a URI after the first renames and copies, as JSON."""
        if moves == 0:
            data = super().body(uri)
            return None if data is None else data.decode("utf-8-sig")
        old, new, keep = self.moves[moves - 1]
        moved = uri == new or uri.startswith(f"{new}/")
        if not moved and not keep and (uri == old or uri.startswith(f"{old}/")):
            return None
        text = self._text(old + uri[len(new) :] if moved else uri, moves - 1)
        if text is None or (keep and not moved):
            return text
        text = re.sub(re.escape(old) + r'(?=[/#"])', lambda _: new, text)
        return json.dumps({**json.loads(text), "Id": last(new)}) if uri == new else text
