"""Runs shards on the workers of a Dask cluster (`pip install rackcheck[dask]`); files travel with the tasks.

A shard with a reach runs on a worker with this resource (`dask worker --resources "rack-a=1"`). Credentials are those
of the worker's machine. Seen with distributed 2026.8.
"""

import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from rackcheck import __version__
from rackcheck.base.user_error import UserError
from rackcheck.model.fact import clean
from rackcheck.model.fold import fold
from rackcheck.shard.engines.contract import Carried, Load

PATIENCE = 20.0
"""Seconds to connect to the scheduler."""

NO_CERTIFICATES = (
    "dask+tls:// needs certificates in Dask's configuration: DASK_DISTRIBUTED__COMM__TLS__CA_FILE, "
    "DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT and DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY"
)
"""The settings without which there is no connection over TLS, as variables of the environment."""

PORT = 8786
"""The port of a scheduler if the address has none."""

POLL = 0.5
"""Seconds between two looks at an interrupt."""


class DaskEngine:
    """Submits a task for each shard; a shard whose worker has died is submitted again."""

    def __init__(self, address: str) -> None:
        self.address = address

    def carry(self, loads: Sequence[Load], stop: threading.Event) -> Iterator[Carried]:
        """Run all shards; see `Engine`."""
        self._check_address()
        try:
            distributed: Any = import_module("distributed")  # an extra
        except ImportError:
            raise UserError("dask: distributed is not installed: pip install 'rackcheck[dask]'") from None
        if self.address.startswith("tls:"):
            _check_certificates(self.address, distributed)
        try:
            client = distributed.Client(self.address, timeout=PATIENCE, set_as_default=False)
        except (OSError, distributed.TimeoutError) as error:
            raise UserError(f"dask: no scheduler at {self.address}: {clean(str(error), 200)}") from None
        with client:
            _check_cluster(client, loads)
            attempts = dict.fromkeys((load.number for load in loads), 1)
            tasks = {_submitted(client, load, 1): load for load in loads}
            waiting = distributed.as_completed(tasks, loop=client.loop)
            while tasks and not stop.is_set():
                for future in _next(waiting, stop):
                    load = tasks.pop(future)
                    why, last = _taken(future, load)
                    future.release()  # else, its result is made again if the worker dies later
                    last = last or attempts[load.number] >= load.attempts
                    if why and not last:
                        attempts[load.number] += 1
                        again = _submitted(client, load, attempts[load.number])
                        tasks[again] = load
                        waiting.add(again)
                    yield Carried(load, why, last)
            client.cancel(list(tasks))

    def _check_address(self) -> None:
        """Raise UserError for a plain connection to another machine: tasks are programs, and results are evidence."""
        host = urlsplit(self.address).hostname or ""
        try:
            here = ipaddress.ip_address(host).is_loopback
        except ValueError:
            here = host == "localhost"
        if not self.address.startswith("tls:") and not here:
            raise UserError(
                f"dask: {self.address} is not encrypted; use dask+tls://, with certificates in Dask's configuration"
            )


def _check_certificates(address: str, distributed: Any) -> None:
    """Raise UserError unless the scheduler and this machine accept each other's certificates.

    Dask's own client would try for long, and not say that it is the certificates.
    """
    try:
        context = distributed.Security().get_connection_args("client")["ssl_context"]
        if context is None:
            raise UserError(f"dask: {NO_CERTIFICATES}")
    except OSError as error:
        raise UserError(f"dask: the certificates of Dask's configuration cannot be read: {clean(str(error))}") from None
    place = urlsplit(address)
    host = place.hostname or ""
    try:
        with (
            socket.create_connection((host, place.port or PORT), PATIENCE) as plain,
            context.wrap_socket(plain, server_hostname=host) as line,
        ):
            line.recv(1)  # a certificate of ours that is refused is refused after the handshake
    except ssl.SSLError as error:
        if error.reason == "WRONG_VERSION_NUMBER":
            raise UserError(f"dask: the scheduler at {address} does not use TLS") from None
        why = clean(getattr(error, "verify_message", "") or error.reason or str(error))
        raise UserError(f"dask: {address} and this machine do not accept each other's certificates: {why}") from None
    except (OSError, ValueError) as error:
        raise UserError(f"dask: no scheduler at {address}: {clean(str(error), 200)}") from None


def _next(waiting: Any, stop: threading.Event) -> list[Any]:
    """Return the futures that have ended; wait for one if there is none yet."""
    if waiting.has_ready():
        return list(waiting.next_batch(block=False))
    stop.wait(POLL)
    return []


def _check_cluster(client: Any, loads: Sequence[Load]) -> None:
    """Raise UserError if no worker has a reach, or if tasks could move to a worker with another one."""
    places = client.scheduler_info(n_workers=-1)["workers"]
    workers = places.values()
    encrypted = str(client.scheduler.address).startswith("tls:")
    if not workers:
        hint = "with TLS, a worker cannot join unless the same authority signed its certificate"
        raise UserError(f"dask: the scheduler has no worker{f': {hint} (see its log)' if encrypted else ''}")
    open_ones = sorted(place for place in places if not place.startswith("tls:")) if encrypted else []
    if open_ones:
        raise UserError(f"dask: results of the worker {open_ones[0]} are not encrypted: start it with a tls:// address")
    resources = {name for worker in workers for name in worker.get("resources", {})}
    unknown = {load.reach for load in loads if load.reach} - resources
    if unknown:
        has = fold(sorted(resources)) or "none"
        raise UserError(
            f"dask: no worker has the resource {fold(sorted(unknown))}; the resources are {has} (--by COUNT needs none)"
        )
    if client.run_on_scheduler(_steals):
        raise UserError(
            "dask: work stealing is on, which ignores resources: start the scheduler with "
            "DASK_DISTRIBUTED__SCHEDULER__WORK_STEALING=False"
        )


def _steals(dask_scheduler: Any) -> bool:
    return "stealing" in dask_scheduler.extensions


def _submitted(client: Any, load: Load, attempt: int) -> Any:
    key = f"rackcheck-{load.file.parent.parent}-{load.number}-{attempt}"
    return client.submit(
        run, load.file.read_text(encoding="utf-8"), __version__, key if load.once else "", key=key,
        resources={load.reach: 1} if load.reach else None, pure=False, retries=0,
    )  # fmt: skip


def run(shard: str, version: str, once: str = "") -> tuple[str, bytes]:
    """Run a shard on a worker; return why it failed, and its result.

    The scheduler runs the task of a worker that has died again. With `once`, a key, this does nothing.
    """
    import subprocess  # noqa: PLC0415  this function runs on another machine
    import tempfile  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415

    from rackcheck import __version__ as own  # noqa: PLC0415
    from rackcheck.shard.engines.contract import Load  # noqa: PLC0415
    from rackcheck.shard.engines.local import words  # noqa: PLC0415

    if own != version:
        return f"the worker has rackcheck {own}, and the plan was made by {version}", b""
    if once and _was_begun(once):
        return "the worker was lost; a burn-in that was begun is not run again", b""
    with tempfile.TemporaryDirectory(prefix="rackcheck-") as name:
        load = Load(0, Path(name) / "shard.json", Path(name) / "result", "")
        load.file.write_text(shard, encoding="utf-8")
        done = subprocess.run(words(load), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            lines = done.stderr.strip().splitlines()
            return f"exit status {done.returncode}: {lines[-1] if lines else ''}", b""
        return "", load.result.read_bytes()


def _was_begun(key: str) -> bool:
    """Whether a task with this key was begun before; it is begun now. The scheduler keeps the keys."""
    distributed: Any = import_module("distributed")

    def begin(dask_scheduler: Any) -> bool:
        begun: set[str] = dask_scheduler.extensions.setdefault("rackcheck-begun", set())
        before = key in begun
        begun.add(key)
        return before

    return bool(distributed.get_client().run_on_scheduler(begin))


def _taken(future: Any, load: Load) -> tuple[str, bool]:
    """Write the result of a task; return why there is none, and whether another attempt would end in the same way."""
    if future.status != "finished":
        error = future.exception() if future.status == "error" else None
        return f"the task was lost: {clean(str(error or future.status), 200)}", False
    why, data = future.result()
    if why:
        return clean(why, 300), True
    part = load.result.with_name(f"{load.result.name}.part")
    part.write_bytes(data)
    part.replace(load.result)
    return "", True
