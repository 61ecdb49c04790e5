// tcmalloc divides memory into spans of 8 KiB pages. A span is one large block, or cut into blocks of one of some 90
// sizes, its class; or nobody has it. Its descriptor lies elsewhere, and a map of two levels leads from each page to
// it. A block of a class is free if it is in its span's list, in a chain that waits in one of the class's transfer
// slots, or in a list of a thread's cache; the span counts the last two as handed out.
//
// All begins in the library's static data, without a symbol. The table of sizes rises from 0 by 8 or 16 to 256 KiB.
// The central lists, one for each class in a row, each have their class's number and two rings of spans. What those
// spans' pages are mapped to is their descriptors' addresses, which finds the map: a word in the static data leads
// to a leaf that has the descriptor at the right place, for each of them. A thread's cache has the size of its class
// in each of its lists; static data leads to one, and each to the next.
//
// What proves a span: the map leads from its first and last page to it, and it begins where the one before ends. Its
// list: each link leads to one of its blocks, none of them twice, and what is in the list and what was handed out
// are all its blocks. Chains of slots and caches have the length that is written beside them.
// Source: span.h, central_freelist.h, thread_cache.h, pagemap.h, page_heap.cc and common.h of gperftools 2.8.1 to
// 2.18. (Google's tcmalloc with caches for each CPU is another program.)

#include "parsers/memory/tcmalloc.h"

#include "parsers/memory/region_map.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace heapsift {
namespace {

constexpr std::uint64_t most_classes = 128;  // kClassSizesMax
constexpr std::uint64_t least_classes = 24;
constexpr std::uint64_t most_blocks = 0xffff;    // that a span can count
constexpr std::uint64_t least_data = 512 << 10;  // of a module with a page map
constexpr unsigned address_bits = 48;
constexpr unsigned page_shifts[] = {13, 12, 15, 16, 18};  // the first unless it was configured otherwise

// Span
constexpr std::uint64_t span_bytes = 48, length_at = 8, next_at = 16, objects_at = 32, count_at = 40,
                        class_at = 42, location_at = 43, location_bits = 3;
// CentralFreeList, whose size depends on the version
constexpr std::uint64_t number_at = 8, empty_at = 16, nonempty_at = 64, slots_at = 128, slots = 64,
                        slot_bytes = 16, used_slots_at = slots_at + slots * slot_bytes,
                        least_stride = used_slots_at + 16, most_stride = least_stride + 192;
// ThreadCache
constexpr std::uint64_t list_bytes = 32, list_length_at = 8, list_size_at = 24, most_caches = 1 << 14,
                        all_lists = most_classes * list_bytes, behind_lists = 512;

struct Span {
    Address at;  // of its descriptor
    std::uint64_t page = 0, pages = 0;
    Address objects;
    std::uint64_t handed_out = 0;
    unsigned size_class = 0, location = 0;
};

}  // namespace

class TcmallocFinder {
public:
    TcmallocFinder(const AddressSpace& memory, std::span<const Module> modules)
        : memory_(memory), words_left_(memory.total_bytes() / 8) {
        for (const Module& module : modules) {
            std::vector<std::span<const std::byte>> pieces;
            std::uint64_t bytes = 0;
            const AddressRange image{module.start, std::max(module.end, module.image_end)};
            for (const Segment& segment : memory.segments()) {
                if (segment.start < image.start || segment.start >= image.end) continue;
                if (segment.state != ByteState::in_core || !segment.writable) continue;
                bytes += segment.size;
                pieces.push_back({segment.data, segment.size});
                starts_.push_back(segment.start);
            }
            if (bytes < least_data)
                starts_.resize(starts_.size() - pieces.size());
            else
                data_.insert(data_.end(), pieces.begin(), pieces.end());
        }
    }

    std::unique_ptr<const Tcmalloc> find() {
        if (data_.empty() || !find_sizes() || !find_central_lists() || !find_page_map()) return nullptr;
        add_spans();
        if (found_->spans_.empty()) return nullptr;
        join_ranges(found_->spans_);
        found_->damage_.places += runs().finish();
        free_transfer_slots();
        free_thread_caches();
        return std::move(found_);
    }

private:
    BlockRuns& runs() { return found_->runs_; }
    std::uint64_t word(Address at) const { return memory_.read<std::uint64_t>(at).value_or(0); }

    /// visit(address, word) for each word of the modules' data, until it returns true.
    template <class Visit>
    bool any_word(Visit&& visit) const {
        for (std::size_t i = 0; i < data_.size(); ++i) {
            const std::uint64_t first = (8 - starts_[i].value % 8) % 8;
            for (std::uint64_t at = first; at + 8 <= data_[i].size(); at += 8) {
                std::uint64_t value = 0;
                std::memcpy(&value, data_[i].data() + at, 8);
                if (value != 0 && visit(starts_[i] + at, value)) return true;
            }
        }
        return false;
    }

    // --- sizes of classes

    bool find_sizes() {
        for (const std::span<const std::byte>& data : data_)
            for (std::uint64_t at = 0; at + 4 * most_classes <= data.size(); at += 4)
                if (reads_as_sizes(data.data() + at)) return true;
        return false;
    }

    bool reads_as_sizes(const std::byte* at) {
        constexpr std::uint32_t most = 256 << 10;
        std::uint32_t first[3];
        std::memcpy(first, at, sizeof first);
        if (first[0] != 0 || (first[1] != 8 && first[1] != 16) || first[2] <= first[1] || first[2] > 32)
            return false;
        std::array<std::uint32_t, most_classes> all{};
        std::memcpy(all.data(), at, sizeof all);
        std::size_t count = 1;
        while (count < most_classes && all[count] > all[count - 1] && all[count] % 8 == 0 &&
               all[count] <= most)
            ++count;
        if (count < least_classes || all[count - 1] != most) return false;
        sizes_.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
        return true;
    }

    // --- central lists

    bool find_central_lists() {
        return any_word([&](Address at, std::uint64_t value) {
            if (value != 1) return false;
            for (std::uint64_t stride = least_stride; stride <= most_stride; stride += 8)
                if (is_central_array(at - number_at - stride, stride)) {
                    central_ = at - number_at - stride;
                    stride_ = stride;
                    return true;
                }
            return false;
        });
    }

    bool is_central_array(Address start, std::uint64_t stride) const {
        for (const std::uint64_t size_class : {std::uint64_t{2}, std::uint64_t{3}})
            if (word(start + size_class * stride + number_at) != size_class) return false;
        for (std::uint64_t i = 0; i < sizes_.size(); ++i) {
            const Address list = start + i * stride;
            if (word(list + number_at) != i) return false;
            for (const std::uint64_t ring : {empty_at, nonempty_at}) {
                const Address head = list + ring, next(word(head + next_at));
                if (word(next + next_at + 8) != head.value) return false;
            }
        }
        return true;
    }

    /// visit(span) for each span of the central lists, until it returns false.
    template <class Visit>
    bool visit_central_spans(Visit&& visit) const {
        std::uint64_t left = memory_.total_bytes() / 4096;  // more spans there cannot be
        for (std::uint64_t i = 1; i < sizes_.size(); ++i)
            for (const std::uint64_t ring : {empty_at, nonempty_at}) {
                const Address head = central_ + i * stride_ + ring;
                for (Address at(word(head + next_at)); at != head && left > 0; --left) {
                    const std::optional<Span> span = span_at(at);
                    if (!span || span->size_class != i) break;
                    if (!visit(*span)) return false;
                    at = Address(word(at + next_at));
                }
            }
        return true;
    }

    std::optional<Span> span_at(Address at) const {
        const auto bytes = memory_.read<std::array<std::uint8_t, span_bytes>>(at);
        if (!bytes || !at.aligned(8)) return std::nullopt;
        const auto number = [&](std::uint64_t offset) {
            std::uint64_t value = 0;
            std::memcpy(&value, bytes->data() + offset, 8);
            return value;
        };
        Span span;
        span.at = at;
        span.page = number(0);
        span.pages = number(length_at);
        span.objects = Address(number(objects_at));
        span.handed_out = number(count_at) & 0xffff;
        span.size_class = (*bytes)[class_at];
        span.location = (*bytes)[location_at] & location_bits;
        return span;
    }

    // --- the map from pages to spans

    unsigned leaf_bits() const { return (address_bits - shift_ + 1) / 2; }
    std::uint64_t leaf_entries() const { return std::uint64_t{1} << leaf_bits(); }
    std::uint64_t root_entries() const { return std::uint64_t{1} << (address_bits - shift_ - leaf_bits()); }
    Address mapped_to(std::uint64_t page) const {
        if (page >> leaf_bits() >= root_entries()) return Address();
        const Address leaf(word(root_ + 8 * (page >> leaf_bits())));
        return leaf.is_null() ? leaf : Address(word(leaf + 8 * (page & (leaf_entries() - 1))));
    }

    bool find_page_map() {
        std::optional<Span> first;
        visit_central_spans([&](const Span& span) {
            first = span;
            return false;
        });
        if (!first) return false;
        for (const unsigned shift : page_shifts) {
            shift_ = shift;
            if (!first->objects.is_null() && first->objects.value >> shift != first->page &&
                (first->objects.value >> shift < first->page ||
                 first->objects.value >> shift >= first->page + first->pages))
                continue;
            const std::uint64_t entry = 8 * (first->page & (leaf_entries() - 1));
            const bool there = any_word([&](Address at, std::uint64_t value) {
                if (value % 8 != 0 || word(Address(value) + entry) != first->at.value) return false;
                root_ = at - 8 * (first->page >> leaf_bits());
                return is_page_map();
            });
            if (there) return true;
        }
        return false;
    }

    /// Whether it leads to the spans of the central lists. One may be on its way to another list; two are not.
    bool is_page_map() const {
        std::uint64_t right = 0, wrong = 0;
        visit_central_spans([&](const Span& span) {
            const bool fits = span.pages > 0 && span.pages < root_entries() * leaf_entries() &&
                              mapped_to(span.page) == span.at &&
                              mapped_to(span.page + span.pages - 1) == span.at;
            ++(fits ? right : wrong);
            return wrong < 2;
        });
        return right > 0 && wrong < 2;
    }

    void add_spans() {
        std::uint64_t end = 0;  // the first page behind the last span
        for (std::uint64_t i = 0; i < root_entries(); ++i) {
            const Address leaf(word(root_ + 8 * i));
            if (leaf.is_null()) continue;
            visit_entries(leaf, [&](std::uint64_t entry, Address at) {
                const std::uint64_t page = i * leaf_entries() + entry;
                if (page < end) return;  // inside the last
                const std::optional<Span> span = span_at(at);
                if (!span || span->page != page || span->pages == 0 ||
                    span->pages > root_entries() * leaf_entries() - page ||
                    mapped_to(page + span->pages - 1) != at || span->location == location_bits)
                    return;
                end = page + span->pages;
                add(*span);
            });
        }
    }

    /// visit(index, descriptor) for the entries of a leaf that are set.
    template <class Visit>
    void visit_entries(Address leaf, Visit&& visit) {
        const AddressRange all{leaf, leaf + 8 * leaf_entries()};
        for (Address at = leaf; at < all.end;) {
            const Segment* segment = memory_.find(at);
            if (!segment || !at.aligned(8)) return;
            const std::uint64_t from = at - segment->start,
                                to = std::min(all.end, segment->end()) - segment->start;
            if (segment->data)
                memory_.visit_written(*segment, [&](std::uint64_t first, std::uint64_t last) {
                    first = std::max(first, from);
                    last = std::min(last, to);
                    first += (8 - (segment->start + first).value % 8) % 8;
                    for (std::uint64_t offset = first; offset + 8 <= last && words_left_ > 0; offset += 8) {
                        --words_left_;  // leaves of a map that lies may be one and the same
                        std::uint64_t value = 0;
                        std::memcpy(&value, segment->data + offset, 8);
                        if (value != 0) visit((segment->start + offset - leaf) / 8, Address(value));
                    }
                });
            at = segment->end();
        }
    }

    void add(const Span& span) {
        const AddressRange pages{Address(span.page << shift_), Address((span.page + span.pages) << shift_)};
        found_->spans_.push_back(pages);
        if (span.location != 0 || span.size_class == 0) {
            runs().add(pages.start, pages.size(), 1, span.location == 0);
            return;
        }
        const std::uint64_t size = span.size_class < sizes_.size() ? sizes_[span.size_class] : 0;
        if (size == 0 || size > pages.size() || pages.size() / size > most_blocks ||
            memory_.mapped_bytes(pages.start, pages.size()) != pages.size()) {
            runs().add(pages.start, pages.size(), 1, true);
            return add_damage(pages.size());
        }
        const std::uint64_t count = pages.size() / size;
        const std::size_t run = runs().add(pages.start, size, count, true);
        std::uint64_t free = 0;
        for (Address at = span.objects; !at.is_null(); ++free) {
            const std::uint64_t offset = at - pages.start;
            if (at < pages.start || offset % size != 0 || offset / size >= count ||
                !runs().set_free(run, offset / size))
                return add_damage(pages.size());
            at = Address(word(at));
        }
        if (free + span.handed_out != count) add_damage(pages.size());
    }

    void add_damage(std::uint64_t bytes) {
        ++found_->damage_.places;
        found_->damage_.bytes += bytes;
    }

    // --- what was handed out to caches

    /// Marks the blocks of a chain as free: `count` blocks of a class, or up to so many. False if it leads elsewhere.
    bool free_chain(Address at, std::uint64_t count, std::uint64_t size, bool exactly) {
        for (; count > 0; --count) {
            if (at.is_null()) return !exactly;
            const auto place = runs().place_of(at);
            if (!place || place->start != at || place->bytes != size || !runs().set_free(*place))
                return false;
            at = Address(word(at));
        }
        return at.is_null();
    }

    void free_transfer_slots() {
        for (std::uint64_t i = 1; i < sizes_.size(); ++i) {
            const Address list = central_ + i * stride_;
            const std::uint64_t used = word(list + used_slots_at) & 0xffffffff;
            if (used > slots) {
                add_damage(0);
                continue;
            }
            for (std::uint64_t slot = 0; slot < used; ++slot)
                if (!free_chain(Address(word(list + slots_at + slot * slot_bytes)), runs().blocks(),
                                sizes_[i], false))
                    add_damage(0);
        }
    }

    bool is_thread_cache(Address at) const {
        const auto lists = memory_.view(at, all_lists);
        if (lists.empty()) return false;
        for (std::uint64_t i = 1; i < sizes_.size(); ++i) {
            std::uint32_t size = 0, length = 0;
            std::uint64_t first = 0;
            std::memcpy(&size, lists.data() + i * list_bytes + list_size_at, 4);
            std::memcpy(&length, lists.data() + i * list_bytes + list_length_at, 4);
            std::memcpy(&first, lists.data() + i * list_bytes, 8);
            if (size != sizes_[i] || (length == 0) != (first == 0)) return false;
        }
        return true;
    }

    void free_thread_caches() {
        std::vector<Address> caches;  // in the order in which they were found
        const auto note = [&](std::uint64_t value) {
            const Address at(value);
            if (!at.aligned(8) || !may_be_cache(at) || !is_thread_cache(at)) return;
            if (caches.size() < most_caches && std::find(caches.begin(), caches.end(), at) == caches.end())
                caches.push_back(at);
        };
        any_word([&](Address, std::uint64_t value) {
            note(value);
            return false;
        });
        for (std::size_t i = 0; i < caches.size(); ++i)
            for (std::uint64_t at = 0; at < behind_lists; at += 8) note(word(caches[i] + all_lists + at));
        for (const Address cache : caches)
            for (std::uint64_t i = 1; i < sizes_.size(); ++i) {
                const Address list = cache + i * list_bytes;
                const std::uint64_t length = word(list + list_length_at) & 0xffffffff;
                if (length > 0 && !free_chain(Address(word(list)), length, sizes_[i], true)) add_damage(0);
            }
        found_->thread_caches_ = caches.size();
    }

    /// A quick look: the second class's list.
    bool may_be_cache(Address at) const {
        return (word(at + 2 * list_bytes + list_size_at) & 0xffffffff) == sizes_[2];
    }

    const AddressSpace& memory_;
    std::vector<std::span<const std::byte>> data_;  // of modules
    std::vector<Address> starts_;                   // of each of them
    std::unique_ptr<Tcmalloc> found_ = std::make_unique<Tcmalloc>();
    std::vector<std::uint32_t> sizes_;  // by class
    Address central_, root_;
    std::uint64_t stride_ = 0;  // from one central list to the next
    unsigned shift_ = page_shifts[0];
    std::uint64_t words_left_;  // of the map, to be looked at
};

std::unique_ptr<const Tcmalloc> Tcmalloc::find(const AddressSpace& memory, std::span<const Module> modules) {
    return TcmallocFinder(memory, modules).find();
}

}  // namespace heapsift
