"""Names looked up once, before anyone is asked: a resolver that hangs must not hold up the end."""

import socket
import threading
from collections.abc import Iterable, Mapping

from rackcheck.doctor.worker_pool import work

SECONDS = 4.0
"""How long one name may take."""

THREADS = 128
"""Names looked up at the same time: they wait, and cost nothing."""


def look_up(names: Iterable[str], stop: threading.Event) -> Mapping[str, str]:
    """Look up names; gives for each that has no address what was said about it. A name that has one is left out."""
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
