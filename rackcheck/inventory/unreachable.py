"""Addresses that can never work, from any machine; the inventory's loader reports them with their place."""

import ipaddress
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from rackcheck.inventory.node import Node
from rackcheck.model.fact import clean


def mistakes(node: Node) -> Iterator[tuple[str, str]]:
    """Yield what cannot work: the key (`host`, `bmc.url`, `bmc.fingerprint`), and what is wrong with its value."""
    if node.host and (wrong := host(node.host)):
        yield "host", f"`host` of {node.name}: {wrong}"
    if node.bmc is None:
        return
    if wrong := url(node.bmc.url):
        yield "bmc.url", f"`url` of {node.name}{wrong}"
    if node.bmc.fingerprint and (wrong := fingerprint(node.bmc.fingerprint)):
        yield "bmc.fingerprint", f"`fingerprint` of {node.name}: {wrong}"


def host(text: str) -> str:
    """Return why a text is not a host; empty if it may be one."""
    shown = clean(text, 80)
    if "://" in text:
        return f"{shown!r} is a URL; a host is a name or an address alone"
    if "@" in text:
        return f"{shown!r} holds a user, which is said as `ssh: {{ user: NAME }}`"
    if re.search(r"[{}]", text):
        return f"{shown!r} has braces left over; only {{node}} is filled in"
    if text.startswith("-"):
        return f"{shown!r} begins with a hyphen, which would be read as an option"
    if re.search(r"[\s/]", text) or not text.isprintable():
        return f"{shown!r} is no name and no address"
    if re.fullmatch(r"[^:]+:[0-9]+|\[.*\]:[0-9]+", text):
        return f"{shown!r} holds a port, which is said as `ssh: {{ port: NUMBER }}`"
    if re.search(r"[:\[\]]", text) and not _is_address(text):
        return f"{shown!r} is no address; one of IPv6 is written without brackets"
    return ""


def url(text: str) -> str:
    """Return why a text is not a BMC's url, as words that follow its name; empty if it is one.

    The part before an @ may be a password, so such a text is not repeated.
    """
    if "@" in text:
        return " holds no user and no password"
    shown = clean(text, 80)
    try:
        place = urlsplit(text)
        name, port = place.hostname or "", place.port
    except ValueError as error:
        return f": {shown!r} is no URL: {clean(str(error), 80)}"
    if place.scheme != "https" or not name or port == 0:
        return f": a BMC is named as https://HOST or https://HOST:PORT, not {shown!r}"
    if place.path.strip("/") or place.query or place.fragment:
        return f": a BMC's url ends with its host or port: {shown!r}"
    wrong = host(name)
    return f": {wrong}" if wrong else ""


def fingerprint(text: str) -> str:
    """Return why a text is not a certificate's SHA-256; empty if it is one."""
    bare = re.sub(r"[:\s]", "", text.strip().casefold().removeprefix("sha256:"))
    sound = re.fullmatch(r"[0-9a-f]{64}", bare)
    return "" if sound else f"a SHA-256 has 64 hex digits, and {clean(text, 80)!r} is none"


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
