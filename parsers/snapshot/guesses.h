#pragma once

// What became of the guesses: the words that may be references. (How they are judged: judge_guesses.cpp.)

#include "parsers/base/stored.h"
#include "parsers/snapshot/found_objects.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace heapsift {

/// What became of a guess.
enum class GuessVerdict : std::uint8_t {
    proved,   // hidden: with the proved guesses, the references found are exactly the target's count; or a
              // sample proved its word for all objects of the type
    allowed,  // followed: the target's count has room for it
    refused   // not a reference: the references known for sure are all that the target counts
};

struct GuessCounts {
    std::uint64_t proved = 0, allowed = 0, refused = 0;
    std::uint64_t objects = 0;  // objects that have guesses
};

/// Memory: 12 bytes for each word of a type that has one verdict for all objects, and for each guess whose
/// verdict is another.
class JudgedGuesses {
public:
    /// A word of all objects of a type; `word` is the number in the names of its guesses.
    struct Slot {
        TypeId type;
        std::uint32_t word = 0;
        GuessVerdict verdict = GuessVerdict::refused;
        std::array<std::uint8_t, 3> unused{};
        std::pair<TypeId, std::uint32_t> key() const { return {type, word}; }
    };
    /// A guess of one object.
    struct One {
        ObjectId source;
        std::uint32_t word = 0;
        GuessVerdict verdict = GuessVerdict::refused;
        std::array<std::uint8_t, 3> unused{};
        std::pair<ObjectId, std::uint32_t> key() const { return {source, word}; }
    };

    JudgedGuesses() = default;
    /// Both sorted by their keys; what is in neither is refused.
    JudgedGuesses(std::vector<Slot> slots, std::vector<One> ones)
        : slots_(std::move(slots)), ones_(std::move(ones)) {}

    /// Of the guess of `source`, an object of `type`.
    GuessVerdict verdict(ObjectId source, TypeId type, std::uint64_t word) const {
        const auto number = static_cast<std::uint32_t>(word);
        if (const One* const one = find(ones_, std::pair(source, number))) return one->verdict;
        const Slot* const slot = find(slots_, std::pair(type, number));
        return slot ? slot->verdict : GuessVerdict::refused;
    }
    std::uint64_t memory_bytes() const { return slots_.memory_bytes() + ones_.memory_bytes(); }

    /// As a part of an index (parsers/index/part.h), for so many objects.
    template <class Self, class Part>
    static void fields(Self& self, Part& part, std::size_t objects) {
        part.column(self.slots_, [](const Slot& slot, std::size_t at) {
            return slot.verdict <= GuessVerdict::refused && (at == 0 || (&slot - 1)->key() < slot.key());
        });
        part.column(self.ones_, [objects](const One& one, std::size_t at) {
            return one.source < objects && one.verdict <= GuessVerdict::refused &&
                   (at == 0 || (&one - 1)->key() <= one.key());
        });
    }

private:
    template <class T, class Key>
    static const T* find(const Stored<T>& all, const Key& key) {
        const auto it = std::lower_bound(all.begin(), all.end(), key,
                                         [](const T& a, const Key& k) { return a.key() < k; });
        return it != all.end() && it->key() == key ? &*it : nullptr;
    }

    Stored<Slot> slots_;
    Stored<One> ones_;
};

}  // namespace heapsift
