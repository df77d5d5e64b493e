"""JSON of tools: an object that repeats a name has two values, and neither is taken."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Unknown, Unreadable
from rackcheck.model.text.json_text import loaded
from rackcheck.parse.host.gpu import amdsmi, cdi, imex, toolkit_versions
from rackcheck.parse.host.network import lldpctl
from rackcheck.parse.host.nic import dcb
from rackcheck.parse.host.storage import nvme

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSON)
def test_other_json_is_read_as_the_standard_library_reads_it(doc: object) -> None:
    assert loaded(json.dumps(doc)) == doc


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '[{"b": {"a": 1, "c": 2, "a": 3}}]'])
def test_a_repeated_name_is_an_error_with_the_name(text: str) -> None:
    with pytest.raises(ValueError, match="'a' appears twice in one object"):
        loaded(text)


READERS: list[tuple[Callable[[str], object], str]] = [
    (nvme.document, '{"smart_status": {"passed": false, "passed": true}}'),
    (nvme.document, '{"critical_warning": 8, "critical_warning": 0}'),
    (amdsmi.gpus, '[{"gpu": 0, "gpu": 1}]'),
    (imex.domain, '{"status": "DOWN", "status": "UP", "nodes": {}}'),
    (toolkit_versions.cuda, '{"cuda": {"version": "11.8", "version": "12.4"}}'),
    (lldpctl.heard, '{"lldp": {"interface": [{"eth0": {}, "eth0": {}}]}}'),
    (dcb.dscp, '{"dscp_prio": [], "dscp_prio": [[1, 2]]}'),
]


@pytest.mark.parametrize(("read", "text"), READERS)
def test_no_reader_takes_the_last_of_two_values(read: Callable[[str], object], text: str) -> None:
    with pytest.raises(Unreadable, match=r"not JSON|appears twice|no cuda\.version"):
        read(text)


def test_a_cdi_file_with_two_kinds_is_unknown() -> None:
    found = cdi.offer("/etc/cdi/nvidia.json", '{"kind": "nvidia.com/gpu", "kind": "other", "devices": []}')
    assert isinstance(found.kind, Unknown)
    assert isinstance(found.devices, Unknown)
