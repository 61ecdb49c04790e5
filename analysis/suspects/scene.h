#pragma once

// One holder of memory, with what a rule may ask of it: what hangs on it, and what it hangs on.

#include "analysis/kept_answers.h"
#include "analysis/most_frequent.h"
#include "analysis/source_places.h"
#include "analysis/suspects/class_in_source.h"
#include "analysis/top_holders.h"
#include "parsers/cpython/object_kind.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

/// Refers to the heap and the holder: for the time of one question.
class Scene {
public:
    /// `answers`: where samples are kept; they take time to find in what holds millions.
    Scene(const RetainedLookup& retained, const TopHolder& holder, KeptAnswers* answers = nullptr);

    const TopHolder& holder() const { return holder_; }
    const HeapGraph& graph() const { return graph_; }
    const HeapReader& heap() const { return graph_.heap(); }
    const PythonHeap& python() const { return heap().python_heap(); }
    std::uint64_t retained(ObjectId object) const { return retained_.memory(object); }
    bool dominates(ObjectId above, ObjectId object) const { return retained_.dominates(above, object); }
    /// Whether as many references to it were found as Python counted: no code in C holds it unseen.
    bool is_fully_counted(ObjectId object) const;

    /// The holder itself; `no_object` if it is a group, or several objects together.
    ObjectId object() const { return holder_.object ? holder_.object->id : no_object; }
    bool is(ObjectId object, KnownType known) const;
    std::string type_of(ObjectId object) const;
    /// Whether its type or a base of it has one of these qualified names.
    bool is_a(ObjectId object, std::initializer_list<std::string_view> names) const;
    /// Whether it is a class.
    bool is_class(ObjectId object) const;
    /// Whether that is a class in Python of a module of the program, not of Python's library or a package.
    bool is_class_of_program(TypeId type) const { return !qualified_name(type).empty(); }
    /// Such a class; none for any other.
    std::optional<ClassInSource> class_in_source(TypeId type) const;
    /// That and those of the program that it inherits from, in the order of lookups.
    std::vector<ClassInSource> classes_in_source(TypeId type) const;
    /// Its name; "" of any other.
    std::string qualified_name(TypeId type) const;
    bool is_module_of_program(std::string_view name) const;
    /// Whether a weak reference leads to it: whoever has that may reach it, and what it refers to.
    bool has_weak_references(ObjectId object) const;
    /// Its type must be known (as of what `is` or `is_a` something).
    ObjectReader read(ObjectId object) const;
    /// What the first attribute of that name refers to; null if there is none.
    Address attribute(ObjectId object, std::string_view name) const;
    /// The digits of an int; "" of anything else, which the program may have stored there.
    std::string whole_number(Address object) const;

    /// Written steps of the path to it, the last one first: null where there are no more.
    const ReferenceStep* step(std::size_t back = 0) const;
    /// The object from which that step leads; `no_object` for a step from a root that is no object, or none.
    ObjectId owner(std::size_t back = 0) const;
    /// All objects on the path, the holder included, from the root on; empty if it has none.
    const std::vector<ObjectId>& path() const { return holder_.path; }
    /// The module, function or thread with which the path begins: "app", "func()". Not escaped.
    const std::string& root() const { return holder_.expression.root; }

    /// Of what it holds, objects of the type that has most: 64, or all if they are fewer.
    const std::vector<ObjectId>& sample() const {
        if (!sampled_) take_sample();
        return sample_;
    }
    /// Where the holder is a group: the first objects to which that refers, the same one as often as it does; 64.
    std::vector<ObjectId> held_by_group() const;
    std::uint64_t count() const { return holder_.content_count; }
    /// Whether the first of them is a ….
    bool holds(std::initializer_list<std::string_view> names) const {
        return !sample().empty() && is_a(sample().front(), names);
    }
    /// Whether the type of most that it holds is or derives from a …, also where what it holds hangs on no holder alone.
    bool content_is_a(std::initializer_list<std::string_view> names) const {
        return type_is_a(holder_.content, names);
    }
    bool holds(KnownType known) const { return !sample().empty() && is(sample().front(), known); }

    /// Tasks, coroutines, generators and greenlets: those of `sample`, or those to which each of it leads (the handle
    /// of a timer, the callback of an event) by what is largest. Empty if those keep less than half.
    std::vector<ObjectId> waiting() const;

    /// The local variable, free variable, attribute or item by which `object` holds most, and how much; nothing
    /// if it holds nothing worth a word. Follows the largest dominated object at most eight steps.
    struct Part {
        std::string name;  // "big_local"; not escaped
        std::uint64_t bytes = 0;
        bool is_local = false;       // a local or free variable
        ObjectId frame = no_object;  // whose local it is, if that is an object
    };
    std::optional<Part> largest_part(ObjectId object) const;

    /// The largest that it dominates, if that is at least half of it; else `no_object`.
    ObjectId largest_below(ObjectId object) const;

private:
    bool type_is_a(TypeId type, std::initializer_list<std::string_view> names) const;
    void take_sample() const;
    std::vector<ObjectId> sample_below(NodeId node, TypeId type) const;
    std::vector<ObjectId> find_sample_below(NodeId node, TypeId type) const;
    ObjectId waiting_below(ObjectId object) const;

    const RetainedLookup& retained_;
    const HeapGraph& graph_;
    const TopHolder& holder_;
    KeptAnswers* const answers_;
    mutable bool sampled_ =
        false;  // the children of a dominator take time to find: not for who asks of the path alone
    mutable std::vector<ObjectId> sample_;
};

/// "list of 5,000" without its number: "list", "dict", "set", "deque"; "" if it is no container.
std::string container_word(const Scene& scene, ObjectId object);
/// Entries of a dict or a set; nothing of anything else.
std::optional<std::uint64_t> entries_of_table(const Scene& scene, ObjectId object);

/// What is called by most of these functions, bound methods and partials: "expire(), app.py:12"; "" if they have none
/// in common.
std::string words_of_most(const Scene& scene, const std::vector<Address>& callables);
/// The same as a place; not known if they have none in common.
SourcePlace called_by_most(const Scene& scene, const std::vector<Address>& callables);
/// By which names code that hands such a function to others refers to it: {"expire"} of "Cache.expire"; {} of one inside
/// another function, or without a name of its own, or that is not known.
std::vector<std::string> names_of_callee(const SourcePlace& called);

}  // namespace heapsift
