"""Anonymises captures: every identity, wherever it occurs, is replaced by a stand-in.

Hardware addresses, UUIDs, GUIDs, IP and mail addresses are found by their form. Serials, names and ids without
separators are found by their values, which the module `identities` collects first. Commands are unchanged, because the
output in a capture is found by its command. This module reads and writes no files; `docs/guide/capture.md` lists the
limits of the anonymisation.
"""

import ipaddress
import re
from collections.abc import Iterator, Mapping
from typing import Any

from rackcheck.anonymise.host_patterns import BEFORE, KERNELS, LOOKS, NO_HOST, NO_MAIL, RANGE
from rackcheck.anonymise.identities import PLACES, Identities, identifies, is_loose, is_name, is_short
from rackcheck.anonymise.stand_in import Dice, cased, spelt
from rackcheck.model.capture import BmcCapture, BurnCapture, Capture, NodeCapture, Output
from rackcheck.model.fact import Unknown
from rackcheck.model.regex import regex

NO_IDENTITIES: Mapping[str, str] = {}

LONG = 8
"""Minimum length of an identity that is also replaced inside a longer run of letters and digits."""

TOKENS = 1 << 18
"""Maximum number of tokens of text whose stand-ins are cached; the nodes of a rack return mostly the same tokens."""

_TOKEN = regex(r"[^\s\"'<>(),;=\[\]{}|\\`]{3,}")
_RUN = regex(r"[0-9A-Za-z]+")
_NAME = regex(r"[A-Za-z][\w.-]*")
"""Matches the name of a parameter before an equals sign, such as `rd.driver.blacklist`, which is not a host name."""

_TELLING = regex(r".*[:=\t]", re.DOTALL)
"""Matches a line up to its last colon, equals sign or tab; the value follows."""

LINE = 500
"""Maximum length of a line whose last value is looked up as a whole; longer lines are only searched by tokens."""

LONGEST = 512
"""Maximum length of a run of letters and digits that is searched for ids; longer runs are data, not names or ids."""


class Anonymous:
    """Replaces identities by stand-ins; an identity has the same stand-in everywhere.

    The names in `nodes` become node1, node2, and so on. A different salt gives different stand-ins; the salt is never
    part of the result. `own` maps host names to names in `nodes`: a host name gets the stand-in of its node, unless
    the host name is also the name of another node.
    """

    def __init__(
        self, nodes: list[str], found: Identities, salt: bytes, own: Mapping[str, str] = NO_IDENTITIES
    ) -> None:
        self.nodes = {name: f"node{number}" for number, name in enumerate(nodes, start=1)}
        # A device's description may be its host's name; then other devices of the same kind do not share that text.
        hosts = {part for host in own for part in (host.casefold(), host.casefold().partition(".")[0])}
        alike = found.alike - hosts
        self._alike, self._digits = alike, found.digits
        people = "|".join(map(re.escape, sorted(found.people, key=lambda p: (-len(p), p))))
        self._people = re.compile(rf"(?<![\w./-])(?:{people})(?![\w/-])", re.IGNORECASE) if people else None
        self._dice = Dice(salt, found.words | found.digits | found.names)
        made = {name.casefold(): made for name, made in self.nodes.items()}
        for host, name in own.items():
            word = host.casefold().partition(".")[0]
            if word in found.names:
                made.setdefault(word, self.nodes[name])
        names = {*made, *(found.names - alike)}
        words = {word for word in found.words - alike - found.digits - names if not is_short(word)}
        for word in sorted((names | words) - {*made}):
            made[word] = self._dice.word(word)
        self._made = made
        firm = {n for n in names if is_name(n)} | {w for w in words if not is_loose(w)}
        self._loose = {*made} - firm
        self._anchors: dict[str, list[tuple[str, int]]] = {}
        for word in sorted(firm, key=lambda w: (-len(w), w)):
            run = max(_RUN.finditer(word), key=lambda m: len(m[0]), default=None)
            if run is not None:
                self._anchors.setdefault(run[0], []).append((word, run.start()))
        inner = [w for w in {*firm, *found.digits} if len(w) >= LONG and _RUN.fullmatch(w)]
        self._inner = {size: {w for w in inner if len(w) == size} for size in sorted({*map(len, inner)}, reverse=True)}
        self._tokens: dict[str, str] = {}

    def text(self, text: str) -> str:
        """Return a text without identities."""
        whole = self._whole(text.strip())
        if whole is not None:
            return text.replace(text.strip(), whole, 1)
        if self._loose and "\n" in text:
            text = "".join(map(self._line, text.splitlines(keepends=True)))
        return _TOKEN.sub(self._token, text)

    def json(self, value: object, name: str = "", *, place: bool = False) -> Any:
        """Return a JSON value without identities in its texts, its names and its numbers.

        `name` is the property's name, which may mark any value as an identity; `place` is true inside a location or
        contact object.
        """
        match value:
            case str():
                text = self.text(value)
                return self._own(text) if text == value and identifies(name, value, place=place) else text
            case int() | float() if not isinstance(value, bool) and identifies(name, str(value), place=place):
                return int(self._dice.word(str(value))) if isinstance(value, int) and value > 0 else 0
            case Mapping():
                return {
                    self._name(str(key)): self.json(inner, str(key), place=place or key in PLACES)
                    for key, inner in value.items()
                }
            case list():
                return [self.json(inner, name, place=place) for inner in value]
        return value

    def _name(self, name: str) -> str:
        """Return a property's name without identities; `Members@odata.count` is not a mail address, and is kept."""
        what, _, note = name.partition("@")
        return f"{self.text(what)}@{note}" if re.match(r"(odata|Redfish|Message)\.", note) else self.text(name)

    def unknown(self, why: Unknown) -> Unknown:
        """Return a reason without the identities in its message."""
        return Unknown(why.reason, self._complaint(why.detail))

    def _complaint(self, text: str) -> str:
        """Return an error message without identities, including user names."""
        if self._people is not None:
            text = self._people.sub(lambda found: cased(self._dice.word(found[0].casefold()), found[0]), text)
        return self.text(text)

    def capture(self, capture: Capture) -> Capture:
        """Return a plane's capture without identities."""
        if isinstance(capture, BurnCapture):
            return BurnCapture(tuple(self.json(record) for record in capture.records))
        return self._host(capture) if isinstance(capture, NodeCapture) else self._bmc(capture)

    def _host(self, old: NodeCapture) -> NodeCapture:
        def path(name: str) -> str:
            return name if name in old.globs else self.text(name)

        return NodeCapture(
            {
                command: self.unknown(answer)
                if isinstance(answer, Unknown)
                else Output(answer.status, self._anonymised(command, answer.out), self._complaint(answer.err))
                for command, answer in old.commands.items()
            },
            {glob: None if why is None else self.unknown(why) for glob, why in old.globs.items()},
            {path(name): self._anonymised(name, content) for name, content in old.files.items()},
            {path(name): self.unknown(why) for name, why in old.refused.items()},
        )

    def _anonymised(self, question: str, text: str) -> str:
        """Return a host's output without identities, including the addresses without separators in /proc/net."""
        if "/proc/net/" in question:
            text = KERNELS.sub(self._kernels, text)
        return self.text(text)

    def _kernels(self, found: re.Match[str]) -> str:
        """Return the stand-in of an address in the kernel's format: little-endian words, except for IPv6 routes."""
        raw = bytes.fromhex(found[0])
        if found.lastgroup == "route6":
            return self._six(raw).hex()
        raw = _turned(raw)
        if len(raw) == 16:
            return _turned(self._six(raw)).hex().upper()
        made = self._dice.ipv4(str(ipaddress.IPv4Address(raw)))
        return _turned(ipaddress.IPv4Address(made).packed).hex().upper()

    def _six(self, raw: bytes) -> bytes:
        return ipaddress.IPv6Address(self._dice.ipv6(ipaddress.IPv6Address(raw).exploded)).packed

    def _bmc(self, old: BmcCapture) -> BmcCapture:
        bodies = {
            self.text(uri): self.unknown(body) if isinstance(body, Unknown) else self.json(body)
            for uri, body in old.bodies.items()
        }
        return BmcCapture(bodies, {self.text(uri): time for uri, time in old.times.items()})

    def _whole(self, text: str) -> str | None:
        """If the whole text is a known identity, return its stand-in, else None."""
        made = self._made.get(text.casefold())
        return None if made is None else _like(made, text)

    def _own(self, text: str) -> str:
        """Return the stand-in of a property's value that is an identity; a value that other machines share is kept."""
        return text if text.casefold() in self._alike else _like(self._dice.word(text.casefold()), text)

    def _line(self, line: str) -> str:
        """Return a line in which the value after the last separator is replaced, if this value has a stand-in."""
        if len(line) > LINE:
            return line
        before = found[0] if (found := _TELLING.match(line)) else ""
        value = line[len(before) :].strip(" \t\r\n\"',")
        made = self._whole(value) if value else None
        return line if made is None else before + line[len(before) :].replace(value, made, 1)

    def _token(self, match: re.Match[str]) -> str:
        token = match[0]
        if match.string[match.end() : match.end() + 1] == "=" and _NAME.fullmatch(token):
            return self._words(token)
        if token not in self._tokens:
            if len(self._tokens) >= TOKENS:
                self._tokens.clear()
            pieces, done = [], 0
            alike = token.casefold() in self._alike
            for found in LOOKS.finditer(token):
                pieces += [self._words(token[done : found.start()]), found[0] if alike else self._looked(found)]
                done = found.end()
            self._tokens[token] = "".join([*pieces, self._words(token[done:])])
        return self._tokens[token]

    def _looked(self, found: re.Match[str]) -> str:
        """Return the stand-in of a text with the form of an address or an id."""
        text, bare = found[0], re.sub(r"[:.-]", "", found[0]).casefold()
        if self._is_version(found) or (found["dotted"] and bare.isdecimal() and bare not in self._digits):
            return text
        try:
            match found.lastgroup:  # the outermost group, as it ends last
                case "ipv4":
                    return self._dice.ipv4(text)
                case "ipv6" if re.search("[0-9]", text):  # a::b is a name in C++
                    return self._dice.ipv6(text.casefold())
                case "mail":
                    return text if NO_MAIL.search(text) else self._mail(text)
                case "home" | "who":
                    return text if text == "root" else cased(self._dice.word(text.casefold()), text)
                case "url":
                    return self._authority(text)
                case "host":
                    own = text.partition(".")[2]
                    plain = NO_HOST.fullmatch(text.casefold()) or not (own.islower() or own.isupper())
                    return self._words(text) if plain else self._host_name(text)
        except ValueError:  # digits and dots or colons that are not an address
            return self._words(text)
        return text if found["ipv6"] else spelt(self._dice.digits(bare), text)

    def _is_version(self, found: re.Match[str]) -> bool:
        """Return whether a text is a value that machines share, or looks like IPv4 but ends a version (`5-1.2.3.4`)."""
        if found[0].casefold() in self._alike:
            return True
        before = found.string[max(0, found.start() - BEFORE) : found.start()]
        return found["ipv4"] is not None and re.search(r"[0-9]-\Z", before) is not None and not RANGE.search(before)

    def _authority(self, text: str) -> str:
        """Return a URL's authority (user, host and port) with stand-ins for the user and the host."""
        who, at, place = text.rpartition("@")
        host, colon, port = place.partition(":")
        if re.fullmatch(r"[0-9.]+", host):
            made = self._dice.ipv4(host)
        elif re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]*", host):
            made = self._host_name(host)
        else:
            made = self._words(host)
        login = ":".join(self._dice.word(word.casefold()) if word else "" for word in who.split(":"))
        return f"{login}{at}{made}{colon}{port}"

    def _host_name(self, text: str) -> str:
        """Return a host name without identities; its first label and its domain are replaced separately."""
        whole = self._whole(text)
        if whole is not None or text.casefold() == "localhost":
            return whole or text
        host, dot, domain = text.partition(".")
        made = self._words(host)
        if made == host and self._whole(host) is None:
            made = cased(self._dice.word(host.casefold()), host)
        return made + dot + cased(self._dice.word(domain.casefold()), domain)

    def _mail(self, text: str) -> str:
        who, _, where = text.casefold().partition("@")
        host, _, top = where.rpartition(".")
        return cased(f"{self._dice.word(who)}@{self._dice.word(host)}.{top}", text)

    def _words(self, text: str) -> str:
        """Return a piece of a token with its identities replaced from left to right, the longest at each position."""
        runs = list(_RUN.finditer(text))
        found = [one for run in runs for one in self._known(text, run)]
        found += [(run.start(), run.end(), "") for run in runs]
        pieces, done = [], 0
        for begin, end, made in sorted(found, key=lambda one: (one[0], not one[2], -one[1])):
            if begin >= done:
                pieces += [text[done:begin], made or self._inside(text[begin:end])]
                done = end
        return "".join([*pieces, text[done:]])

    def _known(self, text: str, run: re.Match[str]) -> Iterator[tuple[int, int, str]]:
        """Yield every identity that contains this run of letters and digits.

        An identity with a letter or a digit directly before or after it is part of a longer word, and is left out.
        """
        for word, offset in self._anchors.get(run[0].casefold(), ()):
            begin = run.start() - offset
            end = begin + len(word)
            if begin >= 0 and text[begin:end].casefold() == word:
                beside = text[end : end + 1].isalnum() or text[max(0, begin - 1) : begin].isalnum()
                if not beside:
                    yield begin, end, _like(self._made[word], text[begin:end])

    def _inside(self, run: str) -> str:
        """Return a run of letters and digits in which identities of at least LONG characters are replaced."""
        if not LONG <= len(run) <= LONGEST:
            return run
        low = run.casefold()
        for length, words in self._inner.items():
            for at in range(len(low) - length + 1):
                piece = low[at : at + length]
                if piece in words:
                    made = self._dice.digits(piece) if piece in self._digits else self._made[piece]
                    middle = _like(made, run[at : at + length])
                    return self._inside(run[:at]) + middle + self._inside(run[at + length :])
        return run


def _turned(raw: bytes) -> bytes:
    """Reverse the bytes of every four-byte word."""
    return b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4))


def _like(made: str, old: str) -> str:
    """Return a stand-in in the letter case of the original.

    The case is copied letter by letter if stand-in and original have letters at the same positions; otherwise, the
    stand-in is in upper case if the original is in upper case.
    """
    if len(made) == len(old) and all(a.isalpha() == b.isalpha() for a, b in zip(made, old, strict=True)):
        return cased(made, old)
    return made.upper() if old.isupper() else made
