"""The files with the version of CUDA's toolkits and of ROCm: one form each, and no other is accepted."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.fact import Unreadable
from rackcheck.parse.host.gpu.toolkit_versions import cuda, old_cuda, rocm

READERS = (cuda, old_cuda, rocm)
PIECES = ('{"cuda": {"version": "', '"}}', "CUDA Version ", "10.2.89", "6.2", "-139", ".", "[", "\n")


def test_each_recorded_file_is_read_by_its_reader_and_by_no_other() -> None:
    files = recorded(OURS / "toolkits" / "written.json")[0].files
    texts = [files[name] for name in ("/usr/local/cuda/version.json", "/usr/local/cuda-10.2/version.txt",
                                      "/opt/rocm/.info/version")]  # fmt: skip
    for reader, text, version in zip(READERS, texts, ("13.0.3", "10.2.89", "6.2.4"), strict=True):
        assert reader(text) == version
        for other in set(texts) - {text}:
            with pytest.raises(Unreadable):
                reader(other)


@pytest.mark.parametrize("version", ["12", "12.x", "1.2.3.4.5", "1" * 10 + ".0", "", "12.4 ", "٣.1"])
def test_what_is_no_dotted_number_is_no_version(version: str) -> None:
    for reader, text in zip(READERS, (f'{{"cuda": {{"version": "{version}"}}}}', f"CUDA Version {version}x", f"{version}x"),
                            strict=True):  # fmt: skip
        with pytest.raises(Unreadable):
            reader(text)


def test_a_second_line_is_not_passed_over() -> None:
    with pytest.raises(Unreadable):
        rocm("6.2.4-139\n6.2.5-1\n")
    with pytest.raises(Unreadable):
        old_cuda("CUDA Version 10.2.89\nCUDA Patch Version 10.2.1\n")


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join))
def test_nonsense_is_a_dotted_version_or_unreadable(content: str) -> None:
    for reader in READERS:
        try:
            assert re.fullmatch(r"[0-9]+(\.[0-9]+)+", reader(content))
        except Unreadable:
            continue
