"""The number of GPUs in Slurm's list of generic resources."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Absent, Unknown
from rackcheck_probes.gpu.slurm import count


@pytest.mark.parametrize(
    ("gres", "gpus"),
    [
        ("gpu:h100:8(S:0-1)", 8),
        ("gpu:8", 8),
        ("gpu:a100:4(S:0,2),shard:8(S:0,2),gpu:t4:1", 5),
        ("gpu:a100_1g.10gb:56(S:0-1)", 56),
        ("gpu:h100:no_consume:8", 8),
    ],
)
def test_the_gpus_of_all_types_are_added_up(gres: str, gpus: int) -> None:
    assert count(gres) == gpus


def test_resources_without_gpus_are_absent_and_strange_words_are_unknown() -> None:
    assert isinstance(count("shard:8,craynetwork:4"), Absent)
    for strange in ("gpu", "gpu:h100:8K", "gpu:h100:", "gpu:8(S:0"):
        assert isinstance(count(strange), Unknown), strange


@given(st.text(alphabet="gpu:0123456789,()S-hshard ", max_size=60))
def test_no_text_is_an_error(gres: str) -> None:
    assert isinstance(count(gres), int | Absent | Unknown)
