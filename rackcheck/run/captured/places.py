"""Converts node names and URIs to the paths of a capture, with folder names that every filesystem accepts. Pure.

URIs and node names may contain any character. In folder names, all characters except letters, digits and a few others
are percent-encoded, so that the original text can be restored. Two kinds of URIs have no path in a capture: URIs that
are too long, and URIs that differ from another URI only in letter case, which some filesystems ignore. The bodies of
resources whose URI has no path are stored in `bmc.json`.
"""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import unquote

from rackcheck.model.regex import regex

HEAD, HOST, BMC = "capture.json", "host.json", "bmc.json"
BODY, HEADERS, TIME = "index.json", "headers.json", "time.json"

NAME = 120
"""Maximum number of characters of a folder's name; filesystems accept 255 bytes (`NAME_MAX` of POSIX, NTFS, APFS)."""

WAY = 600
"""Maximum number of characters of the path of a resource; macOS accepts 1024 bytes including the user's folders."""

DEPTH = 24
"""Maximum number of folders in the path of a resource; URIs of recorded BMCs have at most 16 segments."""

_ODD = regex(r"[^A-Za-z0-9._~$=,+@()&!-]")
_TAKEN = regex(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?|(?:capture|host|bmc|index|headers|time)\.json", re.I)
"""Names that Windows reserves for devices, and names of rackcheck's files."""


def folder(word: str) -> str:
    """Return the folder name of a URI segment or a node name; `unquote` decodes it.

    Raises ValueError for an empty text.
    """
    if not word:
        raise ValueError("no name")
    name = _ODD.sub(lambda m: "".join(f"%{byte:02X}" for byte in m[0].encode("utf-8", "surrogatepass")), word)
    if name[-1] == ".":  # `.` and `..` are other folders, and Windows drops a dot at the end
        name = f"{name[:-1]}%2E"
    return f"%{ord(name[0]):02X}{name[1:]}" if _TAKEN.fullmatch(name) else name


def way(uri: str) -> str | None:
    """Return the path of a URI in a capture, without a leading slash; None if the URI cannot have a path."""
    words = uri.split("/")
    if not 2 <= len(words) <= DEPTH or words[0] or words[1] != "redfish" or not all(words[1:]):
        return None
    names = [folder(word) for word in words[1:]]
    found = "/".join(names)
    return found if len(found) <= WAY and all(len(name) <= NAME for name in names) else None


def uri(way: str) -> str:
    """Return the URI of a resource from its path in a capture."""
    return "/" + "/".join(unquote(name, errors="surrogatepass") for name in way.split("/"))


def ways(uris: Iterable[str]) -> dict[str, str]:
    """Return the path of each URI that can have one; of URIs that differ only in letter case, the first has a path."""
    spelt: dict[str, str] = {}
    found: dict[str, str] = {}
    for each in sorted(set(uris)):
        place = way(each)
        if place is None or uri(place) != each:
            continue
        heads = [place[: m.start()] for m in re.finditer("/|$", place)]
        if all(spelt.get(head.casefold(), head) == head for head in heads):
            spelt |= {head.casefold(): head for head in heads}
            found[each] = place
    return found


def rooms(names: Iterable[str]) -> Mapping[str, str]:
    """Return a folder name for each node: the encoded node name, or `%node` and a number if that name is unusable."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for number, name in enumerate(names, start=1):
        room = folder(name)
        if len(room) > NAME or room.casefold() in taken:
            room = f"%node{number}"  # unique: in an encoded name, two hexadecimal digits follow each percent sign
        taken.add(room.casefold())
        found[name] = room
    return found


def is_room(text: str) -> bool:
    """Whether a text is a valid folder name of a node, and not a path to another folder."""
    return len(text) <= NAME and re.fullmatch(r"[A-Za-z0-9._~$=,+@()&!%-]+", text) is not None and text[-1] != "."
