#include "parsers/snapshot/find_field_names.h"

// Names of fields that only compiled code knows.
//
// A class of Cython's or mypyc's keeps its attributes in a C struct. No table says which attribute is where:
// what there is, is a getter for each, in the type's tp_getset. So the getter is run (parsers/emulation/calls.h) on
// a few of the type's instances, and what it read is compared with what it returned. The word that it read and
// returned is a candidate. The proof is a copy of an instance, with another address in that word: the getter
// of the copy returns that address, or the attribute is something else. mypyc keeps a large int with its lowest
// bit set: its getter returns the address without that bit.
//
// mypyc keeps the items of a tuple in the instance, one after the other, and makes the tuple when it is asked
// for: then each item is looked at in the same way, `.name[0]`.
//
// A getter that read nothing else of the instance is that of a plain field, at the same place in each subclass. One
// that read more (its class, a flag) may take another way for others: it counts for the type that was looked
// at alone, if two instances agree.
//
// A name is not given where a class before the getter's own, in the order of lookups, has something else by
// that name. Of two getters of one field the first in the table names it. All of it is done in a child process, in a
// fixed number of steps, with the types of most instances first.

#include "parsers/base/text.h"
#include "parsers/emulation/calls.h"
#include "parsers/emulation/in_child.h"
#include "parsers/index/part.h"
#include "parsers/snapshot/found_in_child.h"

#include <cstring>
#include <memory>
#include <unordered_map>

namespace heapsift {
namespace {

constexpr std::size_t most_instances = 6, enough_instances = 2, most_candidates = 4;
constexpr int most_faults = 2;           // of a getter on a type's instances
constexpr int most_types_tried = 4;      // for which a getter that is not plain is tried
constexpr std::int64_t most_items = 16;  // of a tuple
constexpr std::uint64_t most_steps =
    50'000'000;                     // of names, and of entries of dicts in which they are looked for
constexpr int most_getters = 1024;  // of a table
constexpr std::int64_t longest_mro = 1024;
constexpr std::size_t most_children = 8;
constexpr std::size_t longest_getter_name = 200;

// descrobject.h: struct PyGetSetDef
constexpr std::uint64_t getter_bytes = 40, get_at = 8, closure_at = 32;

struct Getter {
    Address entry, get, closure;
};

class FieldNameFinder {
public:
    FieldNameFinder(const CoreFile& core, const FoundObjects& objects, const ObjectAccess& access)
        : core_(core), heap_(access.heap()), types_(heap_.types()) {
        if (can_emulate()) collect(objects);
    }

    bool has_work() const { return !work_.empty(); }

    /// Without the types that are `refused`.
    FieldNames build(const std::vector<std::uint32_t>& refused, ChildOutput& output) {
        calls_ = Calls::start(core_);
        if (!calls_) return {};
        std::vector<FieldNames::OfType> found;
        for (const Sampled& one : work_) {
            if (calls_->exhausted() || steps_left_ == 0) break;
            output.mark(one.type);
            if (std::find(refused.begin(), refused.end(), std::uint32_t{one.type}) != refused.end()) continue;
            FieldNames::OfType of{one.type, names_of(one)};
            if (!of.names.empty()) found.push_back(std::move(of));
        }
        std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.type < b.type; });
        return FieldNames(std::move(found));
    }

private:
    struct Sampled {
        TypeId type;
        std::uint64_t instances = 0;
        std::vector<Address> samples;
    };
    struct Field {
        std::int32_t offset = -1;
        std::int32_t item = -1;  // of the tuple that is made of several
    };
    struct Found {
        std::vector<Field> fields;
        bool plain = false;
    };
    /// What is known of a getter.
    struct Known {
        std::vector<Field> fields;  // plain ones
        int types = 0;              // on which it was tried in vain, or is not plain
    };

    static bool may_be_unknown(const TypeInfo& type) {
        return type.guessed || (type.kind && (type.kind->guesses || type.kind->exact));
    }
    Address getters_of(const TypeInfo& type) const {
        return heap_.pointer(type.address + *heap_.layout().type.tp_members + 8);  // object.h: tp_getset
    }
    /// Those whose getters say where its fields are: made by C, and not `object`.
    bool has_getters(const TypeInfo& type) const {
        return !type.python_class && type.base != no_type && !getters_of(type).is_null();
    }

    void collect(const FoundObjects& objects) {
        std::vector<std::uint8_t> wanted(types_.size());
        bool any = false;
        for (TypeId id{0}; id < types_.size(); ++id) {
            if (!may_be_unknown(types_[id])) continue;
            TypeId at = id;
            for (int steps = 0; at != no_type && !wanted[id] && steps < longest_mro; ++steps) {
                wanted[id] = has_getters(types_[at]);
                at = types_[at].base;
            }
            any = any || wanted[id];
        }
        if (!any) return;
        // The first instance, and each whose number is a power of two: from everywhere in the heap.
        std::vector<Sampled> all(types_.size());
        for (std::size_t i = 0; i < objects.types.size(); ++i) {
            const TypeId type = objects.types[i];
            if (!wanted[type]) continue;
            Sampled& one = all[type];
            if ((one.instances & (one.instances - 1)) == 0) one.samples.push_back(objects.addresses[i]);
            ++one.instances;
        }
        for (TypeId id{0}; id < types_.size(); ++id)
            if (all[id].instances > 0) {
                all[id].type = id;
                if (all[id].samples.size() > most_instances)  // the last ones are farthest from each other
                    all[id].samples.erase(
                        all[id].samples.begin() + 1,
                        all[id].samples.end() - static_cast<std::ptrdiff_t>(most_instances - 1));
                work_.push_back(std::move(all[id]));
            }
        std::stable_sort(work_.begin(), work_.end(),
                         [](const Sampled& a, const Sampled& b) { return a.instances > b.instances; });
    }

    /// The classes in the order in which attributes are looked up.
    std::vector<TypeId> mro_of(TypeId type) const {
        std::vector<TypeId> mro;
        const Address tuple = heap_.pointer(types_[type].address + *heap_.layout().type.tp_mro);
        const std::int64_t count = tuple.is_null() ? 0 : heap_.var_size(tuple);
        for (std::int64_t i = 0; i < std::min(count, longest_mro); ++i) {
            const Address item =
                heap_.pointer(tuple + *heap_.layout().tuple.ob_item + 8 * static_cast<std::uint64_t>(i));
            if (const TypeId id = types_.find(item); id != no_type) mro.push_back(id);
        }
        return mro;
    }

    bool is_shadowed(const std::vector<TypeId>& mro, std::size_t owner, std::string_view name) {
        for (std::size_t i = 0; i < owner; ++i) {
            const Address dict = heap_.type_dict(types_[mro[i]].address);
            const auto facts = dict.is_null() ? std::nullopt : heap_.dict(dict);
            if (!facts) continue;
            steps_left_ -= std::min(steps_left_, facts->entry_count);
            if (steps_left_ == 0 || !heap_.dict_value(dict, name).is_null()) return true;
        }
        return false;
    }

    std::vector<FieldNames::Name> names_of(const Sampled& one) {
        std::vector<FieldNames::Name> names;
        const std::vector<TypeId> mro = mro_of(one.type);
        for (std::size_t owner = 0; owner < mro.size(); ++owner) {
            if (!has_getters(types_[mro[owner]])) continue;
            Getter getter{getters_of(types_[mro[owner]]), {}, {}};
            for (int i = 0; i < most_getters; ++i, getter.entry = getter.entry + getter_bytes) {
                const auto name =
                    heap_.memory().read_c_string(heap_.pointer(getter.entry), longest_getter_name);
                steps_left_ -= std::min<std::uint64_t>(steps_left_, 10);
                if (!name || name->empty() || steps_left_ == 0) break;
                getter.get = heap_.pointer(getter.entry + get_at);
                getter.closure = heap_.pointer(getter.entry + closure_at);
                if (getter.get.is_null() || !is_identifier(*name) || is_shadowed(mro, owner, *name)) continue;
                for (const Field& field : fields_of(getter, one)) {
                    const auto offset = static_cast<std::uint32_t>(field.offset);
                    const bool named =
                        std::any_of(names.begin(), names.end(),
                                    [&](const FieldNames::Name& there) { return there.offset == offset; });
                    if (!named) names.push_back({offset, *name, field.item});
                }
            }
        }
        std::sort(names.begin(), names.end(),
                  [](const auto& a, const auto& b) { return a.offset < b.offset; });
        return names;
    }

    std::vector<Field> fields_of(const Getter& getter, const Sampled& one) {
        Known& known = known_[getter.entry.value];
        if (!known.fields.empty() || known.types >= most_types_tried) return known.fields;
        Found found = find(getter, one);
        if (found.plain)
            known.fields = found.fields;
        else
            ++known.types;
        return std::move(found.fields);
    }

    /// What a call read of the object at `object`.
    struct Reads {
        std::vector<std::int32_t> words;  // whole and aligned, each once
        bool others = false;              // its class, or parts of words
    };
    Reads reads_of(Address object, std::uint64_t body) const {
        Reads reads;
        for (const TraceEvent& event : calls_->trace()) {
            const std::uint64_t at = event.address - object;
            if (event.kind != TraceEvent::Kind::read || at >= body) continue;
            const auto offset = static_cast<std::int32_t>(at);
            if (at < 16 || at % 8 != 0 || (event.bytes != 8 && event.bytes != 1) || at + 8 > body)
                reads.others = reads.others || at >= 8;  // its own count is of no account
            else if (std::find(reads.words.begin(), reads.words.end(), offset) == reads.words.end())
                reads.words.push_back(offset);
        }
        return reads;
    }

    /// What the instances say that were looked at.
    struct Evidence {
        std::vector<std::int32_t> candidates;  // offsets; of all instances
        std::size_t instances = 0, returned_it = 0;
        bool boxed = false;  // an int was made of what was read
        Address first;       // instance
    };

    /// Adds what the last call says; false if it speaks against a field.
    bool add(Evidence& evidence, Address object, std::uint64_t returned, std::uint64_t body) const {
        const Reads reads = reads_of(object, body);
        std::vector<std::int32_t> here;
        bool is_it = false;
        for (const std::int32_t offset : reads.words) {
            const std::uint64_t word = heap_.pointer(object + static_cast<std::uint64_t>(offset)).value;
            const bool same = returned != 0 && (word == returned || word == (returned | 1));
            if (same || word == 0)
                here.push_back(offset);  // for null there is an exception, None, or a default
            is_it = is_it || same;
        }
        if (here.empty()) {
            // Of an int that mypyc keeps as such, an object is made only now.
            if (reads.words.size() != 1) return false;
            here = reads.words;
            evidence.boxed = true;
        }
        if (evidence.instances++ == 0) {
            evidence.first = object;
            evidence.candidates = here;
        }
        evidence.returned_it += is_it ? 1 : 0;
        std::erase_if(evidence.candidates, [&](std::int32_t offset) {
            return std::find(here.begin(), here.end(), offset) == here.end();
        });
        return !evidence.candidates.empty() && evidence.candidates.size() <= most_candidates;
    }

    Found find(const Getter& getter, const Sampled& one) {
        const TypeInfo& type = types_[one.type];
        const std::uint64_t body = std::min<std::uint64_t>(c_base(heap_, type)->basicsize, most_body);
        Evidence evidence;
        int faults = 0;
        for (const Address object : one.samples) {
            const auto returned = calls_->call(getter.get, object, getter.closure);
            const std::vector<Address> items = items_of(returned);
            calls_->take_back();
            if (!returned) {
                if (++faults >= most_faults) return {};
                continue;
            }
            if (evidence.instances == 0 && !items.empty()) {
                Found found = find_items(getter, type, object, body, items);
                if (!found.fields.empty()) return found;
                repeat(getter, object);
            }
            if (!add(evidence, object, *returned, body)) return {};
            if (evidence.instances >= enough_instances) break;
        }
        Found found;
        for (const std::int32_t offset : evidence.candidates)
            for (const bool tagged : {false, true}) {
                if (evidence.boxed && !tagged) continue;
                const auto proof = ask_copy(getter, type, evidence.first, body, offset, tagged);
                if (!proof || proof->returned != type.address) continue;
                if (!found.fields.empty()) return {};  // two fields
                found = {{{offset, -1}}, !proof->reads.others && proof->reads.words.size() == 1};
                break;
            }
        if (!found.plain && evidence.returned_it < enough_instances) return {};
        return found;
    }

    /// For its trace.
    void repeat(const Getter& getter, Address object) {
        calls_->call(getter.get, object, getter.closure);
        calls_->take_back();
    }

    /// If a call made a tuple: its items.
    std::vector<Address> items_of(std::optional<std::uint64_t> returned) const {
        const Address tuple(returned.value_or(0));
        if (tuple.is_null() || !types_.is(heap_.type_of(tuple), KnownType::tuple)) return {};
        const std::int64_t count = heap_.var_size(tuple);
        if (count < 1 || count > most_items) return {};
        std::vector<Address> items;
        for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i)
            items.push_back(heap_.pointer(tuple + *heap_.layout().tuple.ob_item + 8 * i));
        return items;
    }

    /// The words of the object that are items of the tuple which the last call made.
    Found find_items(const Getter& getter, const TypeInfo& type, Address object, std::uint64_t body,
                     const std::vector<Address>& items) {
        Found found;
        const Reads first = reads_of(object, body);
        if (first.others || first.words.size() > items.size()) return {};
        for (const std::int32_t offset : first.words) {
            const Address word = heap_.pointer(object + static_cast<std::uint64_t>(offset));
            if (std::find(items.begin(), items.end(), word) == items.end()) continue;
            const auto proof = ask_copy(getter, type, object, body, offset, false);
            if (!proof || proof->items.size() != items.size()) return {};
            // Only that item is another now.
            std::int32_t item = -1;
            for (std::size_t i = 0; i < items.size(); ++i) {
                if (proof->items[i] != type.address) continue;
                if (item >= 0) return {};
                item = static_cast<std::int32_t>(i);
            }
            if (item < 0 || items[static_cast<std::size_t>(item)] != word) return {};
            found.fields.push_back({offset, item});
        }
        found.plain = true;
        return found;
    }

    struct Proof {
        Address returned;
        std::vector<Address> items;  // if that is a tuple
        Reads reads;
    };
    /// What the getter of a copy of the object does that has the type's address at `offset`.
    std::optional<Proof> ask_copy(const Getter& getter, const TypeInfo& type, Address object,
                                  std::uint64_t body, std::int32_t offset, bool tagged) {
        const std::uint64_t before = (std::uint64_t{type.presize} + 15) / 16 * 16;
        const auto room = calls_->memory().own(calls_->memory().room().copy, before + body);
        if (room.empty() || !calls_->memory().read(object - before, room.data(), room.size()))
            return std::nullopt;
        const std::uint64_t put = type.address.value | (tagged ? 1 : 0);
        std::memcpy(room.data() + before + offset, &put, 8);
        const Address copy = calls_->memory().room().copy + before;
        const auto returned = calls_->call(getter.get, copy, getter.closure);
        const std::vector<Address> items = items_of(returned);
        calls_->take_back();
        if (!returned) return std::nullopt;
        return Proof{Address(*returned), items, reads_of(copy, body)};
    }

    static constexpr std::uint64_t most_body = GuestMemory::most_copied / 2;

    const CoreFile& core_;
    const PythonHeap& heap_;
    const TypeTable& types_;
    std::vector<Sampled> work_;  // most instances first
    std::unique_ptr<Calls> calls_;
    std::unordered_map<std::uint64_t, Known> known_;  // by entry
    std::uint64_t steps_left_ = most_steps;
};

}  // namespace

FieldNames find_field_names(const CoreFile& core, const FoundObjects& objects, const ObjectAccess& access,
                            const ProgressCallback& progress) {
    const std::size_t types = access.heap().types().size();
    if (progress) progress("names of fields", 0);
    FieldNameFinder finder(core, objects, access);
    if (!finder.has_work()) return {};
    return found_in_child<FieldNames>("names of fields", types, most_children,
                                      [&](const std::vector<std::uint32_t>& refused, ChildOutput& output) {
                                          return finder.build(refused, output);
                                      });
}

}  // namespace heapsift
