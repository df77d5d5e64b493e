"""One GPU under work for `make gpu-check`: the node's files, joined as shipped, and the helpers of the items.

It needs only Python 3.8, and installs nothing.
"""

from __future__ import annotations

import ast
import json
import lzma
import os
import sys
import threading
import time
from pathlib import Path
from types import ModuleType
from typing import Any

from gpu_meter import Meter

ROOT = Path(__file__).resolve().parents[1]

TURNS = 24
"""Turns of each of two alternating measurements; the result is their median."""

PIECE = 0.25
"""Seconds of a turn."""

SEED = 20260101


def node() -> Any:
    """Join the node's files as shipped; returns their one namespace."""
    tree = ast.parse((ROOT / "rackcheck" / "burnin" / "pack.py").read_text(encoding="utf-8"))
    (names,) = (ast.literal_eval(each.value) for each in tree.body if isinstance(each, ast.Assign)
                and getattr(each.targets[0], "id", "") == "SOURCES")  # fmt: skip
    names = [
        *names,
        *(name for name in ("cublas_library", "cublas_forms", "cublas", "cublas_tool") if name not in names),
    ]
    module = ModuleType("node")
    for name in names:
        file = ROOT / "rackcheck" / "burnin" / "node" / f"{name}.py"
        exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), vars(module))  # noqa: S102  our own files
    return module


def blobs() -> dict[str, bytes]:
    """Return the GPU's kernels as shipped."""
    kernels = ROOT / "rackcheck" / "burnin" / "kernels"
    return {name: lzma.decompress((kernels / f"gpu.{name}.xz").read_bytes()) for name in ("ptx", "sm_80", "sm_90")}


def say(**found: Any) -> None:
    """Print results so far."""
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()


def nameless(file: str) -> str:
    """Remove a home directory from a path: it names a user."""
    home = str(Path.home())
    return f"~{file[len(home) :]}" if file.startswith(f"{home}/") else file


class Work:
    """One GPU and its test settings: `gpu`, `scale` (1, less for a trial), `side`, `cublas`, `nvml`, `root`."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given, self.gpu, self.scale = given, int(given["gpu"]), float(given["scale"])
        self.node, self.stop, self.began = node(), threading.Event(), time.monotonic()
        self._warm: Any = None
        self.hang = float(given["hang"])
        # A burn-in repeats what was wrong, hot and cold: that takes long, and no goal needs it.
        self.node.GPU_AGAIN, self.node.GPU_COOL = 0, 0.0
        self.turns = max(3, round(TURNS * min(1.0, self.scale * 10)))

    def clock(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.began

    def driver(self) -> Any:
        """Initialize the driver."""
        os.environ["CUDA_CACHE_DISABLE"] = "1"
        os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
        driver = self.node.CudaDriver("libcuda.so.1", self.clock)
        driver.start()
        return driver

    def bench(self, driver: Any) -> Any:
        """Open the GPU in this process."""
        device, report = driver.whole("cuDeviceGet", self.gpu), self.node.GPU_REPORT
        return self.node.GpuBench(driver, self.gpu, device, blobs(), self.clock, self.stop, report, self.hang)

    def meter(self) -> Meter:
        """Return the GPU's meter; raises NoMeter."""
        return Meter(self.given["pci"], self.gpu)

    def plan(self, *stages: tuple[str, float], **more: Any) -> dict[str, Any]:
        """Plan stages one after the other from now on."""
        at, slots = self.clock() + 0.01, []
        for stage, seconds in stages:
            slots.append({"of": "gpu", "stage": stage, "from": at, "until": at + seconds})
            at += seconds
        value = {"wire": 1, "tier": "smoke", "seed": SEED, "stages": slots, "step": 0.0, "deadline": at + 60.0}
        return {**value, "hang": self.hang, **more}

    def burn(self, *stages: tuple[str, float], only: str = "", **more: Any) -> list[dict[str, Any]]:
        """Run stages as a burn-in does, with one form of the kernels if given; return its records.

        A hang ends this process.
        """
        records: list[dict[str, Any]] = []
        # Waking a GPU may take longer than a short stage: it is kept awake, so that a stage has its full time.
        self._warm = self._warm or self.bench(self.driver())
        plan = self.plan(*stages, **more)

        def emit(kind: str, **fields: Any) -> None:
            records.append({"k": kind, **fields})
            if kind == "error" and fields["name"] in (
                "hang",
                "lost",
                "cuda",
            ):  # the driver may end the process before more output
                say(why=f"{fields['name']}: {fields.get('said', '')}")

        given = {name: blob for name, blob in blobs().items() if not only or name == only}
        self.node.gpu_child(plan, self.gpu, emit, self.clock, self.stop, given)
        return records

    def finish(self, work: Any) -> Any:
        """Run a GPU generator to its end; returns its result."""
        while True:
            try:
                next(work)
            except StopIteration as end:
                return end.value
            time.sleep(0.0002)

    def tensor(self, bench: Any, seconds: float) -> float:
        """Multiply exact tiles for this many seconds; return the rate (FLOP/s), 0 where a tile was wrong."""
        tally = self.node.GpuTally("gpu", "tensor", 0.0)
        writer = self.node.GpuRecordWriter("gpu", lambda *_, **fields: say(**{"errors+": [fields]}))
        bench.work([self.node.gpu_tensor_work(bench, tally, writer, SEED, self.clock() + seconds)])
        bench.tidy()
        done = tally.tests["mma"]
        return 0.0 if done["mismatches"] else done["work"] / done["seconds"]

    def cublas(self, driver: Any) -> Any:
        """Return the library's product of two matrices; raises CublasTrouble."""
        folders = self.given["cublas"]
        copies = self.node.find_cublas(folders)
        say(found=[nameless(file) for _, file in copies])
        if not copies:
            raise self.node.CublasTrouble("tool missing: no libcublasLt was found")
        library = self.node.open_cublas(copies, driver)
        say(library=nameless(library.path), version=library.version)
        return self.node.CublasProduct(driver, library, self.clock, self.stop, self.given["side"])
