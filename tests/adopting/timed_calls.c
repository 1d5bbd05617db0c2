/* Times functions of a program that somebody else wrote. Linked with -Wl,--wrap=NAME for each, it
 * stands before them and prints at the end what they took on this process, where that is rank 0.
 * Compiled with -DFIRST=NAME, and -DSECOND=NAME for another. Arguments pass through unseen: they
 * fit into ten words. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds;
static int calls;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void report(void) {
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  rank = rank == NULL ? getenv("PMI_RANK") : rank;
  if (rank == NULL || strcmp(rank, "0") == 0) {
    fprintf(stderr, "timed: %d calls, %.6f s\n", calls, seconds);
  }
}

#define WRAP_(name)                                                                                    \
  long __real_##name(long, long, long, long, long, long, long, long, long, long);                      \
  long __wrap_##name(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j) { \
    if (calls == 0) {                                                                                  \
      atexit(report);                                                                                  \
    }                                                                                                  \
    const double begin = now();                                                                        \
    const long result = __real_##name(a, b, c, d, e, f, g, h, i, j);                                   \
    seconds += now() - begin;                                                                          \
    ++calls;                                                                                           \
    return result;                                                                                     \
  }
#define WRAP(name) WRAP_(name)

WRAP(FIRST)
#ifdef SECOND
WRAP(SECOND)
#endif
