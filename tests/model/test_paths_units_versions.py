"""The small types: fact paths, units, versions."""

from functools import cmp_to_key, partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model import unit
from rackcheck.model.path import BadPath, Path, Segment, last_item, parse, plain_pattern, spell_key
from rackcheck.model.version import SCHEMES, Unordered, order

WORDS = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
KEYS = st.one_of(st.none(), st.text(min_size=1, max_size=12))


@given(st.lists(st.builds(Segment, WORDS, KEYS), min_size=1, max_size=5))
def test_what_is_spelt_is_read_back(segments: list[Segment]) -> None:
    path = Path(tuple(segments))
    assert parse(str(path)) == path


@given(st.text(max_size=40))
def test_any_text_is_a_path_in_its_only_spelling_or_none(text: str) -> None:
    try:
        assert str(parse(text)) == text
    except BadPath:
        pass


@given(
    st.lists(st.builds(Segment, WORDS, st.one_of(KEYS, st.sampled_from(["*", "0", 'a"b.c/d', "/", "."]))), min_size=1)
)
def test_the_last_item_and_the_pattern_of_a_path_are_those_that_parsing_finds(segments: list[Segment]) -> None:
    path = Path(tuple(segments))
    keyed = [depth for depth, segment in enumerate(segments, start=1) if segment.key is not None]
    assert last_item(str(path)) == (str(Path(tuple(segments[: keyed[-1]]))) if keyed else "")
    pattern = plain_pattern(str(path))
    keys = "".join(segment.key or "" for segment in segments)
    is_plain = keys.isascii() and keys.isprintable() and not {*'"%*'} & {*keys}
    assert pattern == (str(path.pattern) if is_plain else None)


@given(
    st.one_of(
        st.text(max_size=12),
        st.from_regex(r"[a-z0-9_./:*\"]{1,12}", fullmatch=True),
        st.from_regex(r'[a-z]/"[a-z0-9_./:*"% ,é]{0,8}"(\.a)?', fullmatch=True),
    )
)
def test_only_a_valid_path_has_a_plain_pattern(text: str) -> None:
    if plain_pattern(text) is not None:
        assert str(parse(text)) == text


@pytest.mark.parametrize(
    "text",
    ["gpu/0.ecc.mode", "bios.smt", "sysctl.net.core.rmem_max", 'pcie/"0000:17:00.0".link.width', "nic/mlx5_4.rail",
     'bios.attribute/"Core Performance Boost"', "sysctl.dev.hpet/max-user-freq", 'sysctl.net.ipv4.conf/"eth0.100".mtu',
     "dimm/P0_DIMM_A1", "nic/*.port", 'mount/"/".free'],
)  # fmt: skip
def test_the_grammar_s_own_examples_are_paths(text: str) -> None:
    assert str(parse(text)) == text


@pytest.mark.parametrize(
    "text",
    ["", ".", "a.", ".a", "A", "a..b", "a/", 'a/""', 'a/"x"', "a/x y", 'a/"x', "1a", "a b", 'a/"b\n"', "a/b/c", 'a/"%41"', "ä"],
)  # fmt: skip
def test_anything_but_the_shortest_spelling_is_refused(text: str) -> None:
    with pytest.raises(BadPath):
        parse(text)


def test_a_quoted_key_holds_no_quote_and_no_control_character() -> None:
    assert spell_key('a"b\n%') == '"a%22b%0A%25"'


def test_a_pattern_and_an_item_of_it() -> None:
    assert str(parse("gpu/0.ecc.mode").pattern) == "gpu/*.ecc.mode"
    assert str(parse("nic/mlx5_0.port").item("1")) == "nic/mlx5_0.port/1"


def test_gigabytes_are_not_gigabits() -> None:
    assert unit.parse("1 GB/s").to("Gb/s") == 8
    assert unit.parse("1 GiB").to("MiB") == 1024
    assert unit.parse("1 GB").to("MB") == 1000
    assert unit.parse("0.7 kW").to("W") == 700


@pytest.mark.parametrize(
    ("text", "message"),
    [("700", "has no unit"), ("700 w", "not a known unit"), ("W", "not a number"), ("1 Gbps", "not a known unit"), ("", "not a number"), ("nan W", "not a number")],
)  # fmt: skip
def test_a_quantity_without_its_unit_is_refused(text: str, message: str) -> None:
    with pytest.raises(unit.BadUnit, match=message):
        unit.parse(text)


def test_another_dimension_is_refused_by_its_name() -> None:
    with pytest.raises(unit.BadUnit, match="GT/s is a transfer rate; a data rate in Gb/s is expected"):
        unit.parse("32 GT/s").to("Gb/s")


@pytest.mark.parametrize(
    ("scheme", "left", "right", "sign"),
    [
        ("dotted", "570.86.15", "570.133.20", -1),
        ("dotted", "28.39.1002", "28.39", 1),
        ("dotted", "28.10", "28.10.0", 0),
        ("dotted", "28.10", "28.1", 1),
        ("hex-dotted", "96.00.AF.00.01", "96.00.89.00.01", 1),
        ("hex-dotted", "96.00.9f.00.01", "96.00.9F.00.01", 0),
        ("kernel", "5.15.0-1053-nvidia", "5.15.0-1009-nvidia", 1),
        ("kernel", "6.8.0", "6.8.0-31-generic", -1),
        ("kernel", "6.18.44-fc-v669", "6.8.12", 1),
    ],
)
def test_versions_are_ordered_by_their_scheme(scheme: str, left: str, right: str, sign: int) -> None:
    assert order(scheme, left, right) == sign
    assert order(scheme, right, left) == -sign


@pytest.mark.parametrize(
    ("scheme", "text"),
    [("dotted", "22.39.2048 (MT_0000000838)"), ("hex-dotted", "96.00.ZZ.00.01"), ("kernel", "latest"), ("opaque", "1"), ("dotted", "00.04.0052.0000_n00")],
)  # fmt: skip
def test_what_cannot_be_ordered_is_not_guessed(scheme: str, text: str) -> None:
    with pytest.raises(Unordered):
        order(scheme, text, "1.0")


@given(st.binary(min_size=1, max_size=12))
def test_a_key_of_any_bytes_is_spelt_and_read_back(raw: bytes) -> None:
    key = raw.decode("utf-8", "surrogateescape")
    path = Path((Segment("mount", key),))
    text = str(path)
    if key != "*":
        assert parse(text) == path
    assert text.isprintable()
    text.encode("utf-8")


@given(st.sampled_from(unit.UNITS), st.sampled_from(unit.UNITS), st.floats(-1e12, 1e12))
def test_units_of_one_dimension_convert_there_and_back_and_others_never(one: str, other: str, number: float) -> None:
    quantity = unit.Quantity(number, one)
    try:
        there = quantity.to(other)
    except unit.BadUnit:
        with pytest.raises(unit.BadUnit):
            unit.Quantity(number, other).to(one)
    else:
        assert unit.Quantity(there, other).to(one) == pytest.approx(number)


@pytest.mark.parametrize(
    ("text", "unit_", "number"),
    [
        ("200 GB/s", "Gb/s", 1600), ("1 B/s", "b/s", 8), ("1 TB", "GB", 1000), ("1 TiB", "GiB", 1024), ("1 GB", "GiB", 0.931322575),
        ("64 kB", "B", 64_000), ("64 KiB", "B", 65_536), ("1.98 GHz", "MHz", 1980), ("1 h", "s", 3600), ("5 us", "ns", 5000),
        ("1 PFLOP/s", "TFLOP/s", 1000), ("+1e2 W", "mW", 100_000), (".5 %", "%", 0.5), ("32GT/s", "MT/s", 32_000),
    ],
)  # fmt: skip
def test_prefixes_are_thousands_or_1024_as_they_are_written(text: str, unit_: str, number: float) -> None:
    assert unit.parse(text).to(unit_) == pytest.approx(number)


def test_a_number_without_end_is_refused() -> None:
    with pytest.raises(unit.BadUnit, match="more than any machine has"):
        unit.parse("1e999 W")


VERSIONS = {
    "dotted": st.lists(st.integers(0, 999), min_size=1, max_size=5).map(lambda parts: ".".join(map(str, parts))),
    "hex-dotted": st.lists(st.integers(0, 0xFFFF), min_size=2, max_size=5).map(
        lambda p: ".".join(f"{n:02X}" for n in p)
    ),
    "kernel": st.from_regex(r"[0-9]{1,3}\.[0-9]{1,3}(\.[0-9]{1,3}(-[0-9]{1,4}(-[a-z]{1,5})?)?)?", fullmatch=True),
}


@pytest.mark.parametrize("scheme", VERSIONS)
@given(st.data())
def test_an_order_of_versions_is_an_order(scheme: str, data: st.DataObject) -> None:
    a, b, c = sorted((data.draw(VERSIONS[scheme]) for _ in range(3)), key=cmp_to_key(partial(order, scheme)))
    assert order(scheme, a, a) == 0
    assert order(scheme, a, b) <= 0
    assert order(scheme, b, c) <= 0
    assert order(scheme, a, c) <= 0
    assert order(scheme, a, b) == -order(scheme, b, a)


@pytest.mark.parametrize("scheme", SCHEMES)
@given(st.text(max_size=30), st.text(max_size=30))
def test_any_text_is_ordered_or_declared_unordered(scheme: str, left: str, right: str) -> None:
    try:
        assert order(scheme, left, right) in {-1, 0, 1}
    except Unordered:
        pass


@pytest.mark.parametrize("scheme", ["dotted", "kernel"])
def test_a_number_of_thousands_of_digits_is_no_version(scheme: str) -> None:
    with pytest.raises(Unordered):
        order(scheme, f"{'9' * 5000}.1", "1.1")
