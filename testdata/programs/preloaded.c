// An allocator with full caches, in some threads, and what the program knows of its blocks. Every thread asks for blocks of many sizes; then each
// frees some of its own and some of its neighbour's, while nobody asks for any; then a copy of the process writes down what there is, so that
// writing changes nothing. With HEAPSIFT_DOMAIN=python the blocks are those of PyMem_Malloc, which the threads may call without the GIL as long as
// Python's allocator is one that needs none.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// The library is to load with older versions of glibc, which have these elsewhere.
#define OLD(function) __asm__(".symver " #function "," #function "@GLIBC_2.2.5")
OLD(dlsym);
OLD(pthread_create);
OLD(pthread_join);
OLD(pthread_barrier_init);
OLD(pthread_barrier_wait);

enum { most_threads = 16, of_thread = 3000 };
struct block {
    void* start;
    size_t usable;  // of PyMem_Malloc's, what was asked for
    int freed;
};
static struct block blocks[most_threads][of_thread];
static int threads;
static pthread_barrier_t asked, freed;
static void* (*allocate)(size_t) = malloc;
static void (*release)(void*) = free;
static FILE* out;
static char buffer[1 << 20];  // no buffer of malloc's

int prepare(const char* path, int count) {
    const char* domain = getenv("HEAPSIFT_DOMAIN");
    if (domain && strcmp(domain, "python") == 0) {
        allocate = (void* (*)(size_t))dlsym(RTLD_DEFAULT, "PyMem_Malloc");
        release = (void (*)(void*))dlsym(RTLD_DEFAULT, "PyMem_Free");
        if (!allocate || !release) return 0;
    }
    threads = count;
    out = fopen(path, "w");
    return out && count >= 1 && count <= most_threads && setvbuf(out, buffer, _IOFBF, sizeof buffer) == 0 &&
           pthread_barrier_init(&asked, NULL, (unsigned)count) == 0 && pthread_barrier_init(&freed, NULL, (unsigned)count) == 0;
}

/// From 1 byte to 24 MiB; most are small.
static size_t size_of(unsigned i) {
    if (i % 1500 == 7) return (size_t)(18 + i / 1500) << 20;
    if (i % 400 == 3) return 300000 + 7919 * i;
    if (i % 50 == 1) return 5000 + 101 * i % 120000;
    return 1 + i * 37 % (i % 5 == 0 ? 1024 : 200);
}

static void ask(unsigned me) {
    for (unsigned i = 0; i < of_thread; ++i) {
        const size_t size = size_of(i + me);
        struct block* block = &blocks[me][i];
        block->start = allocate(size);
        memset(block->start, 'k', size < 4096 ? size : 4096);
        block->usable = allocate == malloc ? malloc_usable_size(block->start) : size;
    }
}

static void give_back(unsigned of, unsigned first, unsigned step) {
    for (unsigned i = first; i < of_thread; i += step) {
        if (blocks[of][i].freed) continue;
        blocks[of][i].freed = 1;
        release(blocks[of][i].start);
    }
}

static void* work(void* number) {
    const unsigned me = (unsigned)(size_t)number;
    ask(me);
    pthread_barrier_wait(&asked);
    give_back(me, 0, 3);
    give_back((me + 1) % (unsigned)threads, 1, 7 * 3);
    // All blocks of some size: whole pages come free.
    for (unsigned i = 0; i < of_thread; ++i)
        if (blocks[me][i].usable >= 96 && blocks[me][i].usable < 128 && i % 3 != 0 && i % 21 != 1) {
            blocks[me][i].freed = 1;
            release(blocks[me][i].start);
        }
    pthread_barrier_wait(&freed);
    if (me % 4 == 3) return NULL;  // its blocks live on
    if (me > 0)
        for (;;) pause();
    return NULL;
}

/// The first of the threads is the one that calls. Returns when all have done their work.
void run(void) {
    pthread_t made[most_threads];
    for (int i = 1; i < threads; ++i) pthread_create(&made[i], NULL, work, (void*)(size_t)i);
    work(NULL);
    for (int i = 3; i < threads; i += 4) pthread_join(made[i], NULL);
}

struct area {
    void* blocks;
    size_t reserved, committed, used, block_size, full_block_size;
};
static size_t counted, counted_bytes;

static _Bool count_block(const void* heap, const struct area* area, void* block, size_t size, void* more) {
    (void)heap, (void)more;
    if (block) ++counted, counted_bytes += area->block_size < size ? size : area->block_size;
    return 1;
}

/// What the allocator says itself, if it says anything: gperftools', bytes in use; mimalloc's, blocks of this thread.
static void tell_statistics(void) {
    int (*property)(const char*, size_t*) = (int (*)(const char*, size_t*))dlsym(RTLD_DEFAULT, "MallocExtension_GetNumericProperty");
    size_t value = 0;
    if (property && property("generic.current_allocated_bytes", &value)) fprintf(out, "allocated %zu\n", value);
    _Bool (*visit)(const void*, _Bool, _Bool (*)(const void*, const struct area*, void*, size_t, void*), void*) =
        (_Bool(*)(const void*, _Bool, _Bool (*)(const void*, const struct area*, void*, size_t, void*), void*))dlsym(RTLD_DEFAULT, "mi_heap_visit_blocks");
    void* (*heap)(void) = (void* (*)(void))dlsym(RTLD_DEFAULT, "mi_heap_get_default");
    if (visit && heap && visit(heap(), 1, count_block, NULL)) fprintf(out, "visited %zu %zu\n", counted, counted_bytes);
}

/// Writes what there is, renames the file, and rests.
void tell_and_rest(const char* part, const char* sign, int abort_then) {
    if (fork() == 0) {
        tell_statistics();
        for (int t = 0; t < threads; ++t)
            for (int i = 0; i < of_thread; ++i)
                fprintf(out, "%s %zx %zu\n", blocks[t][i].freed ? "free" : "used", (size_t)blocks[t][i].start, blocks[t][i].usable);
        fflush(out);
        _exit(0);
    }
    wait(NULL);
    rename(part, sign);
    if (abort_then) abort();
    for (;;) pause();
}
