"""Parsers of tools fed with invalid output: facts or Unreadable, never another exception, never a pass.

The usual run tries ten values for each parser and field, `make full` a hundred.
"""

import json
from contextlib import suppress
from typing import Any

import depth
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tool_answers import GOOD

from rackcheck.model import path as paths
from rackcheck.model.catalogue import Catalogue, Entry
from rackcheck.model.fact import Plane, Reading, Unreadable
from rackcheck.parse.burnin.tools import every

some = settings(max_examples=depth.cases(100))

FACTS = Catalogue.of(Entry(pattern, kind, Plane.BURNIN, "tools") for pattern, kind in every.GIVES.items())
NONSENSE = (
    "", "\n", "\x00\x1b[2J", "{", "[" * 100_000, '{"a":' * 100_000, "{}", '{"DCGM Diagnostic": []}', '{"nvbandwidth": 7}',
    '{"fio version": "fio-3.33", "jobs": [[], 7, null]}', "Running a.\nSUM a 1\n", "---\nmetrics:\n...\n", "9" * 5000,
    '{"jobs": ' + "9" * 5000 + "}", '{"nvbandwidth": {"testcases": [{"name": "a", "status": "Passed", "sum": 1e999}]}}',
    "#  size  count  type\n", "#bytes #iterations BW peak[Gb/sec] BW average[Gb/sec]\n1 1 1 1\n",
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


def read(record: dict[str, Any]) -> dict[str, Reading]:
    """What a parser returns, with only declared paths; empty where the output is Unreadable."""
    reader, _ = every.READERS[record["name"]]
    found: dict[str, Reading] = {}
    with suppress(Unreadable):
        found = dict(reader(record))
    for path, _ in every.facts([record]):
        assert FACTS.find(paths.parse(path)) is not None, path
    return found


def passes(found: dict[str, Reading]) -> set[str]:
    return {path for path, reading in found.items() if reading == "pass"}


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("text", NONSENSE, ids=range(len(NONSENSE)))
def test_what_is_no_answer_passes_nothing(name: str, text: str) -> None:
    for status in (0, 1, 2, -9, None):
        assert not passes(read({**GOOD[name], "out": text, "err": text[:400], "status": status}))


@pytest.mark.parametrize("name", GOOD)
@some
@given(text=st.text())
def test_any_text_passes_nothing(name: str, text: str) -> None:
    assert not passes(read({**GOOD[name], "out": text}))


@pytest.mark.parametrize("name", GOOD)
@some
@given(data=st.data())
def test_an_answer_that_was_cut_passes_nothing_that_the_whole_does_not(name: str, data: st.DataObject) -> None:
    whole = GOOD[name]["out"]
    end = data.draw(st.integers(0, len(whole)))
    cut = read({**GOOD[name], "out": whole[:end]})
    assert passes(cut) <= passes(read(GOOD[name]))
    if end < len(whole) * 0.9:
        assert not passes(cut)


@pytest.mark.parametrize("name", [name for name in GOOD if GOOD[name]["out"].startswith("{")])
@some
@given(data=st.data())
def test_a_value_changed_anywhere_in_the_json_passes_nothing_new(name: str, data: st.DataObject) -> None:
    whole = json.loads(GOOD[name]["out"])
    at = whole
    for _ in range(data.draw(st.integers(0, 6))):
        keys = list(at) if isinstance(at, dict) else range(len(at))
        if not keys:
            break
        key = data.draw(st.sampled_from(list(keys)))
        if not isinstance(at[key], dict | list) or data.draw(st.booleans()):
            at[key] = data.draw(VALUES.filter(lambda value: str(value).casefold() not in {"pass", "passed"}))
            break
        at = at[key]
    found = read({**GOOD[name], "out": json.dumps(whole)})
    named = {path.rpartition(".gpu/")[0] or path for path in passes(read(GOOD[name]))}
    assert all(path.startswith("burnin.dcgm.test/") or path in named for path in passes(found))


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize(
    "field", ["of", "argv", "version", "status", "seconds", "out", "err", "cut", "why", "asked", "before"]
)
@some
@given(value=VALUES)
def test_a_record_with_any_value_in_any_field_is_facts_or_unreadable(name: str, field: str, value: object) -> None:
    read({**GOOD[name], field: value})


@given(st.dictionaries(st.text(max_size=8), VALUES))
def test_any_record_gives_facts_and_raises_nothing(record: dict[str, Any]) -> None:
    list(every.facts([record, {**record, "name": "fio"}]))
