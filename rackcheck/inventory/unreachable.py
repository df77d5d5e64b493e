"""Detects invalid hosts, BMC URLs and fingerprints; the inventory loader reports them with file, line and column."""

import ipaddress
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from rackcheck.inventory.node import Node
from rackcheck.model.fact import clean


def mistakes(node: Node) -> Iterator[tuple[str, str]]:
    """Yield invalid values of a node: the key (`host`, `ssh.jump`, `bmc.url` or `bmc.fingerprint`), and the error."""
    if node.host and (wrong := host(node.host)):
        yield "host", f"`host` of {node.name}: {wrong}"
    if node.ssh.jump and (wrong := jump(node.ssh.jump)):
        yield "ssh.jump", f"`jump` of {node.name}: {wrong}"
    if node.bmc is None:
        return
    if wrong := url(node.bmc.url):
        yield "bmc.url", f"`url` of {node.name}{wrong}"
    if node.bmc.fingerprint and (wrong := fingerprint(node.bmc.fingerprint)):
        yield "bmc.fingerprint", f"`fingerprint` of {node.name}: {wrong}"


def host(text: str) -> str:
    """Return why a text is not a valid host; empty if it is valid."""
    shown = clean(text, 80)
    if "://" in text:
        return f"{shown!r} is a URL; a host must be a name or an address"
    if "@" in text:
        return f"{shown!r} contains a user name; set it with `ssh: {{ user: NAME }}`"
    if re.search(r"[{}]", text):
        return f"{shown!r} contains braces; only {{node}} is replaced"
    if text.startswith("-"):
        return f"{shown!r} begins with a hyphen, which would be read as an option"
    if re.search(r"[\s/]", text) or not text.isprintable():
        return f"{shown!r} is neither a name nor an address"
    if re.fullmatch(r"[^:]+:[0-9]+|\[.*\]:[0-9]+", text):
        return f"{shown!r} contains a port; set it with `ssh: {{ port: NUMBER }}`"
    if re.search(r"[:\[\]]", text) and not _is_address(text):
        return f"{shown!r} is not an address; IPv6 is written without brackets"
    return ""


JUMP = re.compile(r"(?:ssh://)?(?:[\w.-]+@)?(?:\[[0-9a-fA-F:]+\]|\w[\w.-]*)(?::[0-9]{1,5})?/?")
"""A jump host as OpenSSH's ProxyJump reads it: `[user@]host[:port]`, or the same as a URI."""


def jump(text: str) -> str:
    """Return why a text is not a list of jump hosts; empty if it is one."""
    wrong = next((each for each in text.split(",") if JUMP.fullmatch(each) is None), None)
    return "" if wrong is None else f"{clean(wrong, 80)!r} is not [USER@]HOST[:PORT]; a comma separates several hosts"


def url(text: str) -> str:
    """Return why a text is not a valid `url` of a BMC, as the end of a message, or an empty text if it is valid.

    If the text contains an @, the message does not repeat the text: the part before the @ may be a password.
    """
    if "@" in text:
        return " must not contain a user or a password"
    shown = clean(text, 80)
    try:
        place = urlsplit(text)
        name, port = place.hostname or "", place.port
    except ValueError as error:
        return f": {shown!r} is not a URL: {clean(str(error), 80)}"
    if place.scheme != "https" or not name or port == 0:
        return f": a BMC's url is https://HOST or https://HOST:PORT, not {shown!r}"
    if place.path.strip("/") or place.query or place.fragment:
        return f": a BMC's url must end with its host or port: {shown!r}"
    wrong = host(name)
    return f": {wrong}" if wrong else ""


def fingerprint(text: str) -> str:
    """Return why a text is not the SHA-256 fingerprint of a certificate, or an empty text if it is valid."""
    bare = re.sub(r"[:\s]", "", text.strip().casefold().removeprefix("sha256:"))
    sound = re.fullmatch(r"[0-9a-f]{64}", bare)
    return "" if sound else f"{clean(text, 80)!r} is not a SHA-256 of 64 hex digits"


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
