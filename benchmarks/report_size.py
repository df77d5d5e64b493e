"""Size of the documents of 8 and of 1,000 nodes, and the cost of making them: bytes, pages, seconds, memory.

Each rendering is made in a separate process, so that its peak of memory is its own. The texts of the rules are as
long as those of a real profile, and each node has as many parts as a real machine. `report_size.py NODES hostile|plain
html|pdf FILE` makes one and stores it.
"""

import resource
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "tests" / "support")]

from dossiers import HOSTILE, sample  # noqa: E402  found by the path above

from rackcheck.report.report_model import Dossier, Hardware  # noqa: E402

RULES = 180
PARTS = 40
WORDS = (
    "Every collective waits for its slowest member, so one link at half its rate halves the job on all of the nodes "
    "that take part in it, in each step."
)
DIGEST = "ab" * 32


def document(nodes: int, *, hostile: bool) -> Dossier:
    """Return a document of a size."""
    made = sample(nodes, RULES, hostile=hostile)
    parts = tuple(
        Hardware(
            node.name, f"nic/mlx5_{p}", "nic", "MT4129", "MCX75310AAS-NEAT",
            HOSTILE[(n + p) % len(HOSTILE)] if hostile else f"MT{n:05}{p:04}", {"guid": f"a088:c203:{n:04}:{p:04}"},
        )
        for n, node in enumerate(made.nodes) for p in range(PARTS)
    )  # fmt: skip
    return replace(made, parts=parts, gates=tuple(replace(gate, why=WORDS, fix=WORDS) for gate in made.gates))


def make(nodes: int, form: str, file: Path, *, hostile: bool) -> None:
    """Write one document, and print its cost."""
    dossier = document(nodes, hostile=hostile)
    began = time.monotonic()
    if form == "html":
        from rackcheck.report.html import page  # noqa: PLC0415  the memory is measured

        data, pages = page(dossier, DIGEST).encode(), ""
        took = time.monotonic() - began
    else:
        from rackcheck.report import pdf  # noqa: PLC0415

        data = pdf.document(dossier, DIGEST).data
        took = time.monotonic() - began
        import pypdfium2  # noqa: PLC0415

        with pypdfium2.PdfDocument(data) as read:
            pages = f"{len(read)} pages"
    file.write_bytes(data)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    value = "hostile" if hostile else "plain"
    print(f"{nodes:>5} nodes {value:<8} {form:<5} {len(data):>10,} bytes {pages:>10} {took:>6.1f} s {peak:>6.0f} MiB")


def main() -> None:
    """Measure every size, plain and hostile, in both forms."""
    match sys.argv[1:]:
        case [nodes, kind, form, file]:
            make(int(nodes), form, Path(file), hostile=kind == "hostile")
        case _:
            with TemporaryDirectory() as place:
                for nodes in ("8", "1000"):
                    for value in ("plain", "hostile"):
                        for form in ("html", "pdf"):
                            command = [sys.executable, __file__, nodes, value, form, f"{place}/made"]
                            subprocess.run(command, check=True)  # noqa: S603  ourselves


if __name__ == "__main__":
    main()
