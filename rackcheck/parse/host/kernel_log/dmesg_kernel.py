"""Lines of the kernel's log about the kernel and programs: the kernel's own faults, stalls, and crashed programs.

The patterns in FAULTS, in STALLS and in CRASHED_PROGRAMS are tried in their order; the first that matches a line counts
it. Lines about the kernel and programs name no device. Lines about stalls and crashed programs name a process, whose
name is not shown.

Every fault of the kernel has one line `TEXT: NUMBER [#N]`, where N counts the faults of this boot. TEXT is `Oops`,
`divide error`, `general protection fault` and others, and on arm64 `Internal error: TEXT` (the kernel's
arch/x86/kernel/dumpstack.c and arch/arm64/kernel/traps.c). Lines around the line `TEXT: NUMBER [#N]`, such as `Unable
to handle kernel ...`, belong to the same fault.
"""

from rackcheck.parse.host.kernel_log.dmesg import line

FAULTS = (
    line("panics", "Kernel panic - not syncing", r"Kernel panic - not syncing"),
    line("oopses", " [#", r"(?:Oops: |Internal error: )?[^:\[\]]{0,120}: [0-9a-f]{1,16} \[#[0-9]{1,9}\]"),
    line("oopses", "Oops: ", r"(?:Internal error: )?Oops: "),
    line("oopses", "general protection fault, ", r"general protection fault, "),
    line("oopses", "SError Interrupt on CPU", r"SError Interrupt on CPU[0-9]{1,5}, code "),
    line("bugs", "BUG: ", r"BUG: (?!soft lockup)"),
    line("bugs", "kernel BUG at ", r"kernel BUG at "),
    line("warnings", "WARNING: ", r"WARNING: (?:CPU: [0-9]{1,5} PID: |[\w./-]{1,120}:[0-9]{1,6} at )"),
)
"""Patterns of the kernel's panics, oopses, bugs and warnings."""

STALLS = (
    line(
        "hung_tasks",
        " for more than ",
        r"INFO: task (?P<who>.{1,40}):[0-9]{1,10} blocked(?: in I/O wait)? for more than [0-9]{1,9} seconds",
    ),
    line(
        "soft_lockups",
        "soft lockup - CPU#",
        r"(?:NMI )?(?:watchdog: )?BUG: soft lockup - CPU#[0-9]{1,5} stuck for [0-9]{1,9}s!(?: "
        r"\[(?P<who>.{1,40}):[0-9]{1,10}\])?",
    ),
    line(
        "hard_lockups",
        "hard LOCKUP on cpu",
        r"(?:NMI )?watchdog: (?:CPU[0-9]{1,5}: )?Watchdog detected hard LOCKUP on cpu",
    ),
    line(
        "rcu_stalls",
        " stall",
        r"(?:rcu: )?INFO: rcu_[a-z]{1,20} (?:self-detected stall|detected (?:expedited )?stalls?)\b",
    ),
)
"""Patterns of the lines about tasks and processors that made no progress."""

CRASHED_PROGRAMS = (
    line(
        "nccl",
        " in libnccl",
        r"(?:traps: )?(?P<who>.{1,15}?)\[[0-9]{1,10}\](?::)? (?:segfault at|general protection fault) "
        r".{1,300}? in libnccl[\w.-]{0,60}",
    ),
    line(
        "libc",
        " in libc",
        r"(?:traps: )?(?P<who>.{1,15}?)\[[0-9]{1,10}\](?::)? (?:segfault at|general protection fault) "
        r".{1,300}? in libc[.-][\w.-]{0,40}",
    ),
    line("other", "segfault at ", r"(?P<who>.{1,15}?)\[[0-9]{1,10}\]: segfault at "),
    line(
        "other", "general protection fault ", r"traps: (?P<who>.{1,15}?)\[[0-9]{1,10}\](?::)? general protection fault "
    ),
)
"""Patterns of the lines about crashed programs, by the library in which the program crashed."""
