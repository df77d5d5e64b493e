"""The shipped GPU kernels: bytes that drivers since 525 accept, and that gpu.cu still compiles to."""

import locale
import os
import re
from base64 import b85encode
from pathlib import Path
from zlib import compress

import pytest

from rackcheck.burnin.kernels import build_gpu
from rackcheck.burnin.kernels.build_gpu import SOURCE, TARGETS, assembled, compiled, refused, sections, unpacked
from rackcheck.burnin.node.gpu_bench import GPU_KERNELS

LARGEST = 60 << 10
"""Largest share of the payload's text for the kernels, in bytes."""


@pytest.mark.parametrize("name", TARGETS)
def test_no_driver_since_525_refuses_what_is_shipped(name: str) -> None:
    assert refused(name, unpacked(name)) is None


def test_a_newer_toolkit_is_refused() -> None:
    ptx, cubin = unpacked("ptx"), unpacked("sm_90")
    assert (
        refused("ptx", re.sub(rb"\.version 8\.0", b".version 8.1", ptx))
        == "ptx: PTX 8.1, drivers of series 525 read at most 8.0"
    )
    assert refused("ptx", b"") == "ptx: no .version line"
    assert refused("sm_90", cubin[:8] + b"\x08" + cubin[9:]) == "sm_90: ELF ABI version 8, drivers of series 525 read 7"
    assert refused("sm_90", ptx) == "sm_90: not an ELF file"


@pytest.mark.parametrize("name", ["sm_80", "sm_90"])
def test_machine_code_holds_every_kernel(name: str) -> None:
    found = {section.removeprefix(".text.") for section in sections(unpacked(name)) if section.startswith(".text.")}
    assert found == set(GPU_KERNELS)


def test_the_ptx_holds_every_kernel_for_compute_capability_8() -> None:
    ptx = unpacked("ptx").decode()
    assert set(re.findall(r"\.visible \.entry (\w+)\(", ptx)) == set(GPU_KERNELS)
    assert re.findall(r"^\.target (.+)$", ptx, re.MULTILINE) == ["sm_80"]


def test_nothing_is_rounded_twice_or_not_as_written() -> None:
    ptx = unpacked("ptx").decode()
    inexact = set(re.findall(r"\b(?:fma|mad|mul|add|sub|div)\.[a-z0-9.]*f(?:32|64)\b", ptx))
    assert inexact == {"fma.rn.f32", "fma.rn.f64", "add.rn.f32", "mul.rn.f32"}
    assert ptx.count("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32") == 64


def test_the_kernels_leave_the_payload_its_room() -> None:
    assert sum(len(b85encode(compress(unpacked(name), 9))) for name in TARGETS) <= LARGEST


@pytest.fixture(scope="module")
def compiler() -> Path:
    """Where the wheels of NVRTC 12.0.140 and ptxas 12.2.140 are installed."""
    text = os.environ.get("RACKCHECK_CUDA_WHEELS")
    if not text:
        pytest.skip("RACKCHECK_CUDA_WHEELS is no folder of the compiler's wheels: the kernels are not rebuilt")
    return Path(text)


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_the_source_still_compiles_to_the_bytes_that_are_shipped(compiler: Path, name: str) -> None:
    letters = locale.getencoding()
    assert compiled(compiler, name, SOURCE.read_text()) == unpacked(name)
    assert locale.getencoding() == letters


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["sm_80", "sm_86", "sm_89", "sm_90"])
def test_an_old_assembler_takes_the_ptx_without_a_spill(compiler: Path, chip: str) -> None:
    text = assembled(compiler, unpacked("ptx"), chip)
    assert set(re.findall(r"(\d+) bytes spill", text)) == {"0"}


@pytest.mark.slow
def test_the_check_fails_where_the_source_differs(
    compiler: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert build_gpu.main([str(compiler), "--check"]) == 0
    changed = tmp_path / "gpu.cu"
    changed.write_text(SOURCE.read_text().replace("round < 16", "round < 15"))
    monkeypatch.setattr(build_gpu, "SOURCE", changed)
    assert build_gpu.main([str(compiler), "--check"]) == 1
    assert "gpu.sm_90.xz: differs from the result of compiling gpu.cu" in capsys.readouterr().err
    changed.write_text("no C")
    assert build_gpu.main([str(compiler), "--check"]) == 1
    assert "NVRTC refuses gpu.cu" in capsys.readouterr().err
