"""Errors of GPU drivers in the kernel's log: NVIDIA's errors other than Xids, and AMD's errors.

The patterns in NVIDIA and in AMDGPU are tried in their order; the first that matches a line counts it. AMD's lines name
the GPU by its PCI address; most of NVIDIA's lines name no GPU.

If an assertion of NVIDIA's driver failed because a call failed, the line contains in brackets the call's status, by its
name in nvstatuscodes.h; this status is more specific than the assertion. Failed assertions without a status are also
logged for GPUs without faults. Release builds of the driver leave out the messages of NVLink training (NVLINK_PRINT in
nvlink.h); debug builds print them after `nvidia-nvlink: `.
"""

from rackcheck.parse.host.kernel_log.dmesg import line

NVIDIA = (
    line("fallen_off", "fallen off the bus", r"NVRM: (?!Xid ).{0,200}fallen off the bus"),
    line("fallen_off", "[NV_ERR_GPU_IS_LOST]", r"NVRM: .{0,400}\[NV_ERR_GPU_IS_LOST\]"),
    line(
        "gsp_timeouts",
        "GSP!",
        # Atomic, so that the comma after the name is chosen once: else a forged line costs the product of all repeats.
        r"NVRM: (?>Xid .{1,80}?, name=(?P<who>.{1,20}?), )?.{0,120}?[Tt]imeout .{0,60}\bGSP!",
    ),
    line("gsp_timeouts", "Rate limiting GSP RPC error prints", r"NVRM: Rate limiting GSP RPC error prints"),
    line("reset_required", "[NV_ERR_RESET_REQUIRED]", r"NVRM: .{0,400}\[NV_ERR_RESET_REQUIRED\]"),
    line(
        "reset_required",
        "global fatal error",
        r"NVRM: (?:\w{1,60}: )?uvm encountered global fatal error 0x[0-9a-f]{1,8}, requiring os reboot",
    ),
    line(
        "nvlink_errors",
        "[NV_ERR_NVLINK_",
        r"NVRM: .{0,400}\[NV_ERR_NVLINK_(?:(?:INIT|MINION|CLOCK|TRAINING|CONFIGURATION)_ERROR|FABRIC_FAILURE)\]",
    ),
    line(
        "nvlink_errors",
        "nvidia-nvlink: ",
        r"nvidia-nvlink: .{0,200}?\b(?i:fail(?:ed|ure)?|fatal|errors?|unable|timed out)\b",
    ),
    line("object_not_found", "[NV_ERR_OBJECT_NOT_FOUND]", r"NVRM: .{0,400}\[NV_ERR_OBJECT_NOT_FOUND\]"),
    line("assertions", "Assertion failed: ", r"NVRM:? (?:GPU[0-9]{1,3} )?\w{1,60}: Assertion failed: "),
    line("init_failures", "RmInitAdapter failed", r"NVRM: .{0,60}RmInitAdapter failed"),
    line("mismatches", "API mismatch", r"NVRM: API mismatch: "),
    line("peermem_errors", "nvidia-peermem ", r"nvidia-peermem .{0,120}ERROR"),
)
"""Patterns of the errors, other than Xids, that NVIDIA's kernel modules log."""

AMDGPU = (
    line(
        "uncorrected",
        "uncorrectable hardware errors detected",
        r"amdgpu (?P<key><pci>): (?:amdgpu: )?.{0,120}?\b[1-9][0-9]{0,11} (?:new )?uncorrectable "
        r"hardware errors detected",
    ),
    line(
        "corrected",
        " correctable hardware errors detected",
        r"amdgpu (?P<key><pci>): (?:amdgpu: )?.{0,120}?\b[1-9][0-9]{0,11} (?:new )?correctable "
        r"hardware errors detected",
    ),
    line(
        "deferred",
        "deferred hardware errors detected",
        r"amdgpu (?P<key><pci>): (?:amdgpu: )?.{0,120}?\b[1-9][0-9]{0,11} (?:new )?deferred hardware "
        r"errors detected",
    ),
    line("resets", "GPU reset begin", r"amdgpu (?P<key><pci>): (?:amdgpu: )?.{0,40}GPU reset begin"),
    line(
        "reset_failures", "failed", r"amdgpu (?P<key><pci>): (?:amdgpu: )?.{0,40}GPU reset ?(?:\([0-9]{1,9}\) )?failed"
    ),
    line(
        "page_faults", "page fault", r"amdgpu (?P<key><pci>): (?:amdgpu: )?\[\S{1,40}\] ?(?:(?:no-)?retry )?page fault"
    ),
)
"""Patterns of the lines in which amdgpu reports errors and resets of AMD GPUs."""
