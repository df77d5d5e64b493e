# ruff: noqa: UP031  this runs on the node, where Python may be 3.6
"""Runs kernels on many CPUs of the node at once: one native thread per CPU, started and joined by one Python thread.

A native thread pins itself to its CPU and calls the kernels in a loop (`work` in kernels/cpu.c) until its time limit or
a stop. The interpreter prepares one task per CPU and reads its result, so its work for one CPU does not grow with the
duration of a stage. With a Python thread per CPU, the interpreter's lock would be requested tens of thousands of times
a second by hundreds of CPUs, and the CPUs would wait for it instead of being under load.
"""

import ctypes
import os
import time
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Tuple

if TYPE_CHECKING:
    from rackcheck.burnin.node.cpu import Cpu, CpuTimes, cpu_sum
    from rackcheck.burnin.node.cpu_kernels import CpuResult, CpuWrong

CPU_KINDS = ("fingerprint", "fma", "fill", "verify", "lay", "triad", "laid", "ring", "free", "amx")
"""The loops of `work`, in the order of its enumeration."""
CPU_FIELDS = (
    "kind", "cpu", "pin", "seed", "until", "at", "bytes", "flip", "turn", "harm", "stop", "running",
    "fma", "fill", "verify", "triad", "aes", "crc", "before", "list", "room", "wrong", "most",
    "sum", "count", "done", "first", "status", "ran", "ended", "plain", "sent", "full",
)  # fmt: skip
"""The fields of `struct task` in kernels/cpu.c."""
CPU_WRONG = 64
"""Maximum number of wrong results that a task lists; further ones are only counted."""
CPU_WAITS = 0.001, 0.05
"""Shortest and longest time, in seconds, between two checks whether the tasks have ended."""


class CpuTask(ctypes.Structure):
    """One task of one CPU: `struct task` of kernels/cpu.c. Times are in ns, `until` is of CLOCK_MONOTONIC."""

    _fields_ = [(name, CpuResult if name == "sum" else ctypes.c_uint64) for name in CPU_FIELDS]
    kept: Tuple[Any, Any]

    def values(self) -> List[int]:
        """Return the listed values: hashes, or the processor time of each measurement of the clock."""
        return list(self.kept[0][: min(self.count, self.room)])

    def found(self, count: int) -> List[Tuple[int, int, int]]:
        """Return the listed wrong results, at most `count`, as (address, want, got)."""
        return [(one.address, one.want, one.got) for one in self.kept[1][: min(count, self.most)]]


def cpu_tasks(
    burn: "Cpu", stage: str, kind: str, until: float, given: Mapping[int, Mapping[str, int]], each: float = 0.0
) -> Dict[int, CpuTask]:
    """Run one task on each CPU of `given` until all have ended; return the tasks by CPU.

    `given` has the values of the task's fields. `each` is the shortest time, in seconds, of one turn of the loop; if it
    is not zero, the task lists a value for each turn. A CPU whose thread could not be started, or pinned to the CPU, is
    reported as not tested, and omitted.
    """
    stop, running = ctypes.c_uint64(int(burn.halted())), ctypes.c_uint64(len(given))
    shared = {"stop": ctypes.addressof(stop), "running": ctypes.addressof(running), "kind": CPU_KINDS.index(kind)}
    shared["until"] = max(0, int((time.monotonic() + until - burn.clock()) * 1e9))
    shared.update((name, burn.kernels.address(name)) for name in ("fma", "fill", "verify", "triad", "aes", "crc"))
    room = int((until - burn.clock()) / each) + 2 if each and until > burn.clock() else 1
    tasks: Dict[int, CpuTask] = {}
    for cpu in sorted(given):
        task = tasks[cpu] = CpuTask(cpu=cpu, pin=burn.pins.get(cpu, cpu), room=room, most=CPU_WRONG, **shared)
        task.kept = (ctypes.c_uint64 * room)(), (CpuWrong * CPU_WRONG)()
        task.list, task.wrong = (ctypes.addressof(one) for one in task.kept)
        for name, value in given[cpu].items():
            setattr(task, name, value)
    if kind == "ring":
        order = list(tasks)
        for cpu, other in zip(order, order[-1:] + order[:-1]):  # noqa: B905
            tasks[cpu].before = ctypes.addressof(tasks[other])
    _cpu_run(burn, tasks, stop, running)
    lost = [cpu for cpu, task in tasks.items() if task.status or task.ran != task.pin]
    broken = kind == "ring" and any(tasks[cpu].status for cpu in lost)
    for cpu in lost:
        task = tasks.pop(cpu)
        why = os.strerror(task.status) if task.status else "the work ran on CPU %d" % task.ran
        burn.undone("cpu/%d" % cpu, stage, "lost: %s" % why)
    if broken and tasks:
        return cpu_tasks(burn, stage, kind, until, {cpu: given[cpu] for cpu in tasks}, each)
    return tasks


def _cpu_run(burn: "Cpu", tasks: Mapping[int, CpuTask], stop: Any, running: Any) -> None:
    """Start a native thread for each task, and wait for all; a task that cannot be started has an errno as status.

    In a ring, a CPU without a thread would stop all others, since each waits for the one before it: the ring ends.
    """
    libc, entry = ctypes.CDLL(None), ctypes.c_void_p(burn.kernels.address("work"))
    threads, lost, pause = [], 0, CPU_WAITS[0]
    for task in tasks.values():
        thread = ctypes.c_ulong()
        failed = libc.pthread_create(ctypes.byref(thread), None, entry, ctypes.byref(task))
        if failed:  # else the thread writes its own status, perhaps before pthread_create returns
            task.status = failed
            lost += 1
        else:
            threads.append(thread)
    ring = [task for task in tasks.values() if task.before]
    while running.value > lost:
        stop.value = int(burn.halted() or any(task.status for task in ring))
        time.sleep(pause)
        pause = min(2 * pause, CPU_WAITS[1])
    for thread in threads:
        libc.pthread_join(thread, None)


def cpu_task_times(burn: "Cpu", task: CpuTask, begun: float) -> "CpuTimes":
    """Return the sums of a task that began at `begun`, for the record of its stage."""
    times = dict(burn.times(), rounds=task.turn if task.kind == CPU_KINDS.index("ring") else task.count)
    times["from"] = begun
    cpu_sum(times, task.sum)
    return times
