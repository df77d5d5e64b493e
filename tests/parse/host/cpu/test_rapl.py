"""Power zones: a limit is found by its name, whatever its number; a limit that a zone lacks is absent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.fact import Absent, Reason, Sourced, Unknown, Unreadable
from rackcheck.model.text import Files
from rackcheck.parse.host.cpu import rapl

LIMIT = f"{rapl.ZONE}/constraint_*_power_limit_uw"
NONE = Absent("no such limit")
AT = "/sys/class/powercap/intel-rapl:0"


def recorded_zones(case: str) -> tuple[Files, list[rapl.Zone]]:
    capture, _ = recorded(OURS / "cpu_power" / f"{case}.json")
    files = Files(capture.files, {})
    return files, rapl.zones(files)


def test_recorded_zones_of_intel_have_limits_by_name_and_those_of_amd_have_none() -> None:
    files, (zone, *_) = recorded_zones("xeon")
    assert zone.number == "0"
    reading = zone.read(files, LIMIT, "long_term", NONE)
    assert isinstance(reading, Sourced)
    assert reading.reading == int(files.contents[reading.source]) / 1e6
    _, amd = recorded_zones("epyc")
    assert amd
    assert all(not one.limits for one in amd)


def test_a_limit_is_found_by_its_name_and_one_that_the_zone_has_not_is_none() -> None:
    names = {
        f"{AT}/name": "package-0\n",
        f"{AT}/constraint_0_name": "short_term\n",
        f"{AT}/constraint_1_name": "long_term\n",
    }
    files = Files({**names, f"{AT}/constraint_1_power_limit_uw": "350000000\n"}, {})
    (zone,) = rapl.zones(files)
    assert zone.read(files, LIMIT, "long_term", NONE) == Sourced(350.0, f"{AT}/constraint_1_power_limit_uw")
    assert zone.read(files, LIMIT, "peak_power", NONE) == NONE


def test_a_limit_without_a_number_is_none() -> None:
    (zone,) = rapl.zones(Files({f"{AT}/name": "package-0\n", f"{AT}/constraint__name": "long_term\n"}, {}))
    assert zone.limits == {}


def test_a_limit_whose_name_may_not_be_read_is_not_left_out() -> None:
    denied = {f"{AT}/constraint_0_name": Unknown(Reason.DENIED, "Permission denied")}
    with pytest.raises(Unreadable, match="Permission denied"):
        rapl.zones(Files({f"{AT}/name": "package-0\n"}, denied))


def test_what_the_kernel_does_not_number_is_no_zone() -> None:
    files = Files({rapl.NAME.replace("*", key): "x\n" for key in ("0", "0:1", "x", "0:1:2", "99999")}, {})
    assert [zone.number for zone in rapl.zones(files)] == ["0", "0:1"]


@given(
    st.dictionaries(
        st.sampled_from(["name", "constraint_0_name", "constraint_0_power_limit_uw", "constraint__name"]), st.text()
    )
)
def test_nonsense_is_read_or_unreadable(contents: dict[str, str]) -> None:
    files = Files({f"{AT}/{name}": text for name, text in contents.items()}, {})
    try:
        for zone in rapl.zones(files):
            for name in (*zone.limits, "long_term"):
                assert zone.read(files, LIMIT, name, NONE)
    except Unreadable:
        pass
