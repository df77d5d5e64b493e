"""Finds values that identify a machine (serials, ids, names), in facts and after names such as `serial`."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields

from rackcheck.model.capture import BurnCapture, Capture, NodeCapture, Output
from rackcheck.model.fact import Class, Unknown
from rackcheck.model.placeholder import LABEL
from rackcheck.model.regex import regex
from rackcheck.model.tree import Tree

ALIKE = frozenset(
    {"arch", "board", "class", "date", "device", "family", "host_bridge", "id", "manufacturer", "model", "name"}
    | {
        "node_description",
        "part",
        "part_number",
        "pci",
        "port",
        "product",
        "product_version",
        "psid",
        "revision",
        "root",
    }
    | {"signature", "sku", "subsystem_device", "subsystem_vendor", "type", "upstream", "vendor", "board_vendor"}
    | {"board_version", "chassis_vendor", "hypervisor", "index", "market_name", "simulator", "state", "version"}
)
"""Last words of the paths of identity facts whose values other machines share, such as a model or a slot."""

_BLANK = LABEL | {"true", "false"}
"""Texts that identify nothing: placeholders for a missing value, and flags."""

_PLAIN = frozenset(
    {"admin", "administrator", "bmc", "compute", "data", "debian", "default", "disabled", "enabled", "host", "idrac"}
    | {"linux", "localdomain", "localhost", "management", "manager", "node", "operator", "root", "server", "service"}
    | {"storage", "switch", "system", "ubuntu", "user", "local", "internal", "home", "arpa", "gpu", "cpu", "fan", "psu"}
)
"""Names that identify nothing, and that occur as words in all kinds of output."""

_NUMBERED = regex(r"(?:node|cpu|core|socket|gpu|nic|eth|eno|ib|hca|mlx5_|bond|nvme|sd|psu|fan|dimm|tty|lo)[0-9]*")
"""Names that the kernel or a BMC uses for its parts; a node with such a name cannot be distinguished from a part."""

_MADE = regex(
    r"serial(?:number|no)?s?|assettag|servicetag|expressservicecode|hostname|fqdn|domainname|uuid|guid|machineid"
    r"|wwn|wwpn|wwnn|nqn|iqn|initiatorname|ssid|chassisid|sysname|systemname|nodename|nodeaddr|sasaddress|durablename"
)
_NAMED = regex(
    rf"[a-z0-9]*(?:{_MADE.pattern})|(?:board|chassis|device|module|part|product|system|vendor)?sn|nodeid"
    r"|(?:permanent|burnedin|host)?mac(?:address(?:es)?)?|(?:subject|issuer)name|fingerprint"
)
_NAMES = regex(r"(?:hostname|fqdn|domainname|sysname|systemname|nodename|nodeaddr)\Z")
_WHO = regex(
    r"(?:username|emailaddress|phonenumber|(?:admin|service)(?:name|phone|email|otherinfo)|server(?:name|otherinfo))\Z"
)
"""Properties whose values are personal data, wherever they occur; the last two groups are settings of HPE's BIOS."""

_PEOPLE = regex(
    r"(?:contactname|contact|info|building|room|floor|hall|street|city|additionalinfo"
    r"|postalcode|territory|housenumber|rack|row|assetowner|location|latitude|longitude|altitudemeters)\Z"
)
"""Properties of a Redfish body with text that a person entered, if they are in a location or contact object."""

PLACES = frozenset({"PostalAddress", "Contact", "Contacts", "Placement", "Location", "PhysicalAddress", "ContactInfo"})
"""Objects of a Redfish body that contain a location or a contact."""

_LABEL = regex(
    r"(?i)(?P<name>serial(?:[ _-]?(?:number|num|no))?|asset[ _-]?tag|service[ _-]?tag|uuid|guid|wwn|wwpn|wwnn|nqn"
    r"|machine[ _-]?id|host[ _-]?name|sysname|chassis[ _-]?id"
    r"|(?<![a-z])s/?n|serial[ ]?\#)\.?[\"']?[ \t]{0,20}[:=][ \t]{0,20}"
    r"[\"']?(?P<value>[^\s\"',;]{1,100})"
)
_SLURM = regex(r"(?<!\S)Node(?:Name|Addr|HostName)=(\S{1,100})")
"""Matches the names of nodes in Slurm's output."""

_WIDE = regex(
    r"(?i)(?:sas[ _-]?addr(?:ess)?|logical id|wwpn|wwnn|wwn|naa|eui|eui64|nguid|guid)[ \t.:(=]{1,3}"
    r"(?P<value>(?:0x)?(?:[0-9a-f]{16}){1,2})(?![0-9a-z])"
    r"|(?<![\w.])(?P<qualified>(?:iqn|nqn)\.[0-9]{4}-[0-9]{2}\.[\w.:-]{1,200})"
)
"""Matches world-wide names of ports and drives, and qualified names of iSCSI and NVMe."""

_LOGGED = regex(r"(?:<[0-9]{1,3}>)?\[[ 0-9.]{1,20}\](?:\[[^\]\n]{1,30}\])? (?:kernel: )?")
"""Matches the prefix of a line of the kernel's log.

A message that begins with `Serial: ` comes from the driver of a serial port (pr_fmt of drivers/tty/serial):
`Serial: 8250/16550 driver, 4 ports`.
"""

_PAIRS = regex(
    r"(?<![0-9A-Za-z])[0-9A-Fa-f]{2}(?P<sign>[:-])(?:[0-9A-Fa-f]{2}(?P=sign)){4,30}[0-9A-Fa-f]{2}(?![0-9A-Za-z])"
)
_UUID = regex(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_BARE = regex(r"[0-9a-f]{12}")
"""Matches 12 hexadecimal digits: they count as a serial, unless they also occur with separators, as a MAC does."""

_PCI = regex(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-7])?")
"""Matches a PCI address: it denotes a slot, which all machines of the same model have."""

_IDS = regex(
    rf".*(?:{_PAIRS.pattern}|{_UUID.pattern}|[^\s@]@[^\s@]+\.[a-z]{{2}}).*"
    r"|[0-9a-f]{12}|(?:[0-9a-f]{4}[.:]){2,3}[0-9a-f]{4}",
    re.IGNORECASE | re.DOTALL,
)
"""Matches values that are unique whatever fact contains them; for example, the name of a switch port may be its MAC."""

_VERSIONS = regex(r".*/(?:\w*version|fw_ver|firmware_rev)", re.IGNORECASE)
"""Matches paths of files that contain a version, which may look like an address."""

_SEARCHED = regex(r"(?m)^(?:search|domain)[ \t]+(\S.{0,1000})$")
"""Matches the lines of resolv.conf that contain domains."""

_SERVER = regex(r"(?:\A|[ \t])(?:(?:[\w.-]{1,64}@)?([A-Za-z0-9][\w.-]{1,252}):/|//([A-Za-z0-9][\w.-]{1,252})/)")
"""Matches the server of a network share, in lines of mounts, mountinfo, mountstats and fstab."""

_SHARES = regex(r"nfs|cifs|smb|sshfs")
"""Matches the types of network file systems, whose lines contain a server."""

LINE = 1000
"""Number of characters at the beginning of a line that are searched for a server."""

_LOOSE = regex(r"[\s\"'<>(),;=\[\]{}|\\`]")
"""Separators of words; a value that contains one of them is replaced only as a whole text or as the end of a line."""


@dataclass(frozen=True)
class Identities:
    """The values to hide, in lower case.

    `words` are serials and similar values, `names` are names of machines and domains, and `digits` are hexadecimal ids
    without separators. `people` are login names; only error messages are searched for them, because a login such as
    `nvidia` may be an ordinary word elsewhere. `alike` are values that machines of one model share, such as versions;
    they are not replaced.
    """

    words: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    digits: frozenset[str] = frozenset()
    alike: frozenset[str] = frozenset()
    people: frozenset[str] = frozenset()


def together(found: Iterable[Identities]) -> Identities:
    """Merge the identities of several captures."""
    every = tuple(found)
    return Identities(*(frozenset().union(*(getattr(one, f.name) for one in every)) for f in fields(Identities)))


def is_short(word: str) -> bool:
    """Return whether a value is too short to be distinguished from a number, a size or a count; it is not replaced."""
    return len(word) < 4 or (word.isdecimal() and len(word) < 6)


def is_loose(word: str) -> bool:
    """Return whether a value may be an ordinary word, and is replaced only as a whole text or as the end of a line."""
    few = len(word) < 6 or (word.isdecimal() and len(word) < 8) or len(set(word)) < 3
    return few or not word.isascii() or not re.search("[0-9]", word) or _LOOSE.search(word) is not None


def is_name(name: str) -> bool:
    """Return whether a machine's name is distinctive enough to be replaced inside every text."""
    return len(name) >= 4 and name.isascii() and name not in _PLAIN and _NUMBERED.fullmatch(name) is None


def named(names: Iterable[str]) -> Identities:
    """Return the identities in host names: the first label and the domain of each name."""
    found: set[str] = set()
    for name in names:
        low = name.strip().rstrip(".").casefold()
        host, _, domain = low.partition(".")
        if low and not re.fullmatch(r"[0-9.:]*|[0-9a-f:]*:[0-9a-f:.]*", low):
            found |= {host} | ({domain} if "." in domain else set())
    return Identities(names=frozenset(n for n in found if n not in _PLAIN | _BLANK))


def logins(users: Iterable[str]) -> Identities:
    """Return login names as identities; names of one or two letters and common names such as `admin` are left out."""
    return Identities(people=frozenset(u.casefold() for u in users if len(u) > 2) - _PLAIN)


def of_facts(tree: Tree) -> Identities:
    """Collect the values of identity facts, divided into unique values and values that other machines share."""
    words: set[str] = set()
    alike: set[str] = set()
    names: set[str] = set()
    for path, leaf in tree.leaves.items():
        if isinstance(leaf.reading, Unknown) or leaf.kind.cls not in {Class.IDENTITY, Class.VERSION}:
            continue
        values = [
            v for v in (leaf.reading if isinstance(leaf.reading, tuple) else (leaf.reading,)) if isinstance(v, str)
        ]
        last = path.rpartition(".")[2]
        if last == "hostname":
            names |= set(values)
        elif leaf.kind.cls is Class.VERSION or (last in ALIKE and not (last == "sku" and all(map(_tag, values)))):
            alike |= {value.casefold() for value in values if not _IDS.fullmatch(value)}
        else:
            words |= set(values)
    return together((named(names), _sorted_out(words), Identities(alike=frozenset(alike))))


def of_capture(capture: Capture) -> Identities:
    """Collect the values after names such as `serial` or `uuid`, and every hardware address with separators."""
    if isinstance(capture, NodeCapture):
        texts = [a.out for a in capture.commands.values() if isinstance(a, Output)]
        domains = {word for m in _SEARCHED.finditer(capture.files.get("/etc/resolv.conf", "")) for word in m[1].split()}
        alike = {text.strip().casefold() for name, text in capture.files.items() if _VERSIONS.fullmatch(name)}
        rows = Identities(
            names=frozenset(d.strip(".").casefold() for d in domains if "." in d.strip(".")),
            alike=frozenset(word for word in alike if not _IDS.fullmatch(word)),
        )
        return together((_of_texts([*texts, *capture.files.values()]), rows))
    if isinstance(capture, BurnCapture):
        return _of_values(rows for record in capture.records for rows in _texts(record))
    bodies = (body for body in capture.bodies.values() if not isinstance(body, Unknown))
    return _of_values(rows for body in bodies for rows in _texts(body))


def _of_texts(texts: Iterable[str]) -> Identities:
    words: set[str] = set()
    names: set[str] = set()
    for text in texts:
        words |= {m[0] for m in _PAIRS.finditer(text)}
        words |= {m["value"] or m["qualified"] for m in _WIDE.finditer(text)}
        for match in _LABEL.finditer(text):
            kind = re.sub(r"[^a-z]", "", match["name"].casefold())
            before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
            if kind == "serial" and _LOGGED.fullmatch(before):
                continue
            (names if _NAMES.search(kind) else words).add(match["value"])
        names |= {*_servers(text), *_SLURM.findall(text)}
    return together((_sorted_out(words), named(names)))


def _servers(text: str) -> Iterator[str]:
    for line in text.splitlines() if _SHARES.search(text) else ():
        if _SHARES.search(line) and (found := _SERVER.search(line[:LINE])):
            yield found[1] or found[2]


def _of_values(rows: Iterable[tuple[str, str]]) -> Identities:
    words: set[str] = set()
    names: set[str] = set()
    alike: set[str] = set()
    for name, value in rows:
        words |= {m[0] for m in _PAIRS.finditer(value)}
        if "version" in name and not _IDS.fullmatch(value):
            alike.add(value.casefold())
        if _NAMES.search(name):
            names.add(value)
        elif _NAMED.fullmatch(name) or (_WHO.search(name) and value.casefold() not in _PLAIN):
            words.add(value)
    return together((_sorted_out(words), named(names), Identities(alike=frozenset(alike))))


def _texts(body: object, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text in a JSON value, as a pair of the property's name and the text."""
    match body:
        case str():
            yield name, body
        case Mapping():
            for key, value in body.items():
                yield from _texts(value, _spelt(str(key)))
        case list():
            for item in body:
                yield from _texts(item, name)


def identifies(name: str, value: str, *, place: bool) -> bool:
    """Return whether a property's value is an identity or, in a location or contact, text that a person entered."""
    spelt = _spelt(name)
    own = _WHO.search(spelt) is not None or (place and _PEOPLE.search(spelt) is not None)
    named = own or _NAMED.fullmatch(spelt) is not None
    filled = re.fullmatch(r"[^0-9A-Za-z]*(?:(?:0[^0-9A-Za-z]*)+|(?:[fF][^0-9A-Za-z]*)+)?", value) is None
    return named and filled and value.strip().casefold() not in _BLANK


def _spelt(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def _sorted_out(values: Iterable[str]) -> Identities:
    """Divide values into words and hexadecimal ids; placeholders for a missing value are dropped."""
    words: set[str] = set()
    digits: set[str] = set()
    for value in values:
        low = value.strip().casefold()
        bare = re.sub(r"[:.-]", "", low.removeprefix("0x").removeprefix("gpu-").removeprefix("mig-"))
        if low in _BLANK or _PCI.fullmatch(low) or len(set(bare)) < 2:
            continue
        spelt = re.search("[a-f]", bare) or _PAIRS.fullmatch(low) or _UUID.fullmatch(low)
        if re.fullmatch(r"[0-9a-f]+", bare) and len(bare) in {12, 16, 32, 40} and spelt and not _BARE.fullmatch(low):
            digits.add(bare[-16:] if len(bare) == 40 else bare)
        else:
            words.add(low)
    return Identities(words=frozenset(words), digits=frozenset(digits))


def _tag(value: str) -> bool:
    """Return whether a SKU is a Dell service tag (the serial number): seven characters, letters and digits."""
    return re.fullmatch(r"(?=[A-Z]*[0-9])[A-Z0-9]{7}", value) is not None
