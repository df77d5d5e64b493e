"""Items of a BMC's collections: gathered as far as they can be read, keyed by the names the BMC gives them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from rackcheck.core.fact import Absent, Reason, Unknown, Unreadable, Value
from rackcheck.core.read import Sourced
from rackcheck.core.resource import Documents, Resource, said

Form = tuple[str, str]
"""A link below a chassis, and what holds the items there: `*` for a collection's members, else an array's name."""


def gather(resources: Iterable[Resource]) -> tuple[list[Resource], Unknown | None]:
    """Take what resources there are, and why they are not all, if they are not."""
    found: list[Resource] = []
    try:
        for resource in resources:
            found.append(resource)  # noqa: PERF402  what came before a failure stays
    except Unreadable as error:
        return found, Unknown(error.reason, str(error))
    return found, None


def read_ones(found: list[Resource], trouble: Unknown | None) -> tuple[list[Resource], Unknown | None]:
    """Leave out what could not be fetched, and say so: without a body nobody knows what it is called.

    A name taken from its URI would stand beside the item of the true name, which would then seem absent. A member that
    its own BMC calls not found never had another name.
    """
    lost = [r for r in found if r.trouble is not None and not _says_not_there(r.trouble)]
    return [r for r in found if r not in lost], trouble or (lost[0].trouble if lost else None)


def members(docs: Documents, link: str) -> tuple[list[Resource], Unknown | None]:
    """Gather a collection's members; a BMC without the collection is not one without members."""
    found, trouble = gather(docs.at(f"{link}/*"))
    if trouble is None and not found and not gather(docs.at(link))[0]:
        trouble = Unknown(Reason.NOT_COLLECTED, f"this BMC has no {link}")
    return read_ones(found, trouble)


def in_chassis(docs: Documents, *forms: Form) -> tuple[list[Resource], Unknown | None]:
    """Gather the items of every chassis from the first form that tells any, and why they may not be all."""
    found: list[Resource] = []
    chassis, trouble = members(docs, "Chassis")
    told = False
    for place in chassis:
        failed: Unknown | None = None
        for link, holder in forms:
            holders, unread = gather(docs.at(link, place))
            some: list[Resource] = []
            for resource in holders:
                told = told or holder == "*" or resource.body.get(holder) is not None
                more, cut = gather(docs.at("*", resource) if holder == "*" else resource.parts(holder))
                some, unread = some + more, unread or cut
            if some or (unread is not None and not _says_not_there(unread)):
                # The older form names the same parts differently: it stands in only for one that is not there.
                found, failed = found + some, unread
                break
            failed = failed or unread
        trouble = trouble or failed
    if not found and trouble is None and not told:
        links = " or ".join(link for link, _ in forms)
        trouble = Unknown(Reason.NOT_COLLECTED, f"no chassis of this BMC has {links}")
    return read_ones(found, trouble)


def _says_not_there(unread: Unknown) -> bool:
    return unread.reason is Reason.NOT_COLLECTED and "HTTP 404" in unread.detail


def keyed(
    resources: Sequence[Resource], name: Callable[[Resource], str] = lambda r: r.id
) -> Iterator[tuple[str, Resource]]:
    """Pair each with its own name; names that clash get the chassis' Id before, then the place, at last the URI."""
    keys = [name(resource) for resource in resources]
    for longer in (_with_owner, _with_place, _with_uri):
        twice = {key for key, count in Counter(keys).items() if count > 1}
        keys = [longer(k, r) if k in twice else k for k, r in zip(keys, resources, strict=True)]
    return zip(keys, resources, strict=True)


def _with_owner(key: str, resource: Resource) -> str:
    return f"{resource.owner.id}:{key}" if resource.owner is not None else key


def _with_place(key: str, resource: Resource) -> str:
    return f"{key}:{resource.uri.rpartition('/')[2]}"


def _with_uri(key: str, resource: Resource) -> str:
    return f"{key}:{resource.uri}"


def named(resource: Resource) -> str:
    """Give the name a sensor goes by, else the last word of the link to it, else its Id."""
    for name in ("Name", "DeviceName", "DataSourceUri"):
        own = resource.body.get(name)
        if isinstance(own, str) and own.strip("/ "):
            return own.strip("/ ").rpartition("/")[2] if name == "DataSourceUri" else own.strip()
    return resource.id


def fitted(resource: Resource, name: str, reader: Callable[[object], Value] = said) -> Sourced:
    """Read a property of a thing in a slot; all of an empty slot is absent, also the zeros some BMCs give for it."""
    told = resource.read(name, reader)
    if resource.read("Status.State").reading == "Absent":
        return Sourced(Absent("the slot is empty"), told.source)
    return told
