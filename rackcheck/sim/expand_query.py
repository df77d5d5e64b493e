"""How a simulated BMC answers for whole collections ($expand): as the standard says, or as BMCs do that cannot."""

import json
import re
from collections.abc import Callable, Mapping

from rackcheck.sim.bad_answers import TwistedReply

ROOT = "/redfish/v1"
ASKED = re.compile(
    r"(?P<path>[^?]+)\?(?:(?P<page>\$skip=\d+)&)?(?P<expand>\$expand=(?P<what>[.*~])(?:\(\$levels=1\))?)"
)
ANNOUNCED = {"ExpandAll": True, "Levels": True, "Links": True, "MaxLevels": 1, "NoLinks": True}

BodyReader = Callable[[str], bytes | None]
"""Gives what a BMC holds at a URI."""

WAYS = ("honest", "nameless", "bare", "501", "cut")
"""How it is answered: in full, members without Id and Name, members as links, not at all, members of few properties."""


def announced(body: bytes) -> bytes:
    """Give the root, saying that whole collections can be asked for where it says nothing of that."""
    root = json.loads(body)
    root.setdefault("ProtocolFeaturesSupported", {}).setdefault("ExpandQuery", ANNOUNCED)
    return json.dumps(root).encode()


def reply_to(held: BodyReader, uri: str, way: str) -> TwistedReply:
    """Answer for one URI, with or without a question for whole members; 404 where nothing is."""
    match = ASKED.fullmatch(uri)
    page = f"?{match['page']}" if match is not None and match["page"] else ""
    body = held(uri if match is None else match["path"].rstrip("/") + page)
    if body is None:
        return TwistedReply(404, b"")
    if match is None:
        return TwistedReply(200, announced(body) if uri.rstrip("/") == ROOT else body)
    if way == "501":
        return TwistedReply(501, b'{"error": {"code": "Base.1.0.QueryParameterUnsupported", "message": "No."}}')
    found = _read(body)
    if found is None or way == "bare":
        return TwistedReply(200, body)
    whole = {name: _opened(value, held, match["what"], name) for name, value in found.items()}
    members = whole.get("Members")
    if isinstance(members, list):
        whole["Members"] = [_twisted(member, way) for member in members]
    following = whole.get("Members@odata.nextLink")
    if isinstance(following, str):
        whole["Members@odata.nextLink"] = f"{following}{'&' if '?' in following else '?'}{match['expand']}"
    return TwistedReply(200, json.dumps(whole).encode())


def members(uri: str, reply: TwistedReply) -> int:
    """Count the members that one answer had to be put together from."""
    if reply.status != 200 or ASKED.fullmatch(uri) is None:
        return 0
    found = (_read(reply.body) or {}).get("Members")
    return len(found) if isinstance(found, list) else 0


def _opened(value: object, held: BodyReader, what: str, under: str) -> object:
    """Put what a link leads to in its place: `.` leaves out those in `Links`, `~` takes no others; one level deep."""
    if under.startswith("@") or (what != "*" and (under == "Links") is (what == ".")):
        return value
    match value:
        case {"@odata.id": str(link), **more} if not more:
            return _read(held(link.rstrip("/")) or b"") or value
        case Mapping():
            return {name: _opened(inner, held, what, under) for name, inner in value.items()}
        case list():
            return [_opened(inner, held, what, under) for inner in value]
    return value


def _twisted(member: object, way: str) -> object:
    if not isinstance(member, Mapping):
        return member
    if way == "nameless":
        return {name: value for name, value in member.items() if name not in {"Id", "Name"}}
    if way == "cut":
        return {name: member[name] for name in ("@odata.id", "Id", "Name", "Status") if name in member}
    return member


def _read(body: bytes) -> dict[str, object] | None:
    """Read a body; None where it is no JSON object, as some recorded ones are not."""
    try:
        found = json.loads(body)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
