#pragma once

// Which words of C code's blocks are pointers, by how the same field behaves in all blocks of its class. (How
// that is told: pointer_fields.cpp.)

#include "parsers/elf/core_file.h"
#include "parsers/memory/block_numbers.h"
#include "parsers/snapshot/block_words.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace heapsift {

/// How much speaks for a word being a pointer.
enum class Belief : std::uint8_t {
    field,     // its field leads to blocks as a pointer does
    union_,    // the field does so where it leads to a block at all
    alone,     // it is where a pointer leads, but its field is not like that
    anywhere,  // into the middle of a block
    none
};

/// Refers to the core.
class PointerFields {
public:
    explicit PointerFields(const CoreFile& core);

    /// What is known of a block's fields: for `belief`. Valid until the next block is counted.
    class Fields;

    /// Each block once, before any is `learned`.
    void count(const BlockNumbers::Block& block, std::span<const std::byte> bytes);
    /// Then each block once more, by number, though some may be left out: `find(word)` is the block in use that a word
    /// leads to, if that counts.
    template <class Find>
    void learn(const BlockNumbers::Block& block, std::span<const std::byte> bytes, Find&& find);

    /// Then this, once; questions after that.
    void finish() { leading_.finish(); }

    /// visit(index, word) for each word of a block that was learned to which `find` had a block.
    template <class F>
    void visit_leading(const BlockNumbers::Block& block, std::span<const std::byte> bytes, F&& visit) const {
        leading_.visit(block.number, bytes, visit);
    }
    /// Of one block that was learned, to ask of its words; with the same `find`.
    template <class Find>
    Fields fields_of(const BlockNumbers::Block& block, std::span<const std::byte> bytes, Find&& find) const;

    /// Of a word that leads `offset` bytes behind the start of `target`.
    Belief belief(const Fields& fields, std::size_t index, std::uint64_t word,
                  const BlockNumbers::Block& target, std::uint64_t offset) const;
    /// The same of a word of an object or of a variable, of which there is nothing to compare it with.
    Belief belief(std::uint64_t word, const BlockNumbers::Block& target, std::uint64_t offset) const;

private:
    struct Counts {
        std::uint32_t filled = 0;             // words that are not zero
        std::uint32_t hits = 0;               // that lead to a block
        std::uint32_t far = 0;                // farther than `nearest` behind its start
        std::array<std::uint32_t, 8> tags{};  // to its start, and 1 to 7 bytes behind it
        std::array<std::uint32_t, 8> near{};  // 8, 16, … 64 bytes behind it

        void add(std::uint64_t offset);
    };
    struct Class {
        std::uint64_t size = 0;
        Address table = {};
        bool operator==(const Class&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Class& c) const {
            return (c.size * 0x9e3779b97f4a7c15) ^ (c.table.value * 0xc2b2ae3d27d4eb4f);
        }
    };
    struct Known {
        std::uint32_t count = 0, seen = 0, sampled = 0;
        std::size_t first = no_fields;  // in counts_
    };
    static constexpr std::uint64_t largest_of_a_class = 4096;  // bytes: what is larger is an array
    static constexpr std::size_t no_fields = ~std::size_t{0};

    /// Of blocks that begin with the virtual functions of one C++ class.
    struct OfTable {
        std::uint64_t smallest = 0;    // usable bytes
        std::uint32_t count = 0;       // of blocks of that size
        std::uint32_t with_slack = 0;  // of the next size
    };

    void count_table(const Class& of);
    void note_vector(const BlockNumbers::Block& target, std::span<const std::byte> words);
    static bool is_short_text(const Fields& fields, std::size_t index);
    static bool may_be_slack(const Fields& fields, std::size_t index);
    std::uint64_t object_bytes(const Class& of) const;
    Class class_of(const BlockNumbers::Block& block, std::span<const std::byte> bytes) const;
    const Known* known(const Class& of) const;
    Counts* counts_to_fill(const BlockNumbers::Block& block, std::span<const std::byte> bytes);
    void learn_far(const BlockNumbers::Block& target, std::uint64_t offset);
    bool are_alike(std::uint64_t size, std::uint64_t offset) const;
    Belief by_field(const Counts& counts, std::uint64_t word, const BlockNumbers::Block& target,
                    std::uint64_t offset) const;
    static Belief by_counts(const Counts& counts, std::uint64_t word, std::uint64_t offset);

    const CoreFile& core_;
    Address lowest_, highest_;  // of all modules
    std::unordered_map<Class, Known, Hash> classes_;
    std::vector<Counts> counts_;
    BlockWords leading_;
    std::unordered_map<std::uint64_t, OfTable> tables_;  // by the address of the functions
    std::unordered_map<std::uint64_t, std::uint64_t> alike_, of_size_;
    std::unordered_map<std::uint32_t, std::uint32_t> elements_end_;  // by block number, of vectors: words
};

class PointerFields::Fields {
    friend class PointerFields;
    const Counts* first_ = nullptr;  // of a class; null: `own_` is of all words together
    std::uint32_t sampled_ = 0;      // blocks of the class that were counted
    Counts own_;
    Address start_;
    std::span<const std::byte> bytes_;
    std::size_t last_ = 0;                        // the index of the last word
    std::size_t end_ = ~std::size_t{0};           // and of the first word behind the object, if that is known
    std::size_t elements_end_ = ~std::size_t{0};  // the same behind the elements of a vector
};

template <class Find>
void PointerFields::learn(const BlockNumbers::Block& block, std::span<const std::byte> bytes, Find&& find) {
    Counts* const counts = counts_to_fill(block, bytes);
    while (leading_.size() < block.number) leading_.add_block(0);
    leading_.add_block(bytes.size() / 8);
    for (std::size_t i = 0; 8 * i + 8 <= bytes.size(); ++i) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + 8 * i, 8);
        if (word == 0) continue;
        if (counts) ++counts[i].filled;
        const std::optional<BlockNumbers::Block> target = find(word);
        if (!target) continue;
        leading_.mark(i);
        const std::uint64_t offset = Address(word) - target->start;
        if (counts) counts[i].add(offset);
        learn_far(*target, offset);
        if (offset == 0) note_vector(*target, bytes.subspan(8 * i));
    }
}

template <class Find>
PointerFields::Fields PointerFields::fields_of(const BlockNumbers::Block& block,
                                               std::span<const std::byte> bytes, Find&& find) const {
    Fields fields;
    fields.last_ = bytes.size() / 8 - 1;
    fields.start_ = block.start;
    fields.bytes_ = bytes;
    const Class of = block.bytes <= largest_of_a_class ? class_of(block, bytes) : Class{};
    if (!of.table.is_null()) fields.end_ = object_bytes(of) / 8;
    if (const auto vector = elements_end_.find(block.number); vector != elements_end_.end())
        fields.elements_end_ = vector->second;
    if (const Known* of_class = known(of); of_class && of_class->first != no_fields) {
        fields.first_ = &counts_[of_class->first];
        fields.sampled_ = of_class->sampled;
        return fields;
    }
    for (std::size_t i = 0; 8 * i + 8 <= bytes.size(); ++i) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + 8 * i, 8);
        fields.own_.filled += word != 0 ? 1 : 0;
    }
    visit_leading(block, bytes, [&](std::size_t, std::uint64_t word) {
        if (const std::optional<BlockNumbers::Block> target = find(word))
            fields.own_.add(Address(word) - target->start);
    });
    return fields;
}

}  // namespace heapsift
