"""Remedies for plain tunables: a fixed table with the commands that set each fact; nothing is guessed.

Each command sets the value that the probe of the fact reads. In a command, `[[ ]]` marks one word of the shell: inside
it, `{name}`, `{key}`, `{file}` and `{value}` are replaced by names and values of the profile, and the result is quoted
as one word. Text outside `[[ ]]` is unchanged.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from rackcheck.model.path import Path
from rackcheck.model.regex import regex

ABSENT = "absent"
"""The expected value of a rule with `present: false`."""


class When(StrEnum):
    """When a written value takes effect."""

    NOW = "now"
    LOGIN = "at the next login"
    RESTART = "after the service is restarted"
    RELOAD = "after the driver is loaded again"
    REBOOT = "after a reboot"


NUMBER = regex(r"-?[0-9]{1,18}\Z")
WORDS = regex(r"(-?[0-9]|[A-Za-z_])[A-Za-z0-9_.,:+-]{0,60}( [A-Za-z0-9_.,:+-]{1,60}){0,7}\Z")
ARGUMENT = regex(r"[A-Za-z0-9_/+-][A-Za-z0-9_.,:+/@=-]{0,199}\Z")
"""Matches a kernel argument's value that is safe between double quotes in a file that a shell reads."""

KEY = regex(r"[A-Za-z0-9_][A-Za-z0-9_@:.+-]{0,99}\Z")

_NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True)
class Write:
    """How one fact is set: the valid values, the commands that set it now and at every boot, and when it takes effect.

    `words` maps valid values from the profile's spelling to the command's; `form` matches further valid values. If
    `whole` is true, the commands set every item of the fact's collection.
    """

    pattern: str
    lines: tuple[str, ...]
    when: When = When.NOW
    words: Mapping[str, str] = field(default_factory=dict)
    form: re.Pattern[str] | None = None
    whole: bool = False
    note: str = ""

    def spelt(self, value: str) -> str | None:
        """Return a value in the commands' spelling; None if this fact cannot be set to the value."""
        if value in self.words:
            return self.words[value]
        return value if self.form is not None and self.form.match(value) else None

    def filled(self, fact: Path, value: str) -> tuple[str, ...]:
        """Return the commands that set a fact (as named in a profile) to a value (as returned by `spelt`)."""
        parts = [part for s in fact.segments[1:] for part in (s.word, s.key) if part is not None]
        keys = [s.key for s in fact.segments if s.key is not None and s.key != "*"]
        key = keys[0] if keys else ""
        # A name that contains a dot (`eth0.100`) can only be written with slashes between the parts.
        name = ("/" if any("." in part for part in parts) else ".").join(parts)
        module, _, parameter = key.partition(".")
        given = {
            "value": value,
            "other": {"0": "1", "1": "0"}.get(value, ""),
            "name": name,
            "key": key,
            "file": re.sub(r"[^A-Za-z0-9_.-]", "-", ".".join([key, *parts] if fact.segments[0].key else parts)),
            "unit": f"{key}.service",
            "module": module,
            "parameter": parameter,
        }
        return tuple(
            re.sub(r"\[\[(.*?)\]\]", lambda match: shlex.quote(match[1].format_map(given)), line) for line in self.lines
        )


def fits(fact: Path) -> bool:
    """Whether the item names in a fact's path, which come from the profile, are valid in a command."""
    return all(s.key is None or s.key == "*" or KEY.match(s.key) for s in fact.segments)


def found(fact: Path, value: str) -> tuple[Write, str] | None:
    """Return how a fact is set, and its value as the commands spell it; None if the table cannot set this value."""
    for write in TABLE:
        if _same(write.pattern, str(fact.pattern)) and (spelt := write.spelt(value)) is not None:
            return write, spelt
    return None


def known(fact: Path) -> bool:
    """Whether the table can set this fact to at least one value."""
    return any(_same(write.pattern, str(fact.pattern)) for write in TABLE)


def _same(pattern: str, fact: str) -> bool:
    return fact.startswith(pattern[:-2]) if pattern.endswith(".**") else fact == pattern


def _kept(content: str, place: str) -> str:
    """Return an idempotent command that writes one setting to a separate file."""
    return f"printf '%s\\n' [[{content}]] > [[{place}]]"


def _sysfs(
    pattern: str, file: str, *, words: Mapping[str, str] = _NOTHING, number: bool = False, whole: bool = False
) -> Write:
    """Return how to set a fact by a file in /sys: now, and at every boot by tmpfiles.d, which supports globs."""
    put = "printf '%s\\n' [[{value}]]"
    now = f'for file in {file}; do {put} > "$file"; done' if whole else f"{put} > {file}"
    boot = _kept(f"w {file} - - - - {{value}}", f"/etc/tmpfiles.d/rackcheck-{pattern.replace('/*', '')}.conf")
    return Write(pattern, (now, boot), words=words, form=NUMBER if number else None, whole=whole)


def _same_words(*words: str) -> dict[str, str]:
    return {word: word for word in words}


_CPU = "/sys/devices/system/cpu"
_THP = "/sys/kernel/mm/transparent_hugepage"
_BIT = {"true": "1", "false": "0"}
_MODE = {"enabled": "1", "disabled": "0"}
_DRIVER = "the setting is lost when the driver is unloaded; the service nvidia-persistenced keeps it loaded"


def _limits() -> Iterator[Write]:
    """Yield session limits: pam_limits reads them at login; `*` excludes root, so root has a separate line."""
    for prefix, names in (("limits", ("nofile", "nproc", "memlock", "stack", "core")),
                          ("limits.configured", ("nofile", "nproc", "memlock", "stack"))):  # fmt: skip
        for name in names:
            for side in ("hard", "soft"):
                place = f"/etc/security/limits.d/90-rackcheck-{name}-{side}.conf"
                line = f"printf '%s\\n' [[* {side} {name} {{value}}]] [[root {side} {name} {{value}}]] > {place}"
                unlimited = {"unlimited": "unlimited"} if name != "nofile" else {}
                yield Write(f"{prefix}.{name}.{side}", (line,), When.LOGIN, unlimited, NUMBER)


def _service_limits() -> Iterator[Write]:
    """Yield systemd limits: systemd's unit for memory is bytes, so `K` is appended to a value in KiB."""
    unit, own = "/etc/systemd/system/{unit}.d", "/etc/systemd/system.conf.d"
    for name, size in (("memlock", "K"), ("nofile", "")):
        key, file = f"Limit{name.upper()}", f"90-rackcheck-{name}.conf"
        for words, form, end in (({"unlimited": "infinity"}, None, ""), (_NOTHING, NUMBER, size)):
            line = f"printf '%s\\n' '[Service]' [[{key}={{value}}{end}]] > [[{unit}/{file}]]"
            lines = (f"mkdir -p [[{unit}]]", line, "systemctl daemon-reload")
            note = "restart the service once its jobs have ended"
            yield Write(f"service/*.limits.{name}", lines, When.RESTART, words, form, note=note)
            line = f"printf '%s\\n' '[Manager]' [[Default{key}={{value}}{end}]] > {own}/{file}"
            yield Write(f"os.systemd.limits.{name}", (f"mkdir -p {own}", line), When.REBOOT, words, form)


def _arguments() -> Iterator[Write]:
    """Yield the commands that set kernel arguments: with grubby if it is installed, else in a file for update-grub."""
    for pattern, content, words, form in (
        ("cmdline.argument/*.value", "{key}={value}", {}, ARGUMENT),
        ("cmdline.argument/*.present", "{key}", {"true": "true"}, None),
    ):
        grubby = f"grubby --update-kernel=ALL --args=[[{content}]]"
        drop = f"mkdir -p /etc/default/grub.d; printf '%s\\n' [[GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX {content}\"]]"
        place = "[[/etc/default/grub.d/90-rackcheck-{file}.cfg]]"
        line = f"if command -v grubby >/dev/null; then {grubby}; else {drop} > {place}; update-grub; fi"
        yield Write(pattern, (line,), When.REBOOT, words, form, note="by hand on hosts that start without GRUB")


def _services() -> Iterator[Write]:
    for leaf, words in (
        ("active", {"active": "start", "inactive": "stop"}),
        ("enabled", {"enabled": "enable", "disabled": "disable", "masked": "mask"}),
    ):
        for word, verb in words.items():
            yield Write(f"service/*.{leaf}", (f"systemctl {verb} -- [[{{unit}}]]",), words={word: word})


def _gpus() -> Iterator[Write]:
    """Yield GPU settings: without -i, nvidia-smi sets every GPU of the node, as a rule with `each` needs."""
    yield Write("gpu/*.persistence", ("nvidia-smi -pm [[{value}]]",), words=_BIT, whole=True, note=_DRIVER)
    yield Write("gpu/*.power.limit", ("nvidia-smi -pl [[{value}]]",), form=NUMBER, whole=True, note=_DRIVER)
    yield Write("gpu/*.ecc.mode", ("nvidia-smi -e [[{value}]]",), When.REBOOT, _MODE, whole=True)
    yield Write("gpu/*.mig.mode", ("nvidia-smi -mig [[{value}]]",), When.REBOOT, _MODE, whole=True)
    modes = {"default": "0", "prohibited": "2", "exclusive process": "3"}
    yield Write("gpu/*.compute_mode", ("nvidia-smi -c [[{value}]]",), words=modes, whole=True, note=_DRIVER)


def _modules() -> Iterator[Write]:
    loaded = ("modprobe -- [[{key}]]", _kept("{key}", "/etc/modules-load.d/rackcheck-{file}.conf"))
    yield Write("module/*.loaded", loaded, words={"true": "true"})
    barred = (_kept("blacklist {key}", "/etc/modprobe.d/rackcheck-{file}-off.conf"),)
    rebuilt = "rebuild the initramfs before the reboot (update-initramfs -u, or dracut -f)"
    gone = {ABSENT: "off", "false": "off"}
    yield Write("module/*.loaded", barred, When.REBOOT, gone, note=rebuilt)
    option = (_kept("options {module} {parameter}={value}", "/etc/modprobe.d/rackcheck-{file}.conf"),)
    yield Write("kernel.modules.option/*.value", option, When.RELOAD, form=ARGUMENT)
    yield Write("kernel.modules.parameter/*.value", option, When.RELOAD, form=ARGUMENT)


_TURBO, _BOOST = f"{_CPU}/intel_pstate/no_turbo", f"{_CPU}/cpufreq/boost"
_PUT = "printf '%s\\n'"
_TURBO_NOW = f"if [ -e {_TURBO} ]; then {_PUT} [[{{other}}]] > {_TURBO}; else {_PUT} [[{{value}}]] > {_BOOST}; fi"
_TURBO_BOOT = (
    f"{_PUT} [[w {_TURBO} - - - - {{other}}]] [[w {_BOOST} - - - - {{value}}]] "
    "> /etc/tmpfiles.d/rackcheck-cpu.turbo.conf"
)

TABLE: tuple[Write, ...] = (
    Write(
        "sysctl.**",
        ("sysctl -w [[{name}={value}]]", _kept("{name} = {value}", "/etc/sysctl.d/99-z-rackcheck.{file}.conf")),
        form=WORDS,
    ),
    _sysfs(
        "cpu.frequency/*.governor", f"{_CPU}/cpu[0-9]*/cpufreq/scaling_governor", whole=True,
        words=_same_words("performance", "powersave", "schedutil", "ondemand", "conservative"),
    ),
    _sysfs(
        "cpu.frequency/*.epp", f"{_CPU}/cpu[0-9]*/cpufreq/energy_performance_preference", whole=True,
        words=_same_words("default", "performance", "balance_performance", "balance_power", "power"),
    ),
    Write("cpu.turbo", (_TURBO_NOW, _TURBO_BOOT), words=_BIT),
    _sysfs("cpu.pstate.min", f"{_CPU}/intel_pstate/min_perf_pct", number=True),
    _sysfs("cpu.pstate.max", f"{_CPU}/intel_pstate/max_perf_pct", number=True),
    _sysfs("memory.thp.mode", f"{_THP}/enabled", words=_same_words("always", "madvise", "never")),
    _sysfs(
        "memory.thp.defrag", f"{_THP}/defrag",
        words=_same_words("always", "defer", "defer+madvise", "madvise", "never"),
    ),
    _sysfs(
        "memory.thp.shmem", f"{_THP}/shmem_enabled",
        words=_same_words("always", "within_size", "advise", "never", "deny", "force"),
    ),
    _sysfs("memory.thp.khugepaged_defrag", f"{_THP}/khugepaged/defrag", words=_BIT),
    _sysfs("memory.thp.khugepaged_sleep", f"{_THP}/khugepaged/scan_sleep_millisecs", number=True),
    _sysfs("memory.ksm", "/sys/kernel/mm/ksm/run", words=_same_words("0", "1", "2")),
    Write("os.tuned.profile", ("tuned-adm profile -- [[{value}]]",), form=KEY),
    *_services(), *_service_limits(), *_limits(), *_gpus(), *_modules(), *_arguments(),
)  # fmt: skip
"""How each fact is set; if several entries match a fact, the first entry that supports the value is used."""
