#pragma once

// The nodes of a graph as numbers, and a row of them as it lies in memory.

#include "parsers/base/ids.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <type_traits>

namespace heapsift {

struct NodeOfGraph;
/// What a node stands for depends on its graph: in a heap's graph, objects keep their own numbers, and groups
/// and frames follow (analysis/holding/heap_graph.h).
using NodeId = Id<NodeOfGraph>;
inline constexpr NodeId no_node;

/// Contiguous numbers, read as ids of nodes: the same array can be read so whatever kind of ids it was filled
/// with. Refers to the array; cheap to copy.
class NodeRow {
public:
    class iterator {
    public:
        using value_type = NodeId;
        using reference = NodeId;
        using pointer = void;
        using difference_type = std::ptrdiff_t;
        using iterator_category = std::random_access_iterator_tag;

        iterator() = default;
        explicit iterator(const std::uint32_t* at) : at_(at) {}
        NodeId operator*() const { return NodeId(*at_); }
        NodeId operator[](difference_type n) const { return NodeId(at_[n]); }
        iterator& operator++() {
            ++at_;
            return *this;
        }
        iterator operator++(int) { return iterator(at_++); }
        iterator& operator--() {
            --at_;
            return *this;
        }
        iterator operator--(int) { return iterator(at_--); }
        iterator& operator+=(difference_type n) {
            at_ += n;
            return *this;
        }
        iterator& operator-=(difference_type n) {
            at_ -= n;
            return *this;
        }
        friend iterator operator+(iterator it, difference_type n) { return it += n; }
        friend iterator operator-(iterator it, difference_type n) { return it -= n; }
        friend difference_type operator-(iterator a, iterator b) { return a.at_ - b.at_; }
        auto operator<=>(const iterator&) const = default;

    private:
        const std::uint32_t* at_ = nullptr;
    };

    NodeRow() = default;
    explicit NodeRow(std::span<const std::uint32_t> numbers)
        : first_(numbers.data()), last_(numbers.data() + numbers.size()) {}
    /// From ids of any kind: an id consists of its number alone.
    template <class Kind>
    explicit NodeRow(std::span<const Id<Kind>> ids)
        : first_(reinterpret_cast<const std::uint32_t*>(ids.data())), last_(first_ + ids.size()) {
        static_assert(std::is_standard_layout_v<Id<Kind>> && sizeof(Id<Kind>) == sizeof(std::uint32_t));
    }

    iterator begin() const { return iterator(first_); }
    iterator end() const { return iterator(last_); }
    std::size_t size() const { return static_cast<std::size_t>(last_ - first_); }
    bool empty() const { return first_ == last_; }
    NodeId operator[](std::size_t at) const { return NodeId(first_[at]); }
    /// Prefetches the first numbers.
    void fetch() const { __builtin_prefetch(first_); }

private:
    const std::uint32_t* first_ = nullptr;
    const std::uint32_t* last_ = nullptr;
};

}  // namespace heapsift
