"""What a site writes on the cover of its documents: names, parties, a logo; a small YAML file."""

from pathlib import Path

from rackcheck import bounded
from rackcheck.conform import conform
from rackcheck.document import SIZE, BadFile, Listing, Problem, Scalar, Table, read
from rackcheck.layers import word
from rackcheck.mistake import Mistake
from rackcheck.report.dossier import Brand, Logo, Party
from rackcheck.schema import brand as schema

LOGO = 512 << 10
"""Bytes that a logo may have."""

_KINDS = (("png", b"\x89PNG\r\n\x1a\n"), ("jpeg", b"\xff\xd8\xff"))


def load(path: Path) -> Brand:
    """Read a brand; its logo is a file beside it. Raises Mistake or BadFile."""
    table = conform(read(bounded.text(path, SIZE), path.name), schema())
    told = table.items["brand"]
    assert isinstance(told, Table)
    logo = told.get("logo")
    return Brand(
        word(told, "title"), word(told, "integrator"), word(told, "customer"), word(told, "site"), word(told, "hall"),
        word(told, "contract"), word(told, "revision"), word(told, "footer"),
        _logo(path.parent / logo.text, logo) if isinstance(logo, Scalar) and logo.text else None,
        _parties(told) or Brand().parties,
    )  # fmt: skip


def _parties(told: Table) -> tuple[Party, ...]:
    listed = told.get("parties")
    found = listed.items if isinstance(listed, Listing) else ()
    parties = tuple(Party(word(party, "role"), word(party, "name")) for party in found if isinstance(party, Table))
    roles = [party.role for party in parties]
    twice = next((role for role in roles if roles.count(role) > 1), None)
    if twice is not None and listed is not None:
        raise BadFile([Problem(listed.place, f"two parties are called {twice}")])
    return parties


def _logo(path: Path, told: Scalar) -> Logo:
    try:
        with bounded.opened(path) as file:
            data = file.read(LOGO + 1)
    except Mistake as error:
        raise BadFile([Problem(told.place, f"logo: {error}")]) from None
    if len(data) > LOGO:
        raise BadFile([Problem(told.place, f"logo: {path.name} has more than {LOGO >> 10} KiB")])
    kind = next((kind for kind, magic in _KINDS if data.startswith(magic)), None)
    if kind is None and b"<svg" in data[:1024].lower():
        kind = "svg+xml"
    if kind is None:
        raise BadFile([Problem(told.place, f"logo: {path.name} is no PNG, JPEG or SVG picture")])
    return Logo(kind, data)
