"""Every OS probe's parser, fed with invalid answers: facts or Unreadable, never another exception.

The usual run tries every parser with a quarter of the random texts; `make full` tries all of them.
"""

from functools import cache
from pathlib import Path
from typing import Any

import depth
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nonsense import feed, read_all
from recordings import OsProbe, as_json, by_probe, naming, os_probes, recorded

from rackcheck.model.capture import NodeCapture
from rackcheck.model.fact import Reason, Unknown, Unreadable, single
from rackcheck.model.question import Shell
from rackcheck.model.text import Files, Sourced

PROBES = os_probes()
NAMES = sorted(PROBES)
RECORDED = by_probe()
TOOLS = (
    "",
    "\n",
    "\x00\x01\x1b[2J\n",
    "sh: 1: lscpu: not found\n",
    "Usage: df [-kPl] [FILE]...\n",
    '{"unknown": 1, "gpus": {}, "driver": []}\n',
    "bus 0000:17:00.0\nbus read\n" + "[" * 100_000 + "\n",
    '{"driver": {"value": 1e999}, "gpus": [{"uuid": {"value": []}, "ecc": {"value": -1}}, 7, null]}\n',
    "Id=\nNames=\nLoadState=\nActiveState=\nSubState=\nUnitFileState=\n\n-- unit files --\n",
    "Filesystem 1024-blocks Used Available Capacity Mounted on\nx " + "9" * 5000 + " 1 1 1% /\n",
    "CPU(s): " + "9" * 5000 + "\nNUMA node0 CPU(s): 0\n",
    "Architecture: x86_64\nCPU(s): -4\nL1d cache: x\nSocket(s): two\n",
    "0-999999999999999999999\n",
    "²\n",
    "٣\n",
    "none / ext4 \\777\\040 0 0\n",
    "\\040\\040 /\\012 \\011 ro 0 0\n",
)


@cache
def answer(place: Path) -> NodeCapture:
    """The answer of one of our own recordings, which many examples change."""
    return recorded(place)[0]


@pytest.mark.parametrize("name", NAMES)
def test_another_tools_output_is_unreadable_at_worst(name: str) -> None:
    for text in TOOLS:
        with naming(text[:80]):
            feed(PROBES[name], text)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=depth.examples(15, 60), deadline=None)
@given(text=st.one_of(st.text(), st.binary().map(lambda raw: raw.decode("utf-8", "backslashreplace"))))
def test_random_text_is_unreadable_at_worst(name: str, text: str) -> None:
    feed(PROBES[name], text)
    feed(PROBES[name], text + "\n")


@pytest.mark.parametrize("name", sorted(RECORDED))
@settings(max_examples=depth.examples(20, 80), deadline=None)
@given(data=st.data())
def test_a_recording_that_was_cut_and_spoilt_is_unreadable_at_worst(name: str, data: st.DataObject) -> None:
    probe = PROBES[name]
    capture = answer(data.draw(st.sampled_from(RECORDED[name])))

    def spoilt(text: str) -> str:
        at = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(at, len(text)))
        return text[:at] + data.draw(st.sampled_from(["", "\n", "-", "\x00", "=", " ", "9" * 40, '"'])) + text[end:]

    if isinstance(probe.ask, Shell):
        (output,) = capture.commands.values()
        if not isinstance(output, Unknown):
            read_all(probe, spoilt(output.out))
        return
    victims = data.draw(st.sets(st.sampled_from(sorted(capture.files)), max_size=3)) if capture.files else set()
    refused = data.draw(st.sets(st.sampled_from(sorted(capture.files)), max_size=2)) if capture.files else set()
    files = {path: spoilt(text) if path in victims else text for path, text in capture.files.items()}
    read_all(probe, Files({p: t for p, t in files.items() if p not in refused}, _denied(refused)))


def _denied(places: set[str]) -> dict[str, Unknown]:
    return dict.fromkeys(places, Unknown(Reason.DENIED, "Permission denied"))


@pytest.mark.parametrize("name", sorted(name for name in RECORDED if isinstance(PROBES[name].ask, Shell)))
def test_a_cut_answer_gives_no_fact_that_the_whole_one_lacks(name: str) -> None:
    for place in RECORDED[name]:
        with naming(place.name):
            _no_cut_adds_facts(PROBES[name], *recorded(place))


def _no_cut_adds_facts(probe: OsProbe, capture: NodeCapture, expected: dict[str, Any]) -> None:
    (output,) = capture.commands.values()
    assert not isinstance(output, Unknown)
    for cut in range(len(output.out)):
        try:
            values = dict(single(probe.parse(output.out[:cut])))  # type: ignore[arg-type]  # a Shell's reader
        except Unreadable:
            continue
        for path, reading in values.items():
            plain = reading.reading if isinstance(reading, Sourced) else reading
            assert isinstance(plain, Unknown) or as_json(plain) == expected[path], (cut, path)
