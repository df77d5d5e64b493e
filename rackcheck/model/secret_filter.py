"""Removes the credentials that rackcheck sends to a node or a BMC from every response, before it is used."""

import base64
import html
import json
import re
from collections.abc import Mapping
from urllib.parse import quote

from rackcheck.model.secret import DROPPED

SHORT = 6
"""Minimum length of a secret to remove: shorter texts are common words (`root`); removing them would corrupt facts."""


class Hiding:
    """Removes every form of a secret from a response: literal, in JSON, in a URL, and as HTTP basic credentials.

    JSON can spell a text in many ways (an ampersand as its code), so parsed values are searched again.
    """

    def __init__(self, *secrets: str, user: str = "") -> None:
        self._secrets, self._user = secrets, user
        forms: set[bytes] = set()
        spelt: list[str] = []
        for secret in secrets:
            if len(secret) < SHORT:
                continue
            spelt.append("".join(map(_spellings, secret)))
            once, bare = json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]
            pair = f"{user}:{secret}".encode(errors="surrogateescape")
            forms |= {secret.encode(errors="surrogateescape"), once.encode(), json.dumps(once)[1:-1].encode()}
            forms.add(bare.encode(errors="surrogateescape"))
            for safe in ("", "/"):
                percent = quote(secret, safe=safe, errors="surrogateescape")
                forms |= {percent.encode(), re.sub("%..", lambda code: code[0].lower(), percent).encode()}
            forms |= {html.escape(secret, quote=each).encode(errors="surrogateescape") for each in (True, False)}
            forms |= {base64.b64encode(pair), base64.b64encode(secret.encode(errors="surrogateescape"))}
        self._forms = tuple(sorted(forms, key=len, reverse=True))
        self._escaped = re.compile("|".join(sorted(spelt, key=len, reverse=True))) if spelt else None

    def also(self, secret: str) -> "Hiding":
        """Return a filter that also removes one more secret."""
        return self if secret in self._secrets else Hiding(*self._secrets, secret, user=self._user)

    def data(self, data: bytes) -> bytes:
        """Return the same bytes without the secrets."""
        for form in self._forms:
            data = data.replace(form, DROPPED.encode())
        return data

    def text(self, text: str) -> str:
        """Return the same text without the secrets."""
        if not self._forms:
            return text
        if self._escaped is not None and "\\" in text:
            text = self._escaped.sub(DROPPED, text)
        return self.data(text.encode(errors="surrogateescape")).decode(errors="surrogateescape")

    def json(self, value: object) -> object:
        """Return the same JSON value without the secrets, in its texts and in the names of its properties."""
        match value:
            case str():
                return self.text(value)
            case Mapping():
                return {self.text(str(name)): self.json(inner) for name, inner in value.items()}
            case list():
                return [self.json(inner) for inner in value]
        return value


def _spellings(character: str) -> str:
    """Return a pattern for every way in which JSON may spell a character."""
    units = character.encode("utf-16-be", "surrogatepass").hex()
    escaped = "".join(rf"\\u(?i:{units[n : n + 4]})" for n in range(0, len(units), 4))
    short = re.escape(json.dumps(character)[1:-1])
    bare = rf"\\?{re.escape(character)}" if character in '/"\\' else re.escape(character)
    return rf"(?:{escaped}|{short}|{bare})"
