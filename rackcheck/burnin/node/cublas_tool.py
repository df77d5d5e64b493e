# ruff: noqa: UP031  for a node: Python 3.6, and one namespace for all files
"""Runs the tool `cublas` of a plan on the node: measures one GPU after the other, each in its own process."""

import json
import os
import select
import signal
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

if TYPE_CHECKING:
    from rackcheck.burnin.node.child import Orders, die_with_parent
    from rackcheck.burnin.node.cublas import cublas_rate
    from rackcheck.burnin.node.cublas_forms import CUBLAS_BF16, CUBLAS_EXACT, CUBLAS_SIDE, CublasForm
    from rackcheck.burnin.node.cublas_library import Cublas, CublasTrouble, find_cublas, open_cublas
    from rackcheck.burnin.node.cuda import CudaDriver, CudaTrouble
    from rackcheck.burnin.node.gpu_parts import GpuDevices, GpuPart, GpuUnable

CUBLAS_SECONDS, CUBLAS_LEAST, CUBLAS_MOST = 4.0, 20.0, 60.0
"""Seconds of bf16 products on each GPU (half of it for each form of integers); seconds that must be left to start them;
seconds after which a GPU counts as hung.

The second and the third value allow for loading a library of half a gigabyte from a slow disk.
"""

CUBLAS_GRACE = 0.3
"""Time, in seconds, that a process has to end after it was asked to stop."""


def run_cublas(
    emit: Callable[..., None], clock: Callable[[], float], stop: Any, until: float,
    parts: Optional[Mapping[int, "GpuPart"]] = None, folders: Optional[Sequence[str]] = None,
    seconds: float = CUBLAS_SECONDS, side: int = 0, library: str = "libcuda.so.1",
) -> None:  # fmt: skip
    """Measure one GPU after the other until `until`, or until `stop` is set; write a `tool` record for each GPU.

    If too little time is left for the next GPU, its record has the reason, and the GPUs after it have no record.
    `parts` has the GPUs that NVML lists, by index, each with the reason if it must not be measured; without `parts`,
    the GPUs that CUDA lists are measured. If `side` is 0, CUBLAS_SIDE is used.
    """
    copies = find_cublas(folders)
    if not copies:
        emit("tool", **_cublas_record("node", why="tool missing: no libcublasLt was found"))
        return
    if parts is not None and not parts:
        emit("tool", **_cublas_record("node", why="no driver: NVML lists no GPU"))
        return
    known, count, indices = parts or {}, 1, sorted(parts or [0])
    while indices:
        index = indices.pop(0)
        began, of = clock(), "gpu/%d" % index
        left, why = until - began, known.get(index, {}).get("refused", "")
        if why:
            emit("tool", **_cublas_record(of, why=why))
            continue
        if stop.is_set() or left < CUBLAS_LEAST:
            why = "stopped" if stop.is_set() else "stopped: only %.0f s were left" % max(left, 0.0)
            emit("tool", **_cublas_record(of, why=why))
            return

        def work(ending: Any, index: int = index) -> Dict[str, Any]:
            return _cublas_gpu(index, known, copies, clock, ending, seconds, side or CUBLAS_SIDE, library)

        values = _cublas_apart(work, clock, stop, until, began + CUBLAS_MOST)
        count = values.pop("gpus", count)
        if parts is None and index + 1 < count:
            indices.append(index + 1)
        # Without a driver, or a copy of the library for the driver, the record is about the whole node.
        values["seconds"], whole = round(clock() - began, 3), values.pop("all", False)
        emit("tool", **_cublas_record("node" if whole else of, **values))
        if whole:
            return


def _cublas_record(of: str, **value: Any) -> Dict[str, Any]:
    record: Dict[str, Any] = {"name": "cublas", "of": of, "argv": [], "version": None, "status": None, "seconds": 0.0,
                              "out": "", "err": ""}  # fmt: skip
    record.update(value)
    return record


def _cublas_gpu(
    index: int, parts: Mapping[int, "GpuPart"], copies: Sequence[Tuple[int, str]], clock: Callable[[], float],
    stop: Any, seconds: float, side: int, library: str,
) -> Dict[str, Any]:  # fmt: skip
    """Measure one GPU in this process; return the fields of its record, and the number of GPUs as `gpus`."""
    os.environ["CUDA_CACHE_DISABLE"] = "1"
    os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
    values: Dict[str, Any] = {}
    try:
        driver = CudaDriver(library, clock)
        values["gpus"] = driver.start()
        device = GpuDevices(driver, values["gpus"], parts).device(index)
        cublas = open_cublas(copies, driver)
        values["argv"], values["version"] = [cublas.path], cublas.version
        driver.call("cuCtxSetCurrent", driver.handle("cuDevicePrimaryCtxRetain", device))
        done: List[Dict[str, Any]] = []
        for form in (CUBLAS_BF16, *CUBLAS_EXACT):
            share = 0.5 if form.exact else 1.0
            done.append(_cublas_form(form, driver, cublas, clock, stop, seconds * share, side))
            if done[-1].get("why", "").startswith("hang"):  # every further call would hang, too
                break
        else:
            driver.call("cuDevicePrimaryCtxRelease_v2", device)
        if all("why" in each for each in done):
            return dict(values, why=done[0]["why"])
        found = dict(done[0], more=done[1:])
    except GpuUnable as unable:
        return dict(values, why=str(unable))
    except CudaTrouble as trouble:
        return dict(values, why=trouble.why(), all="gpus" not in values)
    except CublasTrouble as trouble:
        return dict(values, why=str(trouble), all="argv" not in values, gpus=values["gpus"] if "argv" in values else 0)
    return dict(values, status=0, out=json.dumps(found))


def _cublas_form(
    form: "CublasForm", driver: "CudaDriver", cublas: "Cublas", clock: Callable[[], float], stop: Any, seconds: float,
    side: int,
) -> Dict[str, Any]:  # fmt: skip
    """Measure one form of products; return their fields, or `why` there are none. What others found is kept."""
    try:
        return cublas_rate(driver, cublas, clock, stop, seconds, side, form)
    except CudaTrouble as trouble:
        return {"type": form.name, "data": form.data, "why": trouble.why()}
    except CublasTrouble as trouble:
        if str(trouble).startswith("stopped"):
            raise
        return {"type": form.name, "data": form.data, "why": str(trouble)}


def _cublas_apart(
    work: Callable[[Any], Dict[str, Any]], clock: Callable[[], float], stop: Any, until: float, most: float
) -> Dict[str, Any]:
    """Run `work` in a child process that is killed if its parent ends; return its result, or `why` it has none.

    It is stopped at `until`; if it has not ended by `most`, it hangs.
    """
    read, write = os.pipe()
    listen, control = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            die_with_parent()
            os.close(control)
            ending = threading.Event()
            threading.Thread(target=Orders(ending).listen, args=(listen,), daemon=True).start()
            os.write(write, json.dumps(work(ending)).encode("ascii"))
        finally:
            os._exit(0)
    os.close(write)
    os.close(listen)
    data, why = b"", ""
    while not why:
        now = clock()
        if stop.is_set() or now >= min(until, most):
            hangs = "hang: it did not end within its time limit"
            why = "stopped" if stop.is_set() else hangs if now >= most else "stopped: no time was left"
        elif select.select([read], [], [], 0.05)[0]:
            more = os.read(read, 65536)
            data += more
            if not more:
                break
    os.close(control)
    os.close(read)
    status = _cublas_buried(pid)
    if why:
        return {"why": why}
    try:
        value = json.loads(data.decode("ascii"))
    except ValueError:
        return {"why": "lost: its process ended with wait status %d" % status}
    return dict(value)


def _cublas_buried(pid: int) -> int:
    """Wait for a process that was asked to stop, and kill it after a grace period; return its wait status."""
    limit = time.monotonic() + CUBLAS_GRACE
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return status
        if time.monotonic() > limit:
            os.kill(pid, signal.SIGKILL)
            limit = float("inf")
        time.sleep(0.01)
