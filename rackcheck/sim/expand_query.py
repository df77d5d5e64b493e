"""Simulates $expand on a BMC: as defined in the Redfish standard, or with the defects of real BMCs."""

import json
import re
from collections.abc import Callable, Mapping

from rackcheck.sim.bad_answers import TwistedReply

ROOT = "/redfish/v1"
EXPANDED = re.compile(
    r"(?P<path>[^?]+)\?(?:(?P<page>\$skip=\d+)&)?(?P<expand>\$expand=(?P<what>[.*~])(?:\(\$levels=1\))?)"
)
ANNOUNCED = {"ExpandAll": True, "Levels": True, "Links": True, "MaxLevels": 1, "NoLinks": True}

BodyReader = Callable[[str], bytes | None]
"""A function that returns the body at a URI; None if there is no such resource."""

WAYS = ("honest", "nameless", "bare", "501", "cut")
"""Variants of $expand support.

`honest` is complete; `nameless` omits Id and Name of members; `bare` ignores $expand, so that members are links; `501`
rejects $expand; `cut` returns members with few properties.
"""


def announced(body: bytes) -> bytes:
    """Return the root resource, with ExpandQuery added to ProtocolFeaturesSupported if it has none."""
    root = json.loads(body)
    root.setdefault("ProtocolFeaturesSupported", {}).setdefault("ExpandQuery", ANNOUNCED)
    return json.dumps(root).encode()


def reply_to(held: BodyReader, uri: str, way: str) -> TwistedReply:
    """Return the reply to a GET of one URI, with or without $expand; 404 if the resource does not exist."""
    match = EXPANDED.fullmatch(uri)
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
    """Return the number of expanded members in a reply."""
    if reply.status != 200 or EXPANDED.fullmatch(uri) is None:
        return 0
    found = (_read(reply.body) or {}).get("Members")
    return len(found) if isinstance(found, list) else 0


def _opened(value: object, held: BodyReader, what: str, under: str) -> object:
    """Replace links by the linked resources, one level deep.

    The value of $expand, `what`, is `.` to replace only links outside of `Links`, `~` to replace only links inside of
    `Links`, or `*` to replace all links.
    """
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
    """Parse a body; None if the body is not a JSON object, as in some recordings."""
    try:
        found = json.loads(body)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
