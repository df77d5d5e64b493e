"""Settings that ethtool prints for one interface: a reading for each leaf, absent where the driver has none."""

import json
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import TESTS

from rackcheck.model.fact import Absent, Reading, Reason, Unreadable
from rackcheck.model.text import each
from rackcheck.parse.host.nic import ethtool_settings

RECORDED = TESTS / "recorded"
NONE = Absent("the driver reports no value")
READERS: dict[str, tuple[Callable[[str], dict[str, Reading]], tuple[str, ...]]] = {
    "driver": (ethtool_settings.versions, tuple(ethtool_settings.VERSIONS)),
    "channels": (ethtool_settings.channels, ethtool_settings.CHANNELS),
    "rings": (ethtool_settings.rings, ethtool_settings.RINGS),
    "coalescing": (ethtool_settings.coalescing, ethtool_settings.COALESCING),
    "fec": (ethtool_settings.fec, ethtool_settings.FEC),
    "pause": (ethtool_settings.pause, tuple(ethtool_settings.PAUSE)),
    "permanent": (ethtool_settings.permanent, ("mac_permanent",)),
    "link": (ethtool_settings.link, ethtool_settings.LINK),
}


def recorded(name: str) -> str:
    """What ethtool prints for eth0 in our own recording."""
    (command,) = json.loads((RECORDED / f"ethtool_{name}" / "written.json").read_text())["commands"].values()
    reading = each(command["out"])["eth0"]
    assert isinstance(reading, str)
    return reading


@pytest.mark.parametrize("name", READERS)
def test_the_leaves_that_are_unknown_of_a_broken_interface_are_those_of_a_sound_one(name: str) -> None:
    reader, leaves = READERS[name]
    assert tuple(reader(recorded(name))) == leaves


def test_settings_in_use_are_distinguished_from_supported_ones() -> None:
    values = ethtool_settings.channels(recorded("channels"))
    assert (values["combined"], values["combined_max"], values["rx"], values["rx_max"]) == (32, 63, NONE, NONE)


def test_without_a_link_no_error_correction_is_active_and_both_spellings_are_one() -> None:
    old = "FEC parameters for eth0:\nConfigured FEC encodings: Auto Off\nActive FEC encodings: None\n"
    values = ethtool_settings.fec(old)
    assert values == {"configured": ("Auto", "Off"), "active": Absent("no FEC is active")}
    assert ethtool_settings.fec(recorded("fec"))["active"] == "RS"


def test_both_adaptive_settings_of_one_line_are_read() -> None:
    values = ethtool_settings.coalescing(recorded("coalescing"))
    assert (values["adaptive_rx"], values["adaptive_tx"], values["rx_usecs"], values["tx_frames"]) == (
        True,
        False,
        8,
        NONE,
    )


@pytest.mark.parametrize("text", ["not set", "00:00:00:00:00:00"])
def test_an_address_that_is_none_is_absent(text: str) -> None:
    values = ethtool_settings.permanent(f"Permanent address: {text}\n")
    assert values == {"mac_permanent": Absent("the device reports no permanent address")}


def test_an_interface_has_each_feature_on_and_fixed() -> None:
    values = ethtool_settings.features("Features for eth0:\nrx-fcs: off [fixed]\ntx-checksum-ipv4: on\n")
    assert values == {
        "feature/rx-fcs.on": False, "feature/rx-fcs.fixed": True,
        "feature/tx-checksum-ipv4.on": True, "feature/tx-checksum-ipv4.fixed": False,
    }  # fmt: skip


def test_a_feature_without_a_name_costs_its_own_interface() -> None:
    with pytest.raises(Unreadable, match="no features"):
        ethtool_settings.features("Features for eth0:\nrx-fcs: on\n: off\n")


def test_features_without_end_are_refused_for_one_interface() -> None:
    rows = [f"f{n}: on\n" for n in range(ethtool_settings.FEATURES + 1)]
    assert len(ethtool_settings.features("Features for eth0:\n" + "".join(rows[1:]))) == 2 * ethtool_settings.FEATURES
    with pytest.raises(Unreadable, match="no features"):
        ethtool_settings.features("Features for eth0:\n" + "".join(rows))
    with pytest.raises(Unreadable) as caught:
        ethtool_settings.features("Features for eth0:\n" + "".join(rows) * 10)
    assert caught.value.reason is Reason.TOO_LARGE


@pytest.mark.parametrize("name", READERS)
@given(data=st.data())
def test_nonsense_is_readings_or_unreadable(name: str, data: st.DataObject) -> None:
    reader, leaves = READERS[name]
    rows = recorded(name).splitlines()
    text = data.draw(st.text() | st.lists(st.sampled_from(rows) | st.text(), max_size=9).map("\n".join))
    with suppress(Unreadable):
        assert tuple(reader(text)) == leaves
    for more in (ethtool_settings.features, ethtool_settings.statistics):
        with suppress(Unreadable):
            more(text)
