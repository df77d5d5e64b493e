"""Headless Chromium by its debugging pipe: pages, expressions, and all requests and complaints of a page."""

import base64
import fcntl
import json
import os
import select
import shutil
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from waiting import PATIENCE

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--disable-dev-shm-usage",
)  # fmt: skip


class Chromium:
    """One browser with one page; commands go to its file 3, answers come from its file 4, each ended by a zero byte."""

    def __init__(self) -> None:
        assert PROGRAM is not None
        self._profile = tempfile.mkdtemp(prefix="chromium-")
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        # Not the numbers 3 and 4, to which the child moves them.
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in (theirs_in, theirs_out)]
        null = os.open(os.devnull, os.O_RDWR)
        actions = [(os.POSIX_SPAWN_DUP2, fd, to) for fd, to in ((null, 1), (null, 2), (high[0], 3), (high[1], 4))]
        argv = [PROGRAM, *FLAGS, f"--user-data-dir={self._profile}", "about:blank"]
        self._pid = os.posix_spawn(PROGRAM, argv, {**os.environ, "HOME": self._profile}, file_actions=actions)
        for fd in (theirs_in, theirs_out, *high, null):
            os.close(fd)
        self._in, self._out, self._rest, self._count, self._session = ours_in, ours_out, b"", 0, ""
        self.events: list[dict[str, Any]] = []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._out)  # it ends when its pipe closes
        os.waitpid(self._pid, 0)
        os.close(self._in)
        shutil.rmtree(self._profile, ignore_errors=True)

    def call(self, method: str, **params: object) -> dict[str, Any]:
        """Send one command and return its result; other messages received meanwhile are kept in `events`."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data) :]
        while True:
            answer = self._read()
            if answer.get("id") == self._count:
                assert "error" not in answer, f"{method}: {answer}"
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def _read(self) -> dict[str, Any]:
        until = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            assert select.select([self._in], [], [], max(until - time.monotonic(), 0))[0], "Chromium does not answer"
            piece = os.read(self._in, 1 << 20)
            assert piece, "Chromium ended"
            self._rest += piece
        message, _, self._rest = self._rest.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer

    def open(
        self, path: Path, *, dark: bool = False, script: bool = True, width: int = 1280, height: int = 900, at: str = ""
    ) -> None:
        """Load a file and wait until it is loaded; events start empty."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        for url in ("about:blank", path.as_uri() + at):
            self.events.clear()
            self.call("Page.navigate", url=url)
            while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
                self.events.append(self._read())

    def value(self, expression: str) -> Any:
        """Evaluate an expression in the page and return its value; waits for a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def requests(self) -> list[str]:
        """Return every address that was requested since the page was opened."""
        sent = [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [url for url in sent if not url.startswith("data:")]

    def complaints(self) -> list[str]:
        """Return what the console shows: errors, warnings, violated policies, uncaught exceptions."""
        kinds = {"Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled"}
        return [json.dumps(event["params"]) for event in self.events if event.get("method") in kinds]

    def picture(self, path: Path, *, x: int = 0, y: int = 0, width: int = 1280, height: int = 900) -> None:
        """Write a part of the page as PNG."""
        clip = {"x": x, "y": y, "width": width, "height": height, "scale": 1}
        shot = self.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def paper(self, path: Path) -> None:
        """Print the page to a PDF file, with its own style sheet."""
        made = self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
        path.write_bytes(base64.b64decode(made["data"]))
