// Interned strings. Each interpreter (up to 3.11 the process) keeps a dict that maps each interned str to
// itself. Only a C variable points to it: a static variable, from 3.12 on a field of the interpreter's state.
// It is found without symbols: among the dicts that words of the interpreter's own memory point to, it is the
// largest whose entries all map an interned string to itself. (unicodeobject.c: `interned`,
// get_interned_dict.)
//
// The lookup function. Up to 3.10 a table of keys stores the function that searches it: one for str keys
// only, another once any other key was looked up. dict_traverse visits keys only with the second
// (dictobject.c). Any dict with a key that is not a str tells which function that is.
//
// The tuple in which `property` passes its argument (up to 3.7). A variable of the interpreter's module leads to it;
// it has one item, and that variable alone counts it. It is not tracked, as no other tuple is whose item is: the
// collector stops to track tuples only whose items it does not track.

#include "parsers/snapshot/learned_dicts.h"

#include "parsers/cpython/build/quirks.h"
#include "parsers/cpython/type_flags.h"

namespace heapsift {
namespace {

constexpr std::uint64_t keys_looked_at = 64;
// bytes searched of an interpreter's state, or of its module's data
constexpr std::uint64_t largest_state = 1 << 20;

bool is_interned(const PythonHeap& heap, Address str) {
    const LayoutBits& bits = heap.layout().ascii.state_interned;
    if (const LayoutOffset state = heap.layout().bytes.ob_sstate; state.present())  // 2.7: names are bytes
        return heap.types().is(heap.type_of(str), KnownType::bytes) &&
               heap.integer<std::int32_t>(str + *state) != 0;
    if (!bits.present() || !heap.is_unicode(str)) return false;
    return (heap.integer<std::uint8_t>(str + *bits.byte) >> bits.bit & ((1U << bits.width) - 1)) != 0;
}

/// Entries in use, if the first `keys_looked_at` entries map interned strings to themselves; else 0.
std::uint64_t interned_count(const PythonHeap& heap, Address dict) {
    const auto facts = heap.dict(dict);
    if (!facts || facts->used == 0 || !facts->values.is_null()) return 0;
    std::uint64_t looked_at = 0;
    bool all = true;
    DictFacts first = *facts;
    first.entry_count = std::min(first.entry_count, keys_looked_at);
    heap.visit_dict(first, [&](Address key, Address value) {
        all = all && key == value && is_interned(heap, key);
        ++looked_at;
    });
    return all && looked_at > 0 ? facts->used : 0;
}

class Search {
public:
    explicit Search(const PythonHeap& heap) : heap_(heap) {}

    void look_through(AddressRange range) {
        range.end = std::min(range.end, range.start + largest_state);
        for (Address at = range.start; at + 8 <= range.end; at = at + 8) {
            const Address dict = heap_.pointer(at);
            if (!dict.aligned(8) || !heap_.is_dict(dict) || heap_.type_of(dict) == no_type) continue;
            if (const std::uint64_t count = interned_count(heap_, dict); count > largest_) {
                largest_ = count;
                table_ = dict;
            }
        }
    }
    Address table() const { return table_; }

private:
    const PythonHeap& heap_;
    std::uint64_t largest_ = 0;
    Address table_;
};

}  // namespace

std::vector<Address> find_interned_tables(const CoreFile& core, const PythonHeap& heap) {
    const PythonRuntime& runtime = heap.runtime();
    std::vector<Address> tables;
    auto add = [&](const Search& search) {
        if (!search.table().is_null() &&
            std::find(tables.begin(), tables.end(), search.table()) == tables.end())
            tables.push_back(search.table());
    };
    Search main(heap);
    if (runtime.module >= 0) {
        const Module& module = core.modules()[static_cast<std::size_t>(runtime.module)];
        for (const Segment& segment : core.memory().segments())
            if (segment.writable && segment.state == ByteState::in_core && segment.start >= module.start &&
                segment.start < module.image_end)
                main.look_through({segment.start, segment.end()});
    }
    const LayoutOffset state_size = runtime.layout.interpreter_state.size;
    for (std::size_t i = 0; i < runtime.interpreters.size() && state_size.present(); ++i) {
        const AddressRange state{runtime.interpreters[i].address,
                                 runtime.interpreters[i].address + *state_size};
        Search search(heap);
        (i == 0 ? main : search).look_through(state);
        if (i > 0) add(search);
    }
    add(main);
    return tables;
}

Address find_general_lookup(const FoundObjects& objects, const PythonHeap& heap) {
    const LayoutOffset lookup = heap.layout().dict_keys.dk_lookup;
    if (!lookup.present()) return {};
    for (std::size_t i = 0; i < objects.addresses.size(); ++i) {
        if (!(heap.types()[objects.types[i]].flags & dict_subclass_flag)) continue;
        const auto facts = heap.dict(objects.addresses[i]);
        if (!facts || !facts->values.is_null() || facts->unicode_keys) continue;
        bool other_key = false;
        heap.visit_dict(*facts,
                        [&](Address key, Address) { other_key = other_key || !heap.is_unicode(key); });
        if (other_key) return heap.pointer(facts->keys + *lookup);
    }
    return {};
}

Address find_kept_arguments(const CoreFile& core, const ObjectAccess& access) {
    const PythonHeap& heap = access.heap();
    const PythonRuntime& runtime = heap.runtime();
    if (!property_keeps_arguments(runtime.layout) || runtime.module < 0) return {};
    const auto is_theirs = [&](Address tuple) {
        const TypeId type = heap.type_of(tuple);
        if (type == no_type || !heap.types().is(type, KnownType::tuple) || heap.var_size(tuple) != 1)
            return false;
        if (access.refcount(tuple) != 1 || access.gc_tracked(tuple, heap.types()[type])) return false;
        const Address item = heap.pointer(tuple + *runtime.layout.tuple.ob_item);
        const TypeId of_item = item.is_null() ? no_type : heap.type_of(item);
        return of_item == no_type || access.refcount(item) == 0 ||
               access.gc_tracked(item, heap.types()[of_item]);
    };
    const Module& module = core.modules()[static_cast<std::size_t>(runtime.module)];
    for (const Segment& segment : core.memory().segments()) {
        if (!segment.writable || segment.state != ByteState::in_core || segment.start < module.start ||
            segment.start >= module.image_end)
            continue;
        for (Address at = segment.start; at + 8 <= segment.end(); at = at + 8)
            if (const Address word = heap.pointer(at); word.aligned(8) && !word.is_null() && is_theirs(word))
                return word;
    }
    return {};
}

}  // namespace heapsift
