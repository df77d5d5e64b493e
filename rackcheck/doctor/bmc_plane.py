"""The BMC plane in doctor: the BMC's identity and our role, from its resources; pure."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from rackcheck.doctor.finding import Controller, PlaneTrouble, Trouble
from rackcheck.model.documents import Documents, Missing
from rackcheck.model.fact import Reason, Unknown, Unreadable, clean
from rackcheck.model.question import Redfish
from rackcheck.model.redfish_value import text_of
from rackcheck.model.resource import ROOT, Body, Resource
from rackcheck.probe.plan import Plan

LINKS = ("Managers/*", "Systems", "Chassis", "AccountService/Accounts")
"""The resources that contain a BMC's identity and our role."""

ACCOUNTS = 16
"""Maximum number of accounts that are read to find our own, with one GET each."""


_OURS = ("Managers", "Systems", "Chassis")
"""First segments of the URIs of all the machine's resources that rackcheck reads."""


_WHY = {Reason.DENIED: Trouble.BMC_ROLE, Reason.TIMEOUT: Trouble.SLOW, Reason.NOT_READY: Trouble.BMC_BUSY}
"""The trouble if a resource is unknown for this reason; with any other reason, only this resource is missing."""


def next_account(bodies: Mapping[str, Body | Unknown], user: str) -> str | None:
    """Return the next account to read to find our role, first the one with our name; None once our account is read."""
    if role(bodies, user):
        return None
    try:
        accounts = next(Documents(bodies).at("AccountService/Accounts"), None)
    except (Unreadable, Missing):
        return None
    if accounts is None:
        return None
    members = accounts.body.get("Members")
    links = [m.get("@odata.id") for m in members if isinstance(m, Mapping)] if isinstance(members, list) else []
    uris = [link for link in links if isinstance(link, str) and link.startswith(f"{accounts.uri}/") and link.isascii()]
    uris.sort(key=lambda uri: uri.rpartition("/")[2].casefold() != user.casefold())
    return next((uri for uri in uris[:ACCOUNTS] if uri.isprintable() and " " not in uri and uri not in bodies), None)


def role(bodies: Mapping[str, Body | Unknown], user: str) -> str:
    """Return our user's role, from its account; empty if it is not reported."""
    accounts = (body for body in bodies.values() if isinstance(body, Mapping) and body.get("UserName") == user)
    return next((clean(body["RoleId"], 30) for body in accounts if isinstance(body.get("RoleId"), str)), "")


def read(bodies: Mapping[str, Body | Unknown], user: str, seconds: Sequence[float]) -> Controller:
    """Read the BMC's identity; a value that is not reported is empty."""
    docs = Documents(bodies)
    root = next(_at(docs, ""), None)
    managers = list(_at(docs, "Managers/*"))
    managers.sort(key=lambda manager: (_text(manager, "ManagerType") != "BMC", not _text(manager, "FirmwareVersion")))
    manager = managers[0] if managers else None
    vendor, product, version = (_text(root, name) for name in ("Vendor", "Product", "RedfishVersion"))
    return Controller(
        vendor, product, _text(manager, "Model"), _text(manager, "FirmwareVersion"), version, clean(user, 40),
        role(bodies, user), median(seconds) if seconds else None,
    )  # fmt: skip


def unread(bodies: Mapping[str, Body | Unknown], plan: Plan) -> Iterator[PlaneTrouble]:
    """Yield the resources that could not be read although the login succeeded, and the probes that need them."""
    gone: dict[Trouble, dict[str, Unknown]] = {}
    for uri, body in bodies.items():
        if isinstance(body, Unknown) and uri.startswith(tuple(f"{ROOT}/{word}" for word in _OURS)):
            gone.setdefault(_WHY.get(body.reason, Trouble.BMC_GAP), {})[uri] = body
    for trouble, found in gone.items():
        words = {uri.removeprefix(f"{ROOT}/").partition("/")[0] for uri in found}
        asks = ((probe.name, probe.ask) for probe in plan.probes if isinstance(probe.ask, Redfish))
        lost = tuple(name for name, ask in asks if any(str(link).partition("/")[0] in words for link in ask.every))
        message = "; ".join(f"{uri}: {why}" for uri, why in list(found.items())[:3])
        yield PlaneTrouble(trouble, clean(message, 300), (), lost)


def _at(docs: Documents, link: str) -> Iterator[Resource]:
    """Yield the resources of a link that were read."""
    try:
        yield from docs.at(link)
    except (Unreadable, Missing):
        return


def _text(resource: Resource | None, name: str) -> str:
    try:
        return clean(text_of(resource.value(name)), 40) if resource is not None else ""
    except Unreadable:
        return ""
