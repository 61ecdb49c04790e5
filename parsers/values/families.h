#pragma once

// The families of types that have a value: one file each, and a line in values.cpp.

#include "parsers/values/values.h"

#include <span>

namespace heapsift {

std::span<const ValueRow> date_values();        // datetime, zoneinfo
std::span<const ValueRow> number_values();      // Decimal, Fraction, range, slice
std::span<const ValueRow> identifier_values();  // UUID, paths, network addresses, patterns
std::span<const ValueRow> exception_values();
std::span<const ValueRow> callable_values();   // bound methods, partial, lru_cache
std::span<const ValueRow> container_values();  // list, dict, set, deque and what derives from them
std::span<const ValueRow> thread_values();     // locks, threads
std::span<const ValueRow> file_values();       // files, sockets
std::span<const ValueRow> task_values();       // asyncio
std::span<const ValueRow> library_values();    // pandas, Django, SQLAlchemy

/// By what a class is and not by its name: enumerations, named tuples, dataclasses, classes of attrs.
/// `dict` is the class's own. Null: none of these.
Describe class_value(const PythonHeap& heap, const TypeInfo& type, Address dict);
/// An instance of a class that SQLAlchemy maps to a table.
Describe mapped_value();
/// An instance of any class written in Python: those of its attributes that tell which one it is.
ShortValue instance_value(const Describing& of);
ShortValue namespace_value(const Describing& of);

}  // namespace heapsift
