#pragma once

// Numbers for the names of steps: one for each way in which objects hold others. Names are told apart by where
// they lie in the core, not by text, so that a search may ask for one with each reference that it meets.

#include "parsers/base/address.h"
#include "parsers/snapshot/found_objects.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace heapsift {

struct ReferenceName;

/// What a step's name consists of, as far as that distinguishes steps.
enum class ReferenceForm : std::uint8_t { attribute, index, item, key };

/// Steps with the same name, apart from indices and keys: all items of lists are one, all attributes `.left`
/// are one. Given by an example: the name of the reference from `source` to `target`.
struct StepName {
    ReferenceForm form;
    ObjectId source = no_object, target = no_object;
};

class StepNumbers {
public:
    /// Of a reference from `source` to `target`. `attribute_dict`: the items of `source` are attributes.
    std::uint32_t number(ObjectId source, ObjectId target, const ReferenceName& name, bool attribute_dict);
    const StepName& operator[](std::uint32_t number) const { return names_[number]; }
    std::size_t count() const { return names_.size(); }
    /// The number of ".__dict__"; a number of no step if it was not met.
    std::uint32_t dict_step() const { return dict_step_; }

private:
    struct Key {
        ReferenceForm form;
        std::uint8_t exact;  // ReferenceName::Form
        const void* text;
        std::uint64_t key;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& k) const {
            std::uint64_t mixed = (k.key ^ reinterpret_cast<std::uintptr_t>(k.text)) * 0x9e3779b97f4a7c15;
            mixed ^= static_cast<std::uint64_t>(k.exact) * 0xff51afd7ed558ccd;
            return static_cast<std::size_t>(mixed ^ mixed >> 29);
        }
    };

    std::vector<StepName> names_;
    std::unordered_map<Key, std::uint32_t, KeyHash> numbers_;
    std::uint32_t dict_step_ = 0xffffffff;
};

}  // namespace heapsift
