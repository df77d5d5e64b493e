"""The shipped GPU kernels: bytes that drivers since 525 accept, and that gpu.cu still compiles to."""

import locale
import os
import re
from base64 import b85encode
from pathlib import Path
from zlib import compress

import pytest

from rackcheck.burnin.kernels import build_gpu
from rackcheck.burnin.kernels.build_gpu import (
    NEWER,
    SOURCE,
    TARGETS,
    TWICE,
    assembled,
    compiled,
    crowded,
    refused,
    sections,
    unpacked,
)
from rackcheck.burnin.node.gpu_bench import GPU_KERNELS

LARGEST = 60 << 10
"""Largest share of the payload's text for the kernels, in bytes."""

_SUMS = range(160)
GREEDY = "\n".join([
    ".param .u64 at)", ".maxntid 256, 1, 1", ".minnctapersm 2", "{", f".reg .b32 %r<{len(_SUMS)}>;", ".reg .b64 %a<3>;",
    "ld.param.u64 %a1, [at];", "cvta.to.global.u64 %a2, %a1;",
    *(f"ld.volatile.global.u32 %r{n}, [%a2+{4 * n}];" for n in _SUMS), "bar.sync 0;",
    *(f"st.volatile.global.u32 [%a2+{4 * n}], %r{n};" for n in _SUMS), "ret;", "}", "",
]).encode()  # fmt: skip
"""The rest of a kernel after the bracket of its parameters, which keeps more values than half of the registers hold."""


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
    """Where the wheels of NVRTC 12.0.140 and of ptxas 12.2.140 and 13.0.88 are installed."""
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
@pytest.mark.parametrize("chip", ["sm_80", "sm_86", "sm_89", "sm_90", *NEWER])
def test_an_assembler_takes_the_ptx_without_a_spill_and_two_blocks_fit_on_an_sm(compiler: Path, chip: str) -> None:
    text = assembled(compiler, unpacked("ptx"), chip)
    assert set(re.findall(r"(\d+) bytes spill", text)) == {"0"}
    assert set(re.findall(r"entry function '(\w+)'", text)) == set(GPU_KERNELS)
    assert crowded(text) == []


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["sm_100", "sm_120"])
def test_a_kernel_with_too_many_registers_is_found_and_the_bound_prevents_it(compiler: Path, chip: str) -> None:
    """Without the bound, a compiler gives a block more than the half of an SM's registers if the kernel can use them."""
    ptx = re.sub(rb"(?s)(?<=\.entry tensor\().*?(?=\.visible|\Z)", GREEDY, unpacked("ptx"))
    free = ptx.replace(b".minnctapersm 2\n", b"")
    assert crowded(assembled(compiler, free, chip)) == ["tensor"]
    assert crowded(assembled(compiler, ptx, chip)) == []


def test_two_blocks_of_the_tensor_kernel_are_demanded_of_every_compiler() -> None:
    head = re.search(r"\.entry tensor\([^)]*\)([^{]*)\{", unpacked("ptx").decode())
    assert head is not None
    assert head[1].split() == [".maxntid", "256,", "1,", "1", ".minnctapersm", "2"]


@pytest.mark.parametrize(("registers", "found"), [(128, []), (129, ["tensor"]), (255, ["tensor"])])
def test_of_a_kernel_with_more_than_128_registers_only_one_block_fits(registers: int, found: list[str]) -> None:
    lines = "".join(
        f"ptxas info    : Compiling entry function '{name}' for 'sm_100'\n    0 bytes stack frame\n"
        f"ptxas info    : Used {registers if name == 'tensor' else 74} registers, used 1 barriers\n"
        for name in TWICE
    )
    assert crowded(lines) == found
    assert crowded("") == list(TWICE), "a kernel of which nothing is known does not pass"


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
