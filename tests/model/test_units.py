"""The table of units: complete for all measurements, and with a hint for other spellings of a unit."""

import csv
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import ROOT
from recordings import shared

from rackcheck.model import unit
from rackcheck.model.catalogue import Type
from rackcheck.model.unit import meant
from rackcheck.probe.registry import registry

NUMBERS = st.one_of(
    st.floats(-1e300, 1e300, allow_nan=False), st.floats(-1e7, 1e7), st.integers(-(10**12), 10**12).map(float)
)


DOCS = ROOT / "docs" / "guide" / "profiles.md"


def test_the_manual_lists_every_unit_beside_its_dimension() -> None:
    values: dict[str, set[str]] = {}
    for dimensions, units in re.findall(
        r"^\| ([a-z, ]+) \| ((?:`\S+`[, ]*)+) \|$", DOCS.read_text("utf-8"), re.MULTILINE
    ):
        values |= {name: set(dimensions.split(", ")) for name in re.findall(r"`(\S+)`", units)}
    assert set(unit.UNITS) <= set(values)
    assert all(unit.dimension(name) in values[name] for name in unit.UNITS)


@given(NUMBERS, st.sampled_from(unit.UNITS))
def test_what_is_spelt_is_read_back_to_six_digits(number: float, name: str) -> None:
    read = unit.parse(unit.spell(number, name))
    assert math.isclose(read.to(name), number, rel_tol=1e-5, abs_tol=1e-300)


@given(NUMBERS, st.sampled_from(unit.UNITS))
def test_what_is_spelt_exactly_is_read_back_whole(number: float, name: str) -> None:
    output = unit.exact(number, name)
    read = unit.parse(output or unit.spell(number, name)).to(name)
    assert read == (number if output else pytest.approx(number, rel=1e-15))


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("Gbps", "Gb/s"), ("GBps", "GB/s"), ("Gbit/s", "Gb/s"), ("MBit/s", "Mb/s"), ("gigabits/s", "Gb/s"),
        ("GB/sec", "GB/s"), ("TFLOPS", "TFLOP/s"), ("TFLOPs", "TFLOP/s"), ("GFLOP", "GFLOP/s"), ("TOPS", "TOP/s"),
        ("°C", "C"), ("degC", "C"), ("RPM", "rpm"), ("W.", "W"), ("watts", "W"), ("w", "W"), ("percent", "%"),
        ("\u00b5s", "us"), ("\u03bcs", "us"), ("sec", "s"), ("mhz", "MHz"), ("pps", "p/s"), ("Mpps", "Mp/s"),
        ("iops", "IOPS"), ("1/s", "/s"), ("count/min", "/min"), ("errors/hour", "/h"), ("GB/s busbw", "GB/s"),
        ("KB", "kB or KiB"), ("gb/s", "Gb/s or GB/s"), ("GTps", "GT/s"), ("KiBps", "KiB/s"),
    ],
)  # fmt: skip
def test_the_unit_that_was_meant_is_named(text: str, near: str) -> None:
    with pytest.raises(unit.BadUnit, match="is not a known unit") as caught:
        unit.parse(f"5 {text}")
    assert str(caught.value).endswith(f"(did you mean {near}?)")


@pytest.mark.parametrize("text", ["bananas", "x", ".", "MW", "Mv", "G", "/", "K", "\n"])
def test_nothing_is_named_where_nothing_is_near(text: str) -> None:
    assert meant(text, unit.UNITS) == ""


BITS = [u for u in unit.UNITS if u.endswith("b/s")]


@pytest.mark.parametrize("name", BITS)
def test_a_unit_in_bits_is_not_suggested_as_bytes(name: str) -> None:
    prefix = name.removesuffix("b/s")
    for text in (f"{prefix}bps", f"{prefix}bit/s", f"{prefix}bits/sec", f"{prefix}Bit/s"):
        assert meant(text, unit.UNITS) == name


def test_a_unit_without_end_is_refused_in_a_short_word() -> None:
    for text in ("1 " + "W" * 100_000, "1" * 100_000, "9" * 100_000 + " W", "1" * 50_000 + "\n" + "W" * 50_000):
        with pytest.raises(unit.BadUnit) as caught:
            unit.parse(text)
        assert len(str(caught.value)) < 200


@pytest.mark.parametrize("dimension", sorted({unit.dimension(u) for u in unit.UNITS}))
def test_a_quantity_is_no_quantity_of_another_dimension(dimension: str) -> None:
    one = next(u for u in unit.UNITS if unit.dimension(u) == dimension)
    for other in unit.UNITS:
        if unit.dimension(other) != dimension:
            with pytest.raises(unit.BadUnit, match="is expected"):
                unit.Quantity(1.0, one).to(other)


@pytest.mark.parametrize(
    ("text", "name", "number"),
    [
        ("6 /h", "/min", 0.1), ("1/min", "/h", 60), ("1 /s", "/h", 3600), ("50 ppm", "%", 0.005), ("1 kIOPS", "IOPS", 1000),
        ("1.5 Mp/s", "p/s", 1_500_000), ("1 GiB/s", "Gb/s", 8.589934592), ("1 KiB/s", "B/s", 1024), ("3 kJ", "J", 3000),
        ("12 V", "mV", 12_000), ("250 mA", "A", 0.25), ("1979 TOP/s", "POP/s", 1.979), ("1 PiB", "TiB", 1024),
        ("990 TFLOP/s", "GFLOP/s", 990_000), ("100 kb/s", "Mb/s", 0.1), ("1 PB", "TB", 1000),
    ],
)  # fmt: skip
def test_units_of_one_dimension_convert(text: str, name: str, number: float) -> None:
    assert unit.parse(text).to(name) == pytest.approx(number)


@pytest.mark.parametrize(("text", "name"), [("1e305 TB", "B"), ("1e308 GHz", "Hz"), ("-1e305 kW", "mW")])
def test_a_finite_number_never_converts_to_unlimited(text: str, name: str) -> None:
    with pytest.raises(unit.BadUnit, match="more than any machine has"):
        unit.parse(text).to(name)


def test_every_quantity_of_the_catalogue_has_a_unit_of_the_table() -> None:
    kinds = [entry.kind for entry in registry().catalogue.entries.values()]
    wanted = {kind.unit for kind in kinds if kind.type is Type.QUANTITY}
    assert len(wanted) > 10
    assert wanted <= set(unit.UNITS)


# Values in the column `unit` of the collected facts that are no quantity: a kind of value, a thing that is
# counted, or a ratio without a unit.
WORDS = """
enum count int version string hex state arg NIC bool package link ratio drive links ids policy DIMM PSU lanes map
module node mask gen flag ports path env time BDF - tray service packed uuid lines procedure list rule cs order
process id sigma iters name set level shelf port mode channel
"""
NO_QUANTITY = frozenset(WORDS.split()) | {"NIC port"}


def test_every_quantity_of_the_collected_facts_has_a_unit_of_the_table() -> None:
    tables = sorted(shared("../facts").glob("*.csv"))
    names: set[str] = set()
    for table in tables:
        with table.open(encoding="utf-8", newline="") as rows:
            names |= {row["unit"] for row in csv.DictReader(rows) if row.get("unit")}
    parts = {part.strip() for text in names - NO_QUANTITY for part in text.split(",")} - NO_QUANTITY
    assert len(parts) > 20
    assert {part for part in parts if part not in unit.UNITS and not meant(part, unit.UNITS)} == set()
