"""Replaces known values in texts, whatever their case, and removes text that looks like an address or an id.

Comparisons ignore the case and the width of letters. A value of 8 or more characters is found anywhere, a value of 4 to
7 characters only if no letter or digit is directly before or after it. A value of fewer than 4 characters is never
replaced, because it occurs in almost every text.
"""

import ipaddress
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping

from rackcheck.base import identity_patterns as forms
from rackcheck.model.fact import clean, visible
from rackcheck.model.fold import fold
from rackcheck.model.regex import regex

SHORT = 4
"""Minimum length of a value that is searched for in texts."""

LONG = 8
"""Minimum length of a value that is also found inside a word."""

ADDRESS, PATH, ID, PERSON = "[address]", "[path]", "[id]", "[person]"
"""Placeholders for removed values."""

_URL = regex(r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/\"'<>|\\]{1,300}")
_IPV4 = regex(rf"(?<![\w.]){forms.IPV4}(?!\w|\.[0-9])")
_IPV6 = regex(rf"(?<![\w:.])(?=[^\s]{{0,4}}:){forms.IPV6}(?![\w:])")
_HOME = regex(
    r"(?<![\w.\]])(?:/(?:home|root|Users|tmp|private|mnt|media|scratch)(?![\w.-])|~[\w.-]{0,32}/|[A-Za-z]:\\)"
    r"(?:[^\s\"'<>|;,()\[]|\[[a-z]+\])*"
)
_PATH = regex(r"(?<![\w.</)])/(?=[\w.-])(?P<root>[\w.-]{1,64})(?:[^\s\"'<>|;,()\[:]|\[[a-z]+\])*")
_SYSTEM = frozenset(
    {"bin", "boot", "dev", "etc", "lib", "lib64", "opt", "proc", "redfish", "run", "sbin", "sys", "usr", "var"}
)
"""First path segments of system paths, which are the same on every site and therefore kept."""

_IDS = regex(
    rf"(?<![0-9a-f-])(?:GPU-|MIG-)?{forms.UUID}(?![0-9a-f-])"
    rf"|(?<![\w:-]){forms.pairs('[:-]', 6, 32)}(?![\w:-])"
    rf"|(?<![\w.]){forms.DOTTED_MAC}(?![\w.])|(?<![\w:]){forms.GUID}(?![\w:])"
    r"|(?<!\w)(?:0x[0-9a-f]{16}|(?=[0-9]{0,15}[a-f])(?=[a-f]{0,15}[0-9])(?:[0-9a-f]{12}|[0-9a-f]{16}))(?!\w)",
    re.IGNORECASE,
)
_MAIL = regex(rf"(?<![\w.+-]){forms.MAIL}(?![\w-])")
_HOST = regex(
    rf"(?:(?<![\w.@-])(?:{forms.LABEL}){{2,8}}{forms.TOP}"
    rf"|(?<![A-Za-z0-9@])(?:{forms.LABEL}){{1,8}}{forms.PRIVATE_TOP})(?![\w@-]|\.\w)",
    re.IGNORECASE,
)

_NAMED = regex(r"(?<!\w)(host(?:name)?|fqdn)=[^\s,;]{1,300}", re.IGNORECASE)
_SET = regex(r"\[([0-9]{1,18}(?:-[0-9]{1,18})?(?:,[0-9]{1,18}(?:-[0-9]{1,18})?){0,9999})\]")
_NUMBERED = regex(r"(.*?)([0-9]{1,18})([^0-9]*)", re.DOTALL)


class Known:
    """Values to replace in texts, each with its replacement."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._words: dict[str, str] = {}
        for value, word in values.items():
            for form in _forms(value):
                if len(form) >= SHORT:
                    self._words.setdefault(form, word)
        lengths: dict[str, set[int]] = {}
        for form in self._words:
            lengths.setdefault(form[:SHORT], set()).add(len(form))
        self._lengths = {begin: sorted(found, reverse=True) for begin, found in lengths.items()}

    def replaced(self, text: str) -> str:
        """Return a text with every known value replaced, the longest first."""
        folded, origin = folding(text)
        pieces, done, at = [], 0, 0
        while at <= len(folded) - SHORT:
            size = self._found(folded, at)
            if not size:
                at += 1
                continue
            pieces += [text[done : origin(at)], self._words[folded[at : at + size]]]
            done = origin(at + size - 1) + 1
            at += size
        return "".join([*pieces, text[done:]]) if pieces else text

    def _found(self, folded: str, at: int) -> int:
        """Return the length of the longest known value at this position, or 0."""
        for size in self._lengths.get(folded[at : at + SHORT], ()):
            end = at + size
            beside = (at > 0 and folded[at - 1].isalnum()) or folded[end : end + 1].isalnum()
            if end <= len(folded) and folded[at:end] in self._words and (size >= LONG or not beside):
                return size
        return 0


class NodeSets:
    """Replaces node sets such as `dgx[01-03]` in texts by sets of the nodes' pseudonyms."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._stems: dict[tuple[str, str], list[tuple[int, str]]] = {}
        for name, pseudonym in names.items():
            match = _NUMBERED.fullmatch(name)
            if match is not None and match[1]:
                stem = (folding(match[1])[0], folding(match[3])[0])
                self._stems.setdefault(stem, []).append((int(match[2]), pseudonym))
        self._longest = sorted(self._stems, key=lambda stem: (-len(stem[0]), -len(stem[1]), stem))

    def replaced(self, text: str) -> str:
        """Return the text with each set of known names replaced by the set of their pseudonyms."""
        if "[" not in text:
            return text
        folded, origin = folding(text)
        pieces, done, free = [], 0, 0
        for match in _SET.finditer(folded):
            stem = self._stem(folded, free, match)
            if stem is not None:
                begin, free = match.start() - len(stem[0]), match.end() + len(stem[1])
                pieces += [text[done : origin(begin)], self._named(stem, match[1])]
                done = origin(free - 1) + 1
        return "".join([*pieces, text[done:]])

    def _stem(self, folded: str, free: int, match: re.Match[str]) -> tuple[str, str] | None:
        for head, tail in self._longest:
            begin = match.start() - len(head)
            if (
                begin >= free
                and folded.startswith(head, begin)
                and folded.startswith(tail, match.end())
                and not folded[max(0, begin - 1) : begin].isalnum()
            ):
                return head, tail
        return None

    def _named(self, stem: tuple[str, str], ranges: str) -> str:
        spans = [part.partition("-") for part in ranges.split(",")]
        bounds = [(int(first), int(last or first)) for first, _, last in spans]
        named = [word for number, word in self._stems[stem] if any(a <= number <= b for a, b in bounds)]
        return fold(named) or "[nodes]"


def folding(text: str) -> tuple[str, Callable[[int], int]]:
    """Return a text with normalized case and width, and a function from its positions to those of the original."""
    if text.isascii():
        return text.lower(), lambda at: at
    letters = [unicodedata.normalize("NFKC", c).casefold() for c in text]
    places = [n for n, folded in enumerate(letters) for _ in folded]
    return "".join(letters), places.__getitem__


def _forms(value: str) -> Iterator[str]:
    """Yield the forms in which a value occurs in texts: unchanged, as displayed, and cut at a length limit."""
    cut = clean(value)
    for form in (value, value.strip(), visible(value), cut, cut.removesuffix("…")):
        yield folding(form)[0]


def addressless(text: str, *, urls: bool = True, fours: bool = True) -> str:
    """Remove text that is certainly an address: IP addresses, and with `urls` the hosts of URLs (paths are kept).

    If `fours` is false, IPv4 addresses are kept, because a version may have the same form.
    """
    if urls and "://" in text:
        text = _URL.sub(ADDRESS, text)
    return _IPV6.sub(_if_ip, _IPV4.sub(_if_ip, text) if fours else text)


def hostless(text: str) -> str:
    """Remove text that looks like a host name; not to be used for fact paths, because they look like host names."""
    return _HOST.sub(ADDRESS, _NAMED.sub(rf"\1={ADDRESS}", text))


def homeless(text: str) -> str:
    """Remove paths below `/home`, `/tmp`, `/mnt` and similar folders, `~user/`, or a drive letter."""
    return _HOME.sub(PATH, text) if "/" in text or "\\" in text else text


def nameless(text: str, *, dates: bool = False) -> str:
    """Remove text that looks like the identity of a part or of a person, and every path except system paths.

    If `dates` is true, a text like `2024.0912.0001` is kept: it may be a version, although some MACs have this form.
    """
    text = _MAIL.sub(PERSON, text) if "@" in text else text
    text = _IDS.sub(lambda m: m[0] if dates and re.fullmatch(r"[0-9.]+", m[0]) else ID, text)
    return _PATH.sub(lambda m: m[0] if m["root"] in _SYSTEM else PATH, text)


def _if_ip(match: re.Match[str]) -> str:
    try:
        ipaddress.ip_address(match[0])
    except ValueError:
        return match[0]
    return ADDRESS
