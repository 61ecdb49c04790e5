#pragma once

// The types of the interpreter and its library that this program treats in a way of their own, told apart once.
//
// What a type is called is for people. Code that asks "is this a cell?" compares no names: the table of types
// answers from what was told when it was made. A class written in Python is none of these, whatever it is
// called.

#include <cstdint>
#include <string_view>

namespace heapsift {

/// Of the others a kind (object_kind.h) says all that is needed.
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
    thread_local_dummy,  // by which a thread is a key of such a local's dicts
    traceback,
    tuple
};

/// Of a type made by C, by its tp_name as TypeInfo::name has it.
KnownType known_type(std::string_view name);

/// Has a frame of its own that waits: a generator, a coroutine, an asynchronous generator.
constexpr bool has_own_frame(KnownType type) {
    return type == KnownType::generator || type == KnownType::coroutine || type == KnownType::async_generator;
}

}  // namespace heapsift
