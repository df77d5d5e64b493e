/* The CPU's kernels: freestanding, one source, compiled once per variant (build_cpu.py) and linked to one library.

   No libc, no table, no global that is written: the library needs only a memfd and dlopen. `best` chooses a variant
   on the machine itself. Every variant computes the same bits: all arithmetic is fused multiply-add on
   independent lanes, integers, or values small enough to be exact, so that a hash of one core can be compared with any
   other core, of any width, of either architecture.

   Each function is bounded by its arguments; the loops that run for a time read CLOCK_MONOTONIC after each chunk,
   some 30 to 60 microseconds of work on an otherwise idle core. Times are read from the kernel by a raw system call:
   `cpu` is the thread's own time, so that work of the interpreter or of another process is not counted. */

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned __int128 u128;

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <arm_neon.h>
#else
#error "x86-64 or aarch64"
#endif

#define JOIN(a, b) a##b
#define JOINED(a, b) JOIN(a, b)
#if defined(PLAIN)
#define NAME(f) JOINED(f, _plain)
#define WIDTH 16
#elif defined(__AVX512F__)
#define NAME(f) JOINED(f, _avx512)
#define WIDTH 64
#elif defined(__AVX2__)
#define NAME(f) JOINED(f, _avx2)
#define WIDTH 32
#else
#define NAME(f) JOINED(f, _neon)
#define WIDTH 16
#endif
#define OUT(type, f) __attribute__((visibility("default"))) type NAME(f)
#define PURE static inline __attribute__((always_inline))

typedef u64 words __attribute__((vector_size(WIDTH)));
typedef double reals __attribute__((vector_size(WIDTH)));
enum { LANES = 96, PER = WIDTH / 8 };

struct counts { u64 wall, cpu, work, found; };  /* ns, ns, bytes or floating-point operations, mismatches */
struct wrong { u64 address, want, got; };

PURE u64 now(long which)
{
    long at[2] = {0, 0};
#if defined(__x86_64__)
    long status;
    __asm__ volatile("syscall" : "=a"(status) : "a"(228L), "D"(which), "S"(at) : "rcx", "r11", "memory");
#else
    register long x8 __asm__("x8") = 113, x0 __asm__("x0") = which;
    register long *x1 __asm__("x1") = at;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1) : "memory");
#endif
    return (u64)at[0] * 1000000000u + (u64)at[1];
}
enum { WALL = 1, CPU = 3 };  /* CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID */

PURE void began(struct counts *counts) { counts->wall = now(WALL); counts->cpu = now(CPU); counts->work = counts->found = 0; }
PURE void ended(struct counts *counts) { counts->wall = now(WALL) - counts->wall; counts->cpu = now(CPU) - counts->cpu; }

/* A bijection of the word's index: a misplaced word identifies its origin. */
#define STEP 0x9E3779B97F4A7C15ull
#define MIXED(w) ((w) ^= (w) >> 32, (w) ^= (w) << 21, (w) ^= (w) >> 13)
PURE u64 word(u64 index, u64 seed) { u64 w = index * STEP + seed; MIXED(w); return w; }

PURE words first(u64 index, u64 seed)
{
    words w;
    for (int i = 0; i < PER; i++) w[i] = (index + (u64)i) * STEP + seed;
    return w;
}

#if defined(PLAIN)
#define STREAM(p, v) (*(p) = (v))
#define FENCE()
#elif defined(__AVX512F__)
#define STREAM(p, v) _mm512_stream_si512((void *)(p), (__m512i)(v))
#define FENCE() _mm_sfence()
#elif defined(__AVX2__)
#define STREAM(p, v) _mm256_stream_si256((void *)(p), (__m256i)(v))
#define FENCE() _mm_sfence()
#else
#define STREAM(p, v) __builtin_nontemporal_store(v, p)
#define FENCE()
#endif

/* ---- the fingerprint: x <- x * x + c, chaotic between -2 and 2, so that one wrong bit spreads over the word ---- */

#if defined(PLAIN)
enum { HELD = 1 };
/* A correctly rounded fused multiply-add in integers, for normal numbers and zero: the reference for the others. */
PURE double bits(u64 b) { union { u64 b; double d; } u = {b}; return u.d; }
PURE u64 of(double d) { union { double d; u64 b; } u = {d}; return u.b; }
PURE int lead(u128 v) { u64 top = (u64)(v >> 64); return top ? __builtin_clzll(top) : 64 + __builtin_clzll((u64)v); }

static double fused(double x, double y, double z)
{
    u64 a = of(x), b = of(y), c = of(z), low = (1ull << 52) - 1;
    if (!(a << 1) || !(b << 1)) return z;
    u128 p = (u128)((a & low) | (low + 1)) * ((b & low) | (low + 1)), q = (c & low) | (low + 1);
    int ep = (int)(a >> 52 & 2047) + (int)(b >> 52 & 2047) - 2150, eq = (int)(c >> 52 & 2047) - 1075;
    u64 sp = (a ^ b) >> 63, sq = c >> 63;
    int shift = lead(p) - 2;
    p <<= shift, ep -= shift;
    if (!(c << 1)) q = 0, eq = ep;
    else shift = lead(q) - 2, q <<= shift, eq -= shift;
    if (eq > ep || (eq == ep && q > p)) {
        u128 m = p; p = q; q = m;
        int e = ep; ep = eq; eq = e;
        u64 s = sp; sp = sq; sq = s;
    }
    int apart = ep - eq;
    if (apart > 127) q = q != 0;
    else if (apart) q = q >> apart | ((q << (128 - apart)) != 0);
    u128 sum = sp == sq ? p + q : p - q;
    if (!sum) return 0.0;
    int spare = 75 - lead(sum);  /* bits below the 53 that are kept */
    ep += spare;
    u64 kept;
    if (spare > 0) {
        u128 rest = sum & (((u128)1 << spare) - 1), half = (u128)1 << (spare - 1);
        kept = (u64)(sum >> spare);
        kept += rest > half || (rest == half && (kept & 1));
    } else kept = (u64)(sum << -spare);
    if (kept >> 53) kept >>= 1, ep++;
    return bits(sp << 63 | (u64)(ep + 1075) << 52 | (kept & low));
}
PURE reals square(reals x, reals c) { for (int i = 0; i < PER; i++) x[i] = fused(x[i], x[i], c[i]); return x; }
#elif defined(__AVX512F__)
enum { HELD = 12 };  /* accumulators in registers: latency 4 times two units, and some to spare; LANES is a multiple */
#define square(x, c) ((reals)_mm512_fmadd_pd(x, x, c))
#elif defined(__AVX2__)
enum { HELD = 12 };
#define square(x, c) ((reals)_mm256_fmadd_pd(x, x, c))
#else
enum { HELD = 16 };
#define square(x, c) ((reals)vfmaq_f64(c, x, x))
#endif

PURE double between(u64 w) /* -1 to 1 in steps of 2^-52: exact for any compiled form */
{
    return (double)(long long)(w >> 11) * 0x1p-52 - 1.0;
}

PURE u64 print(u64 seed, u64 rounds)
{
    reals held[LANES / PER], c;
    double to = -2.0 + (double)(1 + (word(LANES, seed) >> 48)) * 0x1p-36;
    for (int i = 0; i < PER; i++) c[i] = to;
    for (int i = 0; i < LANES; i++) held[i / PER][i % PER] = between(word((u64)i, seed));
#pragma GCC unroll 1
    for (int at = 0; at < LANES / PER; at += HELD) {
        reals x[HELD];
        for (int i = 0; i < HELD; i++) x[i] = held[at + i];
#pragma GCC unroll 1
        for (u64 r = 0; r < rounds; r++)
#pragma GCC unroll 16
            for (int i = 0; i < HELD; i++) x[i] = square(x[i], c);
        for (int i = 0; i < HELD; i++) held[at + i] = x[i];
    }
    u64 hash = seed;
    for (int i = 0; i < LANES; i++) {
        union { double d; u64 b; } lane = {held[i / PER][i % PER]};
        hash = (hash ^ lane.b) * STEP;
        hash ^= hash >> 29;
    }
    return hash;
}

/* The fingerprint of `seed` after `rounds`, repeated for `budget` ns, at least once; `found` counts those that
   differ from the first. Returns the first, or the one that differs from `want` if that is not 0. Work in FLOP. */
OUT(u64, fma)(u64 seed, u64 rounds, u64 want, u64 budget, struct counts *counts)
{
    began(counts);
    u64 shown = want;
    do {
        __asm__ volatile("" : "+r"(seed));  /* the same work again, not the cached result */
        u64 seen = print(seed, rounds);
        if (!want) want = shown = seen;
        if (seen != want) counts->found++, shown = seen;
        counts->work += 2 * LANES * rounds;
    } while (now(WALL) - counts->wall < budget);
    ended(counts);
    return shown;
}

/* ---- memory ---- */

/* Write the pattern of the words that begin with `index`. Bytes: a multiple of 256; the address: of 64. */
OUT(void, fill)(void *at, u64 bytes, u64 index, u64 seed, u64 flip, struct counts *counts)
{
    began(counts);
    words *p = at, w = first(index, seed), mask = {0};
    mask = mask + flip;
    for (u64 i = 0; i < bytes / WIDTH; i++, w += STEP * PER) {
        words v = w;
        MIXED(v);
        STREAM(p + i, v ^ mask);
    }
    FENCE();
    counts->work = bytes;
    ended(counts);
}

/* Read and compare; with `turn` also write the complement. Wrong words beyond `most` are counted only. */
OUT(void, verify)(void *at, u64 bytes, u64 index, u64 seed, u64 flip, u64 turn, struct wrong *list, u64 most, struct counts *counts)
{
    enum { BLOCK = 4096 };
    began(counts);
    words w = first(index, seed), mask = {0};
    mask = mask + flip;
    for (u64 done = 0; done < bytes; done += BLOCK) {
        u64 size = bytes - done < BLOCK ? bytes - done : BLOCK;
        words *p = (words *)((u8 *)at + done), bad = {0}, again = w;
        for (u64 i = 0; i < size / WIDTH; i++, w += STEP * PER) {
            words v = w;
            MIXED(v);
            bad |= p[i] ^ v ^ mask;
        }
        u64 any = 0;
        for (int i = 0; i < PER; i++) any |= bad[i];
        if (any)
            for (u64 i = 0; i < size / 8; i++) {
                u64 got = ((volatile u64 *)p)[i], want = word(index + done / 8 + i, seed) ^ flip;
                if (got == want) continue;
                if (counts->found < most) list[counts->found] = (struct wrong){(u64)((u64 *)p + i), want, got};
                counts->found++;
            }
        if (turn)
            for (u64 i = 0; i < size / WIDTH; i++, again += STEP * PER) {
                words v = again;
                MIXED(v);
                p[i] = ~(v ^ mask);
            }
    }
    counts->work = turn ? 2 * bytes : bytes;
    ended(counts);
}

/* ---- triad ---- */

/* a = b + by * c over `count` numbers (a multiple of 512) from `from`, cyclic, for `budget` ns. Returns where it stopped. */
OUT(u64, triad)(double *a, const double *b, const double *c, u64 count, double by, u64 from, u64 budget, struct counts *counts)
{
    enum { CHUNK = 131072 };
    began(counts);
    reals times = {0};
    times = times + by;
    do {
        u64 size = count - from < CHUNK ? count - from : CHUNK;
        words *to = (words *)(a + from);
        const reals *x = (const reals *)(b + from), *y = (const reals *)(c + from);
        for (u64 i = 0; i < size / PER; i++) STREAM(to + i, (words)(x[i] + times * y[i]));
        counts->work += 24 * size;
        from = from + size == count ? 0 : from + size;
    } while (now(WALL) - counts->wall < budget);
    FENCE();
    ended(counts);
    return from;
}

/* ---- crypto: AES-128 block by block, its key from the seed, and CRC32C ---- */

PURE u8 doubled(u8 v) { return (u8)(v << 1 ^ (v >> 7) * 0x1b); }

static void substitution(u8 *box, u8 *back)  /* computed, not stored: 3 generates the field */
{
    u8 p = 1, q = 1;
    do {
        p = (u8)(p ^ doubled(p));
        q ^= (u8)(q << 1); q ^= (u8)(q << 2); q ^= (u8)(q << 4); q ^= (u8)((q >> 7) * 0x09);
        u8 v = (u8)(q ^ (u8)(q << 1 | q >> 7) ^ (u8)(q << 2 | q >> 6) ^ (u8)(q << 3 | q >> 5) ^ (u8)(q << 4 | q >> 4) ^ 0x63);
        box[p] = v, back[v] = p;
    } while (p != 1);
    box[0] = 0x63, back[0x63] = 0;
}

static void keys(u64 seed, u8 (*key)[16], const u8 *box)
{
    u8 con = 1;
    for (int i = 0; i < 16; i++) key[0][i] = (u8)(word((u64)i, seed) >> 24);
    for (int r = 1; r < 11; r++, con = doubled(con))
        for (int i = 0; i < 16; i++) {
            u8 last = i < 4 ? (u8)(box[key[r - 1][12 + (i + 1) % 4]] ^ (i ? 0 : con)) : key[r][i - 4];
            key[r][i] = key[r - 1][i] ^ last;
        }
}

#if defined(PLAIN)
typedef struct { u8 b[16]; } block;
PURE block mixed(block s)
{
    block t;
    for (int i = 0; i < 16; i++) {
        u8 *k = s.b + (i & 12);
        t.b[i] = (u8)(doubled((u8)(k[i & 3] ^ k[(i + 1) & 3])) ^ k[(i + 1) & 3] ^ k[(i + 2) & 3] ^ k[(i + 3) & 3]);
    }
    return t;
}
PURE block xored(block a, const u8 *k) { for (int i = 0; i < 16; i++) a.b[i] ^= k[i]; return a; }
#elif defined(__x86_64__)
typedef __m128i block;
#define ENC(s, k) _mm_aesenc_si128(s, k)
#define DEC(s, k) _mm_aesdec_si128(s, k)
#define LASTE(s, k) _mm_aesenclast_si128(s, k)
#define LASTD(s, k) _mm_aesdeclast_si128(s, k)
#define XOR(a, b) _mm_xor_si128(a, b)
#define LOAD(p) _mm_loadu_si128((const __m128i *)(p))
#define SAVE(p, v) _mm_storeu_si128((__m128i *)(p), v)
#define TURNED(k) _mm_aesimc_si128(k)
#else
typedef uint8x16_t block;
#define NONE vdupq_n_u8(0)
#define ENC(s, k) veorq_u8(vaesmcq_u8(vaeseq_u8(s, NONE)), k)
#define DEC(s, k) veorq_u8(vaesimcq_u8(vaesdq_u8(s, NONE)), k)
#define LASTE(s, k) veorq_u8(vaeseq_u8(s, NONE), k)
#define LASTD(s, k) veorq_u8(vaesdq_u8(s, NONE), k)
#define XOR(a, b) veorq_u8(a, b)
#define LOAD(p) vld1q_u8(p)
#define SAVE(p, v) vst1q_u8(p, v)
#define TURNED(k) vaesimcq_u8(k)
#endif

/* Encrypt (or decrypt) in place. Bytes: a multiple of 128. */
OUT(void, aes)(u8 *at, u64 bytes, u64 seed, u64 back, struct counts *counts)
{
    u8 box[256], inverse[256], key[11][16];
    began(counts);
    substitution(box, inverse);
    keys(seed, key, box);
#if defined(PLAIN)
    for (u64 done = 0; done < bytes; done += 16) {
        block s = *(block *)(at + done), t;
        s = xored(s, key[back ? 10 : 0]);
        for (int r = 1; r < 11; r++) {
            for (int i = 0; i < 16; i++)
                t.b[i] = back ? inverse[s.b[(i - 4 * (i & 3)) & 15]] : box[s.b[(i + 4 * (i & 3)) & 15]];
            if (back) {
                s = xored(t, key[10 - r]);
                if (r < 10) s = mixed(mixed(mixed(s)));  /* the mixing has order four */
            } else s = xored(r < 10 ? mixed(t) : t, key[r]);
        }
        *(block *)(at + done) = s;
    }
#else
    block k[11], s[8];
    for (int r = 0; r < 11; r++) k[r] = LOAD(key[back ? 10 - r : r]);
    if (back)
        for (int r = 1; r < 10; r++) k[r] = TURNED(k[r]);
    for (u64 done = 0; done < bytes; done += 128) {
#pragma GCC unroll 16
        for (int i = 0; i < 8; i++) s[i] = XOR(LOAD(at + done + 16 * i), k[0]);
#pragma GCC unroll 16
        for (int r = 1; r < 10; r++)
#pragma GCC unroll 16
            for (int i = 0; i < 8; i++) s[i] = back ? DEC(s[i], k[r]) : ENC(s[i], k[r]);
#pragma GCC unroll 16
        for (int i = 0; i < 8; i++) SAVE(at + done + 16 * i, back ? LASTD(s[i], k[10]) : LASTE(s[i], k[10]));
    }
#endif
    counts->work = bytes;
    ended(counts);
}

/* CRC32C as in RFC 3720. Bytes: a multiple of 8. */
OUT(u32, crc)(const u8 *at, u64 bytes)
{
    u32 crc = ~0u;
    for (u64 i = 0; i < bytes / 8; i++) {
        u64 v = ((const u64 *)at)[i];
#if defined(PLAIN)
        for (int bit = 0; bit < 64; bit++, v >>= 1) crc = crc >> 1 ^ (0x82F63B78u & (0u - ((crc ^ (u32)v) & 1)));
#elif defined(__x86_64__)
        crc = (u32)_mm_crc32_u64(crc, v);
#else
        crc = __crc32cd(crc, v);
#endif
    }
    return ~crc;
}

#if defined(PLAIN)
/* ---- once for all variants ---- */

#define EVERY __attribute__((visibility("default")))

/* The triad's arrays: small whole numbers, whose sums are exact with or without fusing. */
#define B(i) ((double)((i) & 1023))
#define C(i) ((double)((i) & 511))
EVERY void lay(double *a, double *b, double *c, u64 count)
{
    for (u64 i = 0; i < count; i++) a[i] = -1.0, b[i] = B(i), c[i] = C(i);
}

EVERY u64 laid(const double *a, u64 count, double by)
{
    u64 wrong = 0;
    for (u64 i = 0; i < count; i++) wrong += a[i] != B(i) + by * C(i);
    return wrong;
}

/* `rounds` times 64 additions, each dependent on the previous one: cycles, whatever the nominal clock. Two registers,
   because some cores fold the addition of a constant away. */
EVERY void adds(u64 rounds, struct counts *counts)
{
    u64 v = rounds, one = 1;
    began(counts);
    for (u64 i = 0; i < rounds; i++)
#if defined(__x86_64__)
        __asm__ volatile(".rept 64\n\tadd %1, %0\n\t.endr" : "+r"(v) : "r"(one) : "cc");
#else
        __asm__ volatile(".rept 64\n\tadd %0, %0, %1\n\t.endr" : "+r"(v) : "r"(one));
#endif
    ended(counts);
    counts->work = 64 * rounds;
}

/* ---- one task for each CPU: a native thread runs it to its end, so that the interpreter has no work per core ---- */

#if defined(__x86_64__)
enum { SETAFFINITY = 203, GETCPU = 309, YIELD = 24, MADVISE = 28, ARCH_PRCTL = 158 };
#else
enum { SETAFFINITY = 122, GETCPU = 168, YIELD = 124, MADVISE = 233 };
#endif
enum { PIECE = 40000000, ROUNDS = 20000, SLICE = 8 << 20, MESSAGE = 1 << 20, NUMBERS = 1 << 18, ADDS = 6000 };
#define APART __attribute__((noinline))
enum { FINGERPRINT, FMA, FILL, VERIFY, LAY, TRIAD, LAID, RING, FREE, AMX };

struct task {
    u64 kind, cpu, pin, seed, until, at, bytes, flip, turn, harm;  /* until: CLOCK_MONOTONIC, ns */
    volatile u64 *stop, *running;                                  /* shared by all tasks */
    u64 (*fma)(u64, u64, u64, u64, struct counts *);
    void (*fill)(u64, u64, u64, u64, u64, struct counts *);
    void (*verify)(u64, u64, u64, u64, u64, u64, struct wrong *, u64, struct counts *);
    u64 (*triad)(double *, const double *, const double *, u64, double, u64, u64, struct counts *);
    void (*aes)(u64, u64, u64, u64, struct counts *);
    u32 (*crc)(u64, u64);
    struct task *before;                /* the ring's previous CPU */
    u64 *list, room;                    /* hashes, or the processor time (ns) of each measurement of the clock */
    struct wrong *wrong; u64 most;
    struct counts sum;                  /* from here on: results */
    u64 count, done, first, status, ran, ended;
    u64 plain, sent, full;              /* of the message in the ring; `full` while it waits for the next CPU */
};

static APART u64 sys(long number, u64 x, u64 y, u64 z)
{
#if defined(__x86_64__)
    u64 status;
    __asm__ volatile("syscall" : "=a"(status) : "a"(number), "D"(x), "S"(y), "d"(z) : "rcx", "r11", "memory");
    return status;
#else
    register long x8 __asm__("x8") = number;
    register u64 x0 __asm__("x0") = x, x1 __asm__("x1") = y, x2 __asm__("x2") = z;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
#endif
}

static APART int over(const struct task *t) { return *t->stop || now(WALL) >= t->until; }
static APART u64 piece(const struct task *t)
{
    u64 at = now(WALL), left = at < t->until ? t->until - at : 0;
    return left < PIECE ? left : PIECE;
}
static APART void sum(struct task *t, const struct counts *c)
{
    t->sum.wall += c->wall, t->sum.cpu += c->cpu, t->sum.work += c->work, t->sum.found += c->found;
}
static APART void note(struct task *t, u64 address, u64 want, u64 got)
{
    if (t->done < t->most) t->wrong[t->done] = (struct wrong){address, want, got};
    t->done++;
}
static APART void list(struct task *t, u64 value)
{
    if (t->count < t->room) t->list[t->count] = value;
    t->count++;
}

static void prints(struct task *t)  /* seeds that count up; or always the same, with a measurement of the clock */
{
    struct counts c;
    do {
        u64 seed = t->seed + (t->kind == FMA ? 0 : t->count);
        u64 got = t->fma(seed, ROUNDS, t->kind == FMA ? t->first : 0, piece(t), &c);
        sum(t, &c);
        if (!t->count) t->first = got;
        if (c.found) note(t, c.found, seed, got);
        if (t->kind == FMA) adds(ADDS, &c), got = c.cpu;
        list(t, got);
    } while (!over(t));
}

static void memory(struct task *t)
{
    struct counts c;
    while (t->done < t->bytes && !over(t)) {
        u64 at = t->at + t->done, left = t->bytes - t->done, size = left < SLICE ? left : SLICE;
        u64 known = t->sum.found < t->most ? t->sum.found : t->most;
        if (t->kind == FILL) t->fill(at, size, at / 8, t->seed, 0, &c);
        else t->verify(at, size, at / 8, t->seed, t->flip, t->turn, t->wrong + known, t->most - known, &c);
        sum(t, &c);
        t->done += size;
    }
}

static void numbers(struct task *t)
{
    struct counts c;
    u64 count = t->bytes / 24, where = 0;
    double *v[3] = {(double *)t->at, (double *)t->at + count, (double *)t->at + 2 * count};
    if (t->kind == TRIAD) do {
        where = t->triad(v[0], v[1], v[2], count, 3.0, where, piece(t), &c);
        sum(t, &c);
    } while (!over(t));
    else for (; where < count && !over(t); where += NUMBERS) {
        u64 size = count - where < NUMBERS ? count - where : NUMBERS;
        if (t->kind == LAY) lay(v[0] + where, v[1] + where, v[2] + where, size);
        else t->sum.found += laid(v[0] + where, size, 3.0);
        t->done = where + size;
    }
}

static int waited(const struct task *t, u64 *flag, u64 value)
{
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != value) {
        if (over(t)) return 0;
        sys(YIELD, 0, 0, 0);
    }
    return 1;
}

static void ring(struct task *t)
{
    struct counts c;
    struct task *p = t->before;
    do {
        t->sent = t->seed + t->count;
        t->fill(t->at, MESSAGE, 0, t->sent, 0, &c);
        t->plain = t->crc(t->at, MESSAGE);
        t->aes(t->at, MESSAGE, t->sent, 0, &c);
        sum(t, &c);
        list(t, t->crc(t->at, MESSAGE));
        ((u64 *)t->at)[100] ^= t->harm, t->harm = 0;
        __atomic_store_n(&t->full, 1, __ATOMIC_RELEASE);
        if (!waited(t, &p->full, 1)) return;
        t->aes(p->at, MESSAGE, p->sent, 1, &c);
        sum(t, &c);
        u64 got = t->crc(p->at, MESSAGE);
        t->turn++;
        if (got != p->plain) t->sum.found++, note(t, p->sent, p->plain, got);
        __atomic_store_n(&p->full, 0, __ATOMIC_RELEASE);
    } while (waited(t, &t->full, 0) && !over(t));
}

#if defined(__x86_64__)
/* ---- AMX: products of integers, exact in any order, compared with a product of plain integer arithmetic ---- */

#define TILES __attribute__((target("amx-tile,amx-int8,amx-bf16"), noinline))
/* A product of 32 x 32 elements in four tiles; DEPTH pairs of tiles of each operand fit into a cache of level 1. TIMES
   is odd, so that no error of one product is a multiple of 2^32 after TIMES additions; TIMES * DEPTH * 32 * 64 is below
   2^24, so that each sum of bf16 is exact in fp32. */
enum { SIDE = 32, DEPTH = 8, TIMES = 511, TILE = 1024, WORDS = DEPTH * 16 };
struct tiles { u8 palette, start, zero[14]; unsigned short bytes[16]; u8 rows[16]; } __attribute__((aligned(64)));
struct product { u32 a[2][DEPTH][16][16], b[2][DEPTH][16][16], want[SIDE][SIDE], got[2][2][16][16]; } __attribute__((aligned(64)));

static u32 sizes(void)  /* 1 if the tiles of palette 1 are eight, of 16 rows of 64 bytes */
{
    u32 a, b, c, d;
    __asm__ volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(0x1d), "c"(1));
    return b == (8u << 16 | 64) && (c & 0xffff) == 16;
}

/* Bit 0: int8, bit 1: bf16; 0 without AMX. From bit 8 on: the errno with which the kernel refuses it to this process. */
EVERY u32 amx(void)
{
    u32 a, b, c, d, low, high;
    __asm__ volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(0), "c"(0));
    if (a < 0x1d) return 0;
    __asm__ volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(7), "c"(0));
    u32 has = (d >> 25 & 1) | (d >> 21 & 2);
    if (!(d >> 24 & 1) || !has || !sizes()) return 0;
    __asm__ volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(1), "c"(0));
    if (!(c >> 27 & 1)) return 95 << 8 | has;  /* EOPNOTSUPP: the kernel saves no extended state */
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low >> 17 & 3) != 3) return 95 << 8 | has;
    return (u32)-sys(ARCH_PRCTL, 0x1023, 18, 0) << 8 | has;  /* ARCH_REQ_XCOMP_PERM, XFEATURE_XTILE_DATA */
}

PURE int small(u64 w, u64 wide) { return wide ? (int)(w & 15) - 8 : (int)(signed char)w; }  /* bf16: -8 to 7 */
PURE u32 brief(int v) { union { float f; u32 b; } u = {(float)v}; return u.b >> 16; }  /* exact for these */

/* Operand `side` of `seed`: row (or column) i of 32, element k of DEPTH * 64 or 32. */
PURE int element(u64 seed, u64 side, u64 i, u64 k, u64 wide)
{
    u64 w = word((side * SIDE + i) * WORDS * 4 + k, seed);
    return small(w >> 24, wide);
}

static APART void prepare(struct product *p, u64 seed, u64 wide)
{
    u64 each = wide ? 2 : 4;  /* elements of a 32-bit word */
    for (u64 i = 0; i < SIDE; i++)
        for (u64 w = 0; w < WORDS; w++) {
            u32 a = 0, b = 0;
            for (u64 e = 0; e < each; e++) {
                int x = element(seed, 0, i, w * each + e, wide), y = element(seed, 1, i, w * each + e, wide);
                a |= (wide ? brief(x) : (u32)x & 255) << e * (32 / each);
                b |= (wide ? brief(y) : (u32)y & 255) << e * (32 / each);
            }
            p->a[i / 16][w / 16][i % 16][w % 16] = a;
            p->b[i / 16][w / 16][w % 16][i % 16] = b;  /* the second operand's words lie in columns */
        }
}

static APART void expect(struct product *p, u64 wide)
{
    for (u64 i = 0; i < SIDE; i++)
        for (u64 j = 0; j < SIDE; j++) {
            u32 sum = 0;
            for (u64 w = 0; w < WORDS; w++) {
                u32 a = p->a[i / 16][w / 16][i % 16][w % 16], b = p->b[j / 16][w / 16][w % 16][j % 16];
                if (wide)
                    for (int e = 0; e < 2; e++) {
                        union { u32 b; float f; } x = {a >> 16 * e << 16}, y = {b >> 16 * e << 16};
                        sum += (u32)((int)x.f * (int)y.f);
                    }
                else
                    for (int e = 0; e < 4; e++) sum += (u32)((signed char)(a >> 8 * e) * (signed char)(b >> 8 * e));
            }
            union { float f; u32 b; } u = {(float)(int)(sum * TIMES)};
            p->want[i][j] = wide ? u.b : sum * TIMES;
        }
}

#define LOADED(n, at) _tile_loadd(n, at, 64)
#define MULTIPLIED(dp)                                                                  \
    for (u64 r = 0; r < TIMES; r++)                                                     \
        for (u64 k = 0; k < DEPTH; k++) {                                               \
            LOADED(4, p->a[0][k]); LOADED(6, p->b[0][k]); dp(0, 4, 6);                  \
            LOADED(7, p->b[1][k]); dp(1, 4, 7);                                         \
            LOADED(5, p->a[1][k]); dp(2, 5, 6); dp(3, 5, 7);                            \
        }

static TILES void multiply(struct product *p, u64 wide)
{
    _tile_zero(0); _tile_zero(1); _tile_zero(2); _tile_zero(3);
    if (wide) { MULTIPLIED(_tile_dpbf16ps) } else { MULTIPLIED(_tile_dpbssd) }
    _tile_stored(0, p->got[0][0], 64); _tile_stored(1, p->got[0][1], 64);
    _tile_stored(2, p->got[1][0], 64); _tile_stored(3, p->got[1][1], 64);
}

static TILES void configure(void)
{
    struct tiles tiles;
    for (u64 i = 0; i < sizeof tiles; i++) ((volatile u8 *)&tiles)[i] = 0;
    tiles.palette = 1;
    for (int i = 0; i < 8; i++) tiles.bytes[i] = 64, tiles.rows[i] = 16;
    _tile_loadconfig(&tiles);
}
static TILES void release(void) { _tile_release(); }

/* Seeds that count up; `flip` is 1 for bf16. The seed's operands and its expected product take no measured time. */
static APART void products(struct task *t)
{
    struct counts c;
    struct product p;
    configure();
    do {
        u64 seed = t->seed + t->count, hash = seed, budget = piece(t);
        prepare(&p, seed, t->flip);
        expect(&p, t->flip);
        began(&c);
        do {
            multiply(&p, t->flip);
            p.got[1][0][3][5] ^= (u32)t->harm, t->harm = 0;
            for (u64 i = 0; i < SIDE; i++)
                for (u64 j = 0; j < SIDE; j++) {
                    u32 got = p.got[i / 16][j / 16][i % 16][j % 16];
                    if (got == p.want[i][j]) continue;
                    if (!c.found) note(t, seed, p.want[i][j], got);
                    c.found++;
                }
            c.work += 2ull * SIDE * SIDE * WORDS * (t->flip ? 2 : 4) * TIMES;
        } while (now(WALL) - c.wall < budget);
        ended(&c);
        sum(t, &c);
        if (!t->count) {
            for (u64 i = 0; i < SIDE * SIDE; i++) hash = (hash ^ ((u32 *)p.got)[i]) * STEP, hash ^= hash >> 29;
            t->first = hash;
        }
        adds(ADDS, &c);
        list(t, c.cpu);
    } while (!over(t));
    release();
}
#else
static APART void products(struct task *t) { t->status = 38; }  /* ENOSYS */
#endif

EVERY void *work(struct task *t)
{
    u64 mask[128], own = 0;
    for (int i = 0; i < 128; i++) ((volatile u64 *)mask)[i] = 0;
    if (t->pin / 64 < 128) mask[t->pin / 64] = 1ull << t->pin % 64;
    t->status = -sys(SETAFFINITY, 0, sizeof mask, (u64)mask);
    if (t->status) ;
    else if (t->kind == FINGERPRINT || t->kind == FMA) prints(t);
    else if (t->kind == FILL || t->kind == VERIFY) memory(t);
    else if (t->kind == RING) ring(t);
    else if (t->kind == AMX) products(t);
    else if (t->kind == FREE) sys(MADVISE, t->at, t->bytes, 4);  /* MADV_DONTNEED */
    else numbers(t);
    t->ended = now(WALL);
    sys(GETCPU, (u64)&own, 0, 0);
    t->ran = own;
    __atomic_sub_fetch(t->running, 1, __ATOMIC_RELEASE);
    return 0;
}

/* 2: avx512, 1: avx2 or neon, 0: plain. `hwcap`: the kernel's AT_HWCAP, read on aarch64. */
EVERY u32 best(u64 hwcap)
{
#if defined(__x86_64__)
    (void)hwcap;
    u32 a, b, c, d, low, high;
    u32 need = 1u << 12 | 1u << 20 | 1u << 25 | 1u << 27 | 1u << 28;  /* FMA, SSE4.2, AES, OSXSAVE, AVX */
    __asm__ volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(0), "c"(0));
    if (a < 7) return 0;
    __asm__ volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(1), "c"(0));
    if ((c & need) != need) return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));  /* the register state that the system saves */
    __asm__ volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(7), "c"(0));
    if ((low & 0x06) != 0x06 || !(b >> 5 & 1)) return 0;
    return (low & 0xe6) == 0xe6 && (b >> 16 & 1) ? 2 : 1;
#else
    return (hwcap >> 3 & 1) && (hwcap >> 7 & 1);  /* HWCAP_AES, HWCAP_CRC32 */
#endif
}
#endif
