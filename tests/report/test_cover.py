"""A brand: names, parties and a logo that only draws; anything else is one error with its place."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rackcheck.base.user_error import UserError
from rackcheck.profile.document import BadFile
from rackcheck.report import cover
from rackcheck.report.report_model import Brand, Party

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20
SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">{}</svg>'


def load(folder: Path, text: str) -> Brand:
    file = folder / "site.yaml"
    file.write_text(f"rackcheck: 1\nbrand:\n{text}", encoding="utf-8")
    return cover.load(file)


def drawn(folder: Path, inner: str, before: str = "") -> Brand:
    (folder / "logo.svg").write_text(before + SVG.format(inner), encoding="utf-8")
    return load(folder, "  logo: logo.svg\n")


def test_what_stands_in_the_file_stands_on_the_cover(tmp_path: Path) -> None:
    (tmp_path / "logo.png").write_bytes(PNG)
    text = "  title: Pod 7\n  hall: 010\n  logo: logo.png\n  parties: [{ role: integrator, name: Jo }, { role: witness }]\n"
    found = load(tmp_path, text)
    assert (found.title, found.hall, found.site) == ("Pod 7", "010", "")
    assert found.parties == (Party("integrator", "Jo"), Party("witness"))
    assert found.logo is not None
    assert (found.logo.kind, found.logo.data) == ("png", PNG)


@pytest.mark.parametrize(
    ("site", "hall", "place"),
    [
        ("Hamburg", "2", "Hamburg, hall 2"), ("Hamburg", "B", "Hamburg, hall B"), ("Hamburg", "3b", "Hamburg, hall 3b"),
        ("Hamburg", "Hall 2", "Hamburg, Hall 2"), ("Hamburg", "West Wing", "Hamburg, West Wing"), ("", "2", "hall 2"),
        ("Hamburg", "", "Hamburg"), ("", "", ""),
    ],
)  # fmt: skip
def test_the_number_of_a_hall_has_the_word_before_it(site: str, hall: str, place: str) -> None:
    assert Brand(site=site, hall=hall).place == place


def test_unnamed_parties_are_integrator_and_customer(tmp_path: Path) -> None:
    assert load(tmp_path, "  title: x\n").parties == Brand().parties


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("  titel: x\n", "site.yaml:3:3: no such key: `titel`; did you mean `title`?"),
        ("  parties: []\n", "`parties` is empty"),
        ("  parties: [{ role: a }, { role: a }]\n", "two parties have the role a"),
        ("  parties: [{ name: Jo }]\n", "`role`"),
        ("  title: [a]\n", "must be a single value"),
        ("  logo: none.png\n", "cannot read"),
        ("  logo: .\n", "a folder"),
        ('  logo: "a\\0b"\n', "site.yaml:3:9: logo: "),
        ("  logo: site.yaml\n", "not a PNG, JPEG or SVG"),
    ],
)
def test_an_error_is_reported_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadFile) as error:
        load(tmp_path, text)
    assert str(error.value).startswith("site.yaml:")
    assert message in str(error.value)


@pytest.mark.parametrize("way", ["../logo.png", "absolute", "link"])
def test_a_logo_outside_of_the_folder_is_not_read(tmp_path: Path, way: str) -> None:
    (tmp_path / "logo.png").write_bytes(PNG)
    inside = tmp_path / "brand"
    inside.mkdir()
    (inside / "link.png").symlink_to(tmp_path / "logo.png")
    name = {"absolute": str(tmp_path / "logo.png"), "link": "link.png"}.get(way, way)
    with pytest.raises(BadFile, match="outside"):
        load(inside, f"  logo: {name}\n")


def test_a_logo_below_the_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "art").mkdir()
    (tmp_path / "art" / "logo.png").write_bytes(PNG)
    assert load(tmp_path, "  logo: art/logo.png\n").logo is not None


def test_a_logo_that_never_begins_or_never_ends_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "logo.png")
    with pytest.raises(BadFile, match="a FIFO"):
        load(tmp_path, "  logo: logo.png\n")
    (tmp_path / "big.png").write_bytes(PNG + b"0" * cover.LOGO)
    with pytest.raises(BadFile, match="more than 512 KiB"):
        load(tmp_path, "  logo: big.png\n")


@pytest.mark.parametrize(
    "inner",
    [
        '<path d="M0 0h9"/>', '<defs><g id="a"/></defs><use xlink:href="#a"/>',
        '<image href="data:image/png;base64,AAAA"/>', "<title>onload</title>",
    ],
)  # fmt: skip
def test_an_svg_that_draws_is_a_logo(tmp_path: Path, inner: str) -> None:
    logo = drawn(tmp_path, inner, '<?xml version="1.0"?>\n<!-- made by hand -->\n').logo
    assert logo is not None
    assert logo.kind == "svg+xml"


@pytest.mark.parametrize(
    "inner",
    [
        "<script>alert(1)</script>", '<x:script xmlns:x="http://www.w3.org/2000/svg">alert(1)</x:script>',
        '<g onload="alert(1)"/>', '<g OnClick="alert(1)"/>', '<a href="javascript:alert(1)"/>',
        '<a xlink:href="java&#115;cript:alert(1)"/>', '<image href="https://example.com/x.png"/>',
        '<image href="/etc/passwd"/>', '<use href="other.svg#a"/>', "<foreignObject/>", '<image href="data:text/html,x"/>',
        "</svg><svg>", "<g>", "\x01",
    ],
)  # fmt: skip
def test_an_svg_that_does_more_than_draw_is_none(tmp_path: Path, inner: str) -> None:
    with pytest.raises(BadFile, match="logo"):
        drawn(tmp_path, inner)


def test_an_svg_with_a_document_type_is_none(tmp_path: Path) -> None:
    lol = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 9))
    with pytest.raises(BadFile, match="document type"):
        drawn(tmp_path, "&l8;", f'<!DOCTYPE svg [<!ENTITY l0 "lol">{lol}]>')
    with pytest.raises(BadFile, match="document type"):
        drawn(tmp_path, "&x;", '<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>')


@pytest.mark.parametrize("encoding", ["utf-16", "utf-7", "nonsense", "shift_jis", "rot13", "zlib"])
def test_an_svg_in_any_encoding_is_a_logo_or_one_error(tmp_path: Path, encoding: str) -> None:
    head = f'<?xml version="1.0" encoding="{encoding}"?>'
    with pytest.raises(BadFile, match="logo"):
        drawn(tmp_path, "<script/>", head)


@settings(max_examples=200)
@given(st.one_of(st.binary(max_size=80), st.text(alphabet='<>/"= svgonhref#&;!-[]', max_size=60).map(str.encode)))
def test_any_bytes_are_a_logo_or_one_error(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.getbasetemp()
    for begin in (b"", b"<svg>", b"<svg "):
        (folder / "logo.svg").write_bytes(begin + data)
        try:
            assert load(folder, "  logo: logo.svg\n").logo is not None
        except BadFile as error:
            assert "logo" in str(error)


@given(st.text(max_size=200))
def test_nonsense_is_a_single_error(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    file = tmp_path_factory.getbasetemp() / "site.yaml"
    file.write_text(text, encoding="utf-8", errors="surrogatepass")
    try:
        cover.load(file)
    except UserError as error:
        assert str(error)
