#pragma once

// The types of the interpreter and its library that heapsift treats specially, identified once.
//
// A type's name is for people. Code that asks "is this a cell?" compares no names: the table of types
// identified it when it was made. A class written in Python is never one of these, whatever its name.

#include <cstdint>
#include <string_view>

namespace heapsift {

/// For all other types, their kind (object_kind.h) says all that is needed.
enum class KnownType : std::uint8_t {
    other,
    array_array,
    async_generator,
    boolean,
    builtin_function,
    bytearray,
    bytes,
    cell,
    code,
    complex,
    coroutine,
    ctypes_type,  // the metatype of ctypes' classes, since 3.13
    default_dict,
    deque,
    dict,
    ellipsis,
    floating,
    frame,
    frozen_set,
    function,
    generator,
    integer,
    list,
    mapping_proxy,
    memoryview,
    method,
    method_descriptor,
    mmap,
    module,
    none,
    numpy_dtype,
    ordered_dict,
    set,
    str,
    thread_local_data,   // threading.local
    thread_local_dummy,  // a thread's key in the dicts of a threading.local
    traceback,
    tuple
};

/// The type made by C whose name (TypeInfo::name, by its tp_name) this is.
KnownType known_type(std::string_view name);

/// Whether it has its own frame while it waits: a generator, a coroutine, an asynchronous generator.
constexpr bool has_own_frame(KnownType type) {
    return type == KnownType::generator || type == KnownType::coroutine || type == KnownType::async_generator;
}

}  // namespace heapsift
