"""Build the CPU's kernels for both architectures, or check that the libraries in this folder match the source.

    python rackcheck/burnin/kernels/build_cpu.py [--check]

Needs `ziglang` in exactly the version VERSION, a wheel with clang and its linker for every target, so that every build
gives identical bytes. The exit status is 1 if `--check` finds a library that differs from its source, 3 if the compiler
is missing.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
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
LINKED = ("-shared", "-nostdlib", "-s", "-Wl,-Bsymbolic", "-Wl,--build-id=none", "-Wl,--hash-style=gnu")
VARIANTS = {
    "x86_64": (
        ("-DPLAIN", "-Os"),
        ("-mcpu=x86_64+avx2+fma+aes+crc32",),
        ("-mcpu=x86_64+avx2+fma+aes+crc32+avx512f+evex512", "-mprefer-vector-width=512"),
    ),
    "aarch64": (("-DPLAIN", "-Os", "-mno-outline-atomics"), ("-mcpu=generic+aes+crc",)),
}
"""The compiler options of each variant, by architecture as platform.machine() returns it.

The options enable only instruction sets that the function `best` in cpu.c checks for on the processor.
"""


def library(machine: str) -> Path:
    """Return the path of the compiled library for an architecture."""
    return HERE / f"cpu-{machine}.so"


def missing() -> str | None:
    """Return why the kernels cannot be compiled; None if the required compiler is installed."""
    if util.find_spec(COMPILER) is None:
        return f"{COMPILER} is not installed: pip install {COMPILER}=={VERSION}"
    found = metadata.version(COMPILER)
    return None if found == VERSION else f"{COMPILER} {found} is installed, {VERSION} is required"


def built(machine: str) -> bytes:
    """Compile all variants of the library for one architecture, and link them.

    Raises CalledProcessError if the compiler or the linker fails.
    """
    with tempfile.TemporaryDirectory() as place:
        cache = {name: str(Path(place) / "cache") for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")}

        def cc(*words: str) -> None:
            command = [sys.executable, "-m", COMPILER, "cc", "-target", f"{machine}-linux-musl", *words]
            subprocess.run(command, check=True, cwd=place, env={**os.environ, **cache})  # noqa: S603  a fixed command

        objects = [f"{number}.o" for number in range(len(VARIANTS[machine]))]
        for name, options in zip(objects, VARIANTS[machine], strict=True):
            cc("-O2", *COMMON, *options, "-c", str(SOURCE), "-o", name)
        cc(*LINKED, *objects, "-o", "cpu.so")
        return (Path(place) / "cpu.so").read_bytes()


def updated(made: Mapping[str, bytes], *, check: bool) -> bool:
    """Write the compiled libraries that differ from the files, or with `check` only name them; return if any differs.

    `made` has the library of each architecture.
    """
    different = False
    for machine, new in made.items():
        path = library(machine)
        same = path.exists() and path.read_bytes() == new
        different = different or not same
        print(f"{path.name}: {len(new)} B, {'unchanged' if same else 'differs' if check else 'new'}")
        if not check and not same:
            path.write_bytes(new)
    return different


def main() -> int:
    """Build the libraries and write them, or with `--check` only compare them; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare with the existing files, and write nothing")
    check = parser.parse_args().check
    if why := missing():
        print(why, file=sys.stderr)
        return 3
    different = updated({machine: built(machine) for machine in VARIANTS}, check=check)
    return int(check and different)


if __name__ == "__main__":
    sys.exit(main())
