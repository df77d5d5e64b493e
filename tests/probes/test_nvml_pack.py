"""The program that queries NVML is packed once for each version of rackcheck, and is the same text each time."""

from pathlib import Path

import pytest

from rackcheck.base import program
from rackcheck_probes.gpu import nvml_pack


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path))
    monkeypatch.setattr(program, "digest", lambda: "this program")
    return tmp_path


def packed(monkeypatch: pytest.MonkeyPatch) -> tuple[str, int]:
    """The text, and how often it was packed for it."""
    count: list[int] = []
    real = nvml_pack._packed

    def counted() -> str:
        count.append(1)
        return real()

    with monkeypatch.context() as patch:
        patch.setattr(nvml_pack, "_packed", counted)
        return nvml_pack.payload(), len(count)


def test_the_text_is_packed_once_for_each_program(monkeypatch: pytest.MonkeyPatch) -> None:
    text, first = packed(monkeypatch)
    assert (packed(monkeypatch), first) == ((text, 0), 1)
    monkeypatch.setattr(program, "digest", lambda: "another program")
    assert packed(monkeypatch) == (text, 1)
    monkeypatch.setattr(program, "digest", lambda: "")
    assert packed(monkeypatch) == packed(monkeypatch) == (text, 1)


@pytest.mark.parametrize("size", [0, 40, 500])
def test_a_damaged_text_is_not_sent_to_a_node(size: int, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, _ = packed(monkeypatch)
    (file,) = (home / "cache" / "payloads").iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[:size] + b"import os;" + whole[size + 10 :])
    assert packed(monkeypatch) == (text, 1)
    assert file.read_bytes() == whole
