"""The shipped CPU kernels: the same bytes from the source, and the same results on the other processor."""

import errno
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from joined import CPU, joined

from rackcheck.burnin.kernels import build_cpu

cpu = joined(*CPU)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(build_cpu.missing() is not None, reason=build_cpu.missing() or ""),
]

LOADER = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <elf.h>
#include <sched.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
typedef unsigned long long u64;
struct counts { u64 wall, cpu, work, found; } counts;
struct wrong { u64 address, want, got; } wrong[4];
static u64 memory[1 << 15] __attribute__((aligned(4096)));
static double a[1 << 15], b[1 << 15], c[1 << 15];
static char *base;
static void *find(const char *name, const char *variant)  /* the library needs no relocation: mapping it is enough */
{
    char whole[64];
    Elf64_Ehdr *head = (void *)base;
    Elf64_Phdr *part = (void *)(base + head->e_phoff);
    Elf64_Sym *symbols = 0;
    char *names = 0;
    u64 length = 0;
    snprintf(whole, sizeof whole, "%s%s", name, variant);
    for (int i = 0; i < head->e_phnum; i++)
        if (part[i].p_type == PT_DYNAMIC)
            for (Elf64_Dyn *one = (void *)(base + part[i].p_vaddr); one->d_tag; one++) {
                if (one->d_tag == DT_SYMTAB) symbols = (void *)(base + one->d_un.d_ptr);
                if (one->d_tag == DT_STRTAB) names = base + one->d_un.d_ptr;
                if (one->d_tag == DT_STRSZ) length = one->d_un.d_val;
            }
    for (int i = 1; i < 64; i++)
        if (symbols[i].st_name < length && !strcmp(names + symbols[i].st_name, whole)) return base + symbols[i].st_value;
    fprintf(stderr, "no %s\n", whole);
    _exit(2);
}
int main(int count, char **words)
{
    int file = open(words[1], O_RDONLY);
    static char read_[1 << 20];
    if (count < 2 || read(file, read_, sizeof read_) < 64) return 2;
    base = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Elf64_Phdr *part = (void *)(read_ + ((Elf64_Ehdr *)read_)->e_phoff);
    for (int i = 0; i < ((Elf64_Ehdr *)read_)->e_phnum; i++)
        if (part[i].p_type == PT_LOAD) memcpy(base + part[i].p_vaddr, read_ + part[i].p_offset, part[i].p_filesz);
    __builtin___clear_cache(base, base + (1 << 20));
    mprotect(base, 1 << 20, PROT_READ | PROT_EXEC);
    printf("best %u %u\n", ((unsigned (*)(u64))find("best", ""))(0), ((unsigned (*)(u64))find("best", ""))(1 << 3 | 1 << 7));
    ((void (*)(u64, void *))find("adds", ""))(10, &counts);
    printf("adds %llu %d\n", counts.work, counts.wall > 0 && counts.cpu > 0);
    const char *variants[] = {"_plain", "_neon"};
    for (int i = 0; i < 2; i++) {
        const char *v = variants[i];
        u64 (*fma)(u64, u64, u64, u64, void *) = find("fma", v);
        u64 first = i ? fma(1, ROUNDS, 0, 0, &counts) : 0, other = fma(77, 100, 0, 0, &counts);
        void (*fill)(void *, u64, u64, u64, u64, void *) = find("fill", v);
        void (*verify)(void *, u64, u64, u64, u64, u64, void *, u64, void *) = find("verify", v);
        fill(memory, sizeof memory, 1000, 5, 0, &counts);
        verify(memory, sizeof memory, 1000, 5, 0, 1, wrong, 4, &counts);
        u64 clean = counts.found;
        memory[12345] ^= 0x50;
        verify(memory, sizeof memory, 1000, 5, ~0ull, 0, wrong, 4, &counts);
        u64 found = counts.found * (wrong[0].address == (u64)(memory + 12345)) * ((wrong[0].want ^ wrong[0].got) == 0x50);
        memory[12345] ^= 0x50;
        unsigned (*crc)(void *, u64) = find("crc", v);
        void (*aes)(void *, u64, u64, u64, void *) = find("aes", v);
        fill(memory, sizeof memory, 0, 5, 0, &counts);
        unsigned plain = crc(memory, sizeof memory);
        aes(memory, sizeof memory, 9, 0, &counts);
        unsigned hidden = crc(memory, sizeof memory);
        aes(memory, sizeof memory, 9, 1, &counts);
        unsigned again = crc(memory, sizeof memory);
        ((void (*)(void *, void *, void *, u64))find("lay", ""))(a, b, c, 1 << 15);
        ((u64 (*)(void *, void *, void *, u64, double, u64, u64, void *))find("triad", v))(a, b, c, 1 << 15, 3.0, 0, 20000000, &counts);
        u64 laid = ((u64 (*)(void *, u64, double))find("laid", ""))(a, 1 << 15, 3.0);
        printf("%016llx %016llx %llu %llu %08x %08x %d %llu\n", first, other, clean, found, plain, hidden, plain == again, laid);
    }
    /* One task alone: its fingerprint; then a ring of one CPU, whose message is altered once on its way. */
    static u64 task[36], stop, running = 3, hashes[8];
    const char *kernels[] = {"fma", "fill", "verify", "triad", "aes", "crc"};
    for (int i = 0; i < 6; i++) task[12 + i] = (u64)find(kernels[i], "_neon");
    task[2] = (u64)sched_getcpu(), task[3] = 1, task[10] = (u64)&stop, task[11] = (u64)&running;
    task[19] = (u64)hashes, task[20] = 8, task[21] = (u64)wrong, task[22] = 4;
    void *(*work)(void *) = find("work", "");
    work(task);
    printf("work %016llx %llu %d", hashes[0], task[30], task[31] == task[2]);
    static u64 message[1 << 17] __attribute__((aligned(4096)));
    memset(task + 23, 0, 13 * 8);
    task[0] = 7, task[4] = ~0ull >> 1, task[5] = (u64)message, task[9] = 64, task[18] = (u64)task;
    stop = 1;  /* the ring ends after the first message */
    work(task);
    printf(" %llu %llu %llu", task[8], task[26], wrong[0].want != wrong[0].got);
    task[2] = 8000;
    work(task);
    printf(" %llu %llu\n", task[30], running);
    return 0;
}
"""


def test_the_libraries_are_what_the_source_gives(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["build_cpu.py", "--check"])
    assert build_cpu.main() == 0
    unchanged = [row.partition(":")[0] for row in capsys.readouterr().out.splitlines() if row.endswith(", unchanged")]
    assert unchanged == [build_cpu.library(machine).name for machine in build_cpu.VARIANTS]


def test_a_library_that_differs_is_found_and_only_without_the_check_replaced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = {machine: build_cpu.library(machine).read_bytes() for machine in build_cpu.VARIANTS}
    for machine in made:
        shutil.copy(build_cpu.library(machine), tmp_path)
    monkeypatch.setattr(build_cpu, "HERE", tmp_path)
    assert not build_cpu.updated(made, check=True)
    spoilt = build_cpu.library("aarch64")
    spoilt.write_bytes(spoilt.read_bytes()[:-1] + b"!")
    before = spoilt.read_bytes()
    assert build_cpu.updated(made, check=True)
    assert spoilt.read_bytes() == before, "a check writes nothing"
    assert build_cpu.updated(made, check=False)
    assert spoilt.read_bytes() == made["aarch64"]


def test_without_the_compiler_nothing_is_built_and_the_check_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["build_cpu.py", "--check"])
    monkeypatch.setattr(build_cpu, "COMPILER", "a_compiler_that_is_not_here")
    assert build_cpu.main() == 3


def test_aarch64_gives_the_same_answers(tmp_path: Path) -> None:
    emulator = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
    if emulator is None and platform.machine() != "aarch64":
        pytest.skip("qemu-aarch64-static (qemu-user-static) is not here: the library of aarch64 did not run")
    source, program = tmp_path / "loader.c", tmp_path / "loader"
    source.write_text(LOADER.replace("ROUNDS", str(cpu.CPU_ROUNDS)))
    compiler = [sys.executable, "-m", build_cpu.COMPILER, "cc", "-target", "aarch64-linux-musl", "-static", "-O1"]
    subprocess.run([*compiler, str(source), "-o", str(program)], check=True)
    command = [*([emulator] if emulator else []), str(program), str(build_cpu.library("aarch64"))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    best, adds, plain, neon, work = done.stdout.splitlines()
    assert work == f"work {cpu.CPU_GOLDEN['fma']:016x} 0 1 1 1 1 {errno.EINVAL} 0"
    assert (best, adds) == ("best 0 1", "adds 640 1")
    assert neon.split()[1:] == plain.split()[1:], "the plain variant is slow here: it does the short fingerprint alone"
    first, other, clean, found, text, hidden, again, laid = neon.split()
    assert int(first, 16) == cpu.CPU_GOLDEN["fma"]
    assert (clean, found, again, laid) == ("0", "1", "1", "0")
    if platform.machine() == "x86_64":
        ours = cpu.CpuKernels(build_cpu.library("x86_64").read_bytes())
        assert int(other, 16) == ours._call("fma", 77, 100, 0, 0)[0]
        assert text != hidden
