#pragma once

// How the interpreter's own hash tables are laid out, and what tracemalloc keeps in them. These structs are internal:
// no debug offsets and no table of layouts has them, and they changed twice (3.9 and 3.12). They are few and small, so
// they stand here; what is found with them proves itself (tracemalloc.cpp).
//
// Sources: hashtable.h of 3.6 to 3.8, pycore_hashtable.h since 3.9 (_Py_hashtable_t, _Py_hashtable_entry_t);
// _tracemalloc.c of 3.6 to 3.11 and pycore_tracemalloc.h since 3.12 (traceback_t, frame_t, trace_t, pointer_t,
// _PyTraceMalloc_Config, _tracemalloc_runtime_state).

#include "parsers/cpython/layout.h"

#include <cstdint>

namespace heapsift {

/// Offsets in a _Py_hashtable_t and its entries.
struct HashTableForm {
    LayoutOffset entry_count, bucket_count, buckets;
    LayoutOffset key_size, data_size;  // until 3.8; then key and data follow the header of an entry
    LayoutOffset get_entry_func, hash_func, compare_func, malloc_func, free_func;
    LayoutOffset size;
    // of an entry
    std::uint32_t next = 0, key_hash = 8, key = 16;
    LayoutOffset value;       // since 3.9: a pointer
    LayoutOffset entry_size;  // since 3.9; before: `key`, and the sizes of key and data
};

constexpr HashTableForm hash_table_form(const LayoutVersion& version) {
    HashTableForm form;
    form.buckets = 16;
    if (since(9).contain(version)) {
        form.entry_count = 0;
        form.bucket_count = 8;
        form.get_entry_func = 24;
        form.hash_func = 32;
        form.compare_func = 40;
        form.malloc_func = 64;
        form.free_func = 72;
        form.size = 80;
        form.value = 24;
        form.entry_size = 32;
    } else {
        form.bucket_count = 0;
        form.entry_count = 8;
        form.key_size = 24;
        form.data_size = 32;
        form.hash_func = 40;
        form.compare_func = 48;
        form.malloc_func = 56;
        form.free_func = 64;
        form.size = 72;
    }
    return form;
}

/// Offsets in tracemalloc's records, and where its variables lie if they are in one struct.
struct TracemallocForm {
    std::uint32_t trace_size = 0, trace_traceback = 8, trace_bytes = 16;
    std::uint32_t nframe = 8;   // 16 bits since 3.9, 32 before; of those, no more than 16 are used
    LayoutOffset total_nframe;  // since 3.9
    std::uint32_t frames = 12;  // behind the numbers: frames are packed
    std::uint32_t frame_filename = 0, frame_lineno = 8, frame_bytes = 12;
    bool filename_is_c_string = false;  // since 3.15: UTF-8 that the table of file names owns; before, a str
    std::uint32_t domain_in_key = 8;    // until 3.8, of keys of 12 bytes (pointer_t)
    // of _PyTraceMalloc_Config: three ints
    std::uint32_t config_initialized = 0, config_tracing = 4, config_max_nframe = 8;
    // Since 3.12: of _PyRuntime.tracemalloc. (tables_lock is a pointer in 3.12 and 3.13, a byte and padding since.)
    LayoutOffset state_allocators, state_traced_memory, state_traces;
};

constexpr TracemallocForm tracemalloc_form(const LayoutVersion& version) {
    TracemallocForm form;
    if (since(9).contain(version)) form.total_nframe = 10;
    if (since(12).contain(version)) {
        form.state_allocators = 16;
        form.state_traced_memory = 144;
        form.state_traces = 184;
    }
    form.filename_is_c_string = since(15).contain(version);
    return form;
}

/// 2.7 has no tracemalloc.
inline bool has_tracemalloc(const LayoutVersion& version) { return since(0).contain(version); }

}  // namespace heapsift
