/* Kernels of the GPU burn-in, without a header: NVRTC compiles them to PTX and cubins (build_gpu.py), and gcc compiles
 * them into the fake driver of the tests, which redefines the macros of the first part.
 *
 * Every result is a pure function of seeds and indices, made of integers and of operations that are rounded once and
 * written out (`.rn`), so that a CPU computes the same bits: rackcheck/burnin/node/gpu_truth.py. Results of the
 * approximate units (sfu) are only compared between SMs.
 *
 * The source is both C and CUDA C++. Collective work is written for a warp: EACH runs its body for the one lane that a
 * thread is on a GPU, and for all 32 lanes one after the other on a CPU. */

#ifndef RACKCHECK_SHIM
typedef unsigned int u32;
typedef unsigned long long u64;
typedef struct __align__(16) { u64 lo, hi; } vec;

#define KERNEL(name) extern "C" __global__ void __launch_bounds__(256) name
/* Two blocks must fit on each SM, whatever the compiler: in the stage `together` one of them is left out for the tests
 * of memory. The others need far fewer registers than the half of an SM's. */
#define KERNEL_TWICE(name) extern "C" __global__ void __launch_bounds__(256, 2) name
#define DEVICE static __device__ __forceinline__
#define APART static __device__ __noinline__
#define UNROLL _Pragma("unroll")
#define UNROLL_4 _Pragma("unroll 4")
#define ROLLED _Pragma("unroll 1")
#define THREAD threadIdx.x
#define BLOCK blockIdx.x
#define THREADS blockDim.x
#define BLOCKS gridDim.x
#define LANES 1
#define EACH(l) for (u32 l = 0; l < 1; l++)
#define LANE(l) (threadIdx.x & 31)
#define ADD32(at, n) atomicAdd(at, n)
#define ADD64(at, n) atomicAdd(at, n)
#define BITS(x) __float_as_uint(x)
#define FLOAT(x) __uint_as_float(x)
#define BITS64(x) ((u64)__double_as_longlong(x))
#define DOUBLE(x) __longlong_as_double((long long)(x))

DEVICE u32 sm_id(void) { u32 x; asm volatile("mov.u32 %0, %%smid;" : "=r"(x)); return x; }
DEVICE u64 ticks(void) { u64 x; asm volatile("mov.u64 %0, %%clock64;" : "=l"(x)); return x; }
DEVICE vec load(const vec *at) {
    vec v; asm volatile("ld.global.cs.v2.u64 {%0, %1}, [%2];" : "=l"(v.lo), "=l"(v.hi) : "l"(at) : "memory"); return v;
}
DEVICE vec load_again(const vec *at) {
    vec v; asm volatile("ld.global.cv.v2.u64 {%0, %1}, [%2];" : "=l"(v.lo), "=l"(v.hi) : "l"(at) : "memory"); return v;
}
DEVICE void store(vec *at, vec v) {
    asm volatile("st.global.cs.v2.u64 [%0], {%1, %2};" :: "l"(at), "l"(v.lo), "l"(v.hi) : "memory");
}
DEVICE double fma64(double a, double b, double c) {
    double d; asm volatile("fma.rn.f64 %0, %1, %2, %3;" : "=d"(d) : "d"(a), "d"(b), "d"(c)); return d;
}
DEVICE float fma32(float a, float b, float c) {
    float d; asm volatile("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c)); return d;
}
DEVICE u32 mad32(u32 a, u32 b, u32 c) {
    u32 d; asm volatile("mad.lo.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); return d;
}
DEVICE float ex2(float a) { float d; asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(d) : "f"(a)); return d; }
DEVICE float sine(float a) { float d; asm volatile("sin.approx.ftz.f32 %0, %1;" : "=f"(d) : "f"(a)); return d; }
DEVICE float root(float a) { float d; asm volatile("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(d) : "f"(a)); return d; }
/* One m16n8k16 product of bf16 into fp32 accumulators, of a whole warp. */
#define MMA(c, n, a, i, b, j)                                                                                         \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "         \
                 "{%0,%1,%2,%3};"                                                                                     \
                 : "+f"(c[0][n][0]), "+f"(c[0][n][1]), "+f"(c[0][n][2]), "+f"(c[0][n][3])                              \
                 : "r"(a[0][i][0]), "r"(a[0][i][1]), "r"(a[0][i][2]), "r"(a[0][i][3]), "r"(b[0][j][0]),                \
                   "r"(b[0][j][1]))
#endif

/* The report of a launch, 64 KiB in all, zero before it: a head, a ring of the first findings, a line for each block. */
#define RING 256
#define LINES 1024
typedef struct { u64 index, got_lo, got_hi, again_lo, again_hi, want, tile; u32 sm, warp; } finding;
typedef struct { u64 hash, ticks, work; u32 sm, wrong; } line;
typedef struct { u64 found, sum, logged, pad[5]; finding ring[RING]; line lines[LINES]; } report;

DEVICE u64 mix(u64 x) {
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ULL;
    return x ^ (x >> 32);
}

/* The 16 bytes of place `i`: its low half is a bijection of `i`, so that a misplaced line identifies its place. */
DEVICE vec pattern(u64 seed, u64 i, u64 flip) {
    vec v;
    v.lo = mix(i * 0x9e3779b97f4a7c15ULL + seed);
    v.hi = v.lo * 0xd1342543de82ef95ULL + i;
    v.hi ^= v.hi >> 32;
    v.lo ^= flip;
    v.hi ^= flip;
    return v;
}

/* A place in the ring, or none. Millions of errors may read the counter, but only a few may add to it. */
DEVICE finding *place_in(report *out) {
    u32 n = RING;
    if (*(volatile u64 *)&out->logged < RING) n = (u32)ADD64(&out->logged, 1ULL);
    return n < RING ? &out->ring[n] : 0;
}

APART void strayed(report *out, u64 i, const vec *at, vec got) {
    finding *f = place_in(out);
    if (f) {
        vec again = load_again(at);
        f->index = i;
        f->got_lo = got.lo;
        f->got_hi = got.hi;
        f->again_lo = again.lo;
        f->again_hi = again.hi;
        f->sm = sm_id();
        f->warp = THREAD >> 5;
    }
}

/* `count` lines of 16 bytes at `at`, the first of which is place `first` of the pattern. */
KERNEL(fill)(vec *at, u64 first, u64 count, u64 seed, u64 flip) {
    u64 stride = (u64)BLOCKS * THREADS;
    UNROLL_4 for (u64 k = (u64)BLOCK * THREADS + THREAD; k < count; k += stride) store(at + k, pattern(seed, first + k, flip));
}

DEVICE u32 check(report *out, const vec *at, u64 i, u64 seed, u64 flip, vec got) {
    vec want = pattern(seed, i, flip);
    u32 bad = ((want.lo ^ got.lo) | (want.hi ^ got.hi)) != 0;
    if (bad) strayed(out, i, at, got);
    return bad;
}

/* Four loads are in flight at once: waiting for each one would leave the memory idle. */
KERNEL(verify)(const vec *at, u64 first, u64 count, u64 seed, u64 flip, report *out) {
    u64 stride = (u64)BLOCKS * THREADS, k = (u64)BLOCK * THREADS + THREAD, bad = 0;
    ROLLED for (; k + 3 * stride < count; k += 4 * stride) {
        vec v0 = load(at + k), v1 = load(at + k + stride), v2 = load(at + k + 2 * stride), v3 = load(at + k + 3 * stride);
        bad += check(out, at + k, first + k, seed, flip, v0);
        bad += check(out, at + k + stride, first + k + stride, seed, flip, v1);
        bad += check(out, at + k + 2 * stride, first + k + 2 * stride, seed, flip, v2);
        bad += check(out, at + k + 3 * stride, first + k + 3 * stride, seed, flip, v3);
    }
    ROLLED for (; k < count; k += stride) bad += check(out, at + k, first + k, seed, flip, load(at + k));
    if (bad) ADD64(&out->found, bad);
}

DEVICE u32 turn(report *out, vec *at, u64 i, u64 seed, u64 flip, vec got) {
    vec want = pattern(seed, i, flip), other;
    u32 bad = ((want.lo ^ got.lo) | (want.hi ^ got.hi)) != 0;
    if (bad) strayed(out, i, at, got);
    other.lo = ~want.lo;
    other.hi = ~want.hi;
    store(at, other);
    return bad;
}

/* Checks each line and writes its complement in the same pass. A block takes eight adjacent lines per thread:
 * memory that is read and written in turn needs long stretches of each. If `top` is 0, the stretches are taken from the
 * lowest address to the highest, else from line `top` - 1, where the last stretch begins, to the lowest. That order is
 * kept if the grid has no more blocks than run at the same time; lines that are worked on together have no order. */
KERNEL(march)(vec *at, u64 first, u64 count, u64 seed, u64 flip, u64 top, report *out) {
    u64 bad = 0;
    ROLLED for (u64 tile = (u64)BLOCK * THREADS * 8; tile < count; tile += (u64)BLOCKS * THREADS * 8) {
        u64 k = (top ? top - 1 - tile : tile) + THREAD;
        if (k + 7 * THREADS < count) {
            vec v[8];
            UNROLL for (u32 n = 0; n < 8; n++) v[n] = load(at + k + n * THREADS);
            UNROLL for (u32 n = 0; n < 8; n++)
                bad += turn(out, at + k + n * THREADS, first + k + n * THREADS, seed, flip, v[n]);
        } else {
            ROLLED for (; k < count; k += THREADS) bad += turn(out, at + k, first + k, seed, flip, load(at + k));
        }
    }
    if (bad) ADD64(&out->found, bad);
}

KERNEL(copy)(vec *to, const vec *from, u64 count) {
    u64 stride = (u64)BLOCKS * THREADS, k = (u64)BLOCK * THREADS + THREAD;
    ROLLED for (; k + 3 * stride < count; k += 4 * stride) {
        vec v0 = load(from + k), v1 = load(from + k + stride), v2 = load(from + k + 2 * stride),
            v3 = load(from + k + 3 * stride);
        store(to + k, v0);
        store(to + k + stride, v1);
        store(to + k + 2 * stride, v2);
        store(to + k + 3 * stride, v3);
    }
    ROLLED for (; k < count; k += stride) store(to + k, load(from + k));
}

/* Adds every half line times an odd number of its own place: any one changed half changes the sum. */
KERNEL(checksum)(const vec *at, u64 count, report *out) {
    u64 stride = (u64)BLOCKS * THREADS, sum = 0;
    UNROLL_4 for (u64 k = (u64)BLOCK * THREADS + THREAD; k < count; k += stride) {
        vec v = load(at + k);
        sum += v.lo * (4 * k + 1) + v.hi * (4 * k + 3);
    }
    ADD64(&out->sum, sum);
}

/* For tests on a device only: changes one line. */
KERNEL(flip_bits)(vec *at, u64 lo, u64 hi) {
    if (BLOCK == 0 && THREAD == 0) {
        vec v = load_again(at);
        v.lo ^= lo;
        v.hi ^= hi;
        store(at, v);
    }
}

/* Two integers of -127..127 as bf16: places `2 * pair` and `2 * pair + 1` of tile `tile`. */
APART u32 operands(u64 tile, u32 pair) {
    u64 h = mix(tile + pair * 0x9e3779b97f4a7c15ULL);
    int x = (int)(((u32)(h & 0xff) * 255) >> 8) - 127, y = (int)(((u32)((h >> 40) & 0xff) * 255) >> 8) - 127;
    return (BITS((float)x) >> 16) | (BITS((float)y) & 0xffff0000u);
}

/* Log the wrong elements of a lane's four of a fragment: row * 32 + column, bits, and the expected bits. */
APART u32 wrong_elements(report *out, u32 frag, u32 lane, u64 lo, u64 hi, vec want, u64 tile) {
    u32 bad = 0;
    ROLLED for (u32 e = 0; e < 4; e++) {
        u32 got = (u32)((e < 2 ? lo : hi) >> 32 * (e & 1)), wanted = (u32)((e < 2 ? want.lo : want.hi) >> 32 * (e & 1));
        u32 row = (frag >> 2) * 16 + (lane >> 2) + (e >> 1) * 8, column = (frag & 3) * 8 + (lane & 3) * 2 + (e & 1);
        finding *f = got != wanted ? place_in(out) : 0;
        bad += got != wanted;
        if (f) {
            f->index = row * 32 + column;
            f->got_lo = got;
            f->want = wanted;
            f->tile = tile;
            f->sm = sm_id();
            f->warp = THREAD >> 5;
        }
    }
    return bad;
}

/* Every warp of every SM computes the same tiles of 64 x 32: A (64 x 16) times B (16 x 32) and its turns, 64 steps of 16
 * deep, so that 1024 products are added exactly, below 2^24. The sign of B flips with each step and its four columns of
 * fragments rotate, so that registers toggle: element (i, j) is 16 A_i (B_j - B_j+1 + B_j+2 - B_j+3), where j counts
 * groups of eight columns modulo four. `golden` contains the tiles' bits as computed by the CPU, lane by lane. */
KERNEL_TWICE(tensor)(const u64 *tiles, const vec *golden, u32 pool, u32 first, u32 count, u32 bad_sm, u32 bad_bits, report *out) {
    u32 a[LANES][4][4], b[LANES][4][2];
    float c[LANES][16][4];
    u64 hash = 0, begun = ticks();
    u32 sm = sm_id(), bad = 0;
    ROLLED for (u32 t = 0; t < count; t++) {
        u32 slot = (first + t) % pool;
        u64 tile = tiles[slot];
        EACH(l) {
            u32 g = LANE(l) >> 2, q = LANE(l) & 3;
            UNROLL for (u32 i = 0; i < 4; i++) UNROLL for (u32 e = 0; e < 4; e++)
                a[l][i][e] = operands(tile, (i * 16 + g + (e & 1) * 8) * 8 + q + (e >> 1) * 4);
            UNROLL for (u32 j = 0; j < 4; j++) UNROLL for (u32 e = 0; e < 2; e++)
                b[l][j][e] = operands(tile, 512 + (q + e * 4) * 32 + j * 8 + g);
            UNROLL for (u32 n = 0; n < 16; n++) UNROLL for (u32 e = 0; e < 4; e++) c[l][n][e] = 0.0f;
        }
        ROLLED for (u32 round = 0; round < 16; round++) {
            UNROLL for (u32 s = 0; s < 4; s++) {
                UNROLL for (u32 i = 0; i < 4; i++) UNROLL for (u32 j = 0; j < 4; j++) MMA(c, i * 4 + j, a, i, b, (j + s) & 3);
                EACH(l) UNROLL for (u32 j = 0; j < 4; j++) {
                    b[l][j][0] ^= 0x80008000u;
                    b[l][j][1] ^= 0x80008000u;
                }
            }
        }
        EACH(l) {
            u32 lane = LANE(l);
            if (sm == bad_sm) c[l][5][2] = FLOAT(BITS(c[l][5][2]) ^ bad_bits);
            UNROLL for (u32 n = 0; n < 16; n++) {
                vec want = golden[(slot * 16 + n) * 32 + lane];
                u32 g0 = BITS(c[l][n][0] + 0.0f), g1 = BITS(c[l][n][1] + 0.0f);
                u32 g2 = BITS(c[l][n][2] + 0.0f), g3 = BITS(c[l][n][3] + 0.0f);
                u64 lo = g0 | (u64)g1 << 32, hi = g2 | (u64)g3 << 32;
                hash += (lo + 3 * hi) * (2 * (n * 32 + lane) + 1);
                if (((lo ^ want.lo) | (hi ^ want.hi)) != 0) bad += wrong_elements(out, n, lane, lo, hi, want, tile);
            }
        }
    }
    if (bad) ADD64(&out->found, (u64)bad);
    if (BLOCK < LINES) {
        line *mine = &out->lines[BLOCK];
        ADD64(&mine->hash, hash);
        if (bad) ADD32(&mine->wrong, bad);
        if (THREAD == 0) {
            mine->sm = sm;
            mine->work = count;
            mine->ticks = ticks() - begun;
        }
    }
}

/* The chains below are chaotic, so that one wrong bit of an early step grows until the end. Every thread runs
 * four of them for `rounds` rounds; the start of a chain depends on the thread modulo 8 and the round modulo 4. */
DEVICE u64 begin(u64 seed, u32 chain, u32 round) {
    return mix(seed + (u64)((THREAD & 7) * 16 + chain * 4 + (round & 3)) * 0x9e3779b97f4a7c15ULL);
}

DEVICE void end(report *out, u64 sum, u64 begun, u32 rounds, u32 bad_sm, u32 bad_bits) {
    u32 sm = sm_id();
    if (sm == bad_sm) sum ^= bad_bits;
    if (BLOCK < LINES) {
        line *mine = &out->lines[BLOCK];
        ADD64(&mine->hash, sum * (2 * THREAD + 1));
        if (THREAD == 0) {
            mine->sm = sm;
            mine->work = rounds;
            mine->ticks = ticks() - begun;
        }
    }
}

#define CHAINS(kind, type, start, step, bits)                                                                         \
    KERNEL(kind)(u64 seed, u32 rounds, u32 bad_sm, u32 bad_bits, report *out) {                                       \
        u64 sum = 0, begun = ticks();                                                                                 \
        ROLLED for (u32 r = 0; r < rounds; r++) {                                                                     \
            type x[4];                                                                                                \
            UNROLL for (u32 n = 0; n < 4; n++) { u64 h = begin(seed, n, r); x[n] = start; }                            \
            UNROLL_4 for (u32 s = 0; s < 64; s++) UNROLL for (u32 n = 0; n < 4; n++) { step; }                         \
            UNROLL for (u32 n = 0; n < 4; n++) sum += (u64)(bits) * (2 * n + 1);                                       \
        }                                                                                                             \
        end(out, sum, begun, rounds, bad_sm, bad_bits);                                                               \
    }

/* x <- r (x - x x), each rounded once: numbers of 0.5 to 1 at the start, and r just below 4. */
CHAINS(fp64, double, DOUBLE(0x3fe0000000000000ULL | h >> 12),
       x[n] = fma64(fma64(-x[n], x[n], x[n]), DOUBLE(0x400fe6b7318fc505ULL), 0.0), BITS64(x[n]))
CHAINS(fp32, float, FLOAT(0x3f000000u | (u32)(h >> 41)),
       x[n] = fma32(fma32(-x[n], x[n], x[n]), FLOAT(0x407f35b9u), 0.0f), BITS(x[n]))
CHAINS(int32, u32, (u32)h, x[n] = mad32(x[n], 0x9e3779b1u, 0x85ebca6bu); x[n] ^= x[n] << 7 | x[n] >> 25, x[n])
CHAINS(sfu, float, FLOAT(0x3f000000u | (u32)(h >> 41)),
       { float y = ex2(x[n]); x[n] = sine(y) * root(y); sum = sum * 3 + BITS(x[n]); }, BITS(x[n]))
