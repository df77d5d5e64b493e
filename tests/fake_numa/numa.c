/* The system calls mbind and move_pages of a machine with many NUMA nodes, for a process that has this library preloaded.

   Memory that was bound to a node is on it, if the node is in FAKE_NUMA_NODES (numbers with blanks); mbind to another
   node fails as on a machine without it. With FAKE_NUMA_HOME set, all other memory is on this node; without, its node is
   unknown. Every other system call is passed on. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

static struct { unsigned long at, size; int node; } bound[4096];
static int known;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int exists(int node)
{
    char *nodes = getenv("FAKE_NUMA_NODES");
    while (nodes && *nodes) {
        char *end;
        long one = strtol(nodes, &end, 10);
        if (end == nodes) break;
        if (one == node) return 1;
        nodes = end;
    }
    return 0;
}

static long on_mbind(unsigned long at, unsigned long size, const unsigned long *mask)
{
    int node = 0;
    while (node < 1024 && !(mask[node / 64] >> node % 64 & 1)) node++;
    if (!exists(node) || known == 4096) return errno = EINVAL, -1;
    pthread_mutex_lock(&lock);
    bound[known].at = at, bound[known].size = size, bound[known++].node = node;
    pthread_mutex_unlock(&lock);
    return 0;
}

static long on_move_pages(unsigned long count, void **pages, int *status)
{
    char *home = getenv("FAKE_NUMA_HOME");
    for (unsigned long i = 0; i < count; i++) {
        unsigned long at = (unsigned long)pages[i];
        status[i] = home ? atoi(home) : -ENOENT;
        for (int j = 0; j < known; j++)
            if (at >= bound[j].at && at < bound[j].at + bound[j].size) status[i] = bound[j].node;
    }
    return 0;
}

long syscall(long number, ...)
{
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_mbind) return on_mbind(a[0], a[1], (unsigned long *)a[3]);
    if (number == SYS_move_pages) return on_move_pages(a[1], (void **)a[2], (int *)a[4]);
    static long (*real)(long, ...);
    if (!real) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
