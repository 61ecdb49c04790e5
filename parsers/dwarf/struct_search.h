#pragma once

// Looks for structs among DWARF entries, whichever library reads them.
//
// `Entry` is a handle of one entry (DIE), cheap to copy, false if there is none:
//     explicit operator bool, unsigned tag(), const char* name() (null without one), bool has(attribute),
//     std::optional<std::uint64_t> number(attribute)   a constant that is not negative,
//     std::span<const std::uint8_t> block(attribute)   an expression; empty if it is not one,
//     Entry type()                                      what DW_AT_type refers to,
//     std::uint64_t address_size(), and for_each_child(see), which calls see(child) until that returns false.
// Damaged input can make loops of typedefs and nested members, so chains are followed for a bounded number of
// steps.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "parsers/dwarf/struct_place.h"

namespace heapsift::struct_search {

// DWARF 5, section 7: tags (figure 7.5) and attributes (7.7).
enum Tag : unsigned {
    array_type_tag = 0x01,
    class_type_tag = 0x02,
    member_tag = 0x0d,
    pointer_type_tag = 0x0f,
    structure_type_tag = 0x13,
    typedef_tag = 0x16,
    union_type_tag = 0x17,
    const_type_tag = 0x26,
    volatile_type_tag = 0x35,
    restrict_type_tag = 0x37,
    atomic_type_tag = 0x47
};
enum Attribute : unsigned {
    byte_size_attribute = 0x0b,
    bit_offset_attribute = 0x0c,
    bit_size_attribute = 0x0d,
    data_member_location_attribute = 0x38,
    declaration_attribute = 0x3c,
    data_bit_offset_attribute = 0x6b
};
inline constexpr std::uint8_t plus_uconst_operation = 0x23;

inline constexpr int most_steps = 32;         // of a typedef chain; real code has a handful
inline constexpr int most_aggregates = 1000;  // searched for one name; they could contain each other

// ---- members ----------------------------------------------------------------------------------------------

/// `type` without typedefs and qualifiers.
template <class Entry>
Entry underlying(Entry type) {
    for (int step = 0; type && step < most_steps; ++step) {
        switch (type.tag()) {
            case typedef_tag:
            case const_type_tag:
            case volatile_type_tag:
            case restrict_type_tag:
            case atomic_type_tag:
                type = type.type();
                break;
            default:
                return type;
        }
    }
    return {};
}

template <class Entry>
Entry type_of(const Entry& die) {
    return underlying(die.type());
}

template <class Entry>
bool is_aggregate(const Entry& die) {
    if (!die) return false;
    const unsigned tag = die.tag();
    return tag == structure_type_tag || tag == union_type_tag || tag == class_type_tag;
}

/// DW_AT_data_member_location: a constant, or (up to DWARF 3) an expression that adds one. Members of a union
/// have none.
template <class Entry>
std::uint64_t member_location(const Entry& member) {
    if (const auto number = member.number(data_member_location_attribute)) return *number;
    const std::span<const std::uint8_t> block = member.block(data_member_location_attribute);
    if (block.size() < 2 || block[0] != plus_uconst_operation) return 0;
    std::uint64_t offset = 0;
    unsigned shift = 0;
    for (const std::uint8_t byte : block.subspan(1)) {
        if (shift >= 64) break;
        offset |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
        shift += 7;
        if ((byte & 0x80) == 0) break;
    }
    return offset;
}

/// The size that the entry gives; 0 for an array, whose entry gives none.
template <class Entry>
std::uint64_t size_of_type(const Entry& type) {
    if (!type) return 0;
    if (const auto size = type.number(byte_size_attribute)) return *size;
    return type.tag() == pointer_type_tag ? type.address_size() : 0;
}

/// The place of `member` in its parent struct.
template <class Entry>
MemberPlace place_in_parent(const Entry& member) {
    const Entry type = type_of(member);
    MemberPlace place;
    place.byte = member_location(member);
    place.byte_size = size_of_type(type);
    const auto width = member.number(bit_size_attribute);
    if (!width) return place;
    place.bit_width = static_cast<unsigned>(*width);
    if (const auto bits = member.number(data_bit_offset_attribute)) {
        // DWARF 4 and later: counted from the start of the struct, in memory order (least significant first
        // on x86).
        place.byte = *bits / 8;
        place.bit = static_cast<unsigned>(*bits % 8);
    } else if (const auto from_top = member.number(bit_offset_attribute)) {
        // DWARF 2 and 3: counted down from the most significant bit of a storage unit that lies at
        // data_member_location.
        const std::uint64_t unit_bits = member.number(byte_size_attribute).value_or(place.byte_size) * 8;
        const std::uint64_t low = unit_bits >= *from_top + *width ? unit_bits - *from_top - *width : 0;
        place.byte += low / 8;
        place.bit = static_cast<unsigned>(low % 8);
    }
    return place;
}

template <class Entry>
struct FoundMember {
    Entry die;
    MemberPlace place;  // from the start of the struct that was searched
};

/// The member of `aggregate` called `name`, also inside its anonymous members.
template <class Entry>
std::optional<FoundMember<Entry>> find_member(const Entry& aggregate, std::string_view name,
                                              int& aggregates_left) {
    if (!is_aggregate(aggregate) || aggregates_left-- <= 0) return std::nullopt;
    std::optional<FoundMember<Entry>> found;
    aggregate.for_each_child([&](const Entry& child) {
        if (child.tag() != member_tag) return true;
        const char* child_name = child.name();
        if (child_name != nullptr && *child_name != '\0') {
            if (name == child_name) found = FoundMember<Entry>{child, place_in_parent(child)};
        } else if ((found = find_member(type_of(child), name, aggregates_left))) {
            found->place.byte += member_location(child);
        }
        return !found;
    });
    return found;
}

/// Follows one path from `aggregate`. None if a name on it is missing.
template <class Entry>
std::optional<MemberPlace> resolve_path(Entry aggregate, std::string_view path) {
    MemberPlace place;
    std::uint64_t start = 0;
    while (!path.empty()) {
        const std::size_t dot = path.find('.');
        std::string_view name = path.substr(0, dot);
        path = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
        const bool element = name.ends_with("[]");
        if (element) name.remove_suffix(2);
        int aggregates_left = most_aggregates;
        const auto member = find_member(aggregate, name, aggregates_left);
        if (!member) return std::nullopt;
        place = member->place;
        place.byte += start;
        start = place.byte;
        aggregate = type_of(member->die);
        if (element) {
            if (!aggregate || aggregate.tag() != array_type_tag) return std::nullopt;
            aggregate = type_of(aggregate);
            place.byte_size = size_of_type(aggregate);
        }
    }
    return place;
}

// ---- definitions ------------------------------------------------------------------------------------------

/// What the requests' names stand for, and what one file has for them.
class Search {
public:
    Search(std::span<const StructRequest> requests, const std::vector<std::optional<StructPlace>>& known)
        : requests_(requests) {
        for (std::size_t request = 0; request < requests.size(); ++request) {
            found_.emplace_back(requests[request].names.size());
            if (known[request]) continue;
            for (std::size_t name = 0; name < requests[request].names.size(); ++name)
                wanted_.emplace(requests[request].names[name], Slot{request, name});
            ++missing_;
        }
    }

    /// True when no further unit can improve the answer: every request has its best name.
    bool complete() const { return missing_ == 0; }

    /// Looks at a direct child of a unit.
    template <class Entry>
    void look_at(const Entry& die) {
        if (die.tag() != typedef_tag && !is_aggregate(die)) return;
        const char* name = die.name();
        if (name == nullptr) return;
        const auto [first, last] = wanted_.equal_range(name);
        for (auto slot = first; slot != last; ++slot) define(slot->second, name, die);
    }

    /// The best name's definition of each request.
    std::optional<StructPlace> take(std::size_t request) {
        for (auto& place : found_[request])
            if (place) return std::move(place);
        return std::nullopt;
    }

private:
    struct Slot {
        std::size_t request, name;
    };

    template <class Entry>
    void define(const Slot& slot, const char* name, const Entry& die) {
        auto& place = found_[slot.request][slot.name];
        if (place) return;
        const Entry definition = underlying(die);
        if (!is_aggregate(definition) || definition.has(declaration_attribute)) return;
        const auto size = definition.number(byte_size_attribute);
        if (!size) return;
        place.emplace();
        place->name = name;
        place->byte_size = *size;
        for (const auto& paths : requests_[slot.request].members) {
            auto& member = place->members.emplace_back();
            for (const std::string& path : paths)
                if (!path.empty() && (member = resolve_path(definition, path))) break;
        }
        if (slot.name == 0) --missing_;
    }

    std::span<const StructRequest> requests_;
    std::unordered_multimap<std::string_view, Slot> wanted_;
    std::vector<std::vector<std::optional<StructPlace>>> found_;
    std::size_t missing_ = 0;
};

}  // namespace heapsift::struct_search
