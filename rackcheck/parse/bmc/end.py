"""The ends of the links in a resource's `Links`, in one spelling, without following them."""

from collections.abc import Mapping

from rackcheck.model.resource import MEMBERS, Resource, same_place


def spelt(uri: str) -> str:
    """Return a URI in one spelling; some BMCs ignore the case of letters, and links depend on that."""
    return same_place(uri).casefold()


def links(resource: Resource, name: str) -> frozenset[str]:
    """Return the URIs in the property `name` of `Links`, which is a link or a list of links."""
    held = resource.body.get("Links")
    value = held.get(name) if isinstance(held, Mapping) else None
    listed = value[:MEMBERS] if isinstance(value, list) else [value]
    uris = (each.get("@odata.id") for each in listed if isinstance(each, Mapping))
    return frozenset(spelt(uri) for uri in uris if isinstance(uri, str))
