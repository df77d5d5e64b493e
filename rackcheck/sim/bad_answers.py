"""Simulates faults of a BMC: valid HTTP replies with a wrong body, and endless redirects and pages."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

UNSET = "2020-01-01T00:00:07Z"
"""The time that a BMC's clock shows if it was never set."""

DEEP = 100_000
"""Number of nested levels of the JSON body in the fault `deep`."""

PAGE = "<!DOCTYPE html><html><head><title>Log in</title></head><body>Your session has expired.</body></html>"


@dataclass(frozen=True)
class TwistedReply:
    """One HTTP reply: its status, body and headers."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


Twist = Callable[[str, bytes], TwistedReply]
"""A function that returns a faulty reply from a URI (with its query) and the correct body of the resource."""


def _html(_: str, __: bytes) -> TwistedReply:
    return TwistedReply(200, PAGE.encode(), {"Content-Type": "text/html"})


def _deep(_: str, __: bytes) -> TwistedReply:
    return TwistedReply(200, b'{"Id":' * DEEP + b"1" + b"}" * DEEP)


def _elsewhere(uri: str, _: bytes) -> TwistedReply:
    """Return a redirect to a new URI; every redirect leads to another redirect."""
    return TwistedReply(302, b"", {"Location": _numbered(uri, "hop")})


def _loop(uri: str, body: bytes) -> TwistedReply:
    """Return one of two pages of a collection, each of which links to the other as its next page."""
    first = uri.partition("?")[0]
    return _page(body, first if "?" in uri else f"{first}?$skip=1")


def _endless(uri: str, body: bytes) -> TwistedReply:
    """Return a page of a collection; every page links to a next page."""
    return _page(body, _numbered(uri, "$skip"))


def _page(body: bytes, following: str) -> TwistedReply:
    return TwistedReply(200, json.dumps({**_read(body), "Members@odata.nextLink": following}).encode())


def _numbered(uri: str, word: str) -> str:
    before, _, number = uri.partition(f"?{word}=")
    return f"{before}?{word}={int(number) + 1 if re.fullmatch('[0-9]{1,9}', number) else 1}"


def _nulls(_: str, body: bytes) -> TwistedReply:
    return TwistedReply(200, json.dumps(dict.fromkeys(_read(body))).encode())


def _wrong_types(_: str, body: bytes) -> TwistedReply:
    return TwistedReply(200, json.dumps({name: _other(value) for name, value in _read(body).items()}).encode())


def _other(value: object) -> object:
    """Return a value whose type differs from the type of the correct value."""
    match value:
        case bool():
            return "maybe"
        case int() | float():
            return {"Value": value}
        case str():
            return [value, 7]
        case list():
            return {str(index): part for index, part in enumerate(value)}
    return [[]]


def _unset_clock(_: str, body: bytes) -> TwistedReply:
    held = _read(body)
    return TwistedReply(200, json.dumps({**held, "DateTime": UNSET} if "DateTime" in held else held).encode())


def _read(body: bytes) -> dict[str, object]:
    found = json.loads(body or b"{}")
    assert isinstance(found, dict)
    return found


TWISTS: Mapping[str, Twist] = {
    "html": _html,
    "deep": _deep,
    "redirect-loop": _elsewhere,
    "page-loop": _loop,
    "pages-without-end": _endless,
    "nulls": _nulls,
    "wrong-types": _wrong_types,
    "unset-clock": _unset_clock,
}
