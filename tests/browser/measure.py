"""How long the report of 1,000 nodes by 180 rules takes in Chromium: loading, and from an input to the repaint."""

import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from chromium import Chromium
from dossiers import sample

from rackcheck.report.html import page

ROUNDS = 15
INPUT = """new Promise(done => {
  const box = document.getElementById('f-text'), began = performance.now();
  box.value = %r; box.dispatchEvent(new Event('input'));
  requestAnimationFrame(() => { const channel = new MessageChannel();
    channel.port1.onmessage = () => done(performance.now() - began); channel.port2.postMessage(0); });
})"""


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as place, Chromium() as browser:
        for hostile in (False, True):
            path = Path(place) / "report.html"
            path.write_text(page(sample(1000, 180, hostile=hostile), "ab" * 32), encoding="utf-8")
            browser.open(path)
            took = [browser.value(INPUT % text) for text in ("dgx", "dgx0", "dgx[0100-0299]") for _ in range(ROUNDS)]
            timing = "performance.getEntriesByType('navigation')[0].loadEventEnd"
            print(
                f"{'hostile' if hostile else 'plain':<8} {path.stat().st_size:,} bytes; loaded in {browser.value(timing):.0f} ms; "
                f"input to repaint: median {statistics.median(took):.0f} ms, worst {max(took):.0f} ms of {len(took)}"
            )


if __name__ == "__main__":
    main()
