"""The forms of identities in text, as regular expressions: addresses, ids, mail addresses, names of hosts.

Each is the form alone. What may stand beside it depends on the text: `anonymise.looks` reads the replies of nodes and
BMCs, `report.known` the sentences of a report.
"""

UUID = r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"

DOTTED_MAC = r"[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}"
"""A MAC as switches write it."""

GUID = r"(?:[0-9A-Fa-f]{4}:){3}[0-9A-Fa-f]{4}"
"""A GUID as ibstat writes it."""

IPV4 = r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}"
IPV6 = r"[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?:\.[0-9.]{5,11})?"
MAIL = r"[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}"

LABEL = r"(?=[0-9-]{0,62}[A-Za-z])[A-Za-z0-9][A-Za-z0-9-]{0,62}\."
"""One word of a host's name with its dot; never a bare number, as in a version."""

TOP = r"[A-Za-z]{2,24}"
PRIVATE_TOP = r"(?:corp|home|internal|intranet|lan|local|localdomain|private)"
"""The last word of names that sites give their own networks: those of RFC 6762, appendix G, with `local` (ibid., 3)
and `localdomain`. Below one of them a host's name has two words, below any other it has three."""


def pairs(sign: str, least: int, most: int) -> str:
    """Return the form of a MAC or a longer hardware address: `least` to `most` pairs of hexadecimal digits."""
    return rf"(?:[0-9A-Fa-f]{{2}}{sign}){{{least - 1},{most - 1}}}[0-9A-Fa-f]{{2}}"
