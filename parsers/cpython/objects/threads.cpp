// Locks, thread-local data, queues between threads. A thread-local refers, through its own dict, to one dict
// for each thread that used it; the dummy in a thread's own dict only borrows that. (_threadmodule.c,
// _queuemodule.c)

#include "parsers/cpython/objects/kinds.h"
#include "parsers/cpython/objects/versioned_fields.h"

#include <algorithm>

namespace heapsift {

namespace {

void dummy_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().thread_local_dummy.localdict), ".<dict>", ReferenceKind::weak);
}

/// Up to 3.12 a list; since then a ring.
void simple_queue_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto& l = object.layout().simple_queue;
    visit.named(object.pointer(l.lst), ".<items>");
    const Address items = object.pointer(l.items);
    const auto capacity = object.readable_items(items, object.integer<std::int64_t>(l.items_cap));
    const auto first = object.integer<std::uint64_t>(l.get_idx);
    const auto count = std::min(object.integer<std::uint64_t>(l.num_items), capacity);
    for (std::uint64_t i = 0; i < count; ++i)
        visit.indexed(object.heap().pointer(items + 8 * ((first + i) % capacity)), i, ReferenceKind::strong,
                      ".<items>");
}

std::uint64_t ring_bytes(const ObjectReader& object) {
    const auto& l = object.layout().simple_queue;
    return 8 * std::min(object.integer<std::uint64_t>(l.items_cap), std::uint64_t{1} << 40);
}

std::uint64_t simple_queue_size(const ObjectReader& object) {
    return object.type().basicsize + (queue_counts_its_ring(object.layout()) ? ring_bytes(object) : 0);
}

void simple_queue_buffers(const ObjectReader& object, BufferVisitor& visit) {
    if (const Address items = object.pointer(object.layout().simple_queue.items); !items.is_null())
        visit.visit(items, ring_bytes(object), false);
}

constexpr const char* dummy_names[] = {"_thread._localdummy"};
constexpr const char* lock_names[] = {"_thread.lock", "_thread.RLock", "_thread._ThreadHandle",
                                      "_multiprocessing.SemLock"};
constexpr const char* simple_queue_names[] = {"_queue.SimpleQueue"};

constexpr const char* thread_locals_names[] = {"_thread._local"};

constexpr VersionedField<thread_locals_layout> thread_locals_fields[] = {
    {&thread_locals_layout::args, ".<arguments>"},
    {&thread_locals_layout::kw, ".<keyword arguments>"},
    {&thread_locals_layout::dummies, ".<dicts of threads>"},
    {&thread_locals_layout::watchdogs, ".<watchdogs of threads>"},
    {&thread_locals_layout::key, ".<key>", never},
    {&thread_locals_layout::wr_callback, ".<callback>", never}};

const ObjectKind kinds_of_threads[] = {
    {.name = "lock", .type_names = lock_names},
    {.name = "dummy of a thread-local",
     .type_names = dummy_names,
     .visit_references = dummy_references,
     .struct_size = struct_size<&Layout::thread_local_dummy>},
    {.name = "SimpleQueue",
     .type_names = simple_queue_names,
     .size = simple_queue_size,
     .visit_buffers = simple_queue_buffers,
     .visit_references = simple_queue_references,
     .struct_size = struct_size<&Layout::simple_queue>},
    versioned_kind<&Layout::thread_locals, thread_locals_fields>("thread-local", thread_locals_names),
};

}  // namespace

std::span<const ObjectKind> thread_kinds() { return kinds_of_threads; }

}  // namespace heapsift
