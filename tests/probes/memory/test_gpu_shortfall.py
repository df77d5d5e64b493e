"""Huge pages against the memory of GPUs: what is left, servers of little memory, and what was not read."""

import pytest

from rackcheck.model.fact import Absent, Reading, Reason, Unknown
from rackcheck_probes.memory.gpu_shortfall import shortfall

LOST = Unknown(Reason.TIMEOUT)
NONE = Absent("no GPU has memory of its own")


@pytest.mark.parametrize(
    ("total", "reserved", "gpus", "expected"),
    [
        (2015.0, 800.0, [80.0] * 8, 0.0),
        (2015.0, 1700.0, [80.0] * 8, 325.0),
        (512.0, 16.0, [80.0] * 8, 0.0),
        (LOST, 0.0, [80.0], 0.0),
        (LOST, 16.0, [80.0], LOST),
        (512.0, LOST, [80.0], LOST),
        (512.0, 16.0, [80.0, LOST], LOST),
        (512.0, 16.0, [NONE], NONE),
        (512.0, LOST, [], Absent("the node has no NVIDIA GPU")),
    ],
)
def test_the_memory_outside_of_huge_pages_is_compared_with_that_of_all_gpus(
    total: Reading, reserved: Reading, gpus: list[Reading], expected: Reading
) -> None:
    assert shortfall(total, reserved, gpus) == expected
