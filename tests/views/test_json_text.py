"""The JSON of every command: valid for any content, one line for each entry of a list of objects, free of controls."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rackcheck.views import machine

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=25
)


@given(values)
def test_any_document_is_read_back_as_it_was_and_moves_no_terminal(doc: object) -> None:
    text = machine.text(doc)
    assert json.loads(text) == doc
    assert all(line.isprintable() for line in text.split("\n"))


@given(st.lists(st.dictionaries(st.text(), values, min_size=1), min_size=1))
def test_each_entry_of_a_list_of_objects_is_one_line(rows: list[dict[str, Any]]) -> None:
    lines = machine.text({"rows": rows}).split("\n")
    assert (lines[:2], lines[-2:]) == (["{", '  "rows": ['], ["  ]", "}"])
    assert [json.loads(line.removesuffix(",")) for line in lines[2:-2]] == rows


def test_an_entry_that_several_lists_share_is_written_in_each() -> None:
    row = {"rule": "gpu.count", "evidence": [{"item": "gpu.count"}]}
    doc = {
        "nodes": {"n1": {"verdicts": [row]}, "n2": {"verdicts": [row, dict(row)]}},
        "profile": {"name": "x", "of": []},
    }
    assert json.loads(machine.text(doc)) == doc
    line = '        {"rule": "gpu.count", "evidence": [{"item": "gpu.count"}]}'
    assert [text.removesuffix(",") for text in machine.text(doc).split("\n") if "gpu.count" in text] == [line] * 3
    assert '  "profile": {"name": "x", "of": []}' in machine.text(doc)
