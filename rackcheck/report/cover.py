"""A site's cover data for its documents: names, parties, a logo; a small YAML file."""

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
"""Maximum bytes of a logo."""

_KINDS = (("png", b"\x89PNG\r\n\x1a\n"), ("jpeg", b"\xff\xd8\xff"))


def load(path: Path) -> Brand:
    """Read a brand; its logo is a file beside it. Raises UserError or BadFile."""
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
        raise BadFile([Problem(listed.place, f"two parties are called {twice}")])
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
    """Read a file in the brand's own folder, and nothing else on this machine."""
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise ValueError(f"{name} lies outside of the folder of the brand")
    with safe_read.opened(path) as file:
        data = file.read(LOGO + 1)
    if len(data) > LOGO:
        raise ValueError(f"{name} has more than {LOGO >> 10} KiB")
    return data


def _drawing(data: bytes) -> None:
    """Raise ValueError for a file that is not SVG, or that does more than draw: scripts, and external resources."""
    parser = expat.ParserCreate()

    def doctype(*_: object) -> None:
        raise ValueError("a document type in an SVG could name other files; save it without one")

    def element(name: str, attributes: Mapping[str, str]) -> None:
        words.append(local := name.rpartition(":")[2].lower())
        if words[0] != "svg":
            raise ValueError(_NONE)
        if local in _ACTIVE:
            raise ValueError(f"an SVG with <{local}>; a logo only draws")
        for key, value in attributes.items():
            plain = key.rpartition(":")[2].lower()
            far = plain in {"href", "src"} and not value.strip().lower().startswith(("#", "data:image/"))
            if plain.startswith("on") or far:
                raise ValueError(f"an SVG whose <{local}> has {key}; a logo only draws, and brings all it draws along")

    words: list[str] = []
    parser.StartDoctypeDeclHandler = doctype
    parser.StartElementHandler = element
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError):  # the second: an unknown encoding
        raise ValueError(_NONE) from None


_NONE = "it is no PNG, JPEG or SVG picture"
_ACTIVE = frozenset({"script", "foreignobject", "iframe", "object", "embed", "handler", "animate", "set"})
