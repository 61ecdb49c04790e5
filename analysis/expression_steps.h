#pragma once

// One step of an expression: from an object along what its references are called, and what Python would find
// beside them.

#include "analysis/expression_text.h"
#include "parsers/cpython/python_heap.h"
#include "parsers/cpython/threads.h"
#include "parsers/reading/heap_reader.h"

#include <functional>
#include <string_view>
#include <vector>

namespace heapsift {

/// Where the evaluation of an expression stands.
struct ExpressionPlace {
    std::size_t at = 0;  // so much of the text has been followed
    Address object;      // null for a frame that has no object
    // whose locals are at hand: a call's, or that of the generator `object`
    const PythonFrame* frame = nullptr;
    bool items_are_attributes = false;  // `object` is a thread-local's dict

    auto operator<=>(const ExpressionPlace&) const = default;
};

/// An attribute, an item or a local that is there, for a person who mistyped one.
using NameVisitor = std::function<void(const ReferenceStep&)>;

class ExpressionSteps {
public:
    ExpressionSteps(const HeapReader& heap, const PythonHeap& python);

    /// All places that one step from `place` leads to; `text` is the whole expression. Reads storage, runs
    /// nothing. Cost: the references of the object, once or twice.
    std::vector<ExpressionPlace> from(const ExpressionPlace& place, std::string_view text) const;
    /// What `from` would have found.
    void visit_names(const ExpressionPlace& place, const NameVisitor& visit) const;

    /// The value of a key, in whatever is read as a dict; null where there is none.
    Address item(Address dict, const Literal& key) const;
    /// What the first reference by that field leads to; null for none.
    Address referent(Address object, Field field) const;
    /// What its first attribute of that name is.
    Address attribute(Address object, const std::string& name) const;
    /// The values of a dict.
    std::vector<Address> values(Address dict) const;
    bool is_dict(Address object) const { return python_.is_dict(object); }
    bool is_module_dict(Address object) const;

private:
    struct Following;
    void follow_frame(const Following& step) const;
    void follow_index(const Following& step, bool unquoted) const;
    void follow_references(const Following& step, bool unquoted) const;
    void follow_shared_local(const Following& step, const Reference& cell, bool unquoted) const;
    void follow_attribute(const Following& step) const;
    void follow_values(const Following& step) const;
    void follow_index_from_the_end(const Following& step) const;
    void visit_frame_names(const PythonFrame& frame,
                           const std::function<void(Address, const ReferenceStep&)>& visit) const;
    void visit_references(Address object, const std::function<void(const Reference&)>& visit) const;
    Address class_of(Address object) const;
    Address type_dict(Address type) const;
    void add_dicts_of_bases(Address type, std::vector<Address>& dicts) const;
    std::vector<Address> dicts_on_the_way(Address object) const;
    bool equals(Address key, const Literal& literal) const;
    bool equals_number(Address key, std::uint64_t flags, const Literal& literal) const;

    const HeapSnapshot& columns() const { return heap_.snapshot(); }

    const HeapReader& heap_;
    const PythonHeap& python_;
    std::vector<Address> module_dicts_;  // sorted
};

}  // namespace heapsift
