"""Reads a site's cover data for documents (names, parties, a logo) from a small YAML file."""

from collections.abc import Mapping
from pathlib import Path
from xml.parsers import expat

from rackcheck.base import safe_read
from rackcheck.base.user_error import UserError
from rackcheck.model.fact import clean
from rackcheck.profile.document import SIZE, BadFile, Problem, Scalar, YamlMapping, YamlSequence, read
from rackcheck.profile.layers import word
from rackcheck.profile.schema import brand as schema
from rackcheck.profile.schema_check import conform
from rackcheck.report.report_model import Brand, Logo, Party

LOGO = 512 << 10
"""Maximum size of a logo, in bytes."""

_KINDS = (("png", b"\x89PNG\r\n\x1a\n"), ("jpeg", b"\xff\xd8\xff"))


def load(path: Path) -> Brand:
    """Read a brand file; its logo must be a file in the same folder.

    Raises UserError if the brand file cannot be read, and BadFile if its content or its logo is not valid.
    """
    table = conform(read(safe_read.text(path, SIZE), path.name), schema())
    value = table.items["brand"]
    assert isinstance(value, YamlMapping)
    logo = value.get("logo")
    return Brand(
        word(value, "title"),
        word(value, "integrator"),
        word(value, "customer"),
        word(value, "site"),
        word(value, "hall"),
        word(value, "contract"),
        word(value, "revision"),
        word(value, "footer"),
        _logo(path.parent, logo) if isinstance(logo, Scalar) and logo.text else None,
        _parties(value) or Brand().parties,
    )


def _parties(mapping: YamlMapping) -> tuple[Party, ...]:
    listed = mapping.get("parties")
    found = listed.items if isinstance(listed, YamlSequence) else ()
    parties = tuple(
        Party(word(party, "role"), word(party, "name")) for party in found if isinstance(party, YamlMapping)
    )
    roles = [party.role for party in parties]
    twice = next((role for role in roles if roles.count(role) > 1), None)
    if twice is not None and listed is not None:
        raise BadFile([Problem(listed.place, f"two parties have the role {twice}")])
    return parties


def _logo(folder: Path, scalar: Scalar) -> Logo:
    try:
        data = _beside(folder, scalar.text)
        kind = next((kind for kind, magic in _KINDS if data.startswith(magic)), None)
        if kind is None:
            _drawing(data)
    except (UserError, ValueError) as error:
        raise BadFile([Problem(scalar.place, f"logo: {clean(str(error))}")]) from None
    return Logo(kind or "svg+xml", data)


def _beside(folder: Path, name: str) -> bytes:
    """Return a file's content; raise ValueError if the file is outside the brand's folder, or larger than LOGO."""
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise ValueError(f"{name} is outside the folder of the brand")
    with safe_read.opened(path) as file:
        data = file.read(LOGO + 1)
    if len(data) > LOGO:
        raise ValueError(f"{name} has more than {LOGO >> 10} KiB")
    return data


def _drawing(data: bytes) -> None:
    """Raise ValueError for a file that is not SVG, or that contains scripts or refers to external resources."""
    parser = expat.ParserCreate()

    def doctype(*_: object) -> None:
        raise ValueError("an SVG with a document type (DOCTYPE) can refer to other files; save it without the DOCTYPE")

    def element(name: str, attributes: Mapping[str, str]) -> None:
        words.append(local := name.rpartition(":")[2].lower())
        if words[0] != "svg":
            raise ValueError(_NONE)
        if local in _ACTIVE:
            raise ValueError(f"<{local}> in an SVG; a logo may contain only drawing elements")
        for key, value in attributes.items():
            plain = key.rpartition(":")[2].lower()
            far = plain in {"href", "src"} and not value.strip().lower().startswith(("#", "data:image/"))
            if plain.startswith("on") or far:
                raise ValueError(f"{key} of <{local}> in an SVG; a logo may contain no script and no external resource")

    words: list[str] = []
    parser.StartDoctypeDeclHandler = doctype
    parser.StartElementHandler = element
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError):  # LookupError: an unknown encoding
        raise ValueError(_NONE) from None


_NONE = "it is not a PNG, JPEG or SVG image"
_ACTIVE = frozenset({"script", "foreignobject", "iframe", "object", "embed", "handler", "animate", "set"})
