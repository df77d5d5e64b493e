"""A Dask cluster on loopback: a scheduler without work stealing, and workers with one resource each."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from waiting import until


@contextmanager
def cluster(
    folder: Path,
    resources: Sequence[str],
    *,
    stealing: bool = False,
    settings: Mapping[str, str] | None = None,
    others: Sequence[tuple[Mapping[str, str], Sequence[str]]] = (),
) -> Iterator[tuple[str, list["subprocess.Popen[bytes]"]]]:
    """Run a cluster until the block ends; yield the address of the scheduler, and the processes of the workers.

    `settings` are variables of the environment, with which TLS is used. `others` are more workers, each with variables
    and words of its own; they are the last processes, and are not waited for.
    """
    folder.mkdir(parents=True, exist_ok=True)
    env = {
        **os.environ, "DASK_DISTRIBUTED__SCHEDULER__WORK_STEALING": str(stealing),
        "DASK_DISTRIBUTED__WORKER__DAEMON": "False", **(settings or {}),
    }  # fmt: skip
    file, started = folder / "scheduler.json", list["subprocess.Popen[bytes]"]()

    def start(module: str, *words: str, more: Mapping[str, str] = MappingProxyType({})) -> "subprocess.Popen[bytes]":
        with (folder / f"{len(started)}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{module}", "--scheduler-file", str(file), *words],
                env={**env, **more}, stdout=log, stderr=log,
            )  # fmt: skip
        started.append(process)
        return process

    try:
        secure = ["--protocol", "tls"] if settings else []
        start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show", *secure)
        workers = [
            start(
                "dask_worker", "--no-nanny", "--no-dashboard", "--nthreads", "1", "--name", f"w{number}",
                "--resources", f"{resource}=1", "--local-directory", str(folder), "--host", "127.0.0.1",
            )
            for number, resource in enumerate(resources)
        ]  # fmt: skip
        until(lambda: file.exists() and bool(file.read_text()), "the scheduler does not start")
        workers += [
            start("dask_worker", "--no-nanny", "--no-dashboard", "--local-directory", str(folder), *words, more=more)
            for more, words in others
        ]
        address = json.loads(file.read_text())["address"]

        def all_there() -> bool:
            return sum(b"Registered to" in log.read_bytes() for log in folder.glob("*.log")) >= len(resources)

        until(all_there, "the workers are not registered")
        yield address, workers
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()
