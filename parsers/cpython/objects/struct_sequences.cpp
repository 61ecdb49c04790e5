// Tuples whose items have names, made by C: os.stat_result, time.struct_time, sys.flags, … Some have more fields than a tuple
// shows: ob_size counts those that it shows, the type's `n_fields` all, and traverse reports all. (structseq.c)

#include "parsers/cpython/objects/kinds.h"

#include <algorithm>

namespace heapsift {

namespace {

constexpr std::int64_t most_fields = 1000;

std::int64_t field_count(const ObjectReader& object) {
    const PythonHeap& heap = object.heap();
    const TypeInfo* type = &object.type();
    while (type->python_class && type->base != no_type) type = &heap.types()[type->base];
    const Address number = heap.dict_value(heap.type_dict(type->address), "n_fields");
    const auto shown = std::clamp<std::int64_t>(object.var_size(), 0, most_fields);
    if (number.is_null()) return shown;
    return std::clamp<std::int64_t>(heap.integer<std::uint32_t>(number + *object.layout().long_.ob_digit), shown, most_fields);
}

void references(const ObjectReader& object, ReferenceVisitor& visit) {
    const Address items = object.at(*object.layout().tuple.ob_item);
    const std::uint64_t count = object.readable_items(items, field_count(object));
    for (std::uint64_t i = 0; i < count; ++i) visit.indexed(object.heap().pointer(items + 8 * i), i);
}

std::uint64_t body(const ObjectReader& object) {
    return *object.layout().tuple.ob_item + 8 * static_cast<std::uint64_t>(field_count(object));
}

constexpr const char* names[] = {"os.stat_result",
                                 "os.statvfs_result",
                                 "os.terminal_size",
                                 "os.sched_param",
                                 "posix.sched_param",
                                 "posix.times_result",
                                 "posix.uname_result",
                                 "posix.waitid_result",
                                 "nt.times_result",
                                 "time.struct_time",
                                 "pwd.struct_passwd",
                                 "grp.struct_group",
                                 "spwd.struct_spwd",
                                 "resource.struct_rusage",
                                 "signal.struct_siginfo",
                                 "sys.flags",
                                 "sys.float_info",
                                 "sys.hash_info",
                                 "sys.int_info",
                                 "sys.thread_info",
                                 "sys.version_info",
                                 "sys.asyncgen_hooks",
                                 "asyncgen_hooks",
                                 "sys.UnraisableHookArgs",
                                 "UnraisableHookArgs",
                                 "_thread._ExceptHookArgs",
                                 "_thread.ExceptHookArgs",
                                 "_lsprof.profiler_entry",
                                 "_lsprof.profiler_subentry",
                                 "curses.ncurses_version",
                                 "_interpchannels.ChannelInfo",
                                 "numpy.core.multiarray.typeinfo",
                                 "numpy.core.multiarray.typeinforanged"};

const ObjectKind kinds[] = {{.name = "struct sequence", .type_names = names, .body_size = body, .visit_references = references}};

}  // namespace

std::span<const ObjectKind> struct_sequence_kinds() { return kinds; }

}  // namespace heapsift
