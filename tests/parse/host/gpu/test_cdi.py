"""Files of the Container Device Interface: what they offer, in JSON and in YAML, and where that is unknown."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.fact import Absent, Reason, Unknown
from rackcheck.parse.host.gpu import cdi

YAML, JSON = "/etc/cdi/nvidia.yaml", "/etc/cdi/nvidia.json"
LIBRARY = "/usr/lib/x86_64-linux-gnu/libcuda.so.550.90.07"
FLOWING = Unknown(Reason.UNPARSABLE, "its devices are not on separate lines")


def test_a_recorded_file_offers_its_devices_and_names_its_driver() -> None:
    capture, _ = recorded(OURS / "cdi" / "written.json")
    found = cdi.offer(YAML, capture.files[YAML])
    assert found == cdi.Offer("nvidia.com/gpu", 9, "550.90.07")


def test_json_gives_the_same_as_yaml_whatever_its_files_name() -> None:
    values = {"kind": "nvidia.com/gpu", "devices": [{"name": "0"}, {"name": "all"}], "mounts": [{"hostPath": LIBRARY}]}
    for place in (JSON, YAML):
        assert cdi.offer(place, json.dumps(values)) == cdi.Offer("nvidia.com/gpu", 2, "550.90.07")


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"kind": 1, "devices": []}', '{"kind": "a/b", "devices": [1]}', "[" * 99_999]
)
def test_what_is_not_the_json_of_such_a_file_is_not_known(text: str) -> None:
    odd = Unknown(Reason.UNPARSABLE, "not the JSON of a CDI file")
    assert cdi.offer(JSON, text) == cdi.Offer(odd, odd, Absent("the file contains no path of libcuda.so"))


def test_devices_in_one_line_of_yaml_are_not_counted_line_by_line() -> None:
    found = cdi.offer(YAML, 'kind: nvidia.com/gpu\ndevices: [{name: "0"}]\n')
    assert (found.kind, found.devices) == ("nvidia.com/gpu", FLOWING)
    assert cdi.offer(YAML, "devices:\n- name: all\n").kind == Absent("the file has no kind")


@given(
    st.sampled_from([YAML, JSON]),
    st.text() | st.lists(st.sampled_from(["{", "kind: a/b", "devices: x", "- name: 0"])).map("\n".join),
)
def test_nonsense_gives_a_value_or_a_reason(place: str, content: str) -> None:
    found = cdi.offer(place, content)
    assert isinstance(found.kind, str | Absent | Unknown)
    assert isinstance(found.devices, int | Unknown)
