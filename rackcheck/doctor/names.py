"""Looks up host names once, before any connection: a hanging resolver must not delay doctor's end."""

import socket
import threading
from collections.abc import Iterable, Mapping

from rackcheck.doctor.worker_pool import work

SECONDS = 4.0
"""Time limit for one name, in seconds."""

THREADS = 128
"""Maximum number of names looked up in parallel; it may be high, since each thread only waits for the resolver."""


def look_up(names: Iterable[str], stop: threading.Event) -> Mapping[str, str]:
    """Look up names; return a mapping from each name without an address to the resolver's message."""
    found = work(dict.fromkeys(names), _trouble, threads=THREADS, seconds=SECONDS, stop=stop)
    late = f"no reply from the resolver within {SECONDS:g} s"
    values = {name: late if trouble is None else str(trouble) for name, trouble in found}
    return {name: trouble for name, trouble in values.items() if trouble}


def _trouble(name: str) -> str:
    try:
        socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        return error.strerror or str(error)
    except (OSError, UnicodeError, ValueError) as error:
        return f"no name: {type(error).__name__}"
    return ""
