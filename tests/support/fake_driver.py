"""A driver library and nvidia-smi for machines without a GPU; both read their values from one file."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from places import TESTS

HERE = TESTS / "fake_nvml"
TOOLS = ("sh", "timeout", "head", "tail", "cat", "id", "date", "sed")
"""The tools that the script needs on a node without Python."""

Gpu = dict[str, Any]
DriverState = dict[str, Any]
"""The output of our program for a driver: `{"driver": {"value": ...}, "gpus": [{key: {"value": ...}}]}`."""

NUMBERS = {
    "architecture": {"Ampere": 7, "Hopper": 9, "Blackwell": 10},
    "addressing": {"None": 0, "HMM": 1, "ATS": 2},
    "fabric_status": {"Success": 0},
}
"""Values that NVML returns as a number and our program as a word."""


def code(number: int) -> dict[str, int]:
    """Make NVML return this error code instead of a value."""
    return {"code": number}


def _lines(at: str, values: Mapping[str, Any]) -> Iterator[str]:
    for key, one in values.items():
        if "code" in one:
            yield f"{at}{key}=!{one['code']}"
        elif "value" not in one:
            assert "absent" in one, f"{at}{key}: {one}"
        elif key == "nvlinks":
            yield f"{at}links={len(one['value'])}"
            for number, link in enumerate(one["value"]):
                yield from _lines(f"{at}link.{number}.", link)
        elif key == "peers":
            yield f"{at}peers={','.join(map(str, one['value']))}"
        elif key == "cuda":
            major, minor = one["value"].split(".")
            yield f"cuda={int(major) * 1000 + int(minor) * 10}"
        else:
            yield f"{at}{key}={NUMBERS.get(key, {}).get(one['value'], one['value'])}"


def state(values: DriverState, **more: object) -> str:
    """Write the state that the fake driver reads; `more` are lines of the driver itself, `init=9`."""
    lines = [
        *_lines("", {k: v for k, v in values.items() if k != "gpus"}),
        f"count={len(values['gpus'])}",
        "*.graphics=0",
    ]
    for index, gpu in enumerate(values["gpus"]):
        lines += [f"{index}.lost={gpu['lost']}"] if "lost" in gpu else _lines(f"{index}.", gpu)
    return "\n".join([*lines, *(f"{key}={value}" for key, value in more.items())]) + "\n"


def _compiler() -> str:
    found = shutil.which("gcc") or shutil.which("cc")
    if found is None:
        message = "no C compiler to build the fake NVML library with: the true way to NVML is not tested"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return found


def library(folder: Path, *flags: str) -> Path:
    """Build the library; without a C compiler it skips, and fails in CI."""
    target = folder / "libnvidia-ml.so.1"
    given = ["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", *flags]
    subprocess.run([_compiler(), *given, "-o", str(target), str(HERE / "nvml.c")], check=True)
    return target


MARKS = ("/proc/driver/nvidia/version", "/dev/nvidiactl")
"""The files that mark a loaded driver: only the driver itself can create the first one."""


def shell(folder: Path, *there: str) -> Path:
    """Make a folder with a shell that finds these marks of a driver, all of them if none is named, and no others.

    It is the node's real shell. In the script that it receives, the marks are replaced by other paths: files of ours
    that exist, or paths that do not.
    """
    made, true = folder / "sh-of-a-node", shutil.which("sh")
    made.mkdir(exist_ok=True)
    places = {mark: __file__ if mark in (there or MARKS) else str(made / "not there") for mark in MARKS}
    swaps = " ".join(f"-e 's#{mark}#{place}#g'" for mark, place in places.items())
    (made / "sh").write_text(
        f'#!{true}\ncase $1 in -s) {shutil.which("sed")} {swaps} | {true} -s;; *) exec {true} "$@";; esac\n'
    )
    (made / "sh").chmod(0o755)
    return made


def tools(folder: Path) -> Path:
    """Make a folder of tools with nvidia-smi and without Python; its shell finds a driver loaded."""
    made = folder / "bin"
    made.mkdir(exist_ok=True)
    for tool in TOOLS:
        found = shutil.which(tool) if tool != "sh" else str(shell(folder) / "sh")
        assert found is not None
        (made / tool).symlink_to(found)
    smi = made / "nvidia-smi"
    smi.write_text(f'#!/bin/sh\n[ "$*" = "-q -x" ] && exec {sys.executable} {HERE / "nvidia_smi.py"}\n')
    smi.chmod(0o755)
    return made
