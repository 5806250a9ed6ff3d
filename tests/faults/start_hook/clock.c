/* The wall clock of one process, moved by as many seconds as the file named by EAGLE3_TEST_CLOCK holds (an int64).

   Loaded before the C library (LD_PRELOAD). Monotonic clocks are left alone: no machine's jump. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static int (*real)(clockid_t, struct timespec *);
static volatile int64_t *shift;

__attribute__((constructor)) static void begin(void)
{
    real = dlsym(RTLD_NEXT, "clock_gettime");
    const char *name = getenv("EAGLE3_TEST_CLOCK");
    int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
        void *found = mmap(NULL, sizeof *shift, PROT_READ, MAP_SHARED, file, 0);
        shift = found == MAP_FAILED ? NULL : found;
        close(file);
    }
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (!real)
        real = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(clock, now);
    if (!failed && shift && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += *shift;
    return failed;
}
