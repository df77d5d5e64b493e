"""Build the CPU's kernels for both architectures, or check that those beside this file are what the source gives.

    python rackcheck/burnin/kernels/build_cpu.py [--check]

Needs `ziglang` in the version below: a wheel that holds clang and its linker for every target, so that everybody gets
the same bytes. Ends with 1 where a library differs from its source, with 3 where the compiler is not there.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from importlib import metadata, util
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = HERE / "cpu.c"
COMPILER = "ziglang"
VERSION = "0.13.0"

COMMON = (
    *("-std=gnu11", "-g0", "-fPIC", "-ffreestanding", "-fno-builtin", "-fno-stack-protector"),
    *("-fvisibility=hidden", "-ffp-contract=off", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables"),
    *("-fno-ident", "-Wall", "-Wextra", "-Werror"),
)
LINKED = ("-shared", "-nostdlib", "-s", "-Wl,--build-id=none", "-Wl,--hash-style=gnu")
VARIANTS = {
    "x86_64": (
        ("-DPLAIN", "-Os"),
        ("-mcpu=x86_64+avx2+fma+aes+crc32",),
        ("-mcpu=x86_64+avx2+fma+aes+crc32+avx512f+evex512", "-mprefer-vector-width=512"),
    ),
    "aarch64": (("-DPLAIN", "-Os"), ("-mcpu=generic+aes+crc",)),
}
"""By architecture, as platform.machine() has it: the options of each variant. They allow no more than `best` in the
source looks for."""


def library(machine: str) -> Path:
    """Where the library of an architecture lies."""
    return HERE / f"cpu-{machine}.so"


def missing() -> str | None:
    """Say what of the compiler is missing; None where it is there."""
    if util.find_spec(COMPILER) is None:
        return f"{COMPILER} is not installed: pip install {COMPILER}=={VERSION}"
    found = metadata.version(COMPILER)
    return None if found == VERSION else f"{COMPILER} {found} is installed, {VERSION} is asked for"


def built(machine: str) -> bytes:
    """Compile the variants of an architecture and link them. Raises CalledProcessError where that fails."""
    with tempfile.TemporaryDirectory() as place:
        cache = {name: str(Path(place) / "cache") for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")}

        def cc(*words: str) -> None:
            command = [sys.executable, "-m", COMPILER, "cc", "-target", f"{machine}-linux-musl", *words]
            subprocess.run(command, check=True, cwd=place, env={**os.environ, **cache})  # noqa: S603  ours, and fixed

        objects = [f"{number}.o" for number in range(len(VARIANTS[machine]))]
        for name, options in zip(objects, VARIANTS[machine], strict=True):
            cc("-O2", *COMMON, *options, "-c", str(SOURCE), "-o", name)
        cc(*LINKED, *objects, "-o", "cpu.so")
        return (Path(place) / "cpu.so").read_bytes()


def main() -> int:
    """Build, or compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare with what is there, and write nothing")
    check = parser.parse_args().check
    if why := missing():
        print(why, file=sys.stderr)
        return 3
    different = 0
    for machine in VARIANTS:
        new, path = built(machine), library(machine)
        same = path.exists() and path.read_bytes() == new
        different += not same
        print(f"{path.name}: {len(new)} B, {'as it was' if same else 'differs' if check else 'new'}")
        if not check and not same:
            path.write_bytes(new)
    return int(check and different > 0)


if __name__ == "__main__":
    sys.exit(main())
