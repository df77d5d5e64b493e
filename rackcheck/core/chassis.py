"""Power supplies, fans and temperatures: the newer resource of a chassis where it tells them, else the older."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from rackcheck.core.fact import Absent, Reason, Unknown, Unreadable, Value
from rackcheck.core.read import Sourced
from rackcheck.core.resource import Documents, Resource, said

Form = tuple[str, str]
"""A link below a chassis, and what holds the items there: `*` for a collection's members, else an array's name."""


def items(docs: Documents, *forms: Form) -> tuple[list[Resource], Unknown | None]:
    """Gather the items of every chassis from the first form that tells any; with why they may not be all."""
    found: list[Resource] = []
    chassis, trouble = _all(docs.at("Chassis/*"))
    told = False
    for place in chassis:
        failed: Unknown | None = None
        for link, holder in forms:
            holders, unread = _all(docs.at(link, place))
            some: list[Resource] = []
            for resource in holders:
                told = told or holder == "*" or resource.body.get(holder) is not None
                more, cut = _all(docs.at("*", resource) if holder == "*" else resource.parts(holder))
                some, unread = some + more, unread or cut
            if some:
                found, failed = found + some, unread
                break
            failed = failed or unread
        trouble = trouble or failed
    if not found and trouble is None and not told:
        trouble = Unknown(Reason.NOT_COLLECTED, f"no chassis of this BMC has {' or '.join(f for f, _ in forms)}")
    return found, trouble


def _all(resources: Iterator[Resource]) -> tuple[list[Resource], Unknown | None]:
    found: list[Resource] = []
    try:
        for resource in resources:
            found.append(resource)  # noqa: PERF402  what came before a failure stays
    except Unreadable as error:
        return found, Unknown(error.reason, str(error))
    return found, None


def keyed(
    resources: Iterable[Resource], name: Callable[[Resource], str] = lambda r: r.id
) -> Iterator[tuple[str, Resource]]:
    """Pair each resource with its own name; where names clash, with the chassis' Id before and, at last, its place."""
    every = list(resources)
    keys = [name(r) for r in every]
    for longer in (_with_owner, _with_place):
        twice = {key for key, count in Counter(keys).items() if count > 1}
        keys = [longer(key, r) if key in twice else key for key, r in zip(keys, every, strict=True)]
    return zip(keys, every, strict=True)


def _with_owner(key: str, resource: Resource) -> str:
    return f"{resource.owner.id}:{key}" if resource.owner is not None else key


def _with_place(key: str, resource: Resource) -> str:
    return f"{key}:{resource.uri.rpartition('/')[2]}"


def named(resource: Resource) -> str:
    """Give the name a sensor goes by, else its Id."""
    for name in ("Name", "DeviceName", "DataSourceUri"):
        own = resource.body.get(name)
        if isinstance(own, str) and own.strip():
            return own.strip().rstrip("/").rpartition("/")[2] if name == "DataSourceUri" else own.strip()
    return resource.id


def fitted(resource: Resource, name: str, reader: Callable[[object], Value] = said) -> Sourced:
    """Read a property of a thing in a slot; all of an empty slot is absent, also the zeros some BMCs give for it."""
    told = resource.read(name, reader)
    if resource.read("Status.State").reading == "Absent":
        return Sourced(Absent("the slot is empty"), told.source)
    return told
