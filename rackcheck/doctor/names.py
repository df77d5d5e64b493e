"""Looks host names up once, before the visits: a resolver that hangs must not delay the end."""

import socket
import threading
from collections.abc import Iterable, Mapping

from rackcheck.doctor.worker_pool import work

SECONDS = 4.0
"""Seconds within which one name must resolve."""

THREADS = 128
"""Names looked up at once: the threads only wait."""


def look_up(names: Iterable[str], stop: threading.Event) -> Mapping[str, str]:
    """Look up names; returns the resolver's message for each that has no address. Names that resolve are left out."""
    found = work(dict.fromkeys(names), _trouble, threads=THREADS, seconds=SECONDS, stop=stop)
    late = f"no answer about it within {SECONDS:g} s"
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
