"""A node with GPUs for the real payload: fakes of both NVIDIA libraries, and marks of a loaded driver."""

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fake_driver
from burn_nvml import listed
from payloads import Running, plan, start
from places import TESTS

HERE = TESTS
WORDS = ("-shared", "-fPIC", "-O2", "-std=gnu11", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror")

MEMORY = 8 << 20
"""Size of the memory of a GPU of the fake CUDA driver, in bytes; NVML must report the same."""


def libraries(folder: Path) -> Path:
    """Build libnvidia-ml.so.1 and libcuda.so.1 into a folder; without a C compiler it skips, and fails in CI."""
    fake_driver.library(folder)
    compiler = shutil.which("gcc") or shutil.which("cc")
    assert compiler is not None
    source = str(HERE / "fake_cuda" / "cuda.c")
    subprocess.run([compiler, *WORDS, "-o", str(folder / "libcuda.so.1"), source, "-lm"], check=True)
    return folder


@dataclass(frozen=True)
class Node:
    """A node with several GPUs; `folder` is its own, `built` that of the libraries.

    `numbers` are the GPUs that NVML lists, in its order, if not all.
    """

    built: Path
    folder: Path
    gpus: int = 2
    numbers: tuple[int, ...] = ()

    def burn(self, cuda: str = "", nvml: str = "", later: str = "", seconds: float = 1.6, **more: Any) -> Running:
        """Start a payload on it; `cuda` and `nvml` are lines of the fakes' state, `later` sections in time of NVML's."""
        marks = {"proc/driver/nvidia/version": "NVRM version\n", "dev/nvidiactl": "", "proc/loadavg": "0.1 0.1 0.1\n"}
        for name, text in marks.items():
            (self.folder / "root" / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / "root" / name).write_text(text)
        (self.folder / "cuda").write_text(f"gpus={self.gpus}\n" + cuda.replace(" ", "\n") + "\n")
        gpus = listed(*(self.numbers or range(self.gpus))).replace("*.memory=150754820096\n", f"*.memory={MEMORY}\n")
        (self.folder / "nvml").write_text(nvml.replace(" ", "\n") + "\n" + gpus + later)
        given = {"of": ("cpu", "gpu"), "root": str(self.folder / "root"), "cool": 0.2, "warm": 0.02, **more}
        return start(self.plan(seconds, given), **self.env)

    def plan(self, seconds: float, given: Mapping[str, Any]) -> dict[str, Any]:
        made = plan(seconds, **given)
        gpu = [stage for stage in made["stages"] if stage["of"] == "gpu"]
        at = 0.0
        for stage in gpu:  # a round of the memory test takes longest on the fake driver
            stage["from"], at = at, at + seconds * (2.0 if stage["stage"] in {"memory", "together"} else 1.0)
            stage["until"] = at
        return made

    @property
    def env(self) -> dict[str, str]:
        return {
            "LD_LIBRARY_PATH": str(self.built), "FAKE_CUDA_STATE": str(self.folder / "cuda"),
            "FAKE_NVML_STATE": str(self.folder / "nvml"),
        }  # fmt: skip
