/* Structs with everything that makes a member hard to find, in C, where typedefs of nameless structs stay
 * nameless.
 *
 * Compiled twice into one shared object, with DWARF 5 and with DWARF 3, whose bit fields are written down
 * differently (SHAPE() keeps the names apart). Each copy also says, through the compiler's own offsetof and
 * by setting bits, what the right answers are. The models are CPython's: nested anonymous unions and bit
 * fields as in PyASCIIObject, a typedef of a nameless struct as in PyODictObject, arrays of structs as in
 * _gc_runtime_state, a flexible array as in PyTupleObject. */

#ifndef HEAPSIFT_TESTS_DWARF_C_SHAPES_H
#define HEAPSIFT_TESTS_DWARF_C_SHAPES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the compiler says: path NULL is the struct's own size (in `offset`). The list ends with structure
 * NULL. */
struct shape_fact {
    const char* structure;
    const char* path;
    size_t offset;
};

/* A bit field: `fill` sets all its bits in zeroed memory of `size` bytes. Ends with structure NULL. */
struct shape_bits {
    const char* structure;
    const char* path;
    size_t size;
    void (*fill)(void* memory);
};

extern const struct shape_fact dwarf5_facts[], dwarf3_facts[];
extern const struct shape_bits dwarf5_bits[], dwarf3_bits[];

#ifdef __cplusplus
}
#endif

#endif
