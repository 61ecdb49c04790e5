#include "parsers/cpython/type_finder.h"

// Every PyTypeObject in the core.
//
// A type's ob_type is `type` or a metatype, so a sweep for words that equal `type`'s address finds every
// type, and a second one does the same for the metatypes it found. (What is its own metatype shows in the
// same sweep, by its tp_base.) Other words that refer to `type` are
// rejected by content: a type is ready, its sizes are sane, and its tp_mro is a tuple that contains it (in
// cores of 1,100 to 2,600 types, no look-alike passed). Names are what Python prints: __module__ and
// __qualname__ of a class, the dotted tp_name of a static type. Source: typeobject.c of 3.9 to 3.13.
//
// How sys.getsizeof of an instance is computed is decided here too: by the class in the mro whose __dict__
// has __sizeof__.

#include "parsers/cpython/build/names_in_3.h"
#include "parsers/cpython/build/object_header.h"
#include "parsers/cpython/build/quirks.h"
#include "parsers/cpython/build/refcount.h"
#include "parsers/cpython/type_flags.h"
#include "parsers/cpython/type_names.h"
#include "parsers/elf/word_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <unordered_map>

namespace heapsift {

namespace {

constexpr std::uint64_t max_basicsize = 1ULL << 24;
constexpr std::int64_t max_mro = 4096;
constexpr std::uint32_t max_struct_sequence_fields = 1000;
constexpr std::size_t longest_type_name = 1 << 14;  // code points; what is longer is cut

class TypeFinder {
public:
    TypeFinder(const AddressSpace& memory, const PythonRuntime& python,
               std::span<const ObjectKind* const> kinds, std::span<const Module> modules,
               std::span<const AddressRange> pools)
        : memory_(memory),
          python_(python),
          layout_(python.layout),
          heap_(memory, python, no_types_),
          modules_(modules),
          pools_(pools) {
        for (const ObjectKind* kind : kinds)
            for (const char* name : kind->type_names) kinds_by_name_.emplace(name, kind);
    }

    TypeTable find(std::span<const Address> known) {
        if (!take(known)) collect();
        std::vector<TypeInfo> types;
        types.reserve(addresses_.size());
        for (const std::uint64_t a : addresses_) types.push_back(describe(Address(a)));
        name_without_files(modules_, heap_, types);
        TypeTable table(std::move(types), layout_.version);
        for (TypeId id{0}; id < table.size(); ++id) link(table, id);
        for (TypeId id{0}; id < table.size(); ++id) end_base_chain(table, id);
        for (TypeId id{0}; id < table.size(); ++id) resolve_kind(table, id);
        size_methods_.assign(table.size(), std::nullopt);
        for (TypeId id{0}; id < table.size(); ++id) resolve_size(table, id);
        return table;
    }

private:
    std::uint64_t flags(Address type) const {
        return heap_.integer<std::uint64_t>(type + *layout_.type.tp_flags);
    }

    bool is_type(Address type) const {
        if (!type.aligned(8)) return false;
        const auto bits = memory_.read<std::uint64_t>(type + *layout_.type.tp_flags);
        if (!bits || !(*bits & ready_flag)) return false;
        if (static_cast<std::int64_t>(count_of(heap_, type)) <= 0) return false;
        const auto basicsize = heap_.integer<std::int64_t>(type + *layout_.type.tp_basicsize);
        const auto itemsize = heap_.integer<std::int64_t>(type + *layout_.type.tp_itemsize);
        if (basicsize < 16 || static_cast<std::uint64_t>(basicsize) > max_basicsize) return false;
        if (itemsize < 0 || static_cast<std::uint64_t>(itemsize) > max_basicsize) return false;
        return mro_contains(type) || (mro_was_cut_off(type) && stands_among_types(type));
    }

    /// A type that derives from `type` can become its own metatype (`v.__class__ = v`: h11's sentinels), or
    /// that of a type that is its metatype in turn: no metatype is found before it.
    bool is_metatype_of_its_own(Address type) const {
        if (!type.aligned(8)) return false;
        const Address metatype = heap_.type_address(type);
        return (metatype == type || (metatype.aligned(8) && heap_.type_address(metatype) == type)) &&
               is_type(type) && (flags(type) & type_subclass_flag);
    }

    /// Whether the tuple, or the part of it that matters, is in what a cut core lacks.
    bool mro_was_cut_off(Address type) const {
        const Address mro = heap_.pointer(type + *layout_.type.tp_mro);
        return !mro.is_null() && (is_cut_off(mro) || is_cut_off(mro + *layout_.tuple.ob_item) ||
                                  is_cut_off(heap_.type_address(mro)));
    }

    bool is_cut_off(Address address) const {
        const Segment* segment = memory_.find(address);
        return segment && segment->cut;
    }

    /// What else a ready type has: a base that is a type, or is cut off too (`object` has none), and code to
    /// free with.
    bool stands_among_types(Address type) const {
        const Address base = heap_.pointer(type + *layout_.type.tp_base);
        if (base == type) return false;
        const bool base_reads = base.is_null() || is_cut_off(base) || (flags(base) & ready_flag);
        const Segment* dealloc = memory_.find(heap_.pointer(type + *layout_.type.tp_dealloc));
        return base_reads && dealloc && (dealloc->executable || !dealloc->writable);
    }

    template <class F>
    void visit_mro(Address type, F&& visit) const {
        const Address mro = heap_.pointer(type + *layout_.type.tp_mro);
        if (mro.is_null() || !(flags(heap_.type_address(mro)) & tuple_subclass_flag)) return;
        const std::int64_t count = std::min(heap_.var_size(mro), max_mro);
        for (std::int64_t i = 0; i < count; ++i)
            if (!visit(heap_.pointer(mro + *layout_.tuple.ob_item + 8 * static_cast<std::uint64_t>(i))))
                return;
    }

    bool mro_contains(Address type) const {
        bool found = false;
        visit_mro(type, [&](Address base) {
            found = base == type;
            return !found;
        });
        return found;
    }

    /// False if they cannot be all types.
    bool take(std::span<const Address> known) {
        const auto reads = [&](Address type) {
            return is_type(type) || (type.aligned(8) && is_unready_type(type));
        };
        if (!std::binary_search(known.begin(), known.end(), python_.type_type) ||
            !std::all_of(known.begin(), known.end(), reads))
            return false;
        for (const Address type : known) addresses_.push_back(type.value);
        return true;
    }

    void collect() {
        std::vector<std::uint64_t> metatypes{python_.type_type.value};
        std::vector<std::uint64_t> seen;
        while (!metatypes.empty()) {
            seen.insert(seen.end(), metatypes.begin(), metatypes.end());
            const AddressSet set(std::move(metatypes));
            metatypes.clear();
            std::vector<std::uint64_t> found;
            sweep_words(memory_, set, pools_, [&](Address at, std::uint64_t) {
                const Address type = at - *layout_.object.ob_type;
                if (is_type(type)) found.push_back(type.value);
                const Address derived = at - *layout_.type.tp_base;
                if (is_metatype_of_its_own(derived)) found.push_back(derived.value);
            });
            for (const std::uint64_t type : found) {
                addresses_.push_back(type);
                if ((flags(Address(type)) & type_subclass_flag) &&
                    std::find(seen.begin(), seen.end(), type) == seen.end())
                    metatypes.push_back(type);
            }
        }
        collect_unready();
        std::sort(addresses_.begin(), addresses_.end());
        addresses_.erase(std::unique(addresses_.begin(), addresses_.end()), addresses_.end());
    }

    // C types that were never made ready, but have instances (up to 3.10: iterators of array, lru_cache's
    // links, …): static data that reads as a type in every required field, with ob_type still null or `type`.
    void collect_unready() {
        for (const Segment& segment : memory_.segments()) {
            if (segment.state != ByteState::in_core || !segment.writable || segment.module < 0 ||
                segment.size < *layout_.type.size)
                continue;
            const std::uint64_t lead = (8 - segment.start.value % 8) % 8;
            for (std::uint64_t at = lead; at + *layout_.type.size <= segment.size; at += 8) {
                std::uint64_t count = 0;
                std::memcpy(&count, segment.data + at, 8);
                if (count != 0 && count < (1U << 30) && is_unready_type(segment.start + at))
                    addresses_.push_back(segment.start.value + at);
            }
        }
    }

    bool is_unready_type(Address type) const {
        const Address metatype = heap_.type_address(type);
        if (!metatype.is_null() && metatype != python_.type_type) return false;
        const auto basicsize = heap_.integer<std::uint64_t>(type + *layout_.type.tp_basicsize);
        if (heap_.var_size(type) != 0 || basicsize < 16 || basicsize > 4096 ||
            heap_.integer<std::uint64_t>(type + *layout_.type.tp_itemsize) > 64)
            return false;
        const std::uint64_t bits = flags(type);
        if ((bits & (ready_flag | heap_type_flag)) || bits >= (std::uint64_t{1} << 32)) return false;
        if (!heap_.pointer(type + *layout_.type.tp_mro).is_null()) return false;
        const Segment* dealloc = memory_.find(heap_.pointer(type + *layout_.type.tp_dealloc));
        if (!dealloc || !dealloc->executable) return false;
        const Address text = heap_.pointer(type + *layout_.type.tp_name);
        if (memory_.state_of(text) == ByteState::not_saved)
            return true;  // without the file, the name proves nothing
        const auto name = memory_.read_c_string(text, 200);
        return name && !name->empty() && std::all_of(name->begin(), name->end(), [](char c) {
                   return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' ||
                          c == ' ';
               });
    }

    TypeInfo describe(Address type) {
        TypeInfo info;
        info.address = type;
        info.flags = flags(type);
        info.heap_type = (info.flags & heap_type_flag) != 0;
        info.has_gc = (info.flags & have_gc_flag) != 0;
        info.basicsize = heap_.integer<std::uint64_t>(type + *layout_.type.tp_basicsize);
        info.itemsize = heap_.integer<std::int64_t>(type + *layout_.type.tp_itemsize);
        info.dictoffset = heap_.integer<std::int64_t>(type + *layout_.type.tp_dictoffset);
        info.weaklistoffset = heap_.integer<std::int64_t>(type + *layout_.type.tp_weaklistoffset);
        info.presize = static_cast<decltype(info.presize)>(bytes_before_instance(layout_, info.flags));
        name(info);
        return info;
    }

    /// The text of a str; nothing for other objects: a class may set its __module__ to anything.
    std::optional<std::string> text_of(Address str) const {
        return heap_.is_unicode(str) ? heap_.unicode_text(str, longest_type_name) : std::nullopt;
    }

    void name(TypeInfo& info) const {
        const auto tp_name = memory_.read_c_string(heap_.pointer(info.address + *layout_.type.tp_name));
        if (info.heap_type) {
            const Address ht_name = heap_.pointer(info.address + *layout_.heap_type.ht_name);
            // A class statement makes tp_name point into the str ht_name; a type that C made from a spec has
            // its own string.
            const Address text = heap_.pointer(info.address + *layout_.type.tp_name);
            const auto facts = heap_.unicode(ht_name);
            info.python_class = facts && (text == facts->data || text == facts->utf8);
            const LayoutOffset called = layout_.heap_type.ht_qualname.present()
                                            ? layout_.heap_type.ht_qualname
                                            : layout_.heap_type.ht_name;
            const auto qualname = text_of(heap_.pointer(info.address + *called));
            const auto module = text_of(heap_.dict_value(heap_.type_dict(info.address), "__module__"));
            if (qualname) {
                info.name =
                    module && *module != builtins_name(layout_) ? *module + "." + *qualname : *qualname;
                return;
            }
        }
        if (tp_name) {
            info.name = tp_name->starts_with("builtins.") ? tp_name->substr(9) : *tp_name;
            return;
        }
        info.named = false;  // name_without_files (type_names.cpp) continues
        info.name = fmt::format("<type {:#x}>", info.address.value);
    }

    void link(TypeTable& table, TypeId id) const {
        TypeInfo& info = table[id];
        info.base = table.find(heap_.pointer(info.address + *layout_.type.tp_base));
        info.metatype = table.find(heap_.type_address(info.address));
    }

    /// Makes the chain of bases end even in a torn core, so that code which follows `base` need not count
    /// steps.
    void end_base_chain(TypeTable& table, TypeId id) const {
        TypeId at = table[id].base;
        for (std::int64_t steps = 0; at != no_type && at != id && steps < max_mro; ++steps)
            at = table[at].base;
        if (at != no_type) table[id].base = no_type;
    }

    /// The kind for a C type's own name; null for Python classes and for C types without one.
    const ObjectKind* own_kind(const TypeInfo& info) const {
        if (info.python_class) return nullptr;
        const auto tp_name = memory_.read_c_string(heap_.pointer(info.address + *layout_.type.tp_name));
        // mypyc leaves the module out of tp_name: mypy.types.NoneType is not the type of None.
        const bool whole = tp_name && (!info.heap_type || tp_name->find('.') != std::string::npos);
        const std::string name(name_in_3(layout_.version, whole ? *tp_name : info.name));
        auto it = kinds_by_name_.find(name);
        if (it == kinds_by_name_.end()) return nullptr;
        const ObjectKind* kind = it->second;
        if (kind->struct_size) {
            const LayoutOffset size = kind->struct_size(layout_);
            if (!size.present() || *size != info.basicsize) return nullptr;
        }
        return kind;
    }

    /// n_fields in the namespace of a C type that derives from tuple.
    std::uint32_t field_count(const TypeTable& table, const TypeInfo& type) const {
        if (!(type.flags & tuple_subclass_flag) || !table.is(type.base, KnownType::tuple)) return 0;
        const Address count = heap_.dict_value(heap_.type_dict(type.address), "n_fields");
        if (count.is_null() || !layout_.long_.ob_digit.present()) return 0;
        if (const auto number = heap_.c_long(count))
            return static_cast<std::uint32_t>(
                std::clamp<std::int64_t>(*number, 0, max_struct_sequence_fields));
        const auto fields = heap_.integer<std::uint32_t>(count + *layout_.long_.ob_digit);
        return fields <= max_struct_sequence_fields ? fields : 0;
    }

    /// Whether instances of the C type, which has no kind of its own, are laid out and traversed like those
    /// of the base that has one.
    bool adds_nothing(const TypeTable& table, const TypeInfo& info, const TypeInfo& c_type) const {
        if (c_type.basicsize > info.known_basicsize) return false;
        if (!info.kind) return c_type.itemsize == 0;
        const TypeInfo* at = &c_type;
        while (at->base != no_type && !own_kind(*at)) at = &table[at->base];
        return !c_type.has_gc || traverse(c_type) == traverse(*at);
    }

    Address traverse(const TypeInfo& type) const {
        return heap_.pointer(type.address + *layout_.type.tp_traverse);
    }

    bool has_traverse_of_static_base(const TypeTable& table, const TypeInfo& info) const {
        if (info.python_class || !info.heap_type || !info.has_gc) return false;
        const TypeInfo* at = &info;
        while (at->heap_type && at->base != no_type) at = &table[at->base];
        return !at->heap_type && at->has_gc && traverse(*at) == traverse(info);
    }

    void resolve_kind(TypeTable& table, TypeId id) const {
        TypeInfo& info = table[id];
        info.known_basicsize = 16;
        info.traverse_of_static_base = has_traverse_of_static_base(table, info);
        TypeId at = id;
        for (std::size_t steps = 0; at != no_type && steps < max_mro; ++steps, at = table[at].base) {
            if (const ObjectKind* kind = own_kind(table[at])) {
                info.kind = kind;
                info.known_basicsize = table[at].basicsize;
                break;
            }
        }
        // The words that a C type without a kind adds to the body are read by guess.
        for (at = id; at != no_type; at = table[at].base) {
            if (own_kind(table[at])) break;
            if (!table[at].python_class) {
                const TypeInfo& c_type = table[at];
                info.field_count = field_count(table, c_type);
                info.guessed = info.field_count == 0 && !adds_nothing(table, info, c_type);
                info.guess_end = c_type.basicsize;
                break;
            }
        }
    }

    /// Which __sizeof__ instances use: that of the first type in the mro that has one.
    void resolve_size(TypeTable& table, TypeId id) {
        TypeInfo& info = table[id];
        info.size_source = SizeSource::known;
        info.size_kind = nullptr;
        visit_mro(info.address, [&](Address base) {
            const TypeId owner = table.find(base);
            if (owner == no_type) return true;
            std::optional<Address>& method_of_owner = size_methods_[owner];
            if (!method_of_owner) method_of_owner = heap_.dict_value(heap_.type_dict(base), "__sizeof__");
            const Address method = *method_of_owner;
            if (method.is_null()) return true;
            if (table[owner].base == no_type) return false;  // object's own
            // `__sizeof__ = object.__sizeof__` in a class: another C type's method is used.
            if (table[owner].python_class &&
                table.is(table.find(heap_.type_address(method)), KnownType::method_descriptor)) {
                const TypeId other = table.find(heap_.pointer(method + *layout_.descriptor.d_type));
                if (other != no_type && table[other].base == no_type) return false;
                const ObjectKind* borrowed = other == no_type ? nullptr : own_kind(table[other]);
                if (borrowed && borrowed->size)
                    info.size_kind = borrowed;
                else
                    info.size_source = SizeSource::unknown;
                return false;
            }
            const ObjectKind* kind = own_kind(table[owner]);
            if (kind && kind->size) {
                info.size_kind = kind;
                return false;
            }
            if (table[owner].python_class ||
                table.is(table.find(heap_.type_address(method)), KnownType::function)) {
                info.size_source = SizeSource::python;
                return true;  // the next C type answers
            }
            info.size_source = SizeSource::unknown;
            return false;
        });
    }

    const AddressSpace& memory_;
    const PythonRuntime& python_;
    const Layout& layout_;
    TypeTable no_types_;
    PythonHeap heap_;
    std::span<const Module> modules_;
    std::span<const AddressRange> pools_;
    std::vector<std::uint64_t> addresses_;
    std::vector<std::optional<Address>> size_methods_;  // by type: its own __sizeof__, once it was looked for
    std::unordered_map<std::string, const ObjectKind*> kinds_by_name_;
};

}  // namespace

TypeTable::TypeTable(std::vector<TypeInfo> sorted_by_address, const LayoutVersion& version)
    : types_(std::move(sorted_by_address)), by_address_(types_.size()) {
    static_assert(AddressIndex::missing == no_type);
    for (TypeId id{0}; id < types_.size(); ++id) {
        TypeInfo& type = types_[id];
        by_address_.add(type.address, id);
        if (!type.python_class && type.named) type.known = known_type(name_in_3(version, type.name));
    }
}

std::vector<TypeId> TypeTable::named(std::string_view name) const {
    std::vector<TypeId> ids;
    for (TypeId id{0}; id < types_.size(); ++id)
        if (types_[id].name == name) ids.push_back(id);
    return ids;
}

bool TypeTable::derives(TypeId type, TypeId ancestor) const {
    for (std::size_t steps = 0; type != no_type && steps <= types_.size(); ++steps, type = types_[type].base)
        if (type == ancestor) return true;
    return false;
}

bool TypeTable::derives_from_named(TypeId type, std::initializer_list<std::string_view> names) const {
    constexpr int most_bases = 100;
    for (int steps = 0; type != no_type && steps < most_bases; ++steps, type = types_[type].base)
        if (std::find(names.begin(), names.end(), types_[type].name) != names.end()) return true;
    return false;
}

TypeTable find_types(const AddressSpace& memory, const PythonRuntime& python,
                     std::span<const ObjectKind* const> kinds, std::span<const Module> modules,
                     std::span<const AddressRange> pools, std::span<const Address> known) {
    return TypeFinder(memory, python, kinds, modules, pools).find(known);
}

}  // namespace heapsift
