"""Compare the CPU burn's rates with this machine's capacity: gcc's STREAM triad, and the clock times the units.

    python benchmarks/cpu_burn.py [--rounds 10] [--json FILE]

The peer is a triad by STREAM's rules, compiled here by gcc -O3 -march=native -fopenmp: arrays of four times the last
caches each, and every result is read afterwards, so that the compiler cannot remove the work. It runs twice: with gcc's
own stores, and with stores that bypass the caches, as ours do. It has huge pages, as ours have. Our kernels and the
peers alternate, and each figure is the median of all rounds: once by wall time on all cores together, once per
core-second on one core, which is less affected by other processes. The same kernels compiled by gcc are compared with
the shipped ones. A round by wall time in which other work used a core is dropped; if fewer than half of the rounds are
left, the figures by wall time are not valid, and the exit status is 3.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from joined import CPU, joined  # noqa: E402  the path to it is made above

cpu = joined(*CPU)
KERNELS = ROOT / "rackcheck" / "burnin" / "kernels"

PEER = r"""
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#ifdef STREAMED
#include <immintrin.h>
#endif
static double spent(void)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return at.tv_sec + at.tv_nsec * 1e-9;
}
static int rising(const void *x, const void *y) { double d = *(double *)x - *(double *)y; return (d > 0) - (d < 0); }
int main(int count, char **words)
{
    size_t n = strtoull(words[1], 0, 10);
    int times = atoi(words[2]);
    double *v[3], rate[1000], s = 3.0;
    for (int i = 0; i < 3; i++) {
        v[i] = aligned_alloc(1 << 21, n * 8);
        madvise(v[i], n * 8, MADV_HUGEPAGE);
    }
    double *a = v[0], *b = v[1], *c = v[2];
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++) a[i] = -1, b[i] = i & 1023, c[i] = i & 511;
    for (int t = 0; t < times; t++) {
        int alone = omp_get_max_threads() == 1;  /* then by the processor's time */
        double begun = alone ? spent() : omp_get_wtime();
#ifdef STREAMED
#pragma omp parallel for schedule(static)
        for (size_t i = 0; i < n; i += 4)
            _mm256_stream_pd(a + i, _mm256_fmadd_pd(_mm256_set1_pd(s), _mm256_load_pd(c + i), _mm256_load_pd(b + i)));
#else
#pragma omp parallel for schedule(static)
        for (size_t i = 0; i < n; i++) a[i] = b[i] + s * c[i];
#endif
        rate[t] = 24.0 * n / ((alone ? spent() : omp_get_wtime()) - begun);
    }
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) wrong += a[i] != (double)(i & 1023) + s * (double)(i & 511);
    qsort(rate, times, sizeof *rate, rising);
    printf("%zu %.0f %.0f %d\n", wrong, rate[times - 1], rate[times / 2], omp_get_max_threads());
    return count < 3;
}
"""


def gcc(*words: str) -> None:
    """Compile."""
    subprocess.run(["gcc", *words], check=True)  # noqa: S603, S607  the user's own compiler, our words


def burn(library: bytes, stage: str, seconds: float, cpus: list[int] | None = None) -> list[dict[str, Any]]:
    """Run one stage of the burn, on all CPUs or on the listed CPUs; return its records."""
    records: list[dict[str, Any]] = []
    began = time.monotonic()
    worker = cpu.Cpu(
        lambda kind, **fields: records.append({"k": kind, **fields}),
        lambda: time.monotonic() - began,
        threading.Event(),
        library,
        12345,
    )
    worker.cpus = cpus or worker.cpus
    worker.run([{"of": "cpu", "stage": stage, "from": 0.0, "until": seconds}])
    wrong = [one for one in records if one["k"] != "stage" or one.get("mismatches", 0) != 0]
    if wrong:
        raise SystemExit(f"{stage}: {wrong[0]}")
    return records


def peer(program: Path, count: int, **environment: str) -> tuple[float, float]:
    """Run the peer ten times over its arrays; returns best and median, in B/s."""
    whole = {**os.environ, **environment}
    command = [str(program), str(count), "10"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=whole)  # noqa: S603  made above
    wrong, best, middle, _ = done.stdout.split()
    if wrong != "0":
        raise SystemExit(f"{program.name}: {wrong} of {count} results are wrong")
    return float(best), float(middle)


def by_gcc(place: Path) -> bytes:
    """Compile rackcheck's kernels with gcc, for the variants of x86-64."""
    source, names = KERNELS / "cpu.c", []
    common = (
        "-std=gnu11 -O2 -fPIC -ffreestanding -fno-builtin -fno-stack-protector -ffp-contract=off -fvisibility=hidden"
    )
    wide = "-mavx2 -mfma -maes -msse4.2"
    for name, options in (
        ("plain", "-DPLAIN"),
        ("avx2", wide),
        ("avx512", f"{wide} -mavx512f -mprefer-vector-width=512"),
    ):
        names.append(str(place / f"{name}.o"))
        gcc(*common.split(), *options.split(), "-c", str(source), "-o", names[-1])
    gcc("-shared", "-nostdlib", *names, "-o", str(place / "cpu.so"))
    return (place / "cpu.so").read_bytes()


Figures = dict[str, list[float]]


def measured(place: Path, rounds: int, count: int, cpus: list[int], shipped: bytes) -> tuple[Figures, Counter[str]]:
    """Alternate for this many rounds; returns the figures by name, and the number of dropped rounds by wall time."""
    figures: defaultdict[str, list[float]] = defaultdict(list)
    lost: Counter[str] = Counter()
    (place / "peer.c").write_text(PEER)
    for name, more in (("peer", ()), ("streamed", ("-DSTREAMED",))):
        gcc("-O3", "-march=native", "-fopenmp", *more, str(place / "peer.c"), "-o", str(place / name))
    libraries = {"shipped": shipped, "gcc": by_gcc(place)}
    for _ in range(rounds):
        for name in ("peer", "streamed"):
            for kind, value in zip(("best", "median"), peer(place / name, count), strict=True):
                figures[f"triad, all cores, {name} {kind}"].append(value)
            one = peer(place / name, count, OMP_NUM_THREADS="1", OMP_PROC_BIND="true")
            for kind, value in zip(("best", "median"), one, strict=True):
                figures[f"triad, one core-second, {name} {kind}"].append(value)
        for name, library in libraries.items():
            (answer,) = burn(library, "triad", 1.5)
            if answer["status"] == "done":
                figures[f"triad, all cores, {name}"].append(answer["rate"])
            else:
                lost[name] += 1
            (answer,) = burn(library, "triad", 1.5, cpus[:1])
            if "work" in answer:
                figures[f"triad, one core-second, {name}"].append(answer["work"] / answer["core_seconds"])
            for answer in burn(library, "fma", 0.5):
                rate = answer["work"] / answer["core_seconds"]
                figures[f"fma, one core-second, {name}"].append(rate)
                figures[f"fma, of its roof, {name}"].append(rate / answer["roof"])
    return figures, lost


def main() -> int:
    """Measure, print, and report whether the measurement is valid."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--json", type=Path, help="write the figures of every round there")
    arguments = parser.parse_args()
    if platform.machine() != "x86_64" or not shutil.which("gcc"):
        print("needs gcc, on x86-64", file=sys.stderr)
        return 3
    answer = subprocess.run(["gcc", "--version"], check=True, capture_output=True, text=True)  # noqa: S607
    version = answer.stdout.partition("\n")[0]
    shipped = (KERNELS / "cpu-x86_64.so").read_bytes()
    hello = cpu.Cpu(print, time.monotonic, threading.Event(), shipped, 1).hello()
    count = -(-4 * cpu.cpu_last_cache(hello["cpus"]) // 8 // 4096) * 4096
    with tempfile.TemporaryDirectory() as folder:
        figures, lost = measured(Path(folder), arguments.rounds, count, hello["cpus"], shipped)
    middle = {name: statistics.median(values) for name, values in figures.items()}
    print(f"{hello['cpu']}, {len(hello['cpus'])} CPUs, {hello['variant']}, load {hello['load']:.1f}; {version}")
    print(f"arrays of 3 x {count * 8 >> 20} MiB; {arguments.rounds} rounds, medians")
    for name, value in sorted(middle.items()):
        unit = "" if "roof" in name else " GB/s" if "triad" in name else " GFLOP/s"
        print(f"  {name:44} {value / (1e9 if unit else 1):8.3f}{unit}")
    for name, rounds in sorted(lost.items()):
        print(f"  {name}: {rounds} of {arguments.rounds} rounds by the clock left out: other work used a core")
    for kind in ("all cores", "one core-second"):
        ours = middle.get(f"triad, {kind}, shipped")
        for name in ("peer best", "peer median", "streamed best", "streamed median") if ours else ():
            print(f"  our triad, {kind}, to {name:20} {(ours or 0.0) / middle[f'triad, {kind}, {name}']:8.3f}")
    if arguments.json:
        kept = {"cpu": hello["cpu"], "gcc": version, "count": count, "figures": figures, "left_out": lost}
        arguments.json.write_text(json.dumps(kept, indent=1) + "\n")
    return 3 if any(rounds * 2 > arguments.rounds for rounds in lost.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
