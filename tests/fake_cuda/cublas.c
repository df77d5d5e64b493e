/* libcublasLt for machines without a GPU, beside cuda.c: it multiplies on the CPU, and refuses what the true one would
 * not take either. FAKE_CUBLAS holds its faults: `status=N` (each product returns it), `wrong` (its products of bf16 are),
 * `none` (it knows no way to multiply), `slow=MS` (each product takes so long), `crash`, `old` (it multiplies no fp8),
 * `int8_fails` (status 13), `int8_off`, `fp8_off` and `bf16_off` (each element is too large by one), `int8_late` (one element of each product after the twelfth
 * is). FAKE_CUBLAS_VERSION is the version that it reports. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    INVALID = 7, UNSUPPORTED = 15, R_32F = 0, R_8I = 3, R_32I = 10, R_16BF = 14, R_8F = 28, COMPUTE_32F = 68,
    COMPUTE_32I = 72
};
typedef struct { int compute, scale, turn_a, turn_b; } way;
typedef struct { int type; uint64_t rows, columns; int64_t lead; } layout;
typedef struct { uint64_t space; } wish;
typedef struct { uint64_t algo[8]; size_t space; int state; float waves; int reserved[4]; } choice;

static const char *fault(const char *name) {
    const char *faults = getenv("FAKE_CUBLAS");
    const char *at = faults ? strstr(faults, name) : NULL;
    return at ? at + strlen(name) : NULL;
}
static float wide(uint16_t half) { uint32_t b = (uint32_t)half << 16; float x; memcpy(&x, &b, 4); return x; }
static uint16_t half(float x) { uint32_t b; memcpy(&b, &x, 4); return (uint16_t)((b + 0x7fff + (b >> 16 & 1)) >> 16); }

/* E4M3 by its fields: sign, four bits of exponent with bias 7, three of fraction. */
static float small(uint8_t bits) {
    int exponent = bits >> 3 & 15, fraction = bits & 7;
    float x = exponent ? (float)(8 + fraction) / 8 : (float)fraction / 8;
    for (int n = exponent ? exponent : 1; n > 7; n--) x *= 2;
    for (int n = exponent ? exponent : 1; n < 7; n++) x /= 2;
    return bits & 0x80 ? -x : x;
}

size_t cublasLtGetVersion(void) {
    const char *version = getenv("FAKE_CUBLAS_VERSION");
    return version ? strtoull(version, NULL, 0) : 120205;
}
int cublasLtCreate(void **handle) { *handle = malloc(1); return fault("crash") ? (abort(), 1) : 0; }
int cublasLtDestroy(void *handle) { free(handle); return 0; }
int cublasLtMatmulDescCreate(way **out, int compute, int scale) {
    *out = calloc(1, sizeof **out);
    (*out)->compute = compute;
    (*out)->scale = scale;
    return 0;
}
int cublasLtMatmulDescDestroy(way *w) { free(w); return 0; }
int cublasLtMatmulDescSetAttribute(way *w, int what, const void *value, size_t size) {
    if (size != 4 || (what != 3 && what != 4)) return INVALID;
    *(what == 3 ? &w->turn_a : &w->turn_b) = *(const int *)value;
    return 0;
}
int cublasLtMatrixLayoutCreate(layout **out, int type, uint64_t rows, uint64_t columns, int64_t lead) {
    *out = malloc(sizeof **out);
    **out = (layout){type, rows, columns, lead};
    return 0;
}
int cublasLtMatrixLayoutDestroy(layout *l) { free(l); return 0; }
int cublasLtMatmulPreferenceCreate(wish **out) { *out = calloc(1, sizeof **out); return 0; }
int cublasLtMatmulPreferenceDestroy(wish *w) { free(w); return 0; }
int cublasLtMatmulPreferenceSetAttribute(wish *w, int what, const void *value, size_t size) {
    if (size != 8 || what != 1) return INVALID;
    w->space = *(const uint64_t *)value;
    return 0;
}
static int known(const way *w, const layout *a, const layout *b, const layout *d) {
    int whole = a->type == R_8I, byte = a->type == R_8F && !fault("old");
    int half_to = d->type == R_16BF || d->type == R_32F;
    int types = whole ? d->type == R_32I : byte ? d->type == R_32F : a->type == R_16BF && half_to;
    return w->compute == (whole ? COMPUTE_32I : COMPUTE_32F) && w->scale == (whole ? R_32I : R_32F) && w->turn_a == 1 &&
           w->turn_b == 0 && types && b->type == a->type && a->rows % 16 == 0 && a->rows == b->rows &&
           d->rows == a->columns && d->columns == b->columns;
}
/* Three ways: one that wants too much space, one that is slow, one that is fast. */
int cublasLtMatmulAlgoGetHeuristic(void *handle, const way *w, const layout *a, const layout *b, const layout *c,
                                   const layout *d, const wish *p, int most, choice *out, int *count) {
    (void)handle, (void)c;
    *count = 0;
    if (!known(w, a, b, d)) return UNSUPPORTED;
    for (int i = 0; i < 3 && i < most && !fault("none"); i++) {
        memset(&out[i], 0, sizeof out[i]);
        out[i].algo[0] = 0xb1a5 + (uint64_t)i;
        out[i].space = i ? p->space : p->space + 1;
        ++*count;
    }
    return 0;
}
static float value(const void *matrix, int type, uint64_t at) {
    return type == R_8I ? ((const int8_t *)matrix)[at] : type == R_8F ? small(((const uint8_t *)matrix)[at])
                                                                       : wide(((const uint16_t *)matrix)[at]);
}
int cublasLtMatmul(void *handle, const way *w, const void *alpha, const void *a, const layout *al, const void *b,
                   const layout *bl, const void *beta, const void *c, const layout *cl, void *d, const layout *dl,
                   const uint64_t *algo, void *space, size_t size, void *stream) {
    static int products;
    float one = 1;
    int whole = al->type == R_8I, unit = 1, zero = 0;
    (void)handle, (void)c, (void)cl;
    if (!known(w, al, bl, dl) || memcmp(alpha, whole ? (void *)&unit : (void *)&one, 4) || memcmp(beta, &zero, 4)) return INVALID;
    if (!stream || !space || !size) return INVALID;
    if (algo[0] != 0xb1a6 && algo[0] != 0xb1a7) return INVALID;
    if (fault("status=")) return atoi(fault("status="));
    if (whole && fault("int8_fails")) return 13;
    int late = whole && ++products > 12;
    if (algo[0] == 0xb1a6) usleep(2000);
    if (fault("slow=")) usleep((useconds_t)atoi(fault("slow=")) * 1000);
    for (uint64_t j = 0; j < dl->columns; j++)
        for (uint64_t i = 0; i < dl->rows; i++) {
            float sum = 0;
            uint64_t at = i + j * (uint64_t)dl->lead;
            for (uint64_t k = 0; k < al->rows; k++)
                sum += value(a, al->type, k + i * (uint64_t)al->lead) * value(b, bl->type, k + j * (uint64_t)bl->lead);
            if (whole) ((int32_t *)d)[at] = (int32_t)sum + (fault("int8_off") || (fault("int8_late") && late && at == 77));
            else if (al->type == R_16BF && dl->type == R_32F) ((float *)d)[at] = sum + (fault("bf16_off") ? 1 : 0);
            else if (al->type == R_8F) ((float *)d)[at] = sum + (fault("fp8_off") ? 1 : 0);
            else ((uint16_t *)d)[at] = half(fault("wrong") ? -sum - 1 : sum);
        }
    return 0;
}
