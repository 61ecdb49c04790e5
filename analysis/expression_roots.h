#pragma once

// What an expression can begin with: a module, a name in __main__, a running call, a thread, a thread-local,
// a generator, an address.

#include "analysis/expression_steps.h"

#include <map>
#include <memory>
#include <optional>

namespace heapsift {

class ExpressionRoots {
public:
    ExpressionRoots(const HeapReader& heap, const PythonHeap& python, const ExpressionSteps& steps)
        : heap_(heap), python_(python), steps_(steps) {}

    /// Every way to read the beginning of `text`, except as a builtin.
    std::vector<ExpressionPlace> named(std::string_view text) const;
    std::vector<ExpressionPlace> builtins(std::string_view text) const;
    /// Modules, names in __main__ and running calls.
    void visit_names(const NameVisitor& visit) const;

private:
    void add_modules(std::string_view text, std::vector<ExpressionPlace>& places) const;
    void add_global(Address module, std::string_view text, std::vector<ExpressionPlace>& places) const;
    void add_frames(std::string_view text, std::size_t from, const Literal* thread,
                    std::vector<ExpressionPlace>& places) const;
    void add_special(std::string_view text, std::vector<ExpressionPlace>& places) const;
    void add_thread_local(Address local, std::size_t at, std::vector<ExpressionPlace>& places) const;
    void add_generator(Address generator, std::size_t at, std::vector<ExpressionPlace>& places) const;
    Address object_at(std::string_view address) const;
    const std::vector<PythonThread>& threads() const;

    const HeapSnapshot& columns() const { return heap_.snapshot(); }

    const HeapReader& heap_;
    const PythonHeap& python_;
    const ExpressionSteps& steps_;
    mutable std::optional<std::vector<PythonThread>> threads_;
    mutable std::vector<std::unique_ptr<PythonFrame>> generator_frames_;  // places refer to them
};

}  // namespace heapsift
