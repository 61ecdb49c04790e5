// Two objects are the same value if they are of one type and have the same content: the characters of a str,
// the bytes of a bytes or a float, the digits of an int, dtype, shape, strides and elements of an array, the
// items of a tuple. So 1, 1.0 and True are three values, 0.0 and -0.0 are two, and a NaN equals one of the
// same bits. A str of equal characters has equal bytes, since CPython stores each as narrow as it can (PEP
// 393, unicodeobject.c); an int has no leading zeros (longobject.c).
//
// What is in memory once is read once: each object's bytes go into a hash of 64 bits (XXH3), with its type as
// the seed. A tuple's hash is made of those of its items, so these come first: a stack of tuples that are in
// work takes the place of recursion, since a tuple may be as deep as it likes. One that leads to itself, as C
// code can make it, is not a value, nor is one with an item that is not. A frozenset adds up what it makes of
// each item's hash: in any order.
//
// A damaged core may name the same bytes in any number of objects. What an object reads is held against the
// memory that is counted for it (ObjectSizes::memory), which is nobody else's, so that no byte is read more
// than once on the average; static objects have no memory of their own, and may read a page.

#include "analysis/content_hashes.h"

#include "analysis/array_elements.h"
#include "parsers/base/in_pieces.h"
#include "parsers/cpython/instance.h"
#include "parsers/cpython/python_heap.h"
#include "parsers/elf/core_file.h"
#include "parsers/numpy/array_layout.h"
#include "parsers/numpy/kinds.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace heapsift {
namespace {

constexpr std::uint64_t most_bytes_of_static = 4096;
constexpr std::size_t hashed_a_piece = 1 << 16;

ContentKind kind_of_known(KnownType type) {
    switch (type) {
        case KnownType::str:
            return ContentKind::text;
        case KnownType::bytes:
            return ContentKind::bytes;
        case KnownType::integer:
            return ContentKind::integer;
        case KnownType::floating:
            return ContentKind::floating;
        case KnownType::complex:
            return ContentKind::complex;
        case KnownType::tuple:
            return ContentKind::tuple;
        case KnownType::frozen_set:
            return ContentKind::frozen_set;
        case KnownType::none:
        case KnownType::boolean:
        case KnownType::ellipsis:
            return ContentKind::constant;
        default:
            return ContentKind::none;
    }
}

/// A class that gives names to the items of a tuple and adds nothing to it.
bool is_named_tuple(const PythonHeap& python, const TypeInfo& type) {
    if (!type.python_class || type.field_count > 0 || has_instance_dict(python, type)) return false;
    const TypeInfo& base = *c_base(python, type);
    return base.known == KnownType::tuple && base.basicsize == type.basicsize;
}

std::uint64_t mixed_content(std::uint64_t value, std::uint64_t seed) {
    return XXH3_64bits_withSeed(&value, sizeof(value), seed);
}

/// The bytes that are an object's value, apart from its items.
struct ContentBytes {
    Address data;
    std::uint64_t size = 0;
    std::uint64_t form = 0;  // what else must be the same
};

std::optional<ContentBytes> integer_bytes(const ObjectReader& object) {
    const auto& l = object.layout();
    if (object.heap().c_long(object.address())) return ContentBytes{object.at(*l.int_.ob_ival), 8, 1};
    std::uint64_t digits = 0, sign = 0;
    if (l.long_.lv_tag.present()) {
        const auto tag = object.integer<std::uint64_t>(l.long_.lv_tag);
        digits = tag >> 3;
        sign = tag & 3;
    } else {
        const std::int64_t size = object.var_size();
        digits = size < 0 ? 0 - static_cast<std::uint64_t>(size) : static_cast<std::uint64_t>(size);
        sign = size < 0 ? 2 : size > 0 ? 0 : 1;
    }
    if (digits > std::uint64_t{1} << 40) return std::nullopt;
    return ContentBytes{object.at(*l.long_.ob_digit), 4 * digits, sign};
}

/// Nothing for arrays that show another's bytes, or hold objects.
std::optional<ContentBytes> array_bytes(const ObjectReader& object) {
    const auto facts = array_facts(object);
    if (!facts || !facts->owns_data()) return std::nullopt;
    const auto descr = descr_facts(object.heap(), facts->descr);
    const auto strides = array_strides(object, *facts);
    if (!descr || descr->has_objects || !strides) return std::nullopt;
    const std::string dtype = descr_str(object.heap(), *descr);
    std::uint64_t form = XXH3_64bits(dtype.data(), dtype.size());
    // Fields, a unit, a category: only the same dtype object is sure to be equal.
    const bool is_plain = descr->fields.is_null() ||
                          object.heap().types().is(object.heap().type_of(descr->fields), KnownType::none);
    if (!is_plain || !descr->subarray.is_null()) form = mixed_content(facts->descr.value, form);
    for (std::size_t i = 0; i < strides->size(); ++i) {
        form = mixed_content(static_cast<std::uint64_t>(facts->shape[i]), form);
        form = mixed_content(facts->shape[i] > 1 ? static_cast<std::uint64_t>((*strides)[i]) : 0, form);
    }
    return ContentBytes{facts->data, facts->nbytes, form};
}

std::optional<ContentBytes> content_bytes(const ObjectReader& object, ContentKind kind) {
    const Layout& l = object.layout();
    switch (kind) {
        case ContentKind::text: {
            const auto& facts = object.unicode();
            if (!facts || (facts->data.is_null() && facts->length > 0)) return std::nullopt;
            if (facts->length > std::uint64_t{1} << 48) return std::nullopt;
            return ContentBytes{facts->data, facts->length * facts->kind, facts->kind};
        }
        case ContentKind::bytes: {
            const std::int64_t size = object.var_size();
            if (size < 0) return std::nullopt;
            return ContentBytes{object.at(*l.bytes.ob_sval), static_cast<std::uint64_t>(size), 0};
        }
        case ContentKind::integer:
            return integer_bytes(object);
        case ContentKind::floating:
            if (!l.float_.ob_fval.present()) return std::nullopt;
            return ContentBytes{object.at(*l.float_.ob_fval), 8, 0};
        case ContentKind::complex:
            if (!l.complex.real.present()) return std::nullopt;
            return ContentBytes{object.at(*l.complex.real), 16, 0};
        case ContentKind::array:
            return array_bytes(object);
        default:
            return std::nullopt;
    }
}

/// Nothing if not all of the bytes are in the core.
std::optional<std::uint64_t> content_hash(const AddressSpace& memory, const ContentBytes& content,
                                          TypeId type) {
    const std::uint64_t seed = mixed_content(content.form, std::uint64_t{type} + 1);
    if (content.size == 0) return mixed_content(0, seed);
    const auto bytes = memory.view(content.data, content.size);
    if (!bytes.empty()) return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
    const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), XXH3_freeState);
    if (!state) return std::nullopt;
    XXH3_64bits_reset_withSeed(state.get(), seed);
    std::uint64_t left = content.size;
    for (const DataRun& run : data_runs(memory, content.data, content.size)) {
        static constexpr std::array<std::byte, 4096> zeros{};
        if (run.data) XXH3_64bits_update(state.get(), run.data, run.size);
        for (std::uint64_t done = 0; !run.data && done < run.size; done += zeros.size())
            XXH3_64bits_update(state.get(), zeros.data(),
                               std::min<std::uint64_t>(zeros.size(), run.size - done));
        left -= std::min(left, run.size);
    }
    if (left > 0) return std::nullopt;
    return XXH3_64bits_digest(state.get());
}

bool has_items(ContentKind kind) { return kind == ContentKind::tuple || kind == ContentKind::frozen_set; }
bool is_candidate(ContentKind kind) { return kind != ContentKind::none && kind != ContentKind::constant; }

/// The items of tuples and frozensets: mostly a row of the references, else read anew.
class ItemRows {
public:
    explicit ItemRows(const HeapReader& heap)
        : heap_(heap), columns_(heap.snapshot()), references_(*columns_.references) {}

    /// Nothing if not all items are objects that were found. Valid until the next call with `room`.
    std::optional<std::span<const ObjectId>> of(ObjectId object, ContentKind kind,
                                                std::vector<ObjectId>& room) const {
        const auto row = references_.targets(object);
        const PythonHeap& python = heap_.python_heap();
        const Address at = columns_.address_of(object);
        const bool is_set = kind == ContentKind::frozen_set;
        const auto count =
            is_set ? python.integer<std::int64_t>(at + *python.layout().set.used) : python.var_size(at);
        if (count >= 0 && static_cast<std::uint64_t>(count) == row.size()) return row;
        // A class of its own is one reference more.
        if (is_set || count < 0 || static_cast<std::uint64_t>(count) + 1 != row.size()) return std::nullopt;
        room.clear();
        for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i) {
            const ObjectId item = columns_.find(python.pointer(at + *python.layout().tuple.ob_item + 8 * i));
            if (item == no_object) return std::nullopt;
            room.push_back(item);
        }
        return std::span<const ObjectId>(room);
    }

private:
    const HeapReader& heap_;
    const HeapSnapshot& columns_;
    const ReferenceGraph& references_;
};

// In place of a hash, of a tuple or frozenset, while hashes are computed.
constexpr std::uint64_t not_hashed_yet = 0, being_hashed = 2;

class ContentHasher {
public:
    ContentHasher(const HeapReader& heap, const ProgressCallback& progress)
        : heap_(heap), columns_(heap.snapshot()), progress_(progress), rows_(heap) {
        kinds_ = content_kinds(heap);
    }

    ContentHashes run() {
        find_values();
        hash_bytes();
        hash_items();
        return {std::move(kinds_), std::move(values_), std::move(hashes_), unread_};
    }

private:
    struct Hashed {
        std::vector<std::uint64_t> hashes;
        std::vector<ObjectId> with_items;
        std::uint64_t unread = 0;
    };
    /// A tuple whose items are being looked at.
    struct InWork {
        ObjectId object;
        std::size_t next = 0;
        std::span<const ObjectId> items;
        std::vector<ObjectId> room;  // of the items, where they are no row
    };

    ContentKind kind_of(TypeId type) const { return kinds_[std::min<std::size_t>(type, kinds_.size() - 1)]; }
    ContentKind kind(ObjectId object) const { return kind_of(columns_.type_of(object)); }
    std::uint64_t& hash(ObjectId object) { return hashes_[values_.rank(object)]; }

    void find_values() {
        values_ = RankedSet(columns_.object_count());
        for (ObjectId object{0}; object < columns_.object_count(); ++object)
            if (is_candidate(kind(object))) values_.add(object);
        values_.finish();
    }

    void hash_bytes() {
        const std::size_t objects = columns_.object_count();
        hashes_.reserve(values_.count());
        in_pieces<Hashed>(
            piece_count(objects, hashed_a_piece),
            [&](std::size_t piece, Hashed& hashed) {
                const auto [begin, end] = piece_of(piece, objects, hashed_a_piece);
                for (ObjectId object(begin); object < end; ++object)
                    if (values_.has(object)) hash_one(object, hashed);
            },
            [&](std::size_t piece, Hashed& hashed) {
                if (progress_)
                    progress_("comparing values",
                              static_cast<double>(piece * hashed_a_piece) / static_cast<double>(objects));
                move_to_end(hashed.hashes, hashes_);
                move_to_end(hashed.with_items, with_items_);
                unread_ += std::exchange(hashed.unread, 0);
            });
    }

    void hash_one(ObjectId object, Hashed& hashed) const {
        const TypeId type = columns_.type_of(object);
        const ContentKind kind = kind_of(type);
        if (has_items(kind)) {
            hashed.with_items.push_back(object);
            hashed.hashes.push_back(not_hashed_yet);
            return;
        }
        const ObjectReader reader(heap_.python_heap(), columns_.address_of(object), columns_.types[type]);
        const auto content = content_bytes(reader, kind);
        const ObjectSizes sizes = (*columns_.sizes)[object];
        const bool is_read = content && !sizes.damaged && sizes.not_saved == 0 &&
                             content->size <= std::max(sizes.memory, most_bytes_of_static);
        const auto found = is_read ? content_hash(heap_.core().memory(), *content, type) : std::nullopt;
        hashed.hashes.push_back(found ? usable(*found) : ContentHashes::no_value);
        // An array that shows another's bytes is not looked at.
        if (!found && (content || kind != ContentKind::array)) ++hashed.unread;
    }

    static std::uint64_t usable(std::uint64_t hash) {
        return hash < ContentHashes::first_hash ? hash + ContentHashes::first_hash : hash;
    }

    void hash_items() {
        for (const ObjectId object : with_items_)
            if (hash(object) == not_hashed_yet) {
                begin(object);
                while (!in_work_.empty()) look_at_items();
            }
        with_items_ = {};
    }

    void begin(ObjectId object) {
        hash(object) = being_hashed;
        InWork& work = in_work_.emplace_back();
        work.object = object;
        const auto items =
            (*columns_.sizes)[object].damaged ? std::nullopt : rows_.of(object, kind(object), work.room);
        if (items) {
            work.items = *items;
            return;
        }
        ++unread_;
        end(ContentHashes::no_value);
    }

    void end(std::uint64_t with) {
        hash(in_work_.back().object) = with;
        in_work_.pop_back();
    }

    /// Goes on with the items of the last one until it is done, or one of them must come first.
    void look_at_items() {
        InWork& work = in_work_.back();
        for (; work.next < work.items.size(); ++work.next) {
            const ObjectId item = work.items[work.next];
            const ContentKind of_item = kind(item);
            if (of_item == ContentKind::constant) continue;
            if (of_item == ContentKind::none) return end(ContentHashes::no_value);
            const std::uint64_t found = hash(item);
            if (found == not_hashed_yet) return begin(item);
            if (found < ContentHashes::first_hash) return end(ContentHashes::no_value);
        }
        end(usable(combined(work)));
    }

    std::uint64_t combined(const InWork& work) {
        const std::uint64_t seed =
            mixed_content(work.items.size(), std::uint64_t{columns_.type_of(work.object)} + 1);
        const bool in_order = kind(work.object) == ContentKind::tuple;
        std::uint64_t all = seed, sum = 0;
        for (const ObjectId item : work.items) {
            const std::uint64_t of_item = kind(item) == ContentKind::constant
                                              ? mixed_content(columns_.address_of(item).value, 0)
                                              : hash(item);
            if (in_order)
                all = mixed_content(of_item, all);
            else
                sum += mixed_content(of_item, seed);
        }
        return in_order ? all : mixed_content(sum, seed);
    }

    const HeapReader& heap_;
    const HeapSnapshot& columns_;
    const ProgressCallback& progress_;
    ItemRows rows_;
    std::vector<ContentKind> kinds_;
    RankedSet values_;
    std::vector<std::uint64_t> hashes_;
    std::uint64_t unread_ = 0;
    std::vector<ObjectId> with_items_;  // tuples and frozensets, by id
    std::vector<InWork> in_work_;
};

}  // namespace

std::vector<ContentKind> content_kinds(const HeapReader& heap) {
    std::vector<ContentKind> kinds;
    for (const TypeInfo& type : heap.snapshot().types) {
        ContentKind kind = kind_of_known(type.known);
        if (kind == ContentKind::none && type.kind == &ndarray_kind && !type.python_class &&
            !(type.base != no_type && heap.snapshot().types[type.base].kind == &ndarray_kind))
            kind = ContentKind::array;
        if (kind == ContentKind::none && is_named_tuple(heap.python_heap(), type)) kind = ContentKind::tuple;
        kinds.push_back(kind);
    }
    kinds.push_back(ContentKind::none);
    return kinds;
}

ContentHashes content_hashes(const HeapReader& heap, const ProgressCallback& progress) {
    return ContentHasher(heap, progress).run();
}

namespace {

bool have_equal_bytes(const HeapReader& heap, ContentKind kind, ObjectId one, ObjectId other) {
    const HeapSnapshot& columns = heap.snapshot();
    const auto bytes_of = [&](ObjectId object) {
        return content_bytes(
            ObjectReader(heap.python_heap(), columns.address_of(object), columns.type_info(object)), kind);
    };
    const auto a = bytes_of(one), b = bytes_of(other);
    if (!a || !b || a->size != b->size || a->form != b->form) return false;
    const AddressSpace& memory = heap.core().memory();
    std::array<std::byte, 4096> of_a, of_b;
    for (std::uint64_t done = 0; done < a->size; done += of_a.size()) {
        const std::size_t size = std::min<std::uint64_t>(of_a.size(), a->size - done);
        if (!memory.read_bytes(a->data + done, of_a.data(), size) ||
            !memory.read_bytes(b->data + done, of_b.data(), size) ||
            !std::equal(of_a.begin(), of_a.begin() + static_cast<std::ptrdiff_t>(size), of_b.begin()))
            return false;
    }
    return true;
}

}  // namespace

bool have_equal_content(const HeapReader& heap, const ContentHashes& hashes, ObjectId one, ObjectId other,
                        std::uint64_t& pairs_left) {
    const HeapSnapshot& columns = heap.snapshot();
    const ItemRows rows(heap);
    std::vector<ObjectId> room_of_one, room_of_other;
    std::vector<std::pair<ObjectId, ObjectId>> pairs = {{one, other}};
    // Tuples that share their items have more pairs than objects.
    for (; !pairs.empty() && pairs_left > 0; --pairs_left) {
        const auto [a, b] = pairs.back();
        pairs.pop_back();
        if (a == b) continue;
        const ContentKind kind = hashes.kind(columns.type_of(a));
        if (columns.type_of(a) != columns.type_of(b) || hashes.of(a) != hashes.of(b)) return false;
        if (!has_items(kind)) {
            if (!have_equal_bytes(heap, kind, a, b)) return false;
            continue;
        }
        const auto of_a = rows.of(a, kind, room_of_one), of_b = rows.of(b, kind, room_of_other);
        if (!of_a || !of_b || of_a->size() != of_b->size()) return false;
        std::vector<ObjectId> items(of_a->begin(), of_a->end()), others(of_b->begin(), of_b->end());
        if (kind == ContentKind::frozen_set)
            for (std::vector<ObjectId>* all : {&items, &others})
                std::sort(all->begin(), all->end(), [&](ObjectId x, ObjectId y) {
                    return std::pair(hashes.of(x), x) < std::pair(hashes.of(y), y);
                });
        for (std::size_t i = 0; i < items.size(); ++i) pairs.emplace_back(items[i], others[i]);
    }
    return true;
}

}  // namespace heapsift
