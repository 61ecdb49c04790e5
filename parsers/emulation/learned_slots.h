#pragma once

// What a type's tp_traverse does, as far as it was seen: which fields it visits, and which it looks at to
// decide. (How it is learned: learner.cpp.)

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace heapsift {

struct LearnedSlots {
    /// A pointer of the object, at `offset` from its start, that is visited unless it is null.
    struct Slot {
        std::int32_t offset = 0;
        bool tagged = false;  // visited only if its lowest bit is set, and without that bit
        bool operator==(const Slot&) const = default;
    };
    /// What else is read.
    struct Field {
        std::int32_t offset = 0;
        std::uint32_t bytes = 8;  // 1, 2, 4 or 8
        bool operator==(const Field&) const = default;
        auto operator<=>(const Field&) const = default;
    };

    std::vector<Slot> slots;  // in the order of the visits
    std::vector<Field> fields;
    std::vector<std::uint64_t> patterns;  // values of all fields, one pattern after the other; each was seen
    std::int32_t from = 0, to = 0;        // the bytes that are needed, from the object's start on

    std::uint64_t size() const { return static_cast<std::uint64_t>(to - from); }

    /// `bytes` are those from `from` on. Whether what was learned holds for this object.
    bool holds(std::span<const std::byte> bytes) const {
        if (fields.empty()) return true;
        for (std::size_t first = 0; first < patterns.size(); first += fields.size()) {
            std::size_t i = 0;
            while (i < fields.size() &&
                   value(bytes, fields[i].offset, fields[i].bytes) == patterns[first + i])
                ++i;
            if (i == fields.size()) return true;
        }
        return false;
    }
    /// Then `visit(target, slot)` for each target.
    template <class F>
    void visit(std::span<const std::byte> bytes, F&& visit) const {
        for (const Slot& slot : slots) {
            std::uint64_t target = value(bytes, slot.offset, 8);
            if (slot.tagged) target = target & 1 ? target - 1 : 0;
            if (target != 0) visit(target, slot);
        }
    }

private:
    std::uint64_t value(std::span<const std::byte> bytes, std::int32_t offset, std::uint32_t size) const {
        std::uint64_t result = 0;
        std::memcpy(&result, bytes.data() + (offset - from), size);
        return result;
    }
};

}  // namespace heapsift
