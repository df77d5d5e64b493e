"""The kernel's files of a block device's queue: the active choice, and devices that are no disks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Unreadable
from rackcheck.parse.host.storage import block_queue


@pytest.mark.parametrize(
    ("content", "word"),
    [("[none] mq-deadline kyber bfq\n", "none"), ("none [mq-deadline]\n", "mq-deadline"), ("none\n", "none")],
)
def test_a_scheduler_is_the_word_in_brackets_or_the_only_word(content: str, word: str) -> None:
    assert block_queue.scheduler(content) == word


@pytest.mark.parametrize("content", ["", "none mq-deadline\n", "[none] [bfq]\n", "none\nbfq\n"])
def test_where_none_or_several_words_are_chosen_the_scheduler_is_not_known(content: str) -> None:
    with pytest.raises(Unreadable):
        block_queue.scheduler(content)


def test_a_queue_that_holds_no_request_is_none() -> None:
    assert (block_queue.requests("1023\n"), block_queue.requests("1\n")) == (1023, 1)
    with pytest.raises(Unreadable, match="not a number of requests: 0"):
        block_queue.requests("0\n")


def test_files_memory_and_doors_are_no_disks_and_arrays_and_partitions_of_names_are() -> None:
    names = ["loop0", "ram15", "zram0", "sr0", "fd0", "nbd12", "nvme0n1", "sda", "sdr0x", "md127", "dm-0", "loop"]
    assert [name for name in names if block_queue.is_disk(name)] == names[6:]


@given(st.text() | st.from_regex(r"-?[0-9]{1,40}|\[?[a-z-]{1,40}\]?( \[?[a-z]+\]?)?", fullmatch=True))
def test_nonsense_is_read_or_unreadable(content: str) -> None:
    for reader in (block_queue.scheduler, block_queue.requests, block_queue.amount):
        try:
            assert reader(content) not in ("", None)
        except Unreadable:
            pass
