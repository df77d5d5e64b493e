/* A driver's library for machines without a GPU: it runs the kernels of gpu.cu on the CPU, each launch within its call.
 *
 * FAKE_CUDA_STATE names a file of `key=value` lines, read anew at each launch. The machine: gpus, memory (bytes of
 * each), sms, threads (of a block), cc (90), init, driver, order=2,0,3 (the GPUs that CUDA lists, in its order; else each
 * by its number, which its UUID, its address and the faults name), older=GPU:CC, at=GPU:BUS (another PCI address),
 * twin=GPU:OTHER (the UUID of the other), slice=GPU (a MIG slice: a UUID of its own), blank=GPU:CODE (no UUID), slow_init
 * (seconds), duty (percent of its time in which a launch or a copy uses a processor; it sleeps the rest, because a node's
 * processors are free while its GPUs work). Its faults, GPU first: flip=GPU:OFFSET:MASK (a bit of a line,
 * once, after it is filled), burst=GPU:OFFSET:MASK (32 lines from there on), stuck=GPU:OFFSET:MASK (bits that read as
 * 1), alias=GPU:BIT (an address line that is dead), wrong=GPU:SM:UNIT:MASK (SM -1 is each), nan=GPU:SM,
 * slow=GPU:SM:PERCENT, pace=GPU:PERCENT (each launch and copy at this share of the others' rate),
 * hang=GPU:LAUNCH (its event never comes), stall=GPU:LAUNCH (the call never returns),
 * sticky=GPU:LAUNCH:CODE (each later call fails but those which free), lost=GPU:LAUNCH:CODE (those too), context=GPU:CODE,
 * full=GPU:TIMES (no memory for a context so often, in each process),
 * link=GPU:h2d|d2h:OFFSET (a bit of each copy that reaches so far), peer=FROM:TO (a bit of each copy), peer_hang,
 * peer_stall and peer_crash=FROM:TO (a copy that never comes, never returns, or kills the process), peer_fault=
 * FROM:TO:CODE, vanish=FROM:TO:CODE (TO is lost from this copy on, in each process: a file beside the state says so),
 * far=1 (no way is direct), far=A:B (not between these). Its times: jit=SECONDS (PTX is compiled so long, with the
 * module where CUDA_MODULE_LOADING is EAGER, else at the first launch), speed=MB/S (events measure copies alone, each
 * by its size, tenfold where a way is not direct), cold=SECONDS (the first large copy of each stream, more than others).
 * Faults that depend on earlier accesses: couple=GPU:FROM:TO:ACCESSES:MASK (bits of the line TO read inverted, if it is
 * read so few accesses after FROM was written), fade=GPU:OFFSET:MS:MASK (bits that become 0 if a line is neither read nor
 * written for so long), and of the cache, which holds the last `l2` bytes: stale=GPU:OFFSET (a line that is read as it was
 * before its last write, until it has left the cache), unwritten=GPU:OFFSET:N (the Nth write of a line is lost when it
 * leaves the cache). `l2_said` is the size that the driver reports, if not `l2`. `resident` is the number of blocks of
 * march that run at the same time on an SM, `resident_said` what the driver reports.
 * A file that FAKE_CUDA_LAUNCHED names takes a line for each launch on memory: the kernel, its first byte, its lines.
 * A file that FAKE_CUDA_COPIED names takes one for each context, module and copy between GPUs, with the process. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "shim.h"

#pragma GCC diagnostic ignored "-Wunused-function"
#include "../../rackcheck/burnin/kernels/gpu.cu"

enum { DEVICES = 16, BLOCKS_OF_MEMORY = 64 };
typedef struct { u64 at, size; } piece;
typedef struct {
    int number, launches, broken, lost, flipped, retained, lazy, access, full, warm;
    char *memory;
    u64 size;
    piece pieces[BLOCKS_OF_MEMORY];
} device;
typedef struct { device *of; int hung, warm; double at; } stream;
typedef struct { device *of; double at; int never; } event;

static device devices[DEVICES];
static int count = -1, order[DEVICES];
static u32 sms = 4;
static char state[8192];
static __thread device *current;

static void read_state(void) {
    const char *path = getenv("FAKE_CUDA_STATE");
    FILE *file = path ? fopen(path, "r") : NULL;
    state[0] = '\n';
    state[1] = 0;
    if (file) {
        state[1 + fread(state + 1, 1, sizeof state - 2, file)] = 0;
        fclose(file);
    }
}

static const char *value(const char *key) {
    char line[64];
    snprintf(line, sizeof line, "\n%s=", key);
    char *at = strstr(state, line);
    return at ? at + strlen(line) : NULL;
}
static u64 number(const char *key, u64 otherwise) {
    const char *at = value(key);
    return at ? strtoull(at, NULL, 0) : otherwise;
}
/* The numbers of a fault of this device, as many as are there; 0 where it has none. */
static int fault(const char *key, const device *d, long long *numbers) {
    const char *at = value(key);
    int n = 0;
    if (!at || strtoll(at, NULL, 0) != d->number) return 0;
    for (at = strchr(at, ':'); at && n < 4; at = (at[0] == ':') ? at : NULL) {
        char *end;
        numbers[n++] = at[1] == '-' ? strtoll(at + 1, &end, 0) : (long long)strtoull(at + 1, &end, 0);
        at = end;
    }
    return n;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* A GPU that has vanished is lost to every process: the file of its name lies beside the state. */
static void name_gone(const device *d, char *name, size_t size) {
    snprintf(name, size, "%s.gone%d", getenv("FAKE_CUDA_STATE"), d->number);
}
static int gone(device *d) {
    char name[512];
    long long n[4];
    const char *at = value("vanish");
    if (at && !d->lost) {
        device from = {.number = (int)strtoll(at, NULL, 0)};
        name_gone(d, name, sizeof name);
        if (fault("vanish", &from, n) && access(name, F_OK) == 0) d->lost = (int)n[1];
    }
    return d->lost;
}
static void written(const char *what, int a, int b) {
    FILE *out = getenv("FAKE_CUDA_COPIED") ? fopen(getenv("FAKE_CUDA_COPIED"), "a") : NULL;
    if (out) fprintf(out, "%d %s %d %d\n", (int)getpid(), what, a, b), fclose(out);
}
/* The time that a copy takes on its stream, for the events, and how often longer where the way is not direct. */
static void takes(stream *s, size_t size, double times) {
    if (size <= 128 << 10 || !value("speed")) return;
    if (!s->warm++ && value("cold")) s->at += strtod(value("cold"), NULL) * 1e3;
    s->at += (double)size / ((double)number("speed", 1) * 1e3) * times;
}
/* The time that a kernel which reads or writes memory takes on its stream; its first launch takes longer. */
static void streams(stream *s, const char *kernel, u64 lines) {
    static const struct { const char *kernel; int times; } moved[] = {{"fill", 1}, {"verify", 1}, {"march", 2}, {"copy", 2}};
    for (int n = 0; n < 4 && value("speed"); n++)
        if (strcmp(moved[n].kernel, kernel) == 0) {
            s->at += (double)(lines * 16) / ((double)number("speed", 1) * 1e3) * moved[n].times;
            if (value("cold") && !(s->of->warm & 1 << n)) s->at += strtod(value("cold"), NULL) * 1e3;
            s->of->warm |= 1 << n;
        }
}
static int direct(int a, int b) {
    const char *at = value("far");
    char *end;
    if (a == b || !at) return a != b;
    int one = (int)strtol(at, &end, 0), other = *end == ':' ? (int)strtol(end + 1, NULL, 0) : -1;
    return other >= 0 && !((a == one && b == other) || (a == other && b == one));
}

#define LIVE                                                                                                          \
    if (!current) return 201;                                                                                         \
    if (gone(current)) return current->lost;                                                                          \
    if (current->lost) return current->lost;                                                                          \
    if (current->broken) return current->broken

int cuInit(unsigned flags) {
    (void)flags;
    read_state();
    if (number("slow_init", 0)) sleep((unsigned)number("slow_init", 0));
    if (number("init", 0)) return (int)number("init", 0);
    count = (int)number("gpus", 1);
    sms = (u32)number("sms", 4);
    for (int i = 0; i < DEVICES; i++) order[i] = i;
    for (int i = 0; i < count; i++) {
        devices[i].number = i;
        devices[i].size = number("memory", 8 << 20);
        devices[i].memory = mmap(NULL, devices[i].size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    const char *at = value("order");
    if (at)
        for (count = 0; count < DEVICES && *at >= '0' && *at <= '9'; at += *at == ',') order[count++] = (int)strtol(at, (char **)&at, 10);
    return count ? 0 : 100;
}
int cuDriverGetVersion(int *version) { *version = (int)number("driver", 12020); return 0; }
int cuDeviceGetCount(int *n) { *n = count; return count < 0 ? 3 : 0; }
int cuDeviceGet(int *d, int ordinal) {
    if (ordinal < 0 || ordinal >= count) return 101;
    *d = order[ordinal];
    return 0;
}
int cuDeviceGetName(char *name, int size, int d) { (void)d; snprintf(name, (size_t)size, "Fake GPU"); return 0; }
int cuDeviceGetUuid(unsigned char *uuid, int d) {
    long long n[4];
    if (fault("blank", &devices[d], n)) return (int)n[0];
    memset(uuid, 0xa0 + (fault("twin", &devices[d], n) ? (int)n[0] : d), 16);
    return 0;
}
int cuDeviceGetUuid_v2(unsigned char *uuid, int d) {
    int code = cuDeviceGetUuid(uuid, d);
    if (value("slice") && (int)number("slice", 0) == d) memset(uuid, 0x30 + d, 16);
    return code;
}
int cuDeviceGetPCIBusId(char *id, int size, int d) {
    long long n[4];
    snprintf(id, (size_t)size, "0000:%02X:00.0", fault("at", &devices[d], n) ? (unsigned)n[0] : 0x17u + 16u * (unsigned)d);
    return 0;
}
int cuDeviceTotalMem_v2(size_t *size, int d) { *size = devices[d].size; return 0; }
int cuDeviceGetAttribute(int *v, int what, int d) {
    long long n[4];
    int cc = fault("older", &devices[d], n) ? (int)n[0] : (int)number("cc", 90);
    switch (what) {
    case 1: *v = (int)number("threads", 32); return 0;
    case 16: *v = (int)sms; return 0;
    case 38: *v = (int)number(value("l2_said") ? "l2_said" : "l2", 256 << 10); return 0;
    case 75: *v = cc / 10; return 0;
    case 76: *v = cc % 10; return 0;
    default: return 1;
    }
}
int cuDevicePrimaryCtxRetain(void **context, int d) {
    long long n[4];
    if (gone(&devices[d])) return devices[d].lost;
    if (fault("context", &devices[d], n)) return (int)n[0];
    if (fault("full", &devices[d], n) && devices[d].full++ < n[0]) return 2;
    devices[d].retained++;
    written("context", d, 0);
    *context = &devices[d];
    return 0;
}
int cuDevicePrimaryCtxRelease_v2(int d) {
    if (devices[d].retained-- <= 0) return 201;
    return devices[d].lost;
}
int cuCtxSetCurrent(void *context) { current = context; return 0; }
int cuMemGetInfo_v2(size_t *free_, size_t *total) {
    LIVE;
    u64 used = current->size / 64;
    for (int i = 0; i < BLOCKS_OF_MEMORY; i++) used += current->pieces[i].size;
    *total = current->size;
    *free_ = used > current->size ? 0 : current->size - used;
    return 0;
}
static int taken(device *d, u64 at, u64 size) {
    for (int i = 0; i < BLOCKS_OF_MEMORY; i++)
        if (d->pieces[i].size && at < d->pieces[i].at + d->pieces[i].size && d->pieces[i].at < at + size) return 1;
    return 0;
}
/* Big pieces lie at the bottom, so that an offset of a fault is one of the tested memory; small ones at the top. */
int cuMemAlloc_v2(u64 *at, size_t asked) {
    LIVE;
    u64 size = (asked + 511) & ~511ULL, whole = current->size - current->size / 64;
    if (size == 0 || size > whole) return size ? 2 : 1;
    for (u64 step = 0; step + size <= whole; step += 512) {
        u64 place = asked > current->size / 4 ? step : whole - size - step;
        if (taken(current, place, size)) continue;
        for (int i = 0; i < BLOCKS_OF_MEMORY; i++)
            if (!current->pieces[i].size) {
                current->pieces[i] = (piece){place, size};
                *at = (u64)(uintptr_t)current->memory + place;
                return 0;
            }
    }
    return 2;
}
int cuMemFree_v2(u64 at) {
    if (current->lost) return current->lost;
    for (int i = 0; i < BLOCKS_OF_MEMORY; i++)
        if (current->pieces[i].size && (u64)(uintptr_t)current->memory + current->pieces[i].at == at) {
            current->pieces[i].size = 0;
            return current->broken;
        }
    return 1;
}
int cuMemHostAlloc(void **at, size_t size, unsigned flags) {
    (void)flags;
    LIVE;
    *at = calloc(1, size);
    return *at ? 0 : 2;
}
int cuMemFreeHost(void *at) { free(at); return 0; }

static void hurt(char *to, size_t size, const char *way) {
    const char *at = value("link");
    if (!at || strtoll(at, NULL, 0) != current->number) return;
    at = strchr(at, ':') + 1;
    if (strncmp(at, way, 3) == 0 && strtoull(at + 4, NULL, 0) < size) to[strtoull(at + 4, NULL, 0)] ^= 4;
}
typedef struct { double wall, worked; } beginning;
static beginning begins(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (beginning){now(), (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6};
}
/* Sleep as much longer than it computed as the duty requires; by its processor time, so that other programs on the
 * machine do not lengthen the sleep. Then make what began last as long as on a GPU of this pace. */
static void keep_pace(beginning begun) {
    long long n[4];
    double duty = (double)number("duty", 25), began = begun.wall, worked = begins().worked - begun.worked;
    if (worked > 0.1 && duty > 0 && duty < 100) usleep((useconds_t)(worked * (100.0 / duty - 1) * 1e3));
    if (fault("pace", current, n) && n[0] > 0 && n[0] < 100)
        usleep((useconds_t)((now() - began) * (100.0 / (double)n[0] - 1) * 1e3));
}
int cuMemcpyHtoDAsync_v2(u64 to, const void *from, size_t size, void *s) {
    beginning began = begins();
    LIVE;
    takes(s, size, 1);
    memcpy((void *)(uintptr_t)to, from, size);
    hurt((char *)(uintptr_t)to, size, "h2d");
    keep_pace(began);
    return 0;
}
int cuMemcpyDtoHAsync_v2(void *to, u64 from, size_t size, void *s) {
    LIVE;
    beginning began = begins();
    takes(s, size, 1);
    memcpy(to, (void *)(uintptr_t)from, size);
    if (size > 128 << 10 || value("small")) hurt(to, size, "d2h");
    keep_pace(began);
    return 0;
}
int cuMemcpyPeerAsync(u64 to, void *to_of, u64 from, void *from_of, size_t size, void *s) {
    long long n[4];
    char name[512];
    device *a = from_of, *b = to_of;
    LIVE;
    if (gone(b)) return b->lost;
    written("copy", a->number, b->number);
    if (fault("peer_hang", a, n) && n[0] == b->number) { ((stream *)s)->hung = 1; return 0; }
    if (fault("peer_stall", a, n) && n[0] == b->number) for (;;) pause();
    if (fault("peer_crash", a, n) && n[0] == b->number) raise(SIGSEGV);
    if (fault("peer_fault", a, n) && n[0] == b->number) return a->broken = (int)n[1];
    if (fault("vanish", a, n) && n[0] == b->number) {
        name_gone(b, name, sizeof name);
        close(open(name, O_CREAT | O_WRONLY, 0600));
        return b->lost = (int)n[1];
    }
    takes(s, size, direct(a->number, b->number) ? 1 : 10);
    beginning began = begins();
    memcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, size);
    keep_pace(began);
    if (fault("peer", a, n) && n[0] == b->number) ((char *)(uintptr_t)to)[size / 2] ^= 1;
    return 0;
}
int cuMemsetD8Async(u64 at, unsigned char c, size_t size, void *s) {
    (void)s;
    LIVE;
    memset((void *)(uintptr_t)at, c, size);
    return 0;
}
int cuStreamCreate(stream **s, unsigned flags) {
    (void)flags;
    LIVE;
    *s = calloc(1, sizeof **s);
    (*s)->of = current;
    return 0;
}
int cuStreamDestroy_v2(stream *s) { free(s); return 0; }
int cuStreamWaitEvent(stream *s, event *e, unsigned flags) {
    (void)flags;
    LIVE;
    s->hung |= e->never;
    return 0;
}
int cuEventCreate(event **e, unsigned flags) {
    (void)flags;
    LIVE;
    *e = calloc(1, sizeof **e);
    (*e)->of = current;
    return 0;
}
int cuEventDestroy_v2(event *e) { free(e); return 0; }
int cuEventRecord(event *e, stream *s) {
    LIVE;
    e->at = value("speed") ? s->at : now();
    e->never = s->hung;
    return 0;
}
int cuEventQuery(event *e) {
    LIVE;
    return e->never ? 600 : 0;
}
int cuEventElapsedTime(float *ms, event *a, event *b) {
    LIVE;
    *ms = (float)(b->at - a->at);
    return 0;
}
int cuDeviceCanAccessPeer(int *can, int a, int b) { *can = direct(a, b); return 0; }
/* A GPU has access to eight others at a time at most. */
int cuCtxEnablePeerAccess(void *context, unsigned flags) {
    int bit = 1 << ((device *)context)->number;
    (void)flags;
    LIVE;
    if (context == current) return 101;
    if (current->access & bit) return 704;
    if (__builtin_popcount((unsigned)current->access) >= 8) return 711;
    current->access |= bit;
    return 0;
}
int cuCtxDisablePeerAccess(void *context) {
    int bit = 1 << ((device *)context)->number;
    LIVE;
    if (!(current->access & bit)) return 705;
    current->access &= ~bit;
    return 0;
}

typedef struct { const char *name; void (*call)(void **p); int by_warp; } function;
#define P(n, type) (*(type *)p[n])
static void call_fill(void **p) { kernel_fill(P(0, vec *), P(1, u64), P(2, u64), P(3, u64), P(4, u64)); }
static void call_verify(void **p) { kernel_verify(P(0, vec *), P(1, u64), P(2, u64), P(3, u64), P(4, u64), P(5, report *)); }
static void call_march(void **p) {
    kernel_march(P(0, vec *), P(1, u64), P(2, u64), P(3, u64), P(4, u64), P(5, u64), P(6, report *));
}
static void call_copy(void **p) { kernel_copy(P(0, vec *), P(1, vec *), P(2, u64)); }
static void call_checksum(void **p) { kernel_checksum(P(0, vec *), P(1, u64), P(2, report *)); }
static void call_flip_bits(void **p) { kernel_flip_bits(P(0, vec *), P(1, u64), P(2, u64)); }
static void call_tensor(void **p) {
    kernel_tensor(P(0, u64 *), P(1, vec *), P(2, u32), P(3, u32), P(4, u32), P(5, u32), P(6, u32), P(7, report *));
}
static void call_fp64(void **p) { kernel_fp64(P(0, u64), P(1, u32), P(2, u32), P(3, u32), P(4, report *)); }
static void call_fp32(void **p) { kernel_fp32(P(0, u64), P(1, u32), P(2, u32), P(3, u32), P(4, report *)); }
static void call_int32(void **p) { kernel_int32(P(0, u64), P(1, u32), P(2, u32), P(3, u32), P(4, report *)); }
static void call_sfu(void **p) { kernel_sfu(P(0, u64), P(1, u32), P(2, u32), P(3, u32), P(4, report *)); }
static const function functions[] = {
    {"fill", call_fill, 0},   {"verify", call_verify, 0},       {"march", call_march, 0}, {"copy", call_copy, 0},
    {"checksum", call_checksum, 0}, {"flip_bits", call_flip_bits, 0}, {"tensor", call_tensor, 1}, {"fp64", call_fp64, 0},
    {"fp32", call_fp32, 0},   {"int32", call_int32, 0},         {"sfu", call_sfu, 0},     {NULL, NULL, 0},
};

int cuModuleLoadData(void **module, const void *image) {
    LIVE;
    const char *eager = getenv("CUDA_MODULE_LOADING");
    int elf = memcmp(image, "\x7f" "ELF", 4) == 0;
    if (number("refuses", 0) && elf) return 209;
    if (!elf && value("jit")) {
        if (eager && strcmp(eager, "EAGER") == 0) usleep((useconds_t)(strtod(value("jit"), NULL) * 1e6));
        else current->lazy = 1;
    }
    written("module", current->number, 0);
    *module = current;
    return 0;
}
/* `resident` is how many blocks of any kernel run on an SM, `resident_said` what the driver reports of it, and
 * `resident_KERNEL` what it reports of one kernel. Without them, kernels that compute have two. */
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const function *f, int threads, size_t shared) {
    char key[32];
    (void)threads, (void)shared;
    LIVE;
    snprintf(key, sizeof key, "resident_%s", f->name);
    const char *named = value(key) ? key : value("resident_said") ? "resident_said" : "resident";
    *blocks = (int)number(named, strstr("tensor fp64 fp32 int32 sfu", f->name) ? 2 : 8);
    return 0;
}
int cuModuleUnload(void *module) { (void)module; return 0; }
int cuModuleGetFunction(const function **f, void *module, const char *name) {
    (void)module;
    for (*f = functions; (*f)->name; (*f)++)
        if (strcmp((*f)->name, name) == 0) return 0;
    return 500;
}

/* The faults of this device, set for the launch that begins. */
static void fall_ill(device *d) {
    long long n[4];
    static const char *units[] = {"mma", "fp64", "fp32", "int32", "sfu"};
    memset(&ill, 0, sizeof ill);
    ill.wrong_sm = ill.nan_sm = ill.slow_sm = ill.alias = -1;
    ill.memory = d->memory;
    if (fault("stuck", d, n)) ill.stuck = d->memory + n[0], ill.stuck_mask = (u64)n[1];
    if (fault("alias", d, n)) ill.alias = (int)n[0], ill.alias_below = d->size * 3 / 4;
    ill.cache = number("l2", 256 << 10) / sizeof(vec);
    if (fault("stale", d, n)) ill.stale = d->memory + n[0];
    if (fault("unwritten", d, n)) ill.unwritten = d->memory + n[0], ill.unwritten_store = (u64)n[1];
    if (fault("couple", d, n)) {
        ill.aggressor = d->memory + n[0], ill.victim = d->memory + n[1];
        ill.reach = (u64)n[2], ill.victim_mask = (u64)n[3];
    }
    if (fault("fade", d, n)) ill.faint = d->memory + n[0], ill.fades = (double)n[1], ill.faint_mask = (u64)n[2];
    if (fault("nan", d, n)) ill.nan_sm = (int)n[0];
    if (fault("slow", d, n)) ill.slow_sm = (int)n[0], ill.slow = (int)n[1];
    if (fault("wrong", d, n)) {
        const char *unit = strchr(strchr(value("wrong"), ':') + 1, ':') + 1;
        ill.wrong_sm = (int)n[0];
        for (int i = 0; i < 5; i++)
            if (strncmp(unit, units[i], strlen(units[i])) == 0) ill.wrong_units = 1 << i;
        ill.wrong = strtoull(strchr(unit, ':') + 1, NULL, 0);
    }
}
/* Change what lies where a fill has just been. */
static void decay(device *d, void **p) {
    long long n[4];
    char *from = P(0, char *), *to = from + P(2, u64) * 16;
    if (d->flipped) return;
    for (int burst = 0; burst < 2; burst++)
        if (fault(burst ? "burst" : "flip", d, n) && d->memory + n[0] >= from && d->memory + n[0] < to) {
            d->flipped = 1;
            for (int i = 0; i < (burst ? 32 : 1); i++) *(u64 *)(d->memory + n[0] + 16 * i) ^= (u64)n[1];
        }
}

static void run_block(const function *f, u32 block, u32 sm, unsigned threads, void **p) {
    at_work.block = block;
    at_work.sm = sm;
    if (value("wrong") && strstr(value("wrong"), ":-1:")) ill.wrong_sm = (int)sm;
    at_work.ticks = 0;
    /* Thread 0 reads the clock for its block, so that it comes last. */
    for (int thread = (int)threads - (f->by_warp ? 32 : 1); thread >= 0; thread -= f->by_warp ? 32 : 1) {
        at_work.thread = (u32)thread;
        at_work.products = 0;
        f->call(p);
    }
}
/* March as the blocks of a GPU do: those that run at the same time keep step, and the others wait until they end. In a
 * grid of 2^31 blocks each runs its loop once, so that block `step + n` does what block `n` does in one of its turns. */
static void march_in_step(const function *f, u32 blocks, unsigned threads, void **p) {
    u64 tiles = (P(2, u64) + threads * 8 - 1) / (threads * 8);
    u32 beside = sms * (u32)number("resident", 8);
    at_work.blocks = 1u << 31;
    for (u32 first = 0; first < blocks; first += beside)
        for (u64 step = 0; step < tiles; step += blocks)
            for (u32 n = first; n < blocks && n < first + beside && step + n < tiles; n++)
                run_block(f, (u32)step + n, n % sms, threads, p);
}

int cuLaunchKernel(const function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, stream *s, void **p, void **extra) {
    long long n[4];
    LIVE;
    (void)shared, (void)extra;
    beginning began = begins();
    if (gy != 1 || gz != 1 || by != 1 || bz != 1 || bx == 0 || bx % 32) return 1;
    read_state();
    current->launches++;
    if (current->lazy) current->lazy = 0, usleep((useconds_t)(strtod(value("jit"), NULL) * 1e6));
    if (fault("hang", current, n) && current->launches >= n[0]) { s->hung = 1; return 0; }
    if (fault("stall", current, n) && current->launches >= n[0]) for (;;) pause();
    if (fault("sticky", current, n) && current->launches >= n[0]) { current->broken = (int)n[1]; return 0; }
    if (fault("lost", current, n) && current->launches >= n[0]) { current->lost = (int)n[1]; return 0; }
    fall_ill(current);
    if (getenv("FAKE_CUDA_LAUNCHED") && strstr("fill verify march checksum", f->name)) {
        FILE *out = fopen(getenv("FAKE_CUDA_LAUNCHED"), "a");
        int sums = strcmp(f->name, "checksum") == 0, down = strcmp(f->name, "march") == 0 && P(5, u64);
        long long at = (long long)(P(0, char *) - current->memory);
        if (out) fprintf(out, "%s%s %lld %llu\n", f->name, down ? "_down" : "", at, sums ? P(1, u64) : P(2, u64)), fclose(out);
    }
    if (getenv("FAKE_CUDA_GRIDS")) {
        FILE *out = fopen(getenv("FAKE_CUDA_GRIDS"), "a");
        if (out) fprintf(out, "%s %u\n", f->name, gx), fclose(out);
    }
    memset(&at_work, 0, sizeof at_work);
    at_work.threads = bx;
    at_work.blocks = gx;
    if (strcmp(f->name, "march") == 0) march_in_step(f, gx, bx, p);
    else for (u32 block = 0; block < gx; block++) run_block(f, block, block % sms, bx, p);
    if (strcmp(f->name, "fill") == 0) decay(current, p);
    streams(s, f->name, P(2, u64));
    keep_pace(began);
    return 0;
}

int cuGetErrorName(int code, const char **name) {
    static char text[32];
    snprintf(text, sizeof text, "CUDA_ERROR_%d", code);
    *name = text;
    return 0;
}
int cuGetErrorString(int code, const char **said) {
    static char text[48];
    snprintf(text, sizeof text, "what the driver says of %d", code);
    *said = text;
    return 0;
}
