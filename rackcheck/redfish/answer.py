"""What a BMC's answer holds: one JSON object without its secrets, or why it is none."""

import json
import math
import re
from collections.abc import Mapping
from typing import Protocol
from urllib.parse import urljoin, urlsplit

from rackcheck.core.fact import Reason, Unknown, clean
from rackcheck.core.resource import Body
from rackcheck.core.secret import DEPTH, scrub

BUSY = frozenset({429, 502, 503, 504})
MOVED = frozenset({301, 302, 303, 307, 308})


class Answer(Protocol):
    """What the DMTF's library gives back."""

    status: int
    read: bytes

    def getheader(self, name: str) -> str | None:
        """Give a header, if it is there."""


def body_of(answer: Answer) -> Body | Unknown:
    """Give the body of an answer that holds one; else what its status means."""
    status = answer.status
    if status == 200:
        return parsed(answer.read)
    if status in MOVED:
        place = clean(answer.getheader("Location") or "nowhere", 100)
        return Unknown(Reason.UNREACHABLE, f"HTTP {status} sends us to {place}: not followed")
    reason = Reason.DENIED if status in {401, 403} else Reason.NOT_READY if status in BUSY else Reason.NOT_COLLECTED
    return Unknown(reason, f"HTTP {status}{message(answer)}")


def parsed(data: bytes) -> Body | Unknown:
    """Read a body: one JSON object, without its secrets; anything else is unparsable."""
    text = data.decode("utf-8-sig", "replace")
    if not text.strip():
        return Unknown(Reason.UNPARSABLE, "an empty body")
    try:
        body = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except json.JSONDecodeError as error:
        return Unknown(Reason.UNPARSABLE, f"not JSON: {error.msg} in line {error.lineno}: {clean(text, 40)!r}")
    except (ValueError, RecursionError) as error:
        return Unknown(Reason.UNPARSABLE, f"not JSON: {clean(str(error), 80)}")
    if not isinstance(body, dict):
        return Unknown(Reason.UNPARSABLE, f"not a JSON object: {clean(text, 40)!r}")
    if _deep(body):
        return Unknown(Reason.UNPARSABLE, f"nested deeper than {DEPTH}")
    kept = scrub(body)
    assert isinstance(kept, dict)
    return kept


def other_spelling(uri: str, spelt: Mapping[str, str]) -> str | None:
    """Spell a URI that is not there another way: in the letter case of one above it that is, else with a slash.

    HPE's links are spelt unlike its own resources.
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
    """Give where a redirect leads, if that is another place of the same BMC."""
    if not location:
        return None
    target = urlsplit(urljoin(urljoin(url, uri), location))
    here = urlsplit(url)
    if (target.scheme, target.netloc) != (here.scheme, here.netloc) or target.path == uri:
        return None
    return target._replace(scheme="", netloc="", fragment="").geturl()


def sessions(root: Body) -> str | None:
    """Give where this BMC's root says that sessions are taken."""
    links = root.get("Links")
    sessions = links.get("Sessions") if isinstance(links, dict) else None
    place = sessions.get("@odata.id") if isinstance(sessions, dict) else None
    return place if isinstance(place, str) and re.fullmatch(r"/redfish/[\x21-\x7e]{1,200}", place) else None


def message(answer: Answer) -> str:
    """Give what an error body says, in brackets: its MessageId and its words."""
    body = parsed(answer.read)
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return ""
    info = error.get("@Message.ExtendedInfo")
    first = info[0] if isinstance(info, list) and info and isinstance(info[0], dict) else error
    said = [str(first.get(k)) for k in ("MessageId", "code", "Message", "message") if first.get(k)]
    return f" ({clean(': '.join(said), 160)})" if said else ""


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


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is no number")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)
