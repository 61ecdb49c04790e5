// Overlaps are resolved once, at the start, so that every later lookup is one binary search.
//
// The segments of a core that the kernel wrote do not overlap; a damaged or forged one may say anything. The
// sweep goes through the segments by start, with the active ones in a heap ordered by their place in the
// input: the earliest wins. Every segment enters and leaves the heap once, and makes at most two borders, so
// 70,000 of them cost a sort. Where nothing overlaps, only the sort is done.
// them cost a sort. Where nothing overlaps, only the sort is done.

#include "parsers/elf/address_space.h"

#include "parsers/elf/bytes.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

namespace heapsift {
namespace {

Segment part_of(const Segment& whole, Address from, Address to) {
    Segment part = whole;
    part.start = from;
    part.size = to - from;
    if (part.data) part.data += from - whole.start;
    return part;
}

std::vector<std::size_t> order_by_start(const std::vector<Segment>& segments) {
    std::vector<std::size_t> order(segments.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return segments[a].start < segments[b].start; });
    return order;
}

bool overlap_free(const std::vector<Segment>& segments, const std::vector<std::size_t>& order) {
    for (std::size_t i = 1; i < order.size(); ++i)
        if (segments[order[i]].start < segments[order[i - 1]].end()) return false;
    return true;
}

std::vector<Segment> without_overlaps(const std::vector<Segment>& segments,
                                      const std::vector<std::size_t>& order) {
    std::vector<Segment> out;
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>>
        active;  // the earliest of the input on top
    std::size_t next = 0;
    std::size_t last_source = segments.size();
    Address at;
    while (next < order.size() || !active.empty()) {
        if (active.empty()) at = std::max(at, segments[order[next]].start);
        while (next < order.size() && segments[order[next]].start <= at) active.push(order[next++]);
        while (!active.empty() && segments[active.top()].end() <= at) active.pop();
        if (active.empty()) continue;
        const std::size_t source = active.top();
        Address upto = segments[source].end();
        for (; next < order.size() && segments[order[next]].start < upto; ++next) {
            if (order[next] < source) {
                upto = segments[order[next]].start;
                break;
            }
            active.push(order[next]);
        }
        if (last_source == source && out.back().end() == at)
            out.back().size += upto - at;
        else
            out.push_back(part_of(segments[source], at, upto));
        last_source = source;
        at = upto;
    }
    return out;
}

}  // namespace

AddressSpace::AddressSpace(std::vector<Segment> segments) {
    // An end of 2^64 would wrap to 0, so the last byte of the address space is given up.
    for (Segment& s : segments)
        s.size = std::min(s.size, std::numeric_limits<std::uint64_t>::max() - s.start.value);
    std::erase_if(segments, [](const Segment& s) { return s.size == 0; });
    const std::vector<std::size_t> order = order_by_start(segments);
    if (!overlap_free(segments, order)) {
        segments_ = without_overlaps(segments, order);
    } else {
        segments_.reserve(segments.size());
        for (const std::size_t i : order) segments_.push_back(segments[i]);
    }
    for (const Segment& s : segments_) total_bytes_ += s.size;
}

void AddressSpace::set_holes(std::vector<std::span<const std::byte>> holes, std::size_t worth_skipping) {
    holes_ = std::move(holes);
    large_holes_.clear();
    for (const std::span<const std::byte>& hole : holes_)
        if (hole.size() >= worth_skipping) large_holes_.push_back(hole);
}

void AddressSpace::add_not_saved(std::span<const AddressRange> ranges) {
    std::vector<Segment> segments = segments_;
    for (const AddressRange& range : ranges) {
        Segment missing;
        missing.start = range.start;
        missing.size = range.size();
        missing.writable = true;
        segments.push_back(missing);
    }
    AddressSpace with(std::move(segments));
    segments_ = std::move(with.segments_);
    total_bytes_ = with.total_bytes_;
}

const Segment* AddressSpace::search(Address address) const {
    auto after = std::upper_bound(segments_.begin(), segments_.end(), address,
                                  [](Address a, const Segment& s) { return a < s.start; });
    if (after == segments_.begin()) return nullptr;
    const Segment& before = *--after;
    if (address - before.start >= before.size) return nullptr;
    guesses_[guess_slot(address)] = static_cast<std::uint32_t>(after - segments_.begin());
    return &before;
}

ByteState AddressSpace::state_of(Address address) const {
    const Segment* s = find(address);
    return s ? s->state : ByteState::unmapped;
}

std::uint64_t AddressSpace::mapped_bytes(Address address, std::uint64_t size) const {
    const Segment* s = find(address);
    if (!s) return 0;
    const Segment* const last = segments_.data() + segments_.size() - 1;
    while (s->end() - address < size && s != last && (s + 1)->start == s->end()) ++s;
    return std::min(size, s->end() - address);
}

std::uint64_t AddressSpace::saved_bytes(Address address, std::uint64_t size) const {
    std::uint64_t saved = 0;
    while (size > 0) {
        const Segment* s = find(address);
        if (!s) break;
        const std::uint64_t here = std::min(size, s->end() - address);
        if (s->data) saved += here;
        address = address + here;
        size -= here;
    }
    return saved;
}

bool AddressSpace::read_bytes(Address address, void* out, std::size_t size) const {
    auto* to = static_cast<std::byte*>(out);
    while (size > 0) {
        const Segment* s = find(address);
        if (!s || !s->data) return false;
        const std::uint64_t offset = address - s->start;
        const std::size_t here = static_cast<std::size_t>(std::min<std::uint64_t>(size, s->size - offset));
        std::memcpy(to, s->data + offset, here);
        to += here;
        size -= here;
        address = address + here;
    }
    return true;
}

std::optional<std::string> AddressSpace::read_c_string(Address address, std::size_t limit) const {
    std::string text;
    for (;;) {
        const Segment* s = find(address);
        if (!s || !s->data) return std::nullopt;
        const std::uint64_t offset = address - s->start;
        // One more than `limit` allows, for the NUL.
        const std::uint64_t look = std::min(s->size - offset, saturating_add(limit - text.size(), 1));
        const auto* from = reinterpret_cast<const char*>(s->data + offset);
        const auto length = static_cast<std::size_t>(look);
        if (const void* nul = std::memchr(from, 0, length)) {
            text.append(from, static_cast<const char*>(nul));
            return text;
        }
        text.append(from, length);
        if (text.size() > limit) return std::nullopt;
        address = address + look;
    }
}

}  // namespace heapsift
