#include "parsers/emulation/learner.h"

// From a few objects to a rule for a million.
//
// The idea: run tp_traverse on samples, and record all it reads, and what it visits in between. If it only
// reads the object itself, what it does with any other object depends on nothing else. A *slot* is a word
// that was visited; a *field* is what was read and not visited. For an object whose fields have values that
// some sample had, all of them together, the code takes the way it took then, and visits the same slots. For
// any other object nothing is known, and it is emulated.
//
// What makes that true, or nothing is learned:
//   - The samples read the same places in the same order. (A loop over items does not. Where there are a few
//     ways, each is learned from the samples that take it, as a plan of its own.)
//   - What is read elsewhere does not depend on the object: it belongs to the type or to its module, or hangs
//     on a field, whose value is then the same. It must not hang on a slot, whose value is any.
//   - Nothing is read just before or behind the object: items, which others may have in another number.
//   - A slot is visited wherever it is not null. One that is null in all samples is a field: it must be null.
//   - Replayed on the samples, the slots give what was visited, in its order.
//
// To learn from values alone (which offsets hold what is visited) is wrong for a few types of each
// interpreter, since slots that are rarely filled are missed.
//
// mypyc's integers are words whose lowest bit says whether the rest is a pointer. As fields they would have
// many values. So fields with even values are changed in a copy of a sample: if no even number changes what
// is visited, and an object's address with that bit set is visited as well, such a field is a slot, *tagged*.

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>

namespace heapsift {
namespace {

constexpr std::size_t most_patterns = 8, most_fields = 64, most_slots = 512, most_plans = 4;
constexpr std::uint64_t near = 4096, near_before = 64;  // a pointer: what is read there hangs on it
constexpr std::uint64_t most_body = 1 << 14;
constexpr std::size_t most_numbers = 48;

using Slot = LearnedSlots::Slot;
using Field = LearnedSlots::Field;
using Trying = Traverse::Trying;

/// One sample: its bytes, and what its code did.
struct Seen {
    std::vector<std::byte> bytes;  // from `before` in front of it
    std::vector<Field> reads;      // each once, in order
    std::vector<Address> elsewhere;
    struct Visit {
        Address target;
        std::int32_t offset;  // of the word that was visited
        bool tagged;
        bool operator==(const Visit&) const = default;
    };
    std::vector<Visit> visits;
};

class Learner {
public:
    Learner(Traverse& traverse, const TypeToLearn& type) : traverse_(traverse), type_(type) {}

    std::vector<LearnedSlots> learn(std::span<const Address> samples, bool try_changes) {
        std::vector<LearnedSlots> plans;
        if (type_.body < 16 || type_.body > most_body) return plans;
        std::vector<std::vector<Seen>> groups;
        for (const Address object : samples) {
            auto one = look(object, bytes_of(object), Trying::object);
            if (!one) continue;
            const auto group = std::find_if(groups.begin(), groups.end(),
                                            [&](const auto& g) { return g.front().reads == one->reads; });
            if (group != groups.end())
                group->push_back(std::move(*one));
            else
                groups.emplace_back().push_back(std::move(*one));
        }
        std::stable_sort(groups.begin(), groups.end(),
                         [](const auto& a, const auto& b) { return a.size() > b.size(); });
        for (auto& group : groups) {
            if (plans.size() == most_plans) break;
            seen_ = std::move(group);
            slots_.clear();
            if (!find_slots()) continue;
            if (try_changes) find_tagged();
            if (auto plan = finish()) plans.push_back(std::move(*plan));
        }
        return plans;
    }

private:
    std::vector<std::byte> bytes_of(Address object) const {
        std::vector<std::byte> bytes(type_.before + type_.body);
        if (!traverse_.memory().read(object - type_.before, bytes.data(), bytes.size())) bytes.clear();
        return bytes;
    }

    std::uint64_t value(const Seen& seen, std::int32_t offset, std::uint32_t bytes) const {
        std::uint64_t result = 0;
        std::memcpy(&result, seen.bytes.data() + static_cast<std::int64_t>(type_.before) + offset, bytes);
        return result;
    }

    /// Runs it on the object at `object`, which has these bytes.
    std::optional<Seen> look(Address object, std::vector<std::byte> bytes, Trying trying) {
        if (bytes.empty()) return std::nullopt;
        const auto events = traverse_.traced({type_.function, object}, trying);
        if (!events) return std::nullopt;
        Seen seen;
        seen.bytes = std::move(bytes);
        const Address start = object - type_.before;
        std::vector<Field> reads;  // in order, with repetitions
        for (const TraceEvent& event : *events) {
            if (event.kind == TraceEvent::Kind::visit) {
                if (!find_source(seen, reads, event.address)) return std::nullopt;
                continue;
            }
            const std::uint64_t at = event.address - start;
            if (at >= seen.bytes.size()) {
                // Items behind the body are the object's, too.
                if (at + near_before < seen.bytes.size() + near_before + near) return std::nullopt;
                seen.elsewhere.push_back(event.address);
                continue;
            }
            if (event.bytes > 8 || at + event.bytes > seen.bytes.size()) return std::nullopt;
            reads.push_back(
                {static_cast<std::int32_t>(at) - static_cast<std::int32_t>(type_.before), event.bytes});
        }
        for (const Field& read : reads)
            if (std::find(seen.reads.begin(), seen.reads.end(), read) == seen.reads.end())
                seen.reads.push_back(read);
        if (seen.reads.size() > most_fields + most_slots) return std::nullopt;
        return seen;
    }

    /// The word that was read last, of those with the value that is visited.
    bool find_source(Seen& seen, const std::vector<Field>& reads, Address target) const {
        for (auto read = reads.rbegin(); read != reads.rend(); ++read) {
            if (read->bytes != 8) continue;
            const std::uint64_t word = value(seen, read->offset, 8);
            if (word != target.value && word != (target.value | 1)) continue;
            seen.visits.push_back({target, read->offset, word != target.value});
            return true;
        }
        return false;
    }

    const Slot* slot_at(std::int32_t offset) const {
        const auto slot =
            std::find_if(slots_.begin(), slots_.end(), [&](const Slot& one) { return one.offset == offset; });
        return slot == slots_.end() ? nullptr : &*slot;
    }

    bool find_slots() {
        for (const Seen& one : seen_)
            for (const Seen::Visit& visit : one.visits) {
                const Slot* const there = slot_at(visit.offset);
                if (there && there->tagged != visit.tagged) return false;
                if (!there) slots_.push_back({visit.offset, visit.tagged});
            }
        put_in_order();
        return slots_.size() <= most_slots && !hangs_on_slots() && replays();
    }

    /// A word is visited when it has been read.
    void put_in_order() {
        const auto& reads = seen_.front().reads;
        const auto place = [&](const Slot& slot) {
            return std::find(reads.begin(), reads.end(), Field{slot.offset, 8});
        };
        std::sort(slots_.begin(), slots_.end(),
                  [&](const Slot& a, const Slot& b) { return place(a) < place(b); });
    }

    /// Whether something is read near a value that is visited, other than the type.
    bool hangs_on_slots() const {
        return std::any_of(seen_.begin(), seen_.end(), [&](const Seen& one) {
            return std::any_of(one.elsewhere.begin(), one.elsewhere.end(), [&](Address read) {
                return std::any_of(slots_.begin(), slots_.end(), [&](const Slot& slot) {
                    const std::uint64_t word = value(one, slot.offset, 8);
                    return word != 0 && word != type_.type.value &&
                           read.value + near_before - (word & ~std::uint64_t{7}) < near + near_before;
                });
            });
        });
    }

    bool replays() const {
        return std::all_of(seen_.begin(), seen_.end(), [&](const Seen& one) {
            std::vector<Seen::Visit> visits;
            for (const Slot& slot : slots_) {
                const std::uint64_t word = value(one, slot.offset, 8);
                const std::uint64_t target = !slot.tagged ? word : word & 1 ? word - 1 : 0;
                if (target != 0) visits.push_back({Address(target), slot.offset, slot.tagged});
            }
            return visits == one.visits;
        });
    }

    // --- marked pointers

    /// A copy of the sample with other values in some fields, run. Nothing if it reads other places.
    std::optional<std::vector<Seen::Visit>> changed(const Seen& sample, std::span<const Field> fields,
                                                    std::uint64_t to) {
        std::vector<std::byte> bytes = sample.bytes;
        for (const Field& field : fields)
            std::memcpy(bytes.data() + static_cast<std::int64_t>(type_.before) + field.offset, &to, 8);
        const Address copy = traverse_.memory().room().copy + 64;
        const auto room = traverse_.memory().own(copy, bytes.size());
        if (room.empty()) return std::nullopt;
        std::copy(bytes.begin(), bytes.end(), room.begin());
        const auto one = look(copy + type_.before, std::move(bytes), Trying::change);
        if (!one || one->reads != sample.reads) return std::nullopt;
        return one->visits;
    }

    bool is_number(const Field& field) const {
        if (field.bytes != 8 || field.offset < 16 || slot_at(field.offset)) return false;
        return std::all_of(seen_.begin(), seen_.end(), [&](const Seen& one) {
            const std::uint64_t word = value(one, field.offset, 8);
            return word % 2 == 0 || word == 1;  // 1: mypyc's mark for what was not set
        });
    }

    /// Whether no even number in these fields changes what is visited.
    bool only_low_bit_matters(std::span<const Field> fields) {
        const Seen& sample = seen_.front();
        constexpr std::uint64_t evens[] = {0, 2, 0x7ffffffe, ~std::uint64_t{1}};
        return std::all_of(std::begin(evens), std::end(evens), [&](std::uint64_t even) {
            return changed(sample, fields, even) == sample.visits;
        });
    }

    void find_tagged() {
        const Seen& sample = seen_.front();
        std::vector<Field> numbers;
        for (const Field& field : sample.reads)
            if (is_number(field)) numbers.push_back(field);
        if (numbers.empty() || numbers.size() > most_numbers || changed(sample, {}, 0) != sample.visits)
            return;
        const bool all = only_low_bit_matters(numbers);
        const std::vector<Slot> before = slots_;
        for (const Field& number : numbers) {
            if (!all && !only_low_bit_matters({&number, 1})) continue;
            auto visits = changed(sample, {&number, 1}, type_.type.value | 1);
            const Seen::Visit added{type_.type, number.offset, true};
            if (!visits || std::count(visits->begin(), visits->end(), added) != 1) continue;
            visits->erase(std::find(visits->begin(), visits->end(), added));
            if (*visits == sample.visits) slots_.push_back({number.offset, true});
        }
        put_in_order();
        if (hangs_on_slots() || !replays()) slots_ = before;
    }

    // --- the plan

    std::optional<LearnedSlots> finish() const {
        LearnedSlots plan;
        plan.slots = slots_;
        for (const Field& read : seen_.front().reads) {
            const bool type = read == Field{static_cast<std::int32_t>(type_.type_at), 8};
            const Slot* const slot = slot_at(read.offset);
            // The lowest byte of a tagged word is read to tell what it is.
            if (type || (slot && (read.bytes == 8 || (slot->tagged && read.bytes == 1)))) continue;
            plan.fields.push_back(read);
        }
        if (plan.fields.size() > most_fields) return std::nullopt;
        for (const Seen& one : seen_) {
            std::vector<std::uint64_t> pattern;
            for (const Field& field : plan.fields) pattern.push_back(value(one, field.offset, field.bytes));
            bool known = pattern.empty();
            for (std::size_t at = 0; at < plan.patterns.size() && !known; at += pattern.size())
                known = std::equal(pattern.begin(), pattern.end(),
                                   plan.patterns.begin() + static_cast<std::ptrdiff_t>(at));
            if (!known) plan.patterns.insert(plan.patterns.end(), pattern.begin(), pattern.end());
        }
        if (!plan.fields.empty() && plan.patterns.size() / plan.fields.size() > most_patterns)
            plan.patterns.resize(most_patterns * plan.fields.size());
        bool first = true;
        const auto need = [&](std::int32_t offset, std::uint32_t bytes) {
            const std::int32_t end = offset + static_cast<std::int32_t>(bytes);
            plan.from = first ? offset : std::min(plan.from, offset);
            plan.to = first ? end : std::max(plan.to, end);
            first = false;
        };
        for (const Slot& slot : plan.slots) need(slot.offset, 8);
        for (const Field& field : plan.fields) need(field.offset, field.bytes);
        return plan;
    }

    Traverse& traverse_;
    const TypeToLearn& type_;
    std::vector<Seen> seen_;
    std::vector<Slot> slots_;
};

}  // namespace

std::vector<LearnedSlots> learn_slots(Traverse& traverse, const TypeToLearn& type,
                                      std::span<const Address> samples, bool try_changes) {
    return Learner(traverse, type).learn(samples, try_changes);
}

}  // namespace heapsift
