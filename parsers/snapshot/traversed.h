#pragma once

// What the types that nobody described report of themselves: references read off their own tp_traverse.
// (Which they are, and how it is found: find_traversed.cpp.)

#include "parsers/base/stored.h"
#include "parsers/cpython/types.h"
#include "parsers/elf/address_space.h"
#include "parsers/emulation/learned_slots.h"
#include "parsers/index/part.h"
#include "parsers/snapshot/field_names.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace heapsift {

/// What one object's traverse visits, in order. Most objects have few: these lie in the object itself.
class VisitList {
public:
    struct Visit {
        Address target;
        std::int32_t offset = -1;  // of the word that was visited; -1: it is not in the object
        bool taken = false;        // for whoever uses the list
    };
    void add(Address target, std::int32_t offset) {
        if (count_ < few_.size())
            few_[count_] = {target, offset, false};
        else
            many_.push_back({target, offset, false});
        ++count_;
    }
    std::size_t size() const { return count_; }
    Visit& operator[](std::size_t at) { return at < few_.size() ? few_[at] : many_[at - few_.size()]; }
    /// The first with that target that is not taken; null if there is none.
    Visit* find(Address target) {
        for (std::size_t i = 0; i < count_; ++i)
            if (Visit& one = (*this)[i]; one.target == target && !one.taken) return &one;
        return nullptr;
    }
    /// The collector does not ask this object at all, so neither its class nor its attributes are reported.
    bool nothing_asked = false;
    bool has(Address target) {
        for (std::size_t i = 0; i < count_; ++i)
            if ((*this)[i].target == target) return true;
        return false;
    }

private:
    std::array<Visit, 24> few_;
    std::vector<Visit> many_;
    std::size_t count_ = 0;
};

/// The one visit of an object whose tp_is_gc says that it takes no part.
constexpr Address not_asked{};

/// Memory: 16 bytes and 8 for each visit, of each object that was emulated; nothing for those of which a plan
/// was learned.
class TraversedReferences {
public:
    struct Reading {
        TypeId type;
        // The code is the class's own: it visits the class and the attributes, too. Else it is that of the C type.
        bool whole = false;
        std::vector<LearnedSlots> plans;
        // Offsets of words that are not visited and lead to objects: they may be owned all the same.
        std::vector<std::uint32_t> unreported;
    };
    /// Objects, and types, by how their references are known.
    struct Counts {
        std::uint64_t learned = 0, emulated = 0;  // exact
        std::uint64_t failed = 0;                 // their code did not come to its end: guessed
        std::uint64_t learned_types = 0, emulated_types = 0, failed_types = 0;  // by most of their objects
    };

    /// Null if the type's instances are not read in this way.
    const Reading* of(TypeId type) const {
        const std::uint32_t at = type < by_type_.size() ? by_type_[type] : none;
        return at == none ? nullptr : &readings_[at];
    }
    bool empty() const { return readings_.empty(); }
    const Counts& counts() const { return counts_; }
    /// What getters call the words of instances.
    const FieldNames& field_names() const { return field_names_; }
    void set_field_names(FieldNames names) { field_names_ = std::move(names); }

    /// Whether it is known what the object's traverse visits.
    bool knows(const Reading& reading, Address object, const AddressSpace& memory) const {
        return plan_for(reading, object, memory).plan || row_of(object) != none;
    }
    /// The same, and adds to `visits`.
    bool visits_of(const Reading& reading, Address object, const AddressSpace& memory,
                   VisitList& visits) const;

    /// As a part of an index.
    template <class Self, class Part>
    static void fields(Self& self, Part& part, std::size_t types);

private:
    friend class TraversedBuilder;
    static constexpr std::uint32_t none = 0xffffffff;

    struct Planned {
        const LearnedSlots* plan = nullptr;
        std::span<const std::byte> bytes;
    };
    static Planned plan_for(const Reading& reading, Address object, const AddressSpace& memory) {
        for (const LearnedSlots& plan : reading.plans) {
            if (plan.size() == 0) return {&plan, {}};
            const auto bytes =
                memory.view(object + static_cast<std::uint64_t>(std::int64_t{plan.from}), plan.size());
            if (!bytes.empty() && plan.holds(bytes)) return {&plan, bytes};
        }
        return {};
    }
    std::uint32_t row_of(Address object) const {
        const auto at = std::lower_bound(objects_.begin(), objects_.end(), object);
        return at != objects_.end() && *at == object ? static_cast<std::uint32_t>(at - objects_.begin())
                                                     : none;
    }
    void index_types(std::size_t types);

    std::vector<Reading> readings_;
    std::vector<std::uint32_t> by_type_;
    Stored<Address> objects_;      // those that were emulated one by one, ascending
    Stored<std::uint64_t> begin_;  // of each, and one more
    Stored<Address> targets_;
    Counts counts_;
    FieldNames field_names_;
};

template <class Self, class Part>
void TraversedReferences::fields(Self& self, Part& part, std::size_t types) {
    part.list(self.readings_, [types](auto& reading, Part& p) {
        constexpr std::int32_t farthest = 1 << 20;
        p.number(reading.type);
        p.number(reading.whole);
        p.require(reading.type < types, "a type is out of range");
        p.list(reading.plans, [](auto& plan, Part& q) {
            q.number(plan.from);
            q.number(plan.to);
            q.require(plan.from >= -farthest && plan.from <= plan.to && plan.to <= farthest,
                      "a plan reads what is too far away");
            const auto lies_in = [&](std::int32_t offset, std::uint32_t bytes) {
                return bytes <= 8 && offset >= plan.from && offset <= plan.to &&
                       plan.to - offset >= static_cast<std::int32_t>(bytes);
            };
            q.list(plan.slots, [&](auto& slot, Part& r) {
                r.number(slot.offset);
                r.number(slot.tagged);
                r.require(lies_in(slot.offset, 8), "a slot lies outside its plan");
            });
            q.list(plan.fields, [&](auto& field, Part& r) {
                r.number(field.offset);
                r.number(field.bytes);
                r.require(lies_in(field.offset, field.bytes), "a field lies outside its plan");
            });
            q.list(plan.patterns, [](auto& value, Part& r) { r.number(value); });
            q.require(
                plan.fields.empty() ? plan.patterns.empty() : plan.patterns.size() % plan.fields.size() == 0,
                "a pattern is not whole");
        });
        p.list(reading.unreported, [](auto& offset, Part& q) { q.number(offset); });
    });
    part.column(self.objects_,
                [](const Address& object, std::size_t at) { return at == 0 || *(&object - 1) < object; });
    part.column(self.begin_, [](const std::uint64_t& begin, std::size_t at) {
        return at == 0 ? begin == 0 : *(&begin - 1) <= begin;
    });
    part.column(self.targets_, any_value);
    part.require(self.objects_.size() < none &&
                     (self.objects_.empty() ? self.targets_.empty()
                                            : self.begin_.size() == self.objects_.size() + 1 &&
                                                  self.begin_[self.objects_.size()] == self.targets_.size()),
                 "what was visited has not as many rows as objects");
    for (auto* count :
         {&self.counts_.learned, &self.counts_.emulated, &self.counts_.failed, &self.counts_.learned_types,
          &self.counts_.emulated_types, &self.counts_.failed_types})
        part.number(*count);
    FieldNames::fields(self.field_names_, part, types);
    if constexpr (Part::reading) self.index_types(types);
}

}  // namespace heapsift
