"""The small words: fact paths, units, versions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.core import unit
from rackcheck.core.path import BadPath, Path, Segment, parse, spell_key
from rackcheck.core.version import Unordered, order

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
    ("text", "said"),
    [("700", "has no unit"), ("700 w", "no unit of the table"), ("W", "not a number"), ("1 Gbps", "no unit"), ("", "not a number"), ("nan W", "not a number")],
)  # fmt: skip
def test_a_quantity_without_its_unit_is_refused(text: str, said: str) -> None:
    with pytest.raises(unit.BadUnit, match=said):
        unit.parse(text)


def test_another_dimension_is_refused_by_its_name() -> None:
    with pytest.raises(unit.BadUnit, match="GT/s is a transfer rate; a data rate in Gb/s is wanted"):
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
