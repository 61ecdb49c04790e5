#pragma once

// The words in which a person would say what holds an object: one number for each way of being held. (What a
// label is: holder_labels.cpp.)

#include "analysis/holding/root_paths.h"
#include "analysis/step_examples.h"

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heapsift {

/// A container of no class of its own: what is in it is said to be held by what holds it.
bool is_plain_container(KnownType type);

/// A root of a thread's own: it is called after the thread, which the program named.
bool names_thread(RootKind kind);

/// The holder, and the steps from it; indices and keys are those of all (ReferenceStep::any).
struct HolderName {
    // A type, "app.Node", of an instance or as a class; a module, "app"; a running function, "func()"; the
    // variables that a function has from the one around it, "closure of outer.<locals>.inner"; "lru_cache of
    // render". Not escaped
    std::string owner;
    bool frame = false;  // it is a running function
    std::vector<ReferenceStep> steps;

    /// "hActs1", "children[*]": the steps, without the dot at the start.
    std::string attribute() const;
    /// True if nothing stands between owner and attribute: it is an item or a key.
    bool joined() const;
    /// True if Python has no name for the first step.
    bool nameless() const { return !steps.empty() && steps.front().nameless; }
};

/// Labels every object that a root reaches. Searches the cheapest paths; 12 bytes per object. Refers to the
/// graph: use it within one call.
class HolderLabeler {
public:
    static constexpr std::uint32_t none = RootPaths::none;

    HolderLabeler(const HeapGraph& graph, PathWishes wishes, const ProgressCallback& progress = {});
    HolderLabeler(const HolderLabeler&) = delete;  // its parts refer to each other
    HolderLabeler& operator=(const HolderLabeler&) = delete;

    const RootPaths& paths() const { return paths_; }
    void give_up_costs() { paths_.give_up_costs(); }
    std::size_t count() const { return labels_.size(); }
    /// `none` if no path was found.
    std::uint32_t label(ObjectId object) const { return label_[object]; }
    /// Several labels may have the same name.
    HolderName name(std::uint32_t label) const;
    /// True if the name is one that the program gave, of a thread, and no name in its source.
    bool names_thread(std::uint32_t label) const;
    /// The root at which the label begins; null if it begins with the type of an object, a class or a function.
    const HeapGraph::PlacedRoot* root(std::uint32_t label) const;
    /// The label that `target` would have if its path came by this reference: a new one, or one that there is.
    /// `source` must have a label.
    std::uint32_t label_by(ObjectId source, ObjectId target, const ReferenceName& name);
    /// The same by a root of it.
    std::uint32_t label_by(const HeapGraph::PlacedRoot& root);
    /// The same by the last step of its own path, if what is before it had the label `above`.
    std::uint32_t label_below(std::uint32_t above, ObjectId target);
    /// The class whose attributes are in the dict `object`; `no_type` if it is not such a dict.
    TypeId class_with_dict(ObjectId object) const;
    /// True if labels of what it holds extend its own: a container, a frame. (A module does, and so do its
    /// globals, but these are `structural`.)
    bool passes_on(ObjectId object) const {
        const TypeId type = columns().type_of(object);
        return plain_[known(type)] || module_[known(type)] || is_frame(type);
    }
    /// The path to `object` with [*] for indices and keys; equal consecutive steps appear once, with an
    /// ellipsis.
    std::string merged_expression(ObjectId object) const;

private:
    struct Label {
        std::uint32_t above = none;  // the label that it extends; if none, `owner` is the holder
        std::uint32_t step = none;   // RootPaths::step_names
        // a type's number; a root's index + owner_is_root; a class + owner_is_class; a function +
        // owner_is_closure, whose variable has the number `step`; a function + owner_is_cache
        std::uint64_t owner = 0;
        std::uint8_t depth = 0;
        bool operator==(const Label& o) const {
            return above == o.above && step == o.step && owner == o.owner;
        }
    };
    struct LabelHash {
        std::size_t operator()(const Label& l) const {
            const std::uint64_t mixed =
                (l.owner + (std::uint64_t{l.above} << 32 | l.step)) * 0x9e3779b97f4a7c15;
            return static_cast<std::size_t>(mixed ^ mixed >> 31);
        }
    };
    static constexpr std::uint64_t owner_is_root = std::uint64_t{1} << 32, owner_is_class = owner_is_root * 2,
                                   owner_is_closure = owner_is_root * 3, owner_is_cache = owner_is_root * 4;

    void label_all();
    std::uint32_t numbered(const Label& label);
    std::uint32_t label_of(ObjectId source, std::uint32_t above, ObjectId target, std::uint32_t step);
    std::optional<Label> by_function(ObjectId source, ObjectId target) const;
    std::optional<Label> closure_variable(ObjectId closure, ObjectId cell) const;
    Address function_of_cache(ObjectId wrapper) const;
    ObjectId first_with_code_of(Address function) const;
    HolderName function_name(const Label& label) const;
    bool is_frame(TypeId type) const;
    std::size_t known(TypeId type) const;
    std::uint64_t first_root_like(const HeapGraph::PlacedRoot& root);
    ReferenceStep step(std::uint32_t number) const;
    HolderName root_name(const Root& root) const;
    std::string root_words_short(const Root& root) const;

    const HeapGraph& graph_;
    const HeapSnapshot& columns() const { return heap_.snapshot(); }

    const HeapReader& heap_;
    const bool calls_last_;
    RootPaths paths_;
    mutable StepExamples examples_;
    std::vector<bool> plain_, module_, cache_, method_,
        metatype_;  // by type; the last one for types not found
    std::vector<Label> labels_;
    NarrowNumbers label_;  // by object
    std::unordered_map<Label, std::uint32_t, LabelHash> numbers_;
    std::map<std::pair<RootKind, NodeId>, std::uint64_t> first_like_;
    // By code object, the function that stands for all that have it.
    mutable std::unordered_map<std::uint64_t, ObjectId> functions_;
};

}  // namespace heapsift
