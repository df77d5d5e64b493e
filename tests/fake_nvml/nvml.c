/* A driver's management library for machines without a GPU: NVML's names and shapes, answers out of a text file.
 * Names, numbers and layouts are facts of NVML's interface; nothing here is NVIDIA's text.
 *
 * The file is named by FAKE_NVML_STATE. Each line is KEY=VALUE: a number, a text, or !N, the code that NVML answers
 * with. A key of GPU 0 is `0.temperature`, of its NVLink 3 `0.link.3.speed`; `*` stands for every GPU and every link.
 * What no line tells is not supported (3). With -DOLD the functions that newer drivers brought are not there at all.
 *
 * The file may be a script in time: lines below `@2.5` hold from 2.5 s after the start on; times rise, and the last lines
 * that name a key win. 40~80/5 rises from 40 to 80 within 5 s of its section's beginning. `0.lost=15` answers every question about GPU 0
 * with that code, `0.late.temperature=1.7` answers that one after 1.7 s, `0.late.handle=3` opens the GPU in 3 s,
 * `slow_init=3` the driver. The time is the machine's, or that of a hand
 * that `fake_clock` is given: then a late answer moves the hand, and nobody waits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef unsigned int u;
typedef unsigned long long ull;
enum { OK = 0, BAD_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, TOO_SMALL = 7, CORRUPT = 14, VERSION = 25 };

static char state[1 << 20];
static int losing, tardy; /* whether the file tells of a lost GPU or a late answer anywhere */
static double started, *hand;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (hand ? *hand : (double)t.tv_sec + (double)t.tv_nsec / 1e9) - started;
}

void fake_clock(double *at) { hand = at; }

/* The value of a key now, and since when: the first line of the last section that has begun and names it. */
static const char *line(const char *key, double *since) {
    static _Thread_local char value[256];
    const char *found = NULL, *end = NULL;
    size_t size = strlen(key);
    double section = 0, held = -1;
    for (const char *at = state; at && *at; at = strchr(at, '\n'), at += at != NULL) {
        if (*at == '@') {
            section = atof(at + 1);
            if (section > now()) break;
        } else if (section != held && !strncmp(at, key, size) && at[size] == '=') {
            found = at + size + 1, end = found + strcspn(found, "\n"), held = section;
        }
    }
    if (!found) return NULL;
    snprintf(value, sizeof value, "%.*s", (int)(end - found), found);
    *since = held;
    return value;
}

/* What is said of a GPU (-1: of the driver) and, from link 0 on, of one of its links. */
static const char *since(int gpu, int link, const char *key, double *section) {
    char name[200];
    const char *found = NULL;
    for (int any = 0; any < 4 && !found; any++) {
        char who[16] = "*", which[16] = "*";
        if (!(any & 1)) snprintf(who, sizeof who, "%d", gpu);
        if (!(any & 2)) snprintf(which, sizeof which, "%d", link);
        if (gpu < 0) snprintf(name, sizeof name, "%s", key);
        else if (link < 0) snprintf(name, sizeof name, "%s.%s", who, key);
        else snprintf(name, sizeof name, "%s.link.%s.%s", who, which, key);
        found = line(name, section);
    }
    return found;
}

static const char *said(int gpu, int link, const char *key) {
    double section;
    return since(gpu, link, key, &section);
}

/* Come late where the file says so; the code of a GPU that is lost by now. */
static int gone(int gpu, const char *key) {
    char name[200];
    const char *found;
    if (gpu < 0) return OK;
    if (tardy) {
        snprintf(name, sizeof name, "late.%s", key);
        if ((found = said(gpu, -1, name))) {
            double late = atof(found);
            if (hand) *hand += late;
            else usleep((useconds_t)(late * 1e6));
        }
    }
    return losing && (found = said(gpu, -1, "lost")) ? atoi(found) : OK;
}

static int number(int gpu, int link, const char *key, ull *value) {
    double section, to, within;
    int code = gone(gpu, key);
    const char *found = code ? NULL : since(gpu, link, key, &section), *rise;
    if (code) return code;
    if (!found) return NOT_SUPPORTED;
    if (*found == '!') return atoi(found + 1);
    if ((rise = strchr(found, '~')) && sscanf(rise, "~%lf/%lf", &to, &within) == 2) {
        double part = (now() - section) / within, from = atof(found);
        *value = (ull)(from + (to - from) * (part < 1 ? part : 1));
        return OK;
    }
    *value = *found == '-' ? (ull)strtoll(found, NULL, 10) : strtoull(found, NULL, 10);
    return OK;
}

static int text(int gpu, const char *key, char *into, u size) {
    int code = gone(gpu, key);
    const char *found = said(gpu, -1, key);
    if (code) return code;
    if (!found) return NOT_SUPPORTED;
    if (*found == '!') return atoi(found + 1);
    if (strlen(found) >= size) return TOO_SMALL;
    strcpy(into, found);
    return OK;
}

static int small(int gpu, int link, const char *key, u *value) {
    ull wide = 0;
    int code = number(gpu, link, key, &wide);
    if (!code) *value = (u)wide;
    return code;
}

static int of(void *gpu) { return (int)(long)gpu - 1; }

#define ONE(name, key) int name(void *g, u *v) { return small(of(g), -1, key, v); }
#define WIDE(name, key) int name(void *g, ull *v) { return number(of(g), -1, key, v); }
#define TEXT(name, key) int name(void *g, char *s, u n) { return text(of(g), key, s, n); }
#define PAIR(name, a, b) int name(void *g, u *v, u *w) { int c = small(of(g), -1, a, v); return c ? c : small(of(g), -1, b, w); }
#define BY(name, ...) int name(void *g, u which, u *v) { \
    static const char *keys[] = {__VA_ARGS__}; \
    return which < sizeof keys / sizeof *keys && keys[which] ? small(of(g), -1, keys[which], v) : BAD_ARGUMENT; }
#define LINK(name, key) int name(void *g, u link, u *v) { return small(of(g), (int)link, key, v); }

static int start(void) {
    ull code = 0, slow = 0;
    FILE *file = fopen(getenv("FAKE_NVML_STATE") ? getenv("FAKE_NVML_STATE") : "", "r");
    if (!file) return 999;
    state[fread(state, 1, sizeof state - 1, file)] = 0;
    fclose(file);
    losing = strstr(state, "lost=") != NULL, tardy = strstr(state, "late.") != NULL;
    started = 0, started = now();
    number(-1, -1, "slow_init", &slow), sleep((u)slow);
    number(-1, -1, "init", &code);
    return (int)code;
}

int nvmlInit_v2(void) { return start(); }
int nvmlInitWithFlags(u flags) { (void)flags; return start(); }

const char *nvmlErrorString(int code) {
    switch (code) {
    case OK: return "Success";
    case NOT_SUPPORTED: return "Not Supported";
    case 15: return "GPU is lost";
    default: return "Unknown Error";
    }
}

int nvmlSystemGetDriverVersion(char *s, u n) { return text(-1, "driver", s, n); }
int nvmlSystemGetNVMLVersion(char *s, u n) { return text(-1, "nvml", s, n); }
int nvmlSystemGetCudaDriverVersion(int *v) { return small(-1, -1, "cuda", (u *)v); }
int nvmlDeviceGetCount_v2(u *v) { return small(-1, -1, "count", v); }

int nvmlDeviceGetHandleByIndex_v2(u index, void **gpu) {
    int lost = gone((int)index, "handle");
    if (lost) return lost;
    *gpu = (void *)(long)(index + 1);
    return OK;
}

/* A GPU that hangs never comes back from its first question. */
int nvmlDeviceGetName(void *g, char *s, u n) {
    while (said(of(g), -1, "hangs")) sleep(1);
    return text(of(g), "name", s, n);
}

TEXT(nvmlDeviceGetUUID, "uuid")
TEXT(nvmlDeviceGetSerial, "serial")
TEXT(nvmlDeviceGetVbiosVersion, "vbios")
TEXT(nvmlDeviceGetBoardPartNumber, "board_part_number")
TEXT(nvmlDeviceGetInforomImageVersion, "inforom_image")
ONE(nvmlDeviceGetBoardId, "board_id")
ONE(nvmlDeviceGetMinorNumber, "minor")
ONE(nvmlDeviceGetPersistenceMode, "persistence")
ONE(nvmlDeviceGetComputeMode, "compute_mode")
ONE(nvmlDeviceGetDisplayActive, "display_active")
ONE(nvmlDeviceGetAccountingMode, "accounting")
WIDE(nvmlDeviceGetVirtualizationMode, "virtualization")
ONE(nvmlDeviceGetPowerManagementLimit, "power_limit")
ONE(nvmlDeviceGetEnforcedPowerLimit, "power_enforced")
ONE(nvmlDeviceGetPowerManagementDefaultLimit, "power_default")
ONE(nvmlDeviceGetPowerUsage, "power_usage")
WIDE(nvmlDeviceGetTotalEnergyConsumption, "energy")
ONE(nvmlDeviceGetMemoryBusWidth, "memory_width")
ONE(nvmlDeviceGetPerformanceState, "pstate")
ONE(nvmlDeviceGetFanSpeed, "fan")
ONE(nvmlDeviceGetCurrPcieLinkGeneration, "link_generation")
ONE(nvmlDeviceGetMaxPcieLinkGeneration, "link_max_generation")
ONE(nvmlDeviceGetCurrPcieLinkWidth, "link_width")
ONE(nvmlDeviceGetMaxPcieLinkWidth, "link_max_width")
ONE(nvmlDeviceGetPcieReplayCounter, "pcie_replay")
WIDE(nvmlDeviceGetCurrentClocksThrottleReasons, "reasons")
WIDE(nvmlDeviceGetSupportedClocksThrottleReasons, "reasons_supported")
PAIR(nvmlDeviceGetEccMode, "ecc", "ecc_pending")
PAIR(nvmlDeviceGetCudaComputeCapability, "capability_major", "capability_minor")
PAIR(nvmlDeviceGetPowerManagementLimitConstraints, "power_min", "power_max")
BY(nvmlDeviceGetClockInfo, "clock_graphics", "clock_sm", "clock_memory", "clock_video")
BY(nvmlDeviceGetMaxClockInfo, "graphics_max", "sm_max", "memory_max", "video_max")
BY(nvmlDeviceGetApplicationsClock, "app_graphics", NULL, "app_memory")
BY(nvmlDeviceGetDefaultApplicationsClock, "default_app_graphics", NULL, "default_app_memory")
BY(nvmlDeviceGetTemperature, "temperature")
BY(nvmlDeviceGetTemperatureThreshold, "temperature_shutdown", "temperature_slowdown", "temperature_memory_max",
   "temperature_max_operating", NULL, "temperature_target")
LINK(nvmlDeviceGetNvLinkState, "state")
LINK(nvmlDeviceGetNvLinkVersion, "version")

int nvmlDeviceGetInforomVersion(void *g, u which, char *s, u n) {
    static const char *keys[] = {"inforom_oem", "inforom_ecc", "inforom_power"};
    return which < 3 ? text(of(g), keys[which], s, n) : BAD_ARGUMENT;
}

int nvmlDeviceGetTotalEccErrors(void *g, u kind, u since, ull *v) {
    return since ? NOT_SUPPORTED : number(of(g), -1, kind ? "ecc_uncorrected" : "ecc_corrected", v);
}

int nvmlDeviceGetMemoryErrorCounter(void *g, u kind, u since, u where, ull *v) {
    char key[64];
    if (where != 2 && where != 7) return NOT_SUPPORTED;
    snprintf(key, sizeof key, "ecc_%s_%s_%scorrected", since ? "aggregate" : "volatile", where == 7 ? "sram" : "dram",
             kind ? "un" : "");
    return number(of(g), -1, key, v);
}

struct pci { char legacy[16]; u domain, bus, device, id, sub; char address[32]; };
int nvmlDeviceGetPciInfo_v3(void *g, struct pci *p) { return text(of(g), "pci", p->address, sizeof p->address); }

int nvmlDeviceGetMemoryInfo(void *g, ull *m) {
    ull reserved = 0;
    int code = number(of(g), -1, "memory", m);
    number(of(g), -1, "memory_reserved", &reserved);
    if (code) return code;
    code = number(of(g), -1, "memory_used", m + 2);
    m[2] += reserved;
    m[1] = m[0] - m[2];
    return code;
}

int nvmlDeviceGetBAR1MemoryInfo(void *g, ull *m) {
    int code = number(of(g), -1, "bar1", m);
    if (code) return code;
    code = number(of(g), -1, "bar1_used", m + 2);
    m[1] = m[0] - m[2];
    return code;
}

int nvmlDeviceGetUtilizationRates(void *g, u *v) {
    int code = small(of(g), -1, "utilization", v);
    return code ? code : small(of(g), -1, "utilization_memory", v + 1);
}

int nvmlDeviceGetNvLinkErrorCounter(void *g, u link, u which, ull *v) {
    static const char *keys[] = {"replay", "recovery", "crc_flit", "crc_data", "ecc_data"};
    return which < 5 ? number(of(g), (int)link, keys[which], v) : BAD_ARGUMENT;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *g, u link, struct pci *p) {
    const char *found = said(of(g), (int)link, "remote_pci");
    if (!found) return NOT_SUPPORTED;
    if (*found == '!') return atoi(found + 1);
    snprintf(p->address, sizeof p->address, "%s", found);
    return OK;
}

/* A list of zeros and reasons, in the order of the other GPUs. */
int nvmlDeviceGetP2PStatus(void *g, void *other, u what, u *v) {
    int left = of(other) - (of(other) > of(g));
    const char *at = said(of(g), -1, "peers");
    if (!at || what) return NOT_SUPPORTED;
    if (*at == '!') return atoi(at + 1);
    for (; left > 0 && at; left--) at = strchr(at, ','), at += at != NULL;
    if (!at) return BAD_ARGUMENT;
    *v = (u)atoi(at);
    return OK;
}

struct field { u id, scope; long long at, took; u type, code; union { u small; ull wide; long long sign; } value; };
enum { GPU = 1, MODULE = 2, MEMORY = 4, LINKED = 8, SIGNED = 16 };
static const struct { u id, how; const char *key; } FIELDS[] = {
    {29, GPU, "retired_single"}, {30, GPU, "retired_double"}, {31, GPU, "retired_pending"}, {91, GPU, "links"},
    {82, GPU, "temperature_memory"}, {95, GPU, "pcie_replay_rollover"}, {74, GPU, "violation_power_ns"},
    {76, GPU, "violation_sync_boost_ns"}, {164, LINKED, "speed"}, {146, LINKED, "remote_link"}, {83, GPU, "energy"},
    {38, GPU, "crc_flit_total"}, {45, GPU, "crc_data_total"}, {52, GPU, "replay_total"}, {59, GPU, "recovery_total"},
    {160, GPU, "ecc_data_total"},
#ifndef OLD
    {173, GPU, "pcie_correctable"}, {179, GPU, "pcie_nonfatal"}, {180, GPU, "pcie_fatal"},
    {185, GPU, "power_average"}, {186, GPU, "power_usage"}, {185, MEMORY, "power_memory"},
    {185, MODULE, "module_power_average"}, {186, MODULE, "module_power_usage"}, {187, MODULE, "module_power_min"},
    {188, MODULE, "module_power_max"}, {189, MODULE, "module_power_default"}, {190, MODULE, "module_power_limit"},
    {193, GPU | SIGNED, "margin_shutdown"}, {194, GPU | SIGNED, "margin_slowdown"},
    {195, GPU | SIGNED, "margin_memory_max"}, {196, GPU | SIGNED, "margin_max_operating"},
    {206, LINKED, "malformed"}, {208, LINKED, "rx_errors"}, {211, LINKED, "integrity"}, {212, LINKED, "dropped"},
    {213, LINKED, "link_recovery_successful"}, {214, LINKED, "link_recovery_failed"},
    {215, LINKED, "link_recovery_total"}, {219, LINKED, "effective_errors"}, {220, LINKED, "effective_ber"},
    {221, LINKED, "symbol_errors"}, {222, LINKED, "symbol_ber"}, {230, GPU, "recovery_action"},
    {269, GPU, "violation_thermal_ns"}, {270, GPU, "violation_hw_thermal_ns"}, {271, GPU, "violation_hw_brake_ns"},
#endif
};

int nvmlDeviceGetFieldValues(void *g, int count, struct field *f) {
    int lost = gone(of(g), "fields");
    if (lost) return lost;
    for (; count > 0; count--, f++) {
        f->code = BAD_ARGUMENT;
        for (u i = 0; i < sizeof FIELDS / sizeof *FIELDS; i++) {
            u how = FIELDS[i].how;
            ull wide = 0;
            if (FIELDS[i].id != f->id || !(how & (LINKED | 1u << f->scope))) continue;
            f->code = (u)number(of(g), how & LINKED ? (int)f->scope : -1, FIELDS[i].key, &wide);
            f->type = how & SIGNED ? 5 : f->id < 100 ? 1 : 3;
            if (f->type == 3) f->value.wide = wide;
            else f->value.small = (u)wide;
            if (f->id == 74 || f->id == 76 || f->id == 83) f->type = 3, f->value.wide = wide;
        }
    }
    return OK;
}

#ifndef OLD
struct process { u pid; ull memory; u instance, compute; };
static int running(void *g, const char *key, u *count, struct process *p) {
    u there = 0, room = *count;
    int code = small(of(g), -1, key, &there);
    *count = there;
    if (code || !there) return code;
    if (!p || room < there) return TOO_SMALL;
    for (u i = 0; i < there; i++) p[i].pid = 1000 + i;
    return OK;
}

static int parts(void *g, const char **keys, u count, u *into) {
    int code = OK;
    for (u i = 0; i < count && !code; i++) code = small(of(g), -1, keys[i], into + i);
    return code;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *g, u *n, struct process *p) { return running(g, "processes", n, p); }
int nvmlDeviceGetGraphicsRunningProcesses_v3(void *g, u *n, struct process *p) { return running(g, "graphics", n, p); }
WIDE(nvmlDeviceGetCurrentClocksEventReasons, "reasons")
WIDE(nvmlDeviceGetSupportedClocksEventReasons, "reasons_supported")
ONE(nvmlDeviceGetArchitecture, "architecture")
ONE(nvmlDeviceGetModuleId, "module_id")
ONE(nvmlDeviceGetGpuMaxPcieLinkGeneration, "link_device_max_generation")
PAIR(nvmlDeviceGetMigMode, "mig", "mig_pending")
PAIR(nvmlDeviceGetGspFirmwareMode, "gsp_mode", "gsp_default")
LINK(nvmlDeviceGetNvLinkRemoteDeviceType, "remote")
int nvmlDeviceGetGspFirmwareVersion(void *g, char *s) { return text(of(g), "gsp_version", s, 64); }
int nvmlDeviceGetMaxMigDeviceCount(void *g, u *v) { (void)g; *v = 7; return OK; }

int nvmlDeviceGetMigDeviceHandleByIndex(void *g, u index, void **device) {
    u there = 0;
    int code = small(of(g), -1, "mig_devices", &there);
    if (code || index >= there) return code ? code : NOT_FOUND;
    *device = (void *)(long)(1000 + index);
    return OK;
}

int nvmlDeviceValidateInforom(void *g) {
    u bad = 0;
    int code = small(of(g), -1, "inforom_checksum", &bad);
    return code ? code : bad ? CORRUPT : OK;
}

struct memory { u version; ull total, reserved, free, used; };
int nvmlDeviceGetMemoryInfo_v2(void *g, struct memory *m) {
    int code = m->version == 0x2000028 ? number(of(g), -1, "memory", &m->total) : VERSION;
    if (!code) code = number(of(g), -1, "memory_reserved", &m->reserved);
    if (!code) code = number(of(g), -1, "memory_used", &m->used);
    m->free = m->total - m->reserved - m->used;
    return code;
}

/* Structures of a version and numbers of 32 bits. */
struct plain { u version, value[4]; };
int nvmlDeviceGetAddressingMode(void *g, struct plain *p) { return small(of(g), -1, "addressing", p->value); }
int nvmlDeviceGetMarginTemperature(void *g, struct plain *p) { return small(of(g), -1, "temperature_margin", p->value); }
int nvmlDeviceGetUnrepairableMemoryFlag_v1(void *g, struct plain *p) { return small(of(g), -1, "unrepairable", p->value); }
int nvmlDeviceGetRepairStatus(void *g, struct plain *p) {
    const char *keys[] = {"channel_repair_pending", "tpc_repair_pending"};
    return parts(g, keys, 2, p->value);
}

int nvmlDeviceGetRemappedRows(void *g, u *a, u *b, u *c, u *d) {
    const char *keys[] = {"remap_corrected", "remap_uncorrected", "remap_pending", "remap_failed"};
    u v[4];
    int code = parts(g, keys, 4, v);
    if (!code) *a = v[0], *b = v[1], *c = v[2], *d = v[3];
    return code;
}

int nvmlDeviceGetRowRemapperHistogram(void *g, u *v) {
    const char *keys[] = {"remap_max", "remap_high", "remap_partial", "remap_low", "remap_none"};
    return parts(g, keys, 5, v);
}

struct sram {
    u version;
    ull parity_ever, secded_ever, corrected_ever, parity_now, secded_now, corrected_now, l2, sm, pcie, mcu, other;
    u exceeded;
};
int nvmlDeviceGetSramEccErrorStatus(void *g, struct sram *s) {
    ull *into[] = {&s->parity_ever, &s->secded_ever, &s->parity_now, &s->secded_now, &s->l2, &s->sm, &s->pcie,
                   &s->mcu, &s->other};
    const char *keys[] = {"ecc_sram_parity_aggregate", "ecc_sram_secded_aggregate", "ecc_sram_parity_volatile",
                          "ecc_sram_secded_volatile", "ecc_sram_source_l2", "ecc_sram_source_sm",
                          "ecc_sram_source_pcie", "ecc_sram_source_microcontroller", "ecc_sram_source_other"};
    int code = s->version == sizeof *s + (1 << 24) ? OK : VERSION;
    for (int i = 0; i < 9 && !code; i++) code = number(of(g), -1, keys[i], into[i]);
    return code ? code : small(of(g), -1, "ecc_sram_threshold_exceeded", &s->exceeded);
}

struct fabric { u version; unsigned char cluster[16]; u status, clique; unsigned char state; u health; unsigned char summary; };
int nvmlDeviceGetGpuFabricInfoV(void *g, struct fabric *f) {
    const char *cluster;
    u health = 0, state = 0, summary = 0;
    int third = f->version >> 24 == 3, code = small(of(g), -1, "fabric_state", &state);
    if (f->version != (third ? 0x3000028 : 0x2000024)) return VERSION;
    if (code) return code;
    cluster = said(of(g), -1, "fabric_cluster");
    for (int i = 0; cluster && *cluster; cluster++)
        if (*cluster != '-' && i < 32) {
            int digit = *cluster <= '9' ? *cluster - '0' : *cluster - 'a' + 10;
            f->cluster[i / 2] = (unsigned char)(i % 2 ? f->cluster[i / 2] | digit : digit << 4);
            i++;
        }
    f->state = (unsigned char)state;
    small(of(g), -1, "fabric_status", &f->status);
    small(of(g), -1, "fabric_clique", &f->clique);
    small(of(g), -1, "fabric_health", &health);
    small(of(g), -1, "fabric_summary", &summary);
    f->health = health;
    if (third) f->summary = (unsigned char)summary;
    return OK;
}

int nvmlSystemGetConfComputeState(u *v) {
    int code = small(-1, -1, "cc_environment", v);
    if (!code) code = small(-1, -1, "cc_mode", v + 1);
    return code ? code : small(-1, -1, "cc_devtools", v + 2);
}
int nvmlSystemGetConfComputeGpusReadyState(u *v) { return small(-1, -1, "cc_ready", v); }
int nvmlDeviceGetConfComputeProtectedMemoryUsage(void *g, ull *m) { return number(of(g), -1, "cc_memory", m); }
#endif
