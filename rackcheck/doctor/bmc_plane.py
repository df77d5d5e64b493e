"""The BMC plane in doctor: reads the BMC's identity and the role of rackcheck's account from its resources. Pure."""

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
"""The links to the resources that contain a BMC's identity and the role of rackcheck's account."""

ACCOUNTS = 16
"""Maximum number of accounts that are read to find rackcheck's own account, with one GET each."""


_OURS = ("Managers", "Systems", "Chassis")
"""First URI segments, below the service root, of the resources that describe the machine."""


_WHY = {Reason.DENIED: Trouble.BMC_ROLE, Reason.TIMEOUT: Trouble.SLOW, Reason.NOT_READY: Trouble.BMC_BUSY}
"""Maps the reason why a resource is unknown to a trouble; for any other reason, the trouble is BMC_GAP."""


def next_account(bodies: Mapping[str, Body | Unknown], user: str) -> str | None:
    """Return the URI of the next account to read, to find the role of `user`; None if it is found, or none is left.

    The account whose URI ends with the name of the user comes first.
    """
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
    """Return the role of `user` from its account; empty if the BMC does not report it."""
    accounts = (body for body in bodies.values() if isinstance(body, Mapping) and body.get("UserName") == user)
    return next((clean(body["RoleId"], 30) for body in accounts if isinstance(body.get("RoleId"), str)), "")


def read(bodies: Mapping[str, Body | Unknown], user: str, seconds: Sequence[float]) -> Controller:
    """Return the BMC's identity from its resources; a value that the BMC does not report is empty."""
    docs = Documents(bodies)
    root = next(_at(docs, ""), None)
    managers = list(_at(docs, "Managers/*"))
    managers.sort(key=lambda manager: (_text(manager, "ManagerType") != "BMC", not _text(manager, "FirmwareVersion")))
    manager = managers[0] if managers else None
    vendor, product, version = (_text(root, name) for name in ("Vendor", "Product", "RedfishVersion"))
    return Controller(
        vendor, product, _text(manager, "Model"), _text(manager, "FirmwareVersion"), version, clean(user, 40),
        role(bodies, user), median(seconds) if seconds else None, _text(root, "Oem.Rackcheck.Simulator"),
    )  # fmt: skip


def unread(bodies: Mapping[str, Body | Unknown], plan: Plan) -> Iterator[PlaneTrouble]:
    """Yield troubles for resources that could not be read although the login succeeded, with the affected probes.

    A collection without a valid list of members could not be read either.
    """
    bodies = {**bodies, **dict(_without_members(bodies))}
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


def _without_members(bodies: Mapping[str, Body | Unknown]) -> Iterator[tuple[str, Unknown]]:
    """Yield the collections that were read and have no valid list of members, with the reason."""
    docs = Documents(bodies)
    for word in _OURS:
        for collection in _at(docs, word):
            if collection.trouble is not None:
                continue  # it was not read at all, for a reason of its own
            try:
                docs.page(collection)
            except Unreadable as error:
                yield collection.uri, Unknown(error.reason, str(error).removeprefix(f"{collection.uri} "))


def _at(docs: Documents, link: str) -> Iterator[Resource]:
    """Yield the resources at a link; nothing if they could not be read."""
    try:
        yield from docs.at(link)
    except (Unreadable, Missing):
        return


def _text(resource: Resource | None, name: str) -> str:
    try:
        return clean(text_of(resource.value(name)), 40) if resource is not None else ""
    except Unreadable:
        return ""
