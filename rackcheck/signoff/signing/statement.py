"""The text that is signed: one line of canonical JSON with the bundle, the digest of its manifest, and the signer.

Pure. A statement has only one valid form, so that any changed byte makes it invalid.
"""

import json
import re
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from rackcheck.model.regex import regex

FORMAT = 1

SIZE = 4096
"""Maximum size of a statement, in bytes."""

LONGEST = 200
"""Maximum number of characters of a name in a statement."""

FORM = "%Y-%m-%dT%H:%M:%SZ"
"""The format of a time, in UTC."""

PARTY = regex(r"[a-z][a-z0-9-]{0,39}")
_TIME = regex(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_NAMES = ("bundle", "level", "manifest", "party", "name", "time")
_DIGEST = regex(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Statement:
    """A party's statement: `manifest` is the digest (hex) of the bundle's manifest, `time` is claimed by the signer.

    `as_is` is the reason why a bundle is signed whose verdict is not PASS; it is left out if there is none.
    """

    bundle: str
    level: str
    manifest: str
    party: str
    name: str
    time: str
    as_is: str = ""

    def encode(self) -> bytes:
        """Return the bytes of the statement that are signed."""
        doc = {"rackcheck": FORMAT, **{name: text for name, text in asdict(self).items() if text or name in _NAMES}}
        return json.dumps(doc, sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def decode(data: bytes) -> Statement:
    """Read a statement; raises ValueError if it is not valid.

    The error's text completes a sentence such as `FILE is not a statement in the form that is signed`.
    """
    try:
        doc = json.loads(data)
        statement = Statement(**{name: doc[name] for name in _NAMES}, as_is=doc.get("as_is", ""))
        # Rejects any text that encodes differently: numbers, other keys, another order, duplicate keys.
        fine = statement.encode() == data and all(isinstance(text, str) for text in asdict(statement).values())
        fine = fine and bool(_DIGEST.fullmatch(statement.manifest))
        moment(statement.time)
    except (ValueError, TypeError, KeyError, RecursionError):
        fine = False
    if not fine:
        raise ValueError("is not a valid signature statement")
    named = (statement.name, statement.bundle, statement.level, *filter(None, (statement.as_is,)))
    if not PARTY.fullmatch(statement.party) or not all(map(is_name, named)):
        raise ValueError("has an invalid party, signer, bundle, level or reason")
    return statement


def moment(text: str) -> datetime:
    """Parse the time of a statement; raises ValueError for any other format."""
    if not _TIME.fullmatch(text):
        raise ValueError(text)
    return datetime.strptime(text, FORM).replace(tzinfo=UTC)


def is_name(text: str) -> bool:
    """Whether a name is valid in a statement: visible, without terminal control characters, not too long."""
    return 0 < len(text) <= LONGEST and text.isprintable() and text.strip() == text
