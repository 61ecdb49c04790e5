// Malloc as the test wants it, and what malloc says of itself. Only calls that every glibc has.

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { sizes = 8, of_each = 20 };
static FILE* out;
static char buffer[1 << 20];  // no buffer of malloc's

int prepare(const char* path) {
    out = fopen(path, "w");
    return out && setvbuf(out, buffer, _IOFBF, sizeof buffer) == 0;
}

/// Blocks in use, and 20 freed ones of each of eight sizes: a cache keeps some of them, fast bins and bins the rest. Does not return.
void fill(volatile int* ready) {
    for (int size = 0; size < sizes; ++size) {
        void* freed[of_each];
        for (int i = 0; i < of_each; ++i) {
            freed[i] = malloc(40 + 112 * size);
            memset(malloc(2008), 'k', 2008);  // stays: the freed ones must not grow together
        }
        for (int i = 0; i < of_each; ++i) free(freed[i]);
    }
    *ready = 1;
    for (;;) pause();
}

/// Blocks with mappings of their own: `count`, aligned to a page or not.
void map(int count) {
    for (int i = 0; i < count; ++i) {
        char* block = i % 2 == 0 ? malloc(400000 + 10000 * i) : memalign(8192, 400000 + 10000 * i);
        block[0] = 1;
    }
}

/// Writes what malloc says: bytes in use, free, and free in fast bins, of all arenas; then of each. It does so in a copy of the process, so that
/// writing changes nothing; then renames the file, and rests.
void tell_and_rest(const char* part, const char* sign, int abort_then) {
    if (fork() == 0) {
        const struct mallinfo sums = mallinfo();
        fprintf(out, "%d %d %d\n", sums.uordblks, sums.fordblks, sums.fsmblks);
        malloc_info(0, out);
        fflush(out);
        _exit(0);
    }
    wait(NULL);
    rename(part, sign);
    if (abort_then) abort();
    for (;;) pause();
}
