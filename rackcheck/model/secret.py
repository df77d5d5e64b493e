"""Secrets that must not be stored: passwords, keys and similar values, found by their names and dropped."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from rackcheck.model.regex import regex

DROPPED = "(dropped)"
"""The text that replaces a secret."""

DEPTH = 64
"""Maximum nesting depth of a JSON body; values at a greater depth are dropped without a search for secrets."""

_HOLDS = (
    r"pass(?:word|wd|phrase|code)s?|pwd|secrets?|tokens?|credentials?|authorization|cookie"
    r"|communit(?:y|ies)(?:name|string)?s?|psk|chap"
    r"|(?:private|priv|privacy|ipmi|v3|auth|authentication|encryption|decryption|shared|preshared|api|access"
    r"|secret|session|signing|license|activation|product|master|unlock|recovery|bmc|kg)keys?"
)
_SECRET = regex(rf"(?:{_HOLDS}|salt|passwordhash)\d*\Z")
_NEAR = regex(r"pass(?:word|wd|phrase)|secret|token|salt\d*\Z|privatekey|communit(?:y|ies)|ipmikey|v3key")
_CODE = regex(r"(?:pass(?:word|wd|phrase|code)|pwd)\d*\Z")
_KEY = regex(r"(?<!public)(?<!pub)keys?\d*\Z")
_ANY = regex(r"pass|pwd|secret|token|credential|authorization|cookie|communit|psk|chap|key|salt")
"""Matches in every name in which one of the four patterns above matches: most names need no other search."""

_SUFFIX = regex(r"_[0-9A-F]{4}\Z")
_SIGNS = regex(r"[^a-z0-9]+")
_HARMLESS = frozenset(
    {
        *("enabled", "disabled", "enable", "disable", "yes", "no", "true", "false", "on", "off", "none", "auto"),
        *("set", "notset", "unset", "locked", "unlocked", "installed", "notinstalled", "setup", "always", "never"),
        *("default", "supported", "notsupported", "required", "optional", "weakprotection", "strongprotection"),
    }
)
"""Words that describe a feature of passwords, not a password (`PasswordStatus: Unlocked` of iDRAC)."""

_SWITCH = frozenset({"enabled", "disabled", "enable", "disable", "true", "false"})
"""The words of `_HARMLESS` that can never be a password themselves (`DeleteUnusedEncryptionKeys: Disabled`)."""

VALUES = frozenset(
    {
        *("currentvalue", "currentsetting", "current", "value", "defaultvalue", "defaultsetting", "default"),
        *("pendingvalue", "pendingsetting", "pending", "futurevalue"),
    }
)
"""Names of properties, without case and signs, whose value is that of the attribute which the same object names."""

_PEM = regex(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)", re.DOTALL)
_URL = regex(r"(?P<before>(?:://|\biscsi:)[^/\s:@]{0,200}:)(?P<value>[^/\s@]{1,200})(?=@)")
_PAIR = regex(
    r"""(?P<name>(?<![A-Za-z0-9_.-])[A-Za-z0-9_.-]{2,80})(?P<quote>["']?)(?P<mark>\s{0,4}[=:]\s{0,4})"""
    r"""(?P<value>"(?:[^"\\\n]|\\.){0,2000}"|'[^'\n]{0,2000}'|["']?[^\s"'{\[][^\s"']*)"""
)
_PART = regex(r"""(?<=[?&,;])(?P<name>[A-Za-z0-9_.-]{2,80})(?P<quote>["']?)(?P<mark>=)(?P<value>[^\s"'&,;]+)""")
"""Matches a `name=value` pair that follows another such pair: `?a=1&token=...`, `-o user=a,password=...`."""

_SENT = regex(
    r"(?P<before>\b(?:X-Auth-Token|Authorization|Cookie|Set-Cookie)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?"
    r"|\bBearer[ \t]{1,4}|\bBasic[ \t]{1,4}(?=[A-Za-z0-9+/]{8}))(?!\(dropped\))[^\r\n\"']{1,4000}",
    re.IGNORECASE,
)
"""Matches an HTTP header with credentials in a text, up to the end of the line or a quote."""

_SENDS = ("x-auth-token", "authorization", "cookie", "bearer", "basic")
"""Every ASCII text that `_SENT` matches contains one of these words, in upper or lower case.

Other texts are always searched, because a few letters outside ASCII match ASCII letters if case is ignored.
"""

_OPTION = regex(r"(?P<name>(?<!\S)--?[A-Za-z][A-Za-z0-9_-]{1,80})(?P<mark>[ \t]{1,4})(?P<value>[^\s-]\S*)")


_WORDS = (
    *(b"pass", b"pwd", b"secret", b"token", b"credential", b"authorization", b"cookie", b"communit", b"psk", b"chap"),
    *(b"key", b"salt", b"bearer", b"basic"),
)
"""A text without these words, of which none but a URL with a user drops anything, needs no search by patterns."""

_FOLDED = bytes(range(256)).lower()
_SIGN_BYTES = bytes(sign for sign in range(128) if not chr(sign).isalnum())
_BATCH = 64
"""Number of files that are searched for the words together: most have a few characters."""


def is_clean(data: bytes, joints: bytes = _SIGN_BYTES) -> bool:
    """Whether a text surely has no secret; `joints` are the characters that a name may have between its letters.

    By default, they are those of a name in JSON. A text with escapes or characters outside ASCII is never clean.
    """
    if not data.isascii() or b"\\" in data or (b"@" in data and (b"://" in data or b"iscsi:" in data)):
        return False
    folded = data.translate(_FOLDED, joints)
    return not any(word in folded for word in _WORDS)


def scrub(body: object, depth: int = 0, *, held: bool = False, owner: str = "") -> object:
    """Return the same JSON with its secrets replaced; links, booleans and nulls are unchanged.

    `owner` is the name of the property that holds the JSON: the values in an object are those of its property.
    """
    if isinstance(body, str):
        return DROPPED if held and body and not body.startswith("/redfish/") else _plain(body)
    if held and isinstance(body, (int, float)) and not isinstance(body, bool):
        return DROPPED
    if isinstance(body, Mapping):
        if depth >= DEPTH:
            return DROPPED
        names = (owner, str(body.get("AttributeName") or body.get("Name") or ""))
        kept: dict[str, object] = {}
        for key, value in body.items():
            name = _plain(str(key))
            secret = (held or (_is_value(str(key)) and any(_dropped(each, value) for each in names))) and key[:1] != "@"
            kept[name] = scrub(value, depth + 1, held=secret or is_secret(name, value), owner=name)
        return kept
    if isinstance(body, list):
        return DROPPED if depth >= DEPTH else [scrub(item, depth + 1, held=held) for item in body]
    return body


def _is_value(key: str) -> bool:
    """Whether a property holds the value of the object that has it: `CurrentValue`, `current_value`, `Value`."""
    return re.sub(r"[^a-z]", "", key[:LONGEST].casefold()) in VALUES


def _dropped(name: str, value: object) -> bool:
    return is_secret(name, None) or is_secret(name, value)


def is_secret(name: str, value: object) -> bool:
    """Whether a property with this name and value must be dropped; a word like Enabled is a setting, not a password."""
    means = _meaning(name[:LONGEST])
    if means is _NOTHING:
        return False
    if isinstance(value, (int, float)):
        return not isinstance(value, bool) and means.code
    if not isinstance(value, str):
        return means.secret
    word = re.sub(r"[^a-z]", "", value.casefold())
    if means.secret:
        return word not in _SWITCH
    if means.key:
        return re.fullmatch(r"(?=\S*\d)\S{8,}", value) is not None
    return means.near and word not in _HARMLESS and not value.strip().isdecimal()


class _Meaning(NamedTuple):
    """Which of the patterns of names a name matches."""

    code: bool
    secret: bool
    key: bool
    near: bool


_NOTHING = _Meaning(code=False, secret=False, key=False, near=False)

LONGEST = 200
"""Number of characters of a name that are examined."""


@lru_cache(maxsize=8192)
def _meaning(name: str) -> _Meaning:
    """Return what a name means; cached, because all nodes of a rack return the same names."""
    spelt = _spelt(name)
    if not _ANY.search(spelt):
        return _NOTHING
    found = _Meaning(*(pattern.search(spelt) is not None for pattern in (_CODE, _SECRET, _KEY, _NEAR)))
    return found if any(found) else _NOTHING


def scrub_texts(texts: Mapping[str, str]) -> dict[str, str]:
    """Return texts without their secrets, as `scrub_text` does for each of them."""
    found = dict(texts)
    names = list(texts)
    for start in range(0, len(names), _BATCH):
        batch = names[start : start + _BATCH]
        if not _is_clean_text("\n".join([texts[name] for name in batch])):
            found |= {name: scrub_text(texts[name]) for name in batch}
    return found


def _is_clean_text(text: str) -> bool:
    """Whether a text surely has no secret after a name; a backslash has no meaning here."""
    return text.isascii() and is_clean(text.replace("\\", " ").encode(), b"_.-")


def scrub_text(text: str) -> str:
    """Return the text without the secrets after `password=`, `--token` and similar, and before the @ of a host."""
    if not _MARKED.search(text) or _is_clean_text(text):
        return text
    text = _PEM.sub(DROPPED, text)
    if not text.isascii():
        return _searched(text)
    lines = text.split("\n")
    for first, end in reversed(_runs(lines, _suspects(text))):
        lines[first:end] = [_searched("\n".join(lines[first:end]))]
    return "\n".join(lines)


def _suspects(text: str) -> list[int]:
    """Return the numbers of the lines that may have a secret, in order, for a text of ASCII characters."""
    data = text.encode()
    folded = data.translate(_FOLDED, b"_.-")
    found = _lines_with(folded, _WORDS)
    if b"@" in data and (b"://" in data or b"iscsi:" in data):
        found |= _lines_with(data, (b"@",))
    return sorted(found)


def _lines_with(data: bytes, words: Iterable[bytes]) -> set[int]:
    found: set[int] = set()
    for word in words:
        line = last = 0
        while (at := data.find(word, last)) >= 0:
            line += data.count(b"\n", last, at)
            found.add(line)
            end = data.find(b"\n", at)
            if end < 0:
                break
            line, last = line + 1, end + 1
    return found


def _runs(lines: Sequence[str], suspects: Iterable[int]) -> list[tuple[int, int]]:
    """Return the lines to search, each with those above and below with which they could form one pair.

    Only `_PAIR` matches across the ends of lines, around its sign.
    """
    runs: list[tuple[int, int]] = []
    for line in suspects:
        if runs and line < runs[-1][1]:
            continue
        first, end = line, line + 1
        while first and _may_be_joined(lines[first - 1], lines[first]):
            first -= 1
        while end < len(lines) and _may_be_joined(lines[end - 1], lines[end]):
            end += 1
        runs.append((first, end))
    return runs


def _may_be_joined(above: str, below: str) -> bool:
    above, below = above.rstrip(), below.lstrip()
    return not above or not below or above[-1] in "=:" or below[0] in "=:"


def _searched(text: str) -> str:
    """Return the text without what the patterns match, other than a private key."""
    if "@" in text:
        text = _URL.sub(lambda m: f"{m['before']}{DROPPED}", text)
    folded = text.lower()
    if not text.isascii() or any(word in folded for word in _SENDS):  # faster than a search for the pattern
        text = _SENT.sub(lambda m: f"{m['before']}{DROPPED}", text)
    return _OPTION.sub(_pair, _PART.sub(_pair, _PAIR.sub(_pair, text)))


_MARKED = regex(r"[=:-]|\b(?:Bearer|Basic)[ \t]", re.IGNORECASE)
"""Matches in every text from which `scrub_text` drops a secret.

Most files of a node contain one number or word and do not match, so they are not searched further.
"""


def _pair(match: re.Match[str]) -> str:
    if _meaning(match["name"][:LONGEST]) is _NOTHING:
        return match[0]
    value = match["value"]
    quote = value[0] if value[0] in "\"'" else ""
    if match.groupdict().get("quote") and not quote:
        return match[0]  # a number, flag or null of JSON
    if not is_secret(match["name"], value.strip("\"'")) or value == DROPPED:
        return match[0]
    before = match[0][: match.start("value") - match.start()]
    return f"{before}{quote}{DROPPED}{quote if value[-1] == quote else ''}"


def _spelt(name: str) -> str:
    """Normalise a name for comparison; a hex suffix, as Supermicro adds to names, is ignored."""
    return _SIGNS.sub("", _SUFFIX.sub("", name[:LONGEST]).casefold())


def _plain(text: str) -> str:
    """Return a text of a JSON body without its secrets; a text that begins with a slash is a link, and is unchanged."""
    text = _text(text)
    if text.startswith("/"):
        return text  # links must stay unchanged to be followed, also links with a $skiptoken
    return scrub_text(text) if _TELLING.search(text) else text


_TELLING = regex(r"[=:]|PRIVATE KEY|\bBearer\b", re.IGNORECASE)
"""Matches in every text that may contain a secret; other texts are not searched."""


def _text(text: str) -> str:
    """Return a text that can be stored: lone surrogates are replaced."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
