#include "parsers/snapshot/find_traversed.h"

// References of types that nobody described: their own code tells.
//
// Extension modules bring types that no list can have: mypyc's and Cython's classes, lxml's elements,
// protobuf's messages. To guess their references from their words is slow and often wrong. But each type that
// takes part in garbage collection has a function that says what its instances refer to, tp_traverse, and the core and
// the module files have that function. So it is run (parsers/emulation), on a few instances of each type to
// learn a plan, which then is read at the speed of any other type, and on each of those for which the plan
// does not hold. An instance on which the code fails is guessed as before. All of that is done in a child
// process (in_child.cpp).
//
// Of a class made in Python, only the part made by C is asked: what the class statement added (slots, a
// __dict__, the class) is known, with better names. So the function is that of the nearest C type, unless a
// metaclass gave the class another than class statements do; and
// whether `tp_is_gc` says that an instance takes part is asked first, as gc.get_referents does.
//
// What traverse does not report may be owned as well: a str, say. So words that are not visited and lead to
// objects stay candidates, judged by counts like other guesses (reference_graph.cpp), but only those words of
// a type that lead to objects in some instance of a sample.

#include "parsers/cpython/build/refcount.h"
#include "parsers/cpython/type_flags.h"
#include "parsers/emulation/in_child.h"
#include "parsers/emulation/learner.h"
#include "parsers/snapshot/found_in_child.h"

#include <unordered_map>
#include <utility>

namespace heapsift {

namespace {

constexpr std::size_t samples_at_once = 16, most_rounds = 3;
constexpr std::size_t enough_to_learn = 48;    // fewer objects are emulated one by one
constexpr std::size_t enough_to_change = 512;  // of which objects are changed on trial
constexpr std::size_t enough_missed = 64;      // objects without a plan, to learn once more
constexpr std::size_t sample_for_words = 256;
constexpr std::size_t most_tries = 8;          // of children
constexpr std::uint64_t most_asked = 100'000;  // of tp_is_gc
constexpr std::uint64_t most_words = 1 << 16;  // bytes of a body

}  // namespace

class TraversedBuilder {
public:
    TraversedBuilder(const CoreFile& core, const FoundObjects& objects, const ObjectAccess& access)
        : objects_(objects), access_(access), heap_(access.heap()), types_(heap_.types()), core_(core) {}

    /// False if there is nothing to do.
    bool prepare() {
        if (can_emulate()) collect();
        return !all_.empty();
    }

    /// Once, after `prepare`, and without the types that are `refused`.
    TraversedReferences build(const std::vector<std::uint32_t>& refused, ChildOutput& output) {
        traverse_ = Traverse::start(core_);
        if (!traverse_) return {};
        of_classes_ = traverse_of_classes();
        for (const Group& group : groups_) {
            output.mark(group.type);
            if (std::find(refused.begin(), refused.end(), std::uint32_t{group.type}) == refused.end())
                read_type(group);
        }
        finish_rows();
        result_.index_types(types_.size());
        for (auto& reading : result_.readings_) find_unreported(reading);
        return std::move(result_);
    }

private:
    struct Group {
        TypeId type;
        std::size_t begin = 0, end = 0;  // in all_
    };
    using Objects = std::span<const Address>;

    const TypeInfo& c_type(const TypeInfo& type) const { return *c_base(heap_, type); }
    Address slot(const TypeInfo& type, std::uint64_t offset) const {
        return heap_.pointer(type.address + offset);
    }

    bool may_be_unknown(const TypeInfo& type) const {
        return type.has_gc && (type.guessed || (type.kind && (type.kind->guesses || type.kind->exact)));
    }

    /// The objects whose references would be guessed, type by type.
    void collect() {
        std::vector<std::uint8_t> wanted(types_.size());
        std::vector<std::size_t> counts(types_.size() + 1);
        for (TypeId id{0}; id < types_.size(); ++id) wanted[id] = may_be_unknown(types_[id]);
        const auto is_wanted = [&](std::size_t i) {
            const TypeId id = objects_.types[i];
            if (!wanted[id]) return false;
            const Address object = objects_.addresses[i];
            return access_.is_gc(object, types_[id]) && !access_.references_exact(object, types_[id]);
        };
        std::vector<std::uint32_t> found;
        for (std::uint32_t i = 0; i < objects_.types.size(); ++i)
            if (is_wanted(i)) {
                found.push_back(i);
                ++counts[objects_.types[i]];
            }
        std::size_t begin = 0;
        std::vector<std::size_t> next(types_.size());
        for (TypeId id{0}; id < types_.size(); ++id) {
            if (counts[id] > 0) groups_.push_back({id, begin, begin + counts[id]});
            next[id] = std::exchange(begin, begin + counts[id]);
        }
        all_.resize(found.size());
        for (const std::uint32_t i : found) all_[next[objects_.types[i]]++] = objects_.addresses[i];
    }

    void read_type(const Group& group) {
        const Objects objects(all_.data() + group.begin, group.end - group.begin);
        const TypeInfo& type = types_[group.type];
        const TypeInfo& made_by_c = c_type(type);
        const Layout& layout = heap_.layout();
        const bool whole = has_code_of_its_own(type);
        const Address function = slot(whole ? type : made_by_c, *layout.type.tp_traverse);
        TraversedReferences::Reading reading{group.type, whole, {}, {}};
        std::vector<Address> missed;
        // Asked first, or static types' code would meet what it does not expect.
        const Address is_gc =
            slot(made_by_c, *layout.type.tp_mro - 16);  // object.h: tp_is_gc, tp_bases, tp_mro
        const bool asks = !is_gc.is_null() && is_gc != slot(*type_type(), *layout.type.tp_mro - 16);
        if (function.is_null() && made_by_c.has_gc) {
            result_.counts_.failed += objects.size();
            ++result_.counts_.failed_types;
            return;
        }
        if (function.is_null())
            reading.plans.emplace_back();  // it visits nothing
        else if (!asks && objects.size() >= enough_to_learn)
            missed = learn(reading, function, type, whole ? type : made_by_c, objects);
        else
            missed.assign(objects.begin(), objects.end());
        const std::uint64_t learned = objects.size() - missed.size();
        const std::uint64_t emulated = emulate(function, asks ? is_gc : Address(), missed);
        auto& counts = result_.counts_;
        counts.learned += learned;
        counts.emulated += emulated;
        counts.failed += missed.size() - emulated;
        ++(learned * 2 >= objects.size()                ? counts.learned_types
           : (learned + emulated) * 2 >= objects.size() ? counts.emulated_types
                                                        : counts.failed_types);
        if (learned + emulated > 0) result_.readings_.push_back(std::move(reading));
    }

    /// The tp_traverse that class statements set (typeobject.c, subtype_traverse): that of most of them.
    Address traverse_of_classes() const {
        std::unordered_map<std::uint64_t, std::size_t> counts;
        std::pair<std::size_t, std::uint64_t> most{0, 0};
        for (const TypeInfo& type : types_)
            if (type.python_class && type.has_gc) {
                const std::uint64_t code = slot(type, *heap_.layout().type.tp_traverse).value;
                most = std::max(most, {++counts[code], code});
            }
        return Address(most.second);
    }

    /// Whether a Python class, or one between it and its C type, has another: metaclasses set it (torch's).
    bool has_code_of_its_own(const TypeInfo& type) const {
        const TypeInfo* at = &type;
        for (int steps = 0; at->python_class && steps < 4096; ++steps) {
            if (slot(*at, *heap_.layout().type.tp_traverse) != of_classes_) return true;
            if (at->base == no_type) break;
            at = &types_[at->base];
        }
        return false;
    }

    const TypeInfo* type_type() const {
        const TypeId id = types_.find(heap_.runtime().type_type);
        return id == no_type ? &types_[TypeId(0)] : &types_[id];
    }

    static void add_samples(Objects from, std::vector<Address>& samples) {
        const std::size_t count = std::min(from.size(), samples_at_once);
        for (std::size_t i = 0; i < count; ++i) samples.push_back(from[i * from.size() / count]);
    }

    /// Returns the objects for which no plan holds.
    std::vector<Address> learn(TraversedReferences::Reading& reading, Address function, const TypeInfo& type,
                               const TypeInfo& owner, Objects objects) {
        TypeToLearn to_learn;
        to_learn.function = function;
        to_learn.type = type.address;
        to_learn.body = owner.basicsize;
        to_learn.before = type.presize;
        to_learn.type_at = *heap_.layout().object.ob_type;
        std::vector<Address> samples, missed(objects.begin(), objects.end());
        for (std::size_t round = 0; round < most_rounds && missed.size() >= enough_missed; ++round) {
            add_samples(missed, samples);
            const std::size_t before = missed.size();
            reading.plans = learn_slots(*traverse_, to_learn, samples, objects.size() >= enough_to_change);
            missed.clear();
            for (const Address object : objects)
                if (!TraversedReferences::plan_for(reading, object, heap_.memory()).plan)
                    missed.push_back(object);
            if (missed.size() > before - before / 8) break;  // it does not help
        }
        return missed;
    }

    /// Returns how many are known now.
    std::uint64_t emulate(Address function, Address is_gc, Objects objects) {
        std::vector<Traverse::Call> calls;
        std::uint64_t known = 0;
        for (const Address object : objects) {
            if (!is_gc.is_null()) {
                const auto answer = ++asked_ > most_asked ? std::nullopt : traverse_->ask(is_gc, object);
                if (!answer) continue;
                if (static_cast<std::uint32_t>(*answer) == 0) {  // an int
                    add_row(object, {&not_asked, 1});
                    ++known;
                    continue;
                }
            }
            calls.push_back({function, object});
        }
        traverse_->run(calls, [&](std::size_t call, bool exact, Objects visited) {
            if (!exact || !std::all_of(visited.begin(), visited.end(),
                                       [&](Address target) { return heap_.type_of(target) != no_type; }))
                return;
            add_row(calls[call].object, visited);
            ++known;
        });
        return known;
    }

    void add_row(Address object, Objects visited) {
        rows_.push_back({object, targets_.size(), static_cast<std::uint32_t>(visited.size())});
        targets_.insert(targets_.end(), visited.begin(), visited.end());
    }

    void finish_rows() {
        std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.object < b.object; });
        std::vector<Address> objects, targets;
        std::vector<std::uint64_t> begin;
        objects.reserve(rows_.size());
        begin.reserve(rows_.size() + 1);
        targets.reserve(targets_.size());
        for (const Row& row : rows_) {
            objects.push_back(row.object);
            begin.push_back(targets.size());
            const auto from = targets_.begin() + static_cast<std::ptrdiff_t>(row.begin);
            targets.insert(targets.end(), from, from + row.count);
        }
        if (!rows_.empty()) begin.push_back(targets.size());
        result_.objects_ = std::move(objects);
        result_.begin_ = std::move(begin);
        result_.targets_ = std::move(targets);
    }

    /// The words of the part made by C that lead to objects in an instance of a sample, and are not visited.
    void find_unreported(TraversedReferences::Reading& reading) const {
        const auto group = std::lower_bound(groups_.begin(), groups_.end(), reading.type,
                                            [](const Group& g, TypeId type) { return g.type < type; });
        const TypeInfo& type = types_[reading.type];
        const TypeInfo& made_by_c = c_type(type);
        const std::uint64_t from =
            std::max<std::uint64_t>(type.kind && type.kind->guesses ? 16 : type.known_basicsize, 16);
        const std::uint64_t to = std::min(made_by_c.basicsize, most_words);
        if (from + 8 > to) return;
        std::vector<std::uint8_t> leads(to / 8);
        const std::size_t count = group->end - group->begin, looked_at = std::min(count, sample_for_words);
        for (std::size_t i = 0; i < looked_at; ++i) {
            const Address object = all_[group->begin + i * count / looked_at];
            VisitList visits;
            if (!result_.visits_of(reading, object, heap_.memory(), visits)) continue;
            for (std::uint64_t offset = (from + 7) / 8 * 8; offset + 8 <= to; offset += 8) {
                if (leads[offset / 8] || static_cast<std::int64_t>(offset) == made_by_c.weaklistoffset)
                    continue;
                const Address target = heap_.pointer(object + offset);
                leads[offset / 8] = !target.is_null() && target.aligned(8) &&
                                    heap_.type_of(target) != no_type && access_.refcount(target) > 0 &&
                                    !visits.has(target);
            }
        }
        for (std::uint32_t word = 0; word < leads.size(); ++word)
            if (leads[word]) reading.unreported.push_back(8 * word);
    }

    struct Row {
        Address object;
        std::uint64_t begin;
        std::uint32_t count;
    };

    const FoundObjects& objects_;
    const ObjectAccess& access_;
    const PythonHeap& heap_;
    const TypeTable& types_;
    const CoreFile& core_;
    std::unique_ptr<Traverse> traverse_;
    std::vector<Address> all_;
    std::vector<Group> groups_;  // by type
    std::vector<Row> rows_;
    std::vector<Address> targets_;
    std::uint64_t asked_ = 0;
    Address of_classes_;
    TraversedReferences result_;
};

TraversedReferences find_traversed(const CoreFile& core, const FoundObjects& objects,
                                   const ObjectAccess& access, const ProgressCallback& progress) {
    const std::size_t types = access.heap().types().size();
    if (progress) progress("types' own code", 0);
    TraversedBuilder builder(core, objects, access);
    if (!builder.prepare()) return {};
    return found_in_child<TraversedReferences>(
        "traversed", types, most_tries, [&](const std::vector<std::uint32_t>& refused, ChildOutput& output) {
            return builder.build(refused, output);
        });
}

}  // namespace heapsift
