"""Stand-ins with the shape of the original: a MAC for a MAC, thirteen digits for thirteen digits. Pure.

Each stand-in is chosen by an HMAC with a salt that is not stored. While the salt exists, the same value has the same
stand-in; a stand-in reveals nothing about the value but its shape.
"""

import hmac
import ipaddress
import re
import string
from collections.abc import Collection, Iterator, Sequence

from rackcheck.model.regex import regex

DIGITS, LETTERS, HEX = string.digits, string.ascii_lowercase, string.hexdigits[:16]

KEPT = frozenset({10, 100, 169, 172, 192})
"""First bytes of IPv4 addresses that are kept, because private and shared addresses (RFC 6890) begin with them."""

_AMONG = {100: range(64, 128), 169: range(254, 255), 172: range(16, 32), 192: range(168, 169)}
"""Second bytes of private and shared addresses, by first byte; each is replaced only by another of the same range."""

_QUALIFIED = regex(r"(?i:nqn|iqn)\.")
"""Prefix of the name of an NVMe subsystem or an iSCSI node; the part after the name's last colon is the identity."""

_GROUPS = regex("01005e|3333|0180c2|01000c")
"""Matches multicast MACs: IPv4 (RFC 1112, 6.4), IPv6 (RFC 2464, 7), bridges (IEEE 802.1Q), and Cisco's protocols."""

ATTEMPTS = 1000
"""Maximum number of attempts to find an unused stand-in; for a very short value, a stand-in may be used twice."""


class Dice:
    """Chooses stand-ins for lower-case values; no stand-in is one of `known`, the original values."""

    def __init__(self, salt: bytes, known: Collection[str] = ()) -> None:
        self._salt, self._known = salt, known
        self._given: dict[tuple[str, str], str] = {}
        self._taken: set[tuple[str, str]] = set()
        self._orders: dict[tuple[bytes, bool], dict[int, int]] = {}

    def word(self, value: str) -> str:
        """Return a stand-in for a serial or similar value: digits for digits, letters for letters."""
        begin = value.rpartition(":")[0] + ":" if _QUALIFIED.match(value) and ":" in value else ""
        return begin + self._chosen("word", value[len(begin) :], _shape(value[len(begin) :]), begin)

    def mac(self, digits: str) -> str:
        """Return a stand-in for a MAC (12 hexadecimal digits); the vendor's prefix and multicast MACs are unchanged."""
        if _GROUPS.match(digits) or len(set(digits)) == 1:
            return digits
        return digits[:6] + self._chosen("mac", digits, [HEX] * 6, digits[:6])

    def guid(self, digits: str) -> str:
        """Return a stand-in for 16 hexadecimal digits; a MAC in these digits is replaced by the MAC's stand-in."""
        if digits[6:10] in {"0300", "fffe"}:
            made = self.mac(digits[:6] + digits[10:])
            return made[:6] + digits[6:10] + made[6:]
        return digits if len(set(digits)) == 1 else digits[:6] + self._chosen("guid", digits, [HEX] * 10, digits[:6])

    def uuid(self, digits: str) -> str:
        """Return a stand-in for 32 hexadecimal digits; version and variant are unchanged."""
        if len(set(digits)) == 1:
            return digits
        made = self._chosen("uuid", digits, [HEX] * 32)
        return made[:12] + digits[12] + made[13:16] + digits[16] + made[17:]

    def digits(self, digits: str) -> str:
        """Return a stand-in for any number of hexadecimal digits."""
        known = {12: self.mac, 16: self.guid, 32: self.uuid}.get(len(digits))
        if known is not None:
            return known(digits)
        if len(digits) == 40:  # an InfiniBand port's hardware address: its queue pair and subnet, then its GUID
            return digits[:24] + self.guid(digits[24:])
        return digits if len(set(digits)) == 1 else self._chosen("hex", digits, [HEX] * len(digits))

    def ipv4(self, text: str) -> str:
        """Return a stand-in for an IPv4 address: addresses with a common prefix get stand-ins with a common prefix.

        The bytes 0 and 255 are unchanged, so that a network or broadcast address remains a network or broadcast
        address. Masks, loopback and multicast addresses are unchanged, and so are the prefixes of private and shared
        addresses. Raises ValueError if the text is not an IPv4 address.
        """
        old = ipaddress.IPv4Address(text).packed
        if old[0] in {0, 127} or old[0] >= 224:
            return text
        return ".".join(str(self._byte(old[:at], byte)) for at, byte in enumerate(old))

    def ipv6(self, text: str) -> str:
        """Return a stand-in for an IPv6 address, in the same spelling; its type and small host numbers are unchanged.

        If the last 64 bits were derived from a MAC or a GUID, the last 64 bits of the stand-in are derived from the
        stand-in of that MAC or GUID. Raises ValueError if the text is not an IPv6 address.
        """
        old = ipaddress.IPv6Address(text)
        net, own = f"{int(old):032x}"[:16], f"{int(old):032x}"[16:]
        if old.ipv4_mapped is not None:
            own = own[:8] + ipaddress.IPv4Address(self.ipv4(str(old.ipv4_mapped))).packed.hex()
        elif int(own, 16) >= 1 << 16 and not old.is_multicast:
            own = self._interface(own)
        if not (old.is_link_local or old.is_multicast or not int(net, 16)):
            net = "".join(self._group(net[: at + 4]) for at in range(0, 16, 4))
        made = ipaddress.IPv6Address(int(net + own, 16))
        return made.exploded if len(text) == len(made.exploded) else str(made)

    def _interface(self, own: str) -> str:
        """Return the stand-in of an IPv6 address's last 64 bits: derived from a MAC (RFC 4291), or else a GUID."""
        if own[6:10] != "fffe":
            return self.guid(own)
        mac = self.mac(f"{int(own[:2], 16) ^ 2:02x}{own[2:6]}{own[10:]}")
        return f"{int(mac[:2], 16) ^ 2:02x}{mac[2:6]}fffe{mac[6:]}"

    def _group(self, digits: str) -> str:
        """Return the stand-in of an IPv6 prefix's last four digits; keeps `0000` and an address's first two digits."""
        own = digits[-4:]
        if not int(own, 16):
            return own
        made = self._chosen("ipv6", digits, [HEX] * 3 + [HEX[1:]])
        return own[:2] + made[2:] if len(digits) == 4 else made

    def _byte(self, before: bytes, byte: int) -> int:
        """Return the stand-in of the byte that follows the bytes `before` in an IPv4 address.

        Different bytes after the same `before` have different stand-ins; a private or shared address has a private or
        shared stand-in.
        """
        if byte in {0, 255} or (not before and byte in KEPT):
            return byte
        among = _AMONG.get(before[0], range(0)) if len(before) == 1 else range(0)
        inside = byte in among
        if (before, inside) not in self._orders:
            top = 255 if before else 224
            own = [n for n in range(1, top) if (n in among) == inside and (before or n not in {*KEPT, 127})]
            rolls = self._rolls("ipv4", before, inside)
            ring = sorted(own, key=lambda n: (next(rolls), n))  # each byte maps to the next: no byte maps to itself
            self._orders[before, inside] = dict(zip(ring, [*ring[1:], ring[0]], strict=True))
        return self._orders[before, inside][byte]

    def _chosen(self, kind: str, value: str, shape: Sequence[str], begin: str = "") -> str:
        """Choose one character of each alphabet in `shape`; if possible, no two values of a kind have the same result.

        `begin` is the unchanged beginning of the stand-in, which precedes the chosen characters.
        """
        if (kind, value) not in self._given:
            made = value
            for attempt in range(ATTEMPTS):
                rolls = self._rolls(kind, value, attempt)
                made = "".join(letters[next(rolls) % len(letters)] for letters in shape)
                if (kind, made) not in self._taken and begin + made not in self._known and made != value:
                    break
            self._taken.add((kind, made))
            self._given[kind, value] = made
        return self._given[kind, value]

    def _rolls(self, *about: object) -> Iterator[int]:
        """Yield an endless sequence of numbers from 0 to 65535, which depends only on the salt and the arguments."""
        block = 0
        while True:
            words = repr((*about, block)).encode("utf-8", "surrogatepass")
            made = hmac.digest(self._salt, words, "sha256")
            yield from (int.from_bytes(made[i : i + 2]) for i in range(0, len(made), 2))
            block += 1


def _shape(value: str) -> list[str]:
    """Return the characters that are valid at each position of a stand-in; hexadecimal values stay hexadecimal."""
    letters = HEX[10:] if len(value) >= 8 and set(value) <= set(HEX) else LETTERS
    shape = [DIGITS if c.isdecimal() else letters if c.isalpha() else c for c in value]
    return [DIGITS[1:], *shape[1:]] if value[:1] in DIGITS[1:] and value else shape


def cased(made: str, like: str) -> str:
    """Spell a stand-in in the letter case of the original, letter by letter."""
    return "".join(c.upper() if old.isupper() else c for c, old in zip(made, like, strict=True))


def spelt(made: str, like: str) -> str:
    """Spell hexadecimal digits like the original: with the same separators and in the same case."""
    digits = iter(made.upper() if re.search("[A-F]", like) else made)
    return "".join(next(digits) if c in string.hexdigits else c for c in like)
