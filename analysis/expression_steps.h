#pragma once

// One step of an expression: from an object along a named reference, or to what Python's own lookup would
// find.

#include "analysis/expression_text.h"
#include "parsers/cpython/python_heap.h"
#include "parsers/cpython/threads.h"
#include "parsers/reading/heap_reader.h"

#include <functional>
#include <string_view>
#include <vector>

namespace heapsift {

/// How far the evaluation of an expression has got.
struct ExpressionPlace {
    std::size_t at = 0;  // how much of the text has been followed
    Address object;      // null for a frame that has no object
    // the frame whose locals can follow: a call's, or that of the generator `object`
    const PythonFrame* frame = nullptr;
    bool items_are_attributes = false;  // `object` is a thread-local's dict

    auto operator<=>(const ExpressionPlace&) const = default;
};

/// An attribute, an item or a local that exists: suggestions for a mistyped one.
using NameVisitor = std::function<void(const ReferenceStep&)>;

class ExpressionSteps {
public:
    ExpressionSteps(const HeapReader& heap, const PythonHeap& python);

    /// All places that one step from `place` leads to; `text` is the whole expression. Reads storage and runs
    /// no code. Cost: the references of the object, once or twice.
    std::vector<ExpressionPlace> from(const ExpressionPlace& place, std::string_view text) const;
    /// All names that `from` could have followed.
    void visit_names(const ExpressionPlace& place, const NameVisitor& visit) const;

    /// The value of a key in anything that is read as a dict; null if there is none.
    Address item(Address dict, const Literal& key) const;
    /// The target of the first reference by that field; null if there is none.
    Address referent(Address object, Field field) const;
    /// The first attribute of that name; null if there is none.
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
    bool are_bytes(Address key, std::string_view utf8) const;
    bool equals_number(Address key, std::uint64_t flags, const Literal& literal) const;

    const HeapSnapshot& columns() const { return heap_.snapshot(); }

    const HeapReader& heap_;
    const PythonHeap& python_;
    std::vector<Address> module_dicts_;  // sorted
};

}  // namespace heapsift
