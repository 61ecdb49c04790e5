#pragma once

// The kinds of this folder. Each is declared here and listed in kinds.cpp.

#include "parsers/cpython/object_kind.h"

namespace heapsift {

extern const ObjectKind int_kind, float_kind, complex_kind, bool_kind, old_int_kind, old_bool_kind;
extern const ObjectKind str_kind, bytes_kind, bytearray_kind, old_unicode_kind;
extern const ObjectKind list_kind, tuple_kind;
extern const ObjectKind dict_kind, defaultdict_kind, ordered_dict_kind;
extern const ObjectKind set_kind;
extern const ObjectKind function_kind, code_kind;
extern const ObjectKind frame_kind, generator_kind;
extern const ObjectKind type_kind, module_kind, module_definition_kind;
extern const ObjectKind method_kind, builtin_function_kind, descriptor_kind, method_wrapper_kind;
extern const ObjectKind weakref_kind, weakproxy_kind;
extern const ObjectKind deque_kind;
extern const ObjectKind memoryview_kind, managed_buffer_kind, array_kind;
extern const ObjectKind struct_kind, product_kind, combinations_kind, permutations_kind, decimal_kind;

/// Families of extension modules of the standard library.
std::span<const ObjectKind> io_kinds();
std::span<const ObjectKind> thread_kinds();
std::span<const ObjectKind> asyncio_kinds();
std::span<const ObjectKind> text_module_kinds();
std::span<const ObjectKind> datetime_kinds();
std::span<const ObjectKind> xml_kinds();
std::span<const ObjectKind> pickle_kinds();
std::span<const ObjectKind> ctypes_kinds();
std::span<const ObjectKind> database_kinds();
std::span<const ObjectKind> system_module_kinds();

/// Families that are known by their type names alone.
std::span<const ObjectKind> simple_kinds();
std::span<const ObjectKind> iterator_kinds();
std::span<const ObjectKind> exception_kinds();
std::span<const ObjectKind> functools_kinds();
std::span<const ObjectKind> itertools_kinds();
std::span<const ObjectKind> contextvars_kinds();
std::span<const ObjectKind> typing_kinds();
/// Those that only 2.7 has.
std::span<const ObjectKind> old_kinds();

/// All of them.
std::span<const ObjectKind* const> cpython_kinds();

}  // namespace heapsift
