// Blocks of jemalloc that the program knows, and what jemalloc says of itself: as a library for jemalloc_truth.py, or with -DMAIN as a program of
// its own, which takes the number of threads, the file for the truth, and "kernel" if it is to abort at the end. It asks for jemalloc's own function
// by name, so it can be linked with any library.

#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>

extern int mallctl(const char*, void*, size_t*, void*, size_t) __attribute__((weak));

static const size_t sizes[] = {1, 16, 40, 100, 208, 500, 1000, 2000, 3000, 7000, 14000, 20000, 30000, 100000, 3000000};
enum { size_count = sizeof sizes / sizeof *sizes, of_each = 24, most = 64 * size_count * of_each };
static const uintptr_t mask = 0x5555555555555555;  // no word of this program leads to a block
static uintptr_t kept[most], freed[most];
static size_t kept_count, freed_count;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static struct link {
    struct link* next;
    char more[880];
} * chain;  // of 896 bytes each: reached
enum { links = 500 };

/// Blocks of all sizes, of which a third is freed again: a cache keeps them, unless they are large. Does not return.
void fill(volatile int* ready) {
    pthread_mutex_lock(&turn);
    for (int size = 0; size < size_count; ++size) {
        uintptr_t those[of_each];
        for (int i = 0; i < of_each; ++i) {
            char* block = malloc(sizes[size]);
            memset(block, 'k', sizes[size] < 1000000 ? malloc_usable_size(block) : 1);
            those[i] = (uintptr_t)block ^ mask;
        }
        for (int i = 0; i < of_each; ++i) {
            if (i % 3 != 0) {
                kept[kept_count++] = those[i];
                continue;
            }
            free((void*)(those[i] ^ mask));
            freed[freed_count++] = those[i];
        }
        memset(those, 0, sizeof those);
    }
    pthread_mutex_unlock(&turn);
    *ready = 1;
    for (;;) pause();
}

void hold(void) {
    for (int i = 0; i < links; ++i) {
        struct link* one = malloc(sizeof *one);
        one->next = chain;
        chain = one;
    }
}

static uintptr_t object, live, dead;

/// Two blocks with the address of an object; one of them is freed at the end.
void hold_object(uintptr_t address) {
    uintptr_t* blocks[2];
    for (int i = 0; i < 2; ++i) {
        blocks[i] = malloc(600);
        memset(blocks[i], 'k', 600);
        blocks[i][5] = address;
    }
    object = address ^ mask;
    live = (uintptr_t)blocks[0] ^ mask;
    dead = (uintptr_t)blocks[1] ^ mask;
}

static char text[most * 64];

static size_t ask(const char* name) {
    size_t value = 0, width = sizeof value;
    return mallctl(name, &value, &width, NULL, 0) == 0 ? value : 0;
}

/// How many blocks of each size it has given out.
static char* write_classes(char* at) {
    static const char* const kinds[][2] = {{"stats.arenas.4096.bins.%d.curregs", "arenas.bin.%d.size"},
                                           {"stats.arenas.4096.lextents.%d.curlextents", "arenas.lextent.%d.size"}};
    for (int kind = 0; kind < 2; ++kind)
        for (int i = 0; i < (kind == 0 ? 36 : 100); ++i) {
            char name[80];
            sprintf(name, kinds[kind][0], i);
            const size_t count = ask(name);
            sprintf(name, kinds[kind][1], i);
            if (count != 0) at += sprintf(at, "class %zu %zu\n", ask(name), count);
        }
    return at;
}

/// Writes the file and rests: what jemalloc says, name and number; how many blocks of each size it has given out; the blocks in use, address and usable size; the freed ones that nobody was given
/// again. Nothing in it allocates.
void tell_and_rest(const char* part, const char* sign, int abort_then) {
    static const char* const names[] = {"stats.allocated", "stats.metadata", "stats.arenas.4096.tcache_bytes", "stats.arenas.4096.internal",
                                        "stats.arenas.4096.small.allocated", "stats.arenas.4096.large.allocated", "stats.retained"};
    uint64_t epoch = 1;
    size_t width = sizeof epoch;
    char* at = text;
    if (object) {
        free((void*)(dead ^ mask));
        at += sprintf(at, "object %zu\nlive %zu\ndead %zu\n", object ^ mask, live ^ mask, dead ^ mask);
    }
    if (mallctl && mallctl("epoch", &epoch, &width, &epoch, width) == 0)
        for (size_t i = 0; i < sizeof names / sizeof *names; ++i) at += sprintf(at, "%s %zu\n", names[i], ask(names[i]));
    if (mallctl) at = write_classes(at);
    for (size_t i = 0; i < kept_count; ++i)
        at += sprintf(at, "kept %p %zu\n", (void*)(kept[i] ^ mask), malloc_usable_size((void*)(kept[i] ^ mask)));
    for (size_t i = 0; i < freed_count; ++i) {
        int again = 0;
        for (size_t k = 0; k < kept_count; ++k) again |= kept[k] == freed[i];
        if (!again) at += sprintf(at, "freed %p 0\n", (void*)(freed[i] ^ mask));
    }
    const int out = open(part, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (write(out, text, (size_t)(at - text)) != at - text) abort_then = 0;
    close(out);
    memset(text, 0, sizeof text);
    rename(part, sign);
    if (abort_then) abort();
    for (;;) pause();
}

#ifdef MAIN
static void* run(void* ready) {
    fill(ready);
    return NULL;
}

int main(int count, char** arguments) {
    if (count < 4) return 2;
    static char part[4096];
    snprintf(part, sizeof part, "%s.part", arguments[2]);
    static volatile int ready[64];
    hold();
    for (int i = 0; i < atoi(arguments[1]) && i < 64; ++i) {
        pthread_t thread;
        pthread_create(&thread, NULL, run, (void*)&ready[i]);
        while (!ready[i]) usleep(1000);
    }
    tell_and_rest(part, arguments[2], strcmp(arguments[3], "kernel") == 0);
}
#endif
