"""Reads the content of a BMC's reply: a JSON object without secrets, or the reason why there is no such object."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Protocol
from urllib.parse import urljoin, urlsplit

from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.model.redfish_value import BROKEN
from rackcheck.model.regex import regex
from rackcheck.model.resource import Body
from rackcheck.model.secret import DEPTH, is_clean, scrub, scrub_text
from rackcheck.model.secret_filter import Hiding
from rackcheck.model.text import json_text

BUSY = frozenset({429, 502, 503, 504})
MOVED = frozenset({301, 302, 303, 307, 308})

LOCATION = regex(
    r"(?:https://(?P<host>[^/\s@]{1,300}))?"
    r"(?P<path>(?P<collection>/redfish/v1/(?:[A-Za-z0-9_-]{1,100}/){0,8}Sessions)/(?P<name>[^\s/%?#\\]{1,200})/?)",
    re.ASCII | re.IGNORECASE,
)
"""Pattern of a session's URI."""

COLLECTION = regex(r"/redfish/v1/(?:[A-Za-z0-9_-]{1,100}/){0,8}Sessions/?", re.ASCII | re.IGNORECASE)
"""Matches the URI of the session collection in the service root; credentials are posted only to such a URI."""

GONE = regex(rb"Resource(MissingAtURI|NotFound|DoesNotExist)|SYS403|not found", re.IGNORECASE)
"""Error texts for a missing resource: MessageIds of the Base registry, and messages of iDRAC."""

VALUES = 100_000
"""Maximum number of values in one body: the largest recorded body has 2940.

A parsed JSON value takes about 100 bytes of memory.
"""

QUOTED = 4096
"""Number of characters at the beginning of a body that are used in error messages if the body is not JSON."""

NOTHING = Hiding()
"""A filter that hides nothing, for replies without credentials."""


class HttpReply(Protocol):
    """A reply of a BMC: the part of the DMTF library's response type that is used here."""

    @property
    def status(self) -> int:
        """The status code."""

    @property
    def read(self) -> bytes:
        """The body."""

    def getheader(self, name: str) -> str | None:
        """Return a header, or None if it is missing."""


def body_of(answer: HttpReply, hiding: Hiding = NOTHING) -> Body | Unknown:
    """Return the body of a reply; if the reply is an error, return the reason."""
    status = answer.status
    if status == 200:
        body = parsed(answer.read, hiding)
        if (
            isinstance(body, Unknown)
            or any(name != "error" and name[:1] != "@" for name in body)
            or "error" not in body
        ):
            return body
        gone = (
            "HTTP 404, reported with HTTP status 200"
            if GONE.search(answer.read[:QUOTED])
            else "an error, reported with HTTP status 200"
        )
        return Unknown(Reason.NOT_COLLECTED, f"{gone}{message(answer, hiding)}")
    if status in MOVED:
        place = clean(scrub_text(hiding.text(answer.getheader("Location") or "nowhere")), 100)
        return Unknown(Reason.UNREACHABLE, f"HTTP {status} redirects to {place}: not followed")
    reason = Reason.DENIED if status in {401, 403} else Reason.NOT_READY if status in BUSY else Reason.NOT_COLLECTED
    return Unknown(reason, f"HTTP {status}{message(answer, hiding)}")


def values(data: bytes) -> int:
    """Estimate the number of JSON values of a body without parsing it; the estimate is at most one too small."""
    return sum(map(data.count, (b",", b"{", b"[")))


def parsed(data: bytes, hiding: Hiding = NOTHING) -> Body | Unknown:
    """Parse a body, and return a JSON object without secrets and without our credentials; any other body is unparsable.

    A body is also unparsable if a name occurs twice in one object, because the correct value cannot be determined.
    Characters that cannot be decoded are replaced by `BROKEN`.
    """
    if values(data) > VALUES:
        return Unknown(Reason.TOO_LARGE, f"more than {VALUES} values in one answer")
    text = data.decode("utf-8-sig", "replace")
    if not text.strip():
        return Unknown(Reason.UNPARSABLE, "an empty body")
    try:
        body = json.loads(text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=json_text.once)
    except json.JSONDecodeError as error:
        shown = clean(scrub_text(hiding.text(text[:QUOTED])), 40)
        return Unknown(Reason.UNPARSABLE, f"not JSON: {error.msg} in line {error.lineno}: {shown!r}")
    except (ValueError, RecursionError) as error:
        return Unknown(Reason.UNPARSABLE, f"not JSON: {clean(hiding.text(str(error)), 80)}")
    if not isinstance(body, dict):
        return Unknown(Reason.UNPARSABLE, f"not a JSON object: {clean(scrub_text(hiding.text(text[:QUOTED])), 40)!r}")
    if _deep(body):
        return Unknown(Reason.UNPARSABLE, f"nested deeper than {DEPTH}")
    if b"\\" in data:  # without a backslash no text has escapes, and all texts were checked while parsing
        body = hiding.json(_whole(body))
    kept = body if is_clean(data) else scrub(body)
    assert isinstance(kept, dict)
    return kept


def other_spelling(uri: str, spelt: Mapping[str, str]) -> str | None:
    """Return another spelling of a missing resource's URI.

    HPE's BMCs need another spelling, because their links are spelt differently from the URIs of the resources.
    """
    cut = len(uri)
    while (cut := uri.rfind("/", 0, cut)) > 0:
        head = spelt.get(uri[:cut].casefold())
        if head is not None:
            if head != uri[:cut]:
                return head + uri[cut:]
            break
    return None if "?" in uri else f"{uri}/"


def same_host(url: str, uri: str, location: str | None) -> str | None:
    """Return the target of a redirect if it is another path of the same BMC, else None."""
    if not location:
        return None
    target = urlsplit(urljoin(urljoin(url, uri), location))
    here = urlsplit(url)
    if (target.scheme, target.netloc) != (here.scheme, here.netloc) or target.path == uri:
        return None
    return target._replace(scheme="", netloc="", fragment="").geturl()


def own(uri: str, body: Body | Unknown) -> Body | Unknown:
    """Return the body, or an Unknown if its `@odata.id` is the URI of a sibling of the requested resource.

    A difference only in letter case or slashes is allowed (HPE), and so is a URI below another path, because aliases
    are common. No recorded BMC returns a sibling resource by mistake.
    """
    value = None if isinstance(body, Unknown) else body.get("@odata.id")
    if not isinstance(value, str):
        return body
    asked, named = (re.split(r"[?#]", each)[0].rstrip("/").casefold().rpartition("/") for each in (uri, value))
    if asked[0] != named[0] or asked[2] == named[2]:
        return body
    return Unknown(Reason.UNPARSABLE, f"the body belongs to another resource: {clean(value, 200)}")


def sessions(root: Body) -> str | None:
    """Return the URI of the session collection from the root of a BMC; None if the root contains none."""
    links = root.get("Links")
    sessions = links.get("Sessions") if isinstance(links, dict) else None
    place = sessions.get("@odata.id") if isinstance(sessions, dict) else None
    return place if isinstance(place, str) and COLLECTION.fullmatch(place) else None


def session_place(url: str, location: str | None, collections: Iterable[str]) -> str | None:
    """Return the session URI in the reply to a login; None if no collection in `collections` contains it.

    Only a session URI from this function is ever deleted; it never contains `..`, percent escapes or another host.
    """
    match = LOCATION.fullmatch(location or "")
    if match is None or match["name"] in {".", ".."}:
        return None
    here = urlsplit(url)
    if match["host"] is not None and match["host"].removesuffix(":443").casefold() != (
        here.netloc.removesuffix(":443").casefold()
    ):
        return None
    known = {collection.rstrip("/").casefold() for collection in collections}
    return match["path"] if match["collection"].casefold() in known else None


def message(answer: HttpReply, hiding: Hiding = NOTHING) -> str:
    """Format the MessageId and the message of an error body in brackets."""
    body = parsed(answer.read, hiding)
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return ""
    info = error.get("@Message.ExtendedInfo")
    first = info[0] if isinstance(info, list) and info and isinstance(info[0], dict) else error
    rows = [str(first.get(k)) for k in ("MessageId", "code", "Message", "message") if first.get(k)]
    return f" ({clean(': '.join(rows), 160)})" if rows else ""


def _deep(body: object) -> bool:
    level = [body]
    for _ in range(DEPTH):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ())
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True


def _whole(value: object) -> object:
    """Replace each lone surrogate by `BROKEN`."""
    match value:
        case str():
            return re.sub("[\ud800-\udfff]", BROKEN, value)
        case dict():
            return {re.sub("[\ud800-\udfff]", BROKEN, name): _whole(inner) for name, inner in value.items()}
        case list():
            return [_whole(inner) for inner in value]
    return value


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is not a number")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)
