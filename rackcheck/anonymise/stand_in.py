"""Stand-ins with the shape of the original: a MAC for a MAC, thirteen digits for thirteen digits. Pure.

Each is chosen by an HMAC under a salt that is not stored: the same value has the same stand-in as long as the salt
lives, and a stand-in alone reveals nothing of the value but its shape.
"""

import hmac
import ipaddress
import re
import string
from collections.abc import Collection, Iterator, Sequence

DIGITS, LETTERS, HEX = string.digits, string.ascii_lowercase, string.hexdigits[:16]

KEPT = frozenset({10, 100, 169, 172, 192})
"""First bytes of IPv4 addresses that stay: with the next byte they mark private and shared ones (RFC 6890)."""

_AMONG = {100: range(64, 128), 169: range(254, 255), 172: range(16, 32), 192: range(168, 169)}
"""Second bytes that map to each other below these first ones, for the same reason."""

_QUALIFIED = re.compile(r"(?i:nqn|iqn)\.")
"""Prefix of the name of an NVMe subsystem or of an iSCSI node; the part after its last colon identifies it."""

_GROUPS = re.compile("01005e|3333|0180c2|01000c")
"""Group addresses: of IPv4 (RFC 1112, 6.4) and IPv6 (RFC 2464, 7), of bridges (IEEE 802.1Q), Cisco's own."""

ATTEMPTS = 1000
"""The most attempts to find a free stand-in; then a used one is accepted, as for very short values all are taken."""


class Dice:
    """Chooses stand-ins for lower-case values; none is one of `known`, which are the originals of other things."""

    def __init__(self, salt: bytes, known: Collection[str] = ()) -> None:
        self._salt, self._known = salt, known
        self._given: dict[tuple[str, str], str] = {}
        self._taken: set[tuple[str, str]] = set()
        self._orders: dict[tuple[bytes, bool], dict[int, int]] = {}

    def word(self, value: str) -> str:
        """Return a stand-in for a serial or similar value: digits for digits, letters for letters, the rest as is."""
        begin = value.rpartition(":")[0] + ":" if _QUALIFIED.match(value) and ":" in value else ""
        return begin + self._chosen("word", value[len(begin) :], _shape(value[len(begin) :]), begin)

    def mac(self, digits: str) -> str:
        """Return a stand-in for 12 hexadecimal digits; the vendor's prefix stays, as do addresses of no device."""
        if _GROUPS.match(digits) or len(set(digits)) == 1:
            return digits
        return digits[:6] + self._chosen("mac", digits, [HEX] * 6, digits[:6])

    def guid(self, digits: str) -> str:
        """Return a stand-in for 16 hexadecimal digits; one made from a MAC is made from that one's stand-in."""
        if digits[6:10] in {"0300", "fffe"}:
            made = self.mac(digits[:6] + digits[10:])
            return made[:6] + digits[6:10] + made[6:]
        return digits if len(set(digits)) == 1 else digits[:6] + self._chosen("guid", digits, [HEX] * 10, digits[:6])

    def uuid(self, digits: str) -> str:
        """Return a stand-in for 32 hexadecimal digits; version and variant stay."""
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
        """Return a stand-in for an IPv4 address: addresses with a common prefix get stand-ins with one.

        0 and 255 stay, so that networks and broadcasts stay such; so do masks, loopback, multicast and the prefixes of
        private and shared addresses. Raises ValueError on any other text.
        """
        old = ipaddress.IPv4Address(text).packed
        if old[0] in {0, 127} or old[0] >= 224:
            return text
        return ".".join(str(self._byte(old[:at], byte)) for at, byte in enumerate(old))

    def ipv6(self, text: str) -> str:
        """Return a stand-in for an IPv6 address, in the same spelling; its type stays, as do small host numbers.

        Its last half is that of a MAC's or a GUID's stand-in if it was made from one. Raises ValueError on any other
        text.
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
        """Return the last half of an address: of a MAC (RFC 4291, appendix A, which flips one bit of it) or a GUID."""
        if own[6:10] != "fffe":
            return self.guid(own)
        mac = self.mac(f"{int(own[:2], 16) ^ 2:02x}{own[2:6]}{own[10:]}")
        return f"{int(mac[:2], 16) ^ 2:02x}{mac[2:6]}fffe{mac[6:]}"

    def _group(self, digits: str) -> str:
        """Return the stand-in of a prefix's last four digits, by all its digits; 0 stays, and the first two of all."""
        own = digits[-4:]
        if not int(own, 16):
            return own
        made = self._chosen("ipv6", digits, [HEX] * 3 + [HEX[1:]])
        return own[:2] + made[2:] if len(digits) == 4 else made

    def _byte(self, before: bytes, byte: int) -> int:
        """Return the stand-in of one byte after those before it: another one of its kind, each used once."""
        if byte in {0, 255} or (not before and byte in KEPT):
            return byte
        among = _AMONG.get(before[0], range(0)) if len(before) == 1 else range(0)
        inside = byte in among
        if (before, inside) not in self._orders:
            top = 255 if before else 224
            own = [n for n in range(1, top) if (n in among) == inside and (before or n not in {*KEPT, 127})]
            rolls = self._rolls("ipv4", before, inside)
            ring = sorted(own, key=lambda n: (next(rolls), n))  # each maps to the next one: none stays the same
            self._orders[before, inside] = dict(zip(ring, [*ring[1:], ring[0]], strict=True))
        return self._orders[before, inside][byte]

    def _chosen(self, kind: str, value: str, shape: Sequence[str], begin: str = "") -> str:
        """Choose one letter of each alphabet, unique for this value; `begin` will precede them."""
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
        """Yield numbers from 0 to 65535 without end, determined by the salt and the arguments."""
        block = 0
        while True:
            words = repr((*about, block)).encode("utf-8", "surrogatepass")
            made = hmac.digest(self._salt, words, "sha256")
            yield from (int.from_bytes(made[i : i + 2]) for i in range(0, len(made), 2))
            block += 1


def _shape(value: str) -> list[str]:
    """Return the letters that are valid at each position of a value; one of hexadecimal digits stays one."""
    letters = HEX[10:] if len(value) >= 8 and set(value) <= set(HEX) else LETTERS
    shape = [DIGITS if c.isdecimal() else letters if c.isalpha() else c for c in value]
    return [DIGITS[1:], *shape[1:]] if value[:1] in DIGITS[1:] and value else shape


def cased(made: str, like: str) -> str:
    """Spell a stand-in in the letter case of the original, letter by letter."""
    return "".join(c.upper() if old.isupper() else c for c, old in zip(made, like, strict=True))


def spelt(made: str, like: str) -> str:
    """Spell hexadecimal digits like the original: with its separators, and in its case."""
    digits = iter(made.upper() if re.search("[A-F]", like) else made)
    return "".join(next(digits) if c in string.hexdigits else c for c in like)
