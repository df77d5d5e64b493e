"""A real yaml-language-server on its standard streams: completions, hover texts and warnings for a file."""

import json
import shutil
import subprocess
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from places import TESTS

NODE = shutil.which("node")

PROGRAM = TESTS / "editor" / "node_modules" / "yaml-language-server" / "bin" / "yaml-language-server"
HERE = "‸"
"""Marks in a text for the position of the cursor or pointer."""


class Server:
    """One server with any number of files, each checked against one schema."""

    def __init__(self, schema: Path) -> None:
        assert NODE is not None
        self._child = subprocess.Popen([NODE, str(PROGRAM), "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._count = 0
        self._schema = schema
        self._warned: dict[str, list[str]] = {}
        can = {"workspace": {"configuration": True}, "textDocument": {"completion": {}, "hover": {}}}
        self._ask("initialize", processId=None, rootUri=None, capabilities=can)
        self._send({"method": "initialized", "params": {}})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.kill()
        self._child.communicate()

    def offered(self, text: str) -> dict[str, str]:
        """Complete at the mark: each label with its documentation."""
        found = self._at("textDocument/completion", text)
        return {item["label"]: item.get("documentation") or "" for item in found["items"]}

    def typed(self, text: str) -> dict[str, str]:
        """Complete at the mark: each label with the text that it inserts."""
        found = self._at("textDocument/completion", text)
        return {item["label"]: item["textEdit"]["newText"] for item in found["items"]}

    def hover(self, text: str) -> str:
        """Hover at the mark: the text shown; empty where there is none."""
        found = self._at("textDocument/hover", text)
        return str(found["contents"]["value"]) if found else ""

    def warned(self, text: str) -> list[str]:
        """Open a file, and return its warnings."""
        uri = self._open(text)
        while uri not in self._warned:
            self._heed(self._read())
        return self._warned[uri]

    def _at(self, method: str, text: str) -> Any:
        before, after = text.split(HERE)
        uri = self._open(before + after)
        line = before.count("\n")
        at = {"line": line + 1, "character": len(before) - before.rfind("\n") - 1}
        return self._ask(method, textDocument={"uri": uri}, position=at)

    def _open(self, text: str) -> str:
        self._count += 1
        uri = f"file:///{self._count}.yaml"
        output = f"# yaml-language-server: $schema={self._schema.as_uri()}"
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": f"{output}\n{text}"}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        return uri

    def _ask(self, method: str, **params: object) -> Any:
        self._count += 1
        number = self._count
        self._send({"id": number, "method": method, "params": params})
        while True:
            values = self._read()
            if values.get("id") == number and "method" not in values:
                assert "error" not in values, values
                return values["result"]
            self._heed(values)

    def _heed(self, values: dict[str, Any]) -> None:
        if values.get("method") == "textDocument/publishDiagnostics":
            warned = [one["message"] for one in values["params"]["diagnostics"]]
            self._warned[values["params"]["uri"]] = warned
        elif "method" in values and "id" in values:  # it requests its settings: the schema store would be fetched
            wanted = values["params"].get("items", [])
            off = {"schemaStore": {"enable": False}, "validate": True, "completion": True, "hover": True}
            settings = [off if item.get("section") == "yaml" else None for item in wanted]
            self._send({"id": values["id"], "result": settings})

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0"} | message).encode()
        self._in.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._in.flush()

    def _read(self) -> dict[str, Any]:
        size = 0
        while line := self._out.readline().strip():
            name, _, value = line.partition(b":")
            size = int(value) if name.lower() == b"content-length" else size
        assert size, "the server has ended"
        found: dict[str, Any] = json.loads(self._out.read(size))
        return found

    @property
    def _in(self) -> IO[bytes]:
        assert self._child.stdin is not None
        return self._child.stdin

    @property
    def _out(self) -> IO[bytes]:
        assert self._child.stdout is not None
        return self._child.stdout
