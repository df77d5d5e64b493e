"""Versions with additional words and dates as versions: what is ordered, and what is reported as not comparable."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import ROOT

from rackcheck.model.catalogue import version
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.operator import BadOperand, holds, orderable
from rackcheck.model.operator import Test as Asked
from rackcheck.model.version import SCHEMES, Unordered, order

DOCS = ROOT / "docs" / "guide" / "profiles.md"
NUMBERS = st.lists(st.integers(0, 30), min_size=2, max_size=3).map(lambda parts: ".".join(map(str, parts)))
PREFIXED = st.tuples(
    st.sampled_from(["", "v", "V ", "HGX_FW_BMC ", "BF-", "iLO 5 v"]),
    NUMBERS,
    st.sampled_from(["", "", "-10", "-rc1", " Build 44", "_n00"]),
    st.sampled_from(["", "", " (MT_0000000838)", " (08/11/2022)"]),
).map("".join)


@pytest.mark.parametrize(
    ("left", "right", "sign"),
    [
        ("28.39.1002 (MT_0000000838)", "28.39.1002", 0), ("28.39.1002 (MT_0000000838)", "28.41.1000 (MT_0000000834)", -1),
        ("28.39.1002 (MT_0000000838)", "28.39.1002 (MT_0000000838)", 0), ("v2.14.1", "2.14.1", 0), ("V9.1", "v10.0", -1),
        ("V9", "9.0", 0), ("10", "9", 1), ("HGX_FW_BMC 24.01", "HGX_FW_BMC 23.10", 1), ("iLO 5 v2.72", "iLO 5 v3.01", -1),
        ("A42 v2.60 (08/11/2022)", "A42 v2.58 (10/27/2022)", 1), ("BF-24.10-10", "BF-23.09-9", 1),
        ("HGX-22.10-1-rc57", "HGX-22.10.0-1-rc57", 0), ("0ACTV_00.01.022", "0ACTV_00.01.012", 1),
        ("00.02.0150.0000_n00", "00.02.0134.0000_n00", 1), ("11.2.0 Build 44", "11.10.0 Build 1", -1),
        ("2.72 Sep 04 2022", "2.71 Nov 01 2022", 1), ("Blue v.1.00.86", "Blue  v1.00.87", -1), ("18E-3.21", "18E-3.3", 1),
    ],
)  # fmt: skip
def test_a_number_is_ordered_whatever_stands_beside_it(left: str, right: str, sign: int) -> None:
    assert order("prefixed", left, right) == sign
    assert order("prefixed", right, left) == -sign


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("A42 v2.60", "U72 v1.34"), ("HGX_FW_BMC 24.01", "24.01"), ("iLO 5 v2.72", "iLO 7 v1.13"),
        ("BIOS Date: 08/04/2023 Ver 1.4", "BIOS Date: 05/04/2023 Ver 1.3"), ("18E-3.21", "42S-2.83"),
    ],
)  # fmt: skip
def test_two_words_before_a_number_have_no_order(left: str, right: str) -> None:
    with pytest.raises(Unordered, match="are versions of different series and cannot be ordered"):
        order("prefixed", left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("A42 v2.60 (08/11/2022)", "A42 v2.60 (10/27/2022)"), ("BF-24.10-10", "BF-24.10-9"), ("1.2.3", "1.2.3-rc1"),
        ("11.2.0 Build 44", "11.2 Build 45"), ("28.39.1002 (MT_0000000838)", "28.39.1002 (MT_0000000834)"),
    ],
)  # fmt: skip
def test_two_builds_of_one_number_have_no_order(left: str, right: str) -> None:
    with pytest.raises(Unordered, match="are different builds of the same version number"):
        order("prefixed", left, right)


@pytest.mark.parametrize(
    "text",
    [
        "96.10.4A.00.01", "1.7.5F", "G520.0200.00.05", "1.0b", "2.2-2.1-2.4", "MPK7625Q", "", "N/A", "0x08", "35_2014_4652",
        "1.45.455b66-rev4", "222.0.145.0/pkg 222.1.112.0", "4.20 0x80017785 1.3346.0", "1.2.", "(1.2)", "version \u0661.2",
        "BMC", "v", ".5", "iLO 5", "1.2 (a) b) 3.4",
    ],
)  # fmt: skip
def test_a_text_without_one_plain_number_is_not_ordered(text: str) -> None:
    with pytest.raises(Unordered):
        SCHEMES["prefixed"](text)


@given(PREFIXED, PREFIXED, PREFIXED)
def test_the_order_of_prefixed_versions_has_no_circle(one: str, two: str, three: str) -> None:
    def sign(left: str, right: str) -> int | None:
        try:
            return order("prefixed", left, right)
        except Unordered:
            return None

    there, back = sign(one, two), sign(two, one)
    assert there == (None if back is None else -back)
    first, second, whole = there, sign(two, three), sign(one, three)
    if first is not None and second is not None and first * second >= 0:
        assert whole in ({first or second} if first or second else {0, None})


@pytest.mark.parametrize(
    ("left", "right", "sign"),
    [
        ("2024-03-01", "2023-12-31", 1), ("20240301", "2024-03-01", 0), ("03/01/2024", "2024-03-01", 0),
        ("10/27/2022", "08/11/2023", -1), ("2023-07-05T00:00:00Z", "07/05/2023", 0),
        ("2025-11-24T00:00:00+00:00", "20251125", -1), ("02/29/2024", "03/01/2024", -1),
    ],
)  # fmt: skip
def test_a_day_is_a_day_in_each_of_its_forms(left: str, right: str, sign: int) -> None:
    assert order("date", left, right) == sign
    assert order("date", right, left) == -sign


@pytest.mark.parametrize(
    "text",
    [
        "13/01/2024", "004/21/2021", "03/01/24", "01-03-2024", "01.03.2024", "2024-3-1", "2024-02-30", "2023-02-29",
        "01032024", "01050105", "20241301", "2021-10-18T12:00:00", "2024-03-01T00:00:00", "T00:00:00Z", "00:00:00Z", "",
        "May 13 2025", "2024-03", "0000-01-01", "\u0662024-03-01",
    ],
)  # fmt: skip
def test_a_day_that_could_be_another_or_none_is_not_ordered(text: str) -> None:
    with pytest.raises(Unordered):
        SCHEMES["date"](text)


@given(st.dates(), st.dates())
def test_days_are_ordered_as_the_calendar_has_them(one: object, two: object) -> None:
    sign = (str(one) > str(two)) - (str(one) < str(two))
    assert order("date", str(one), str(two)) == sign


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_manual_states_what_a_scheme_orders(scheme: str) -> None:
    rows = [row for row in DOCS.read_text("utf-8").splitlines() if row.startswith("| ")]
    assert any(scheme in row.split(" | ")[0].removeprefix("| ").split(", ") for row in rows)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("sign", ["1", "1.", "~", "a", "(", "v", " ", "-", "1-", "a.1 "])
def test_a_version_without_end_is_refused_before_it_is_read_in_a_short_word(scheme: str, sign: str) -> None:
    text = "1" + sign * 100_000
    with pytest.raises(Unordered) as caught:
        order(scheme, text, "1.0")
    assert len(str(caught.value)) < 200


@given(st.text("0123456789.,-_ ~^+:()vVa/", max_size=1000), st.sampled_from(sorted(SCHEMES)))
def test_no_short_text_breaks_a_scheme(text: str, scheme: str) -> None:
    try:
        assert order(scheme, text, text) == 0
    except Unordered as error:
        assert len(str(error)) < 300


@pytest.mark.parametrize(
    ("scheme", "found", "bound"),
    [
        ("prefixed", "A42 v2.60 (08/11/2022)", "U72 v1.34"), ("prefixed", "MPK7625Q", "1.0"), ("date", "004/21/2021", "2021-01-01"),
        ("deb", "1.0_1", "1.0-1"), ("rpm", "1.0 2.0", "1.0"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("op", ["at-least", "at-most", "above", "below", "warn-below", "warn-above"])
def test_a_reading_that_is_not_ordered_is_unknown(op: str, scheme: str, found: str, bound: str) -> None:
    answer = holds(Asked(op, bound), found, version(scheme, "A version."))
    assert isinstance(answer, Unknown)
    assert answer.reason is Reason.UNPARSABLE


@pytest.mark.parametrize(
    ("scheme", "bound"), [("prefixed", "latest"), ("date", "03/01/24"), ("deb", "1_0"), ("rpm", "1:")]
)
def test_a_bound_that_is_not_ordered_is_the_writers_error(scheme: str, bound: str) -> None:
    with pytest.raises(BadOperand, match="is not"):
        orderable(bound, version(scheme, "A version."))
