"""What we told a node or a BMC in confidence is taken out of whatever it says back, before anybody reads it."""

import base64
import json
from urllib.parse import quote

from rackcheck.core.secret import DROPPED

SHORT = 6
"""Secrets of fewer characters are words that answers hold anyway (`root`): without them facts would be spoilt."""


class Hiding:
    """Knows the forms in which a secret comes back: as it is, in JSON, in a URL, and as HTTP's basic credentials."""

    def __init__(self, *secrets: str, user: str = "") -> None:
        forms: set[bytes] = set()
        for secret in secrets:
            if len(secret) < SHORT:
                continue
            once, bare = json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]
            pair = f"{user}:{secret}".encode(errors="surrogateescape")
            forms |= {secret.encode(errors="surrogateescape"), once.encode(), json.dumps(once)[1:-1].encode()}
            forms.add(bare.encode(errors="surrogateescape"))
            forms |= {quote(secret, safe="", errors="surrogateescape").encode()}
            forms |= {base64.b64encode(pair), base64.b64encode(secret.encode(errors="surrogateescape"))}
        self._forms = tuple(sorted(forms, key=len, reverse=True))

    def data(self, data: bytes) -> bytes:
        """Give the same bytes without the secrets."""
        for form in self._forms:
            data = data.replace(form, DROPPED.encode())
        return data

    def text(self, text: str) -> str:
        """Give the same text without the secrets."""
        if not self._forms:
            return text
        return self.data(text.encode(errors="surrogateescape")).decode(errors="surrogateescape")
