/* What gpu.cu means on a CPU: a thread is a call, a warp is a loop over 32 lanes, and each memory access, product and
 * clock asks the faults of the machine that is played. */
#define RACKCHECK_SHIM
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef uint32_t u32;
typedef unsigned long long u64;
typedef struct { u64 lo, hi; } __attribute__((aligned(16))) vec;

#define KERNEL(name) static void kernel_##name
#define KERNEL_TWICE KERNEL
#define DEVICE static inline
#define APART static
#define UNROLL
#define UNROLL_4
#define ROLLED
#define LANES 32
#define EACH(l) for (u32 l = 0; l < 32; l++)
#define LANE(l) (l)
#define THREAD (at_work.thread)
#define BLOCK (at_work.block)
#define THREADS (at_work.threads)
#define BLOCKS (at_work.blocks)

enum { MMA_UNIT = 1, FP64_UNIT = 2, FP32_UNIT = 4, INT32_UNIT = 8, SFU_UNIT = 16 };

static struct {
    u32 thread, block, threads, blocks, sm;
    u64 ticks, products;
} at_work;

static struct {
    int wrong_sm, wrong_units, nan_sm, slow_sm, slow, alias;
    u64 wrong, stuck_mask;
    char *stuck, *memory;
    u64 alias_below; /* bytes of the memory within which an address line is dead */
    u64 cache; /* accesses after which a line has left the cache */
    char *stale, *unwritten, *aggressor, *victim, *faint;
    u64 unwritten_store, reach, victim_mask, faint_mask;
    double fades; /* ms */
} ill;

/* What the faults that depend on earlier accesses remember from launch to launch. */
static struct {
    u64 accesses, stale_since, unwritten_since, stores, disturbed;
    vec stale, unwritten;
    double refreshed;
} past;

static inline u32 BITS(float x) { u32 b; memcpy(&b, &x, 4); return b; }
static inline float FLOAT(u32 b) { float x; memcpy(&x, &b, 4); return x; }
static inline u64 BITS64(double x) { u64 b; memcpy(&b, &x, 8); return b; }
static inline double DOUBLE(u64 b) { double x; memcpy(&x, &b, 8); return x; }
static inline u32 ADD32(u32 *at, u32 n) { u32 was = *at; *at += n; return was; }
static inline u64 ADD64(u64 *at, u64 n) { u64 was = *at; *at += n; return was; }

static inline void spent(u64 n) { at_work.ticks += (int)at_work.sm == ill.slow_sm ? n * (u64)ill.slow / 100 : n; }
static inline u32 sm_id(void) { return at_work.sm; }
static inline u64 ticks(void) { return at_work.ticks; }
static inline int wrong(int unit) { return (int)at_work.sm == ill.wrong_sm && (ill.wrong_units & unit); }

static inline char *where(const void *at) {
    u64 offset = (u64)((const char *)at - ill.memory);
    if (ill.alias >= 0 && offset < ill.alias_below) offset &= ~(1ULL << ill.alias);
    return ill.memory + offset;
}
static double now(void);
static inline vec load(const vec *at) {
    char *from = where(at);
    past.accesses++;
    if (from == ill.unwritten && past.unwritten_since && past.accesses - past.unwritten_since >= ill.cache) {
        *(vec *)from = past.unwritten;
        past.unwritten_since = 0;
    }
    if (from == ill.faint) {
        if (now() - past.refreshed > ill.fades) ((vec *)from)->lo &= ~ill.faint_mask;
        past.refreshed = now();
    }
    vec v = *(vec *)from;
    if (from == ill.stuck) v.lo |= ill.stuck_mask;
    if (from == ill.stale && past.stale_since && past.accesses - past.stale_since < ill.cache) v = past.stale;
    if (from == ill.victim && past.disturbed && past.accesses - past.disturbed < ill.reach) v.lo ^= ill.victim_mask;
    return v;
}
static inline vec load_again(const vec *at) { return load(at); }
static inline void store(vec *at, vec v) {
    char *to = where(at);
    past.accesses++;
    if (to == ill.stale) past.stale = *(vec *)to, past.stale_since = past.accesses;
    if (to == ill.unwritten) {
        past.unwritten = *(vec *)to;
        past.unwritten_since = ++past.stores == ill.unwritten_store ? past.accesses : 0;
    }
    if (to == ill.aggressor) past.disturbed = past.accesses;
    if (to == ill.faint) past.refreshed = now();
    *(vec *)to = v;
}

static inline double fma64(double a, double b, double c) {
    double d = fma(a, b, c);
    spent(2);
    return wrong(FP64_UNIT) ? DOUBLE(BITS64(d) ^ ill.wrong) : d;
}
static inline float fma32(float a, float b, float c) {
    float d = fmaf(a, b, c);
    spent(2);
    return wrong(FP32_UNIT) ? FLOAT(BITS(d) ^ (u32)ill.wrong) : d;
}
static inline u32 mad32(u32 a, u32 b, u32 c) {
    u32 d = a * b + c;
    spent(2);
    return wrong(INT32_UNIT) ? d ^ (u32)ill.wrong : d;
}
static inline float ex2(float a) { spent(4); return exp2f(a); }
static inline float sine(float a) { spent(4); return sinf(a); }
static inline float root(float a) {
    float d = 1.0f / sqrtf(a);
    return wrong(SFU_UNIT) ? FLOAT(BITS(d) ^ (u32)ill.wrong) : d;
}

static inline float half_of(u32 pair, u32 n) { return FLOAT(n ? pair & 0xffff0000u : pair << 16); }

/* The product as the PTX ISA lays it out (mma.m16n8k16, .bf16): lane = 4 group + member. A's registers hold rows `group`
 * and `group + 8` by turns, of columns 2 member and 2 member + 8; B's hold rows 2 member and 2 member + 8 of column
 * `group`; C's hold row `group`, then `group + 8`, of columns 2 member and the next. */
static void product(float (*c)[16][4], u32 n, u32 (*a)[4][4], u32 i, u32 (*b)[4][2], u32 j) {
    float left[16][16], right[16][8];
    for (u32 lane = 0; lane < 32; lane++) {
        u32 group = lane / 4, member = lane % 4;
        for (u32 r = 0; r < 4; r++)
            for (u32 h = 0; h < 2; h++)
                left[group + (r % 2) * 8][member * 2 + h + (r / 2) * 8] = half_of(a[lane][i][r], h);
        for (u32 r = 0; r < 2; r++)
            for (u32 h = 0; h < 2; h++) right[member * 2 + h + r * 8][group] = half_of(b[lane][j][r], h);
    }
    for (u32 lane = 0; lane < 32; lane++)
        for (u32 e = 0; e < 4; e++) {
            u32 row = lane / 4 + (e / 2) * 8, column = (lane % 4) * 2 + e % 2;
            float sum = 0.0f;
            for (u32 k = 0; k < 16; k++) sum += left[row][k] * right[k][column];
            c[lane][n][e] += sum;
        }
    spent(8);
    if (n == 5 && at_work.products++ % 64 == 0) {
        if (wrong(MMA_UNIT)) c[9][5][2] += (float)ill.wrong;
        if ((int)at_work.sm == ill.nan_sm) c[9][5][2] = NAN;
    }
}
#define MMA(c, n, a, i, b, j) product(c, n, a, i, b, j)
