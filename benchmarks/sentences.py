"""Draw sentences of the project for a reading with fresh eyes: of the help, messages, documents and docstrings alike.

usage: python benchmarks/sentences.py [SEED] [COUNT]

A quarter comes from each source, so that the many docstrings do not hide the few lines of help. A seed draws places,
such as the third sentence of a file, so a sentence that was marked and reworded is drawn again, and a change of one
file does not change the draw from the others. A sentence has four words or more; examples, tables and code of documents
are left out.
"""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent
CODE = ("rackcheck", "probes", "tui")
END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`(])")


def python() -> Iterator[tuple[str, ast.Module]]:
    """Yield the modules that users run."""
    for folder in CODE:
        for file in sorted((ROOT / folder).rglob("*.py")):
            yield str(file.relative_to(ROOT)), ast.parse(file.read_text("utf-8"))


def docstrings() -> Iterator[tuple[str, str]]:
    """Yield the sentences of docstrings."""
    for name, tree in python():
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                yield from ((name, text) for text in sentences(prose(ast.get_docstring(node) or "")))


def prose(text: str) -> str:
    """Return a docstring without its examples: indented lines, and what follows click's mark for such lines."""
    kept = re.sub(r"\x08\n(?:.+\n?)*", "", text)
    return "\n".join(row for row in kept.splitlines() if not row.startswith("    "))


def messages() -> Iterator[tuple[str, str]]:
    """Yield the texts that are no docstrings, with their fields as `…`, and the texts of profiles."""
    for name, tree in python():
        own = {id(node.body[0].value) for node in ast.walk(tree) if is_documented(node)}
        parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                yield from ((name, text) for text in sentences("".join(map(plain, node.values))))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in own | parts:
                yield from ((name, text) for text in sentences(node.value))
    for file in sorted((ROOT / "profiles").glob("*.yaml")):
        rules = (yaml.safe_load(file.read_text("utf-8")) or {}).get("rules") or {}
        for rule in rules.values():
            for key in ("title", "why", "fix"):
                yield from ((f"profiles/{file.name}", text) for text in sentences(str((rule or {}).get(key) or "")))


def is_documented(node: ast.AST) -> bool:
    """Return whether a node begins with a text of its own."""
    body = getattr(node, "body", None)
    first = body[0] if isinstance(body, list) and body else None
    return isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)


def plain(part: ast.expr) -> str:
    """Return a part of an f-string as its reader sees it."""
    return str(part.value) if isinstance(part, ast.Constant) else "…"


def documents() -> Iterator[tuple[str, str]]:
    """Yield the sentences of the Markdown pages, without code, tables and generated lists."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        text = re.sub(r"```.*?```|<!--.*?-->", "", page.read_text("utf-8"), flags=re.DOTALL)
        lines = "\n".join("" if line.startswith(("|", "#", "    ", "!")) else line for line in text.splitlines())
        for block in re.split(r"\n\s*\n|\n(?=[-*] |\d+\. )", lines):
            yield from ((str(page.relative_to(ROOT)), row) for row in sentences(re.sub(r"^[-*] |^\d+\. ", "", block)))


def helps() -> Iterator[tuple[str, str]]:
    """Yield the sentences of the help of all commands."""
    tool = Path(sys.executable).with_name("rackcheck")
    todo = [()]
    while todo:
        words: tuple[str, ...] = todo.pop()
        done = subprocess.run([tool, *words, "--help"], capture_output=True, text=True, check=True)  # noqa: S603  ours
        head, _, rest = done.stdout.partition("Options:")
        listed = re.findall(r"^  ([a-z][a-z-]*)  +\S", rest.partition("Commands:")[2], re.MULTILINE)
        todo += [(*words, word) for word in listed]
        options = re.findall(r"^  -.*?  +(\S.*(?:\n {10,}\S.*)*)$", rest, re.MULTILINE)
        for block in [*re.split(r"\n\s*\n", head.partition("\n")[2]), *options]:
            if "rackcheck " not in block:
                yield from ((" ".join(("rackcheck", *words, "--help")), text) for text in sentences(block))


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text that have four words or more."""
    for sentence in END.split(" ".join(text.split())):
        if len(re.findall(r"\b[A-Za-z][a-z]+\b", sentence)) >= 4 and " " in sentence.strip():
            yield sentence.strip()


def drawn(seed: str, count: int, found: Iterator[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return `count` of the sentences, without repetition, by the hashes of the seed and the sentences' places."""
    rows: dict[str, tuple[str, str, str]] = {}
    numbers: Counter[str] = Counter()
    for place, text in found:
        numbers[place] += 1
        key = sha256(f"{seed} {place} {numbers[place]}".encode()).hexdigest()
        rows.setdefault(text, (key, place, text))
    return [(place, text) for _, place, text in sorted(rows.values())[:count]]


def main(seed: str = "1", count: str = "400") -> None:
    """Print numbered sentences, each with its place."""
    each = int(count) // 4
    found = [row for source in (helps, messages, documents, docstrings) for row in drawn(seed, each, source())]
    for number, (place, text) in enumerate(found, 1):
        print(f"{number:3}. [{place}] {text}")


if __name__ == "__main__":
    main(*sys.argv[1:])
