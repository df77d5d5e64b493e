"""Compile the GPU kernels in gpu.cu: PTX for every chip since compute capability 8.0, and machine code for 8.0 and 9.0.

The compiler is NVRTC of CUDA 12.0, because every driver since 525 reads its PTX and ELF. Building needs no GPU and no
driver:

    python -m pip install --no-deps --target DIR --require-hashes -r .ci/compilers.txt
    python -m rackcheck.burnin.kernels.build_gpu DIR            # writes gpu.ptx.xz, gpu.sm_80.xz, gpu.sm_90.xz
    python -m rackcheck.burnin.kernels.build_gpu DIR --check    # builds again, compares bytes, assembles the PTX
"""

import argparse
import ctypes
import lzma
import re
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).parent
SOURCE = HERE / "gpu.cu"
TARGETS = {"ptx": "compute_80", "sm_80": "sm_80", "sm_90": "sm_90"}
"""The compiled files by their name in the payload, each with the compiler's name of its target architecture."""

PTX_AT_MOST = (8, 0)
"""The newest PTX version that drivers of CUDA 12.0 (525) read; they reject newer versions."""

ELF_ABI = 7
"""The ELF ABI version of files from CUDA 12; CUDA 13 writes version 8, which older drivers reject."""

ASSEMBLERS = {"12": "cuda_nvcc/bin/ptxas", "13": "cu13/bin/ptxas"}
"""The assemblers in the folder of the wheels, by CUDA release: 12.2 as in old drivers, 13.0 for newer chips."""

NEWER = ("sm_100", "sm_103", "sm_120")
"""The chips that only the newer assembler knows."""

REGISTERS, THREADS = 1 << 16, 256
"""Registers of an SM of each of these chips (NVIDIA, CUDA Programming Guide), and threads of a block."""

TWICE = ("tensor", "verify", "march", "fill", "copy", "checksum")
"""The kernels of which two blocks must fit on an SM: one of each kind runs there in the stage `together`."""

FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]


class Unbuilt(Exception):
    """The compiler or the assembler is missing or failed; the message has the reason or the log."""


def blob(name: str) -> Path:
    """Return the path of the compressed kernel of this name: `ptx`, `sm_80` or `sm_90`."""
    return HERE / f"gpu.{name}.xz"


def packed(data: bytes) -> bytes:
    """Return the data compressed as xz, with CRC32 as the only checksum, because the package is signed as a whole."""
    return lzma.compress(data, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC32, filters=FILTERS)


def unpacked(name: str) -> bytes:
    """Return the PTX text or the ELF file that is shipped under this name."""
    return lzma.decompress(blob(name).read_bytes())


def compiled(folder: Path, name: str, source: str) -> bytes:
    """Compile for one target with the NVRTC below `folder`; raises Unbuilt with the compiler's log."""
    with ThreadPoolExecutor(1) as thread:  # NVRTC leaves the calling thread in the C locale (uselocale)
        return thread.submit(_compiled, folder, name, source).result()


def _compiled(folder: Path, name: str, source: str) -> bytes:
    found = sorted(folder.rglob("libnvrtc.so.12"))
    if not found:
        raise Unbuilt(f"{folder}: no libnvrtc.so.12 below it")
    library = ctypes.CDLL(str(found[0]))
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    words = [
        f"--gpu-architecture={TARGETS[name]}",
        "--std=c++14",
        "--fmad=false",
        "--device-as-default-execution-space",
    ]
    given = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
    _done(library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"gpu.cu", 0, None, None), "create")
    status = library.nvrtcCompileProgram(program, len(words), given)
    _done(library.nvrtcGetProgramLogSize(program, ctypes.byref(size)), "log size")
    log = ctypes.create_string_buffer(size.value)
    _done(library.nvrtcGetProgramLog(program, log), "log")
    if status:
        raise Unbuilt(f"{name}: NVRTC refuses gpu.cu ({status}):\n{log.value.decode()}")
    kind = "PTX" if name == "ptx" else "CUBIN"
    _done(getattr(library, f"nvrtcGet{kind}Size")(program, ctypes.byref(size)), "size")
    data = ctypes.create_string_buffer(size.value)
    _done(getattr(library, f"nvrtcGet{kind}")(program, data), "result")
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return bared(data.raw.rstrip(b"\0")) if name == "ptx" else data.raw


def bared(ptx: bytes) -> bytes:
    """Return the PTX without empty lines and comments, because some comments contain a count of compilations."""
    lines = (re.sub(rb"\s*//.*", b"", line).strip(b"\t ") for line in ptx.split(b"\n"))
    return b"\n".join(line for line in lines if line) + b"\n"


def _done(status: int, what: str) -> None:
    if status:
        raise Unbuilt(f"NVRTC: {what}: status {status}")


def refused(name: str, data: bytes) -> str | None:
    """Return why a driver of CUDA 12.0 would reject a PTX or ELF file; None if it would accept the file."""
    if name == "ptx":
        found = re.search(rb"^\.version (\d+)\.(\d+)$", data, re.MULTILINE)
        if found is None:
            return f"{name}: no .version line"
        version = (int(found[1]), int(found[2]))
        return (
            None
            if version <= PTX_AT_MOST
            else f"{name}: PTX {version[0]}.{version[1]}, drivers of series 525 read at most 8.0"
        )
    if data[:4] != b"\x7fELF":
        return f"{name}: not an ELF file"
    return None if data[8] == ELF_ABI else f"{name}: ELF ABI version {data[8]}, drivers of series 525 read {ELF_ABI}"


def assembled(folder: Path, ptx: bytes, chip: str) -> str:
    """Assemble the PTX for one chip with the ptxas below `folder`; return the log with registers and spills.

    Raises Unbuilt if ptxas is missing or fails.
    """
    release = "13" if chip in NEWER else "12"
    assembler = folder / "nvidia" / ASSEMBLERS[release]
    if not assembler.exists():
        raise Unbuilt(f"{folder}: no ptxas of CUDA {release} in this folder")
    assembler.chmod(0o755)
    with TemporaryDirectory() as place:
        text = Path(place) / "gpu.ptx"
        text.write_bytes(ptx)
        words = [str(assembler), "-v", f"-arch={chip}", str(text), "-o", str(Path(place) / "gpu.cubin")]
        done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603  ptxas from the wheel
    if done.returncode:
        raise Unbuilt(f"ptxas refuses the PTX for {chip}:\n{done.stderr}")
    return done.stderr


def crowded(log: str) -> list[str]:
    """Return the kernels in TWICE that need so many registers that an SM runs one block at a time, by ptxas's log.

    A warp's registers are allocated in units of 256: eight for each of its 32 threads. A kernel without a line counts.
    """
    used = {name: int(count) for name, count in re.findall(r"(?s)entry function '(\w+)'.*?Used (\d+) registers", log)}
    return [name for name in TWICE if 2 * THREADS * (used.get(name, REGISTERS) + 7 & ~7) > REGISTERS]


def sections(cubin: bytes) -> dict[str, int]:
    """Return the sections of a 64-bit little-endian ELF file: name -> size in bytes."""
    start, size, count, names = (
        struct.unpack_from("<Q", cubin, 40)[0],
        *struct.unpack_from("<HHH", cubin, 58),
    )
    heads = [struct.unpack_from("<IIQQQQ", cubin, start + size * number) for number in range(count)]
    text = heads[names][4]
    return {cubin[text + h[0] : cubin.index(b"\0", text + h[0])].decode(): h[5] for h in heads}


def main(words: list[str]) -> int:
    """Build and write the kernels, or with `--check` only check them; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the compiler's wheels are installed")
    parser.add_argument("--check", action="store_true", help="compare with the existing files, and assemble the PTX")
    given = parser.parse_args(words)
    troubles: list[str] = []
    try:
        for name in TARGETS:
            data = compiled(given.folder, name, SOURCE.read_text())
            troubles += filter(None, [refused(name, data)])
            if not given.check:
                blob(name).write_bytes(packed(data))
            elif not blob(name).exists() or unpacked(name) != data:
                troubles.append(f"{blob(name).name}: differs from the result of compiling gpu.cu; build it again")
            print(f"{name}: {len(data)} B, {blob(name).stat().st_size if blob(name).exists() else 0} B packed")
        if given.check:
            for chip in ("sm_80", "sm_86", "sm_90", *NEWER):
                kernels = crowded(assembled(given.folder, unpacked("ptx"), chip))
                troubles += [f"{chip}: only one block of {name} fits on an SM" for name in kernels]
    except Unbuilt as trouble:
        troubles.append(str(trouble))
    for line in troubles:
        print(line, file=sys.stderr)
    return 1 if troubles else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
