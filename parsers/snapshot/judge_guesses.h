#pragma once

#include "parsers/snapshot/guesses.h"

#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heapsift {

/// A word that may be a reference, to the object `targets[place()]` of the rows that are being filled.
class Guess {
public:
    /// `alone`: judged by itself. The other references of `source` are known, or `word` means another place in
    /// each object.
    Guess(ObjectId source, std::uint32_t word, std::uint64_t place, bool alone)
        : source_(source), word_(word), bits_(place << 3 | std::uint64_t{alone} << 2) {
        set(GuessVerdict::refused);
    }
    ObjectId source() const { return source_; }
    /// The number in its name; in GuessJudge, which slot that is.
    std::uint32_t word() const { return word_; }
    std::uint64_t place() const { return bits_ >> 3; }
    bool alone() const { return (bits_ & 4) != 0; }
    /// A pointer of an object to itself is C code's: a reference of its own would keep it for ever, and as one that is
    /// counted it would prove that nothing else holds it. Such a guess is refused.
    bool leads_to_itself(std::span<const ObjectId> targets) const { return targets[place()] == source_; }
    GuessVerdict verdict() const { return static_cast<GuessVerdict>(bits_ & 3); }

    void set(GuessVerdict verdict) {
        bits_ = (bits_ & ~std::uint64_t{3}) | static_cast<std::uint64_t>(verdict);
    }
    void set_slot(std::uint32_t slot) { word_ = slot; }
    void move(std::uint64_t places) { bits_ += places << 3; }

private:
    ObjectId source_;
    std::uint32_t word_;
    std::uint64_t bits_;  // place, alone, verdict
};

/// Memory: 16 bytes for each guess, 8 for each object that one leads to, 3 bits for each object. Cost: 40
/// to 80 ns for each guess.
class GuessJudge {
public:
    explicit GuessJudge(const TypeColumn& types) : types_(types) {}

    /// The next in the order of their places, which are those in `targets` and lie `before` places further
    /// behind in all rows; empties `some`.
    void add(std::vector<Guess>& some, std::span<const ObjectId> targets, std::uint64_t before);
    /// Once, when all are added. `left(object)`: how many references to the object its count has beyond those
    /// known for sure.
    void judge(std::span<const ObjectId> targets, const std::function<std::uint64_t(ObjectId)>& left);
    /// By place.
    std::span<const Guess> guesses() const { return guesses_; }
    const GuessCounts& counts() const { return counts_; }
    /// What is to be kept; this is empty afterwards.
    JudgedGuesses finish();

private:
    /// A word of all objects of a type.
    struct Slot {
        enum class Rule : std::uint8_t {
            single,  // one by one
            open,    // as a whole, and not decided: allowed, if the sample refuses none
            proved,
            refused
        };
        TypeId type;
        std::uint32_t word = 0;
        std::uint64_t guesses = 0;
        std::uint32_t proved = 0, refused = 0;  // of those that were looked at
        Rule rule = Rule::open;
        bool alone = false;
        bool fresh = false;  // decided in this round
        double belief() const { return (proved + 1.0) / (0.0 + proved + refused + 2.0); }
    };
    /// Of an object that guesses lead to.
    struct Account {
        static constexpr std::uint32_t unlimited = 0xffffffff;
        std::uint32_t room = 0;        // references that are still to be explained
        std::uint32_t candidates = 0;  // guesses that are not judged
        /// Every candidate is a reference.
        bool proves() const { return room == candidates && room > 0; }
        void set_room(std::uint64_t left) {
            room = left < unlimited ? static_cast<std::uint32_t>(left) : unlimited;
        }
        bool take() {
            if (room == 0) return false;
            if (room != unlimited) --room;
            return true;
        }
    };

    /// Targets of guesses, and their accounts.
    class Accounts {
    public:
        void mark(ObjectId target);
        /// When all are marked.
        void open(const std::function<std::uint64_t(ObjectId)>& left);
        Account& operator[](ObjectId target) { return accounts_[row_of(target)]; }
        void fetch(ObjectId target) const { __builtin_prefetch(&accounts_[row_of(target)], 1); }

    private:
        std::size_t row_of(ObjectId target) const {
            const std::uint64_t lower = (std::uint64_t{1} << (target % 64)) - 1;
            return before_[target / 64] + static_cast<unsigned>(std::popcount(marks_[target / 64] & lower));
        }
        std::vector<std::uint64_t> marks_;   // a bit for each object: whether a guess leads to it
        std::vector<std::uint32_t> before_;  // by word of `marks_`: how many have a mark before that
        std::vector<Account> accounts_;      // of the objects with a mark, by id
    };

    static constexpr std::uint32_t no_slot = 0xffffffff;
    std::uint32_t slot_of(TypeId type, std::uint32_t word);
    template <class F>
    void visit_guesses(F&& visit);
    std::vector<std::uint64_t> begin_slots();
    void judge_slots(std::span<const std::uint64_t> sample);
    bool decide();
    void apply();
    void judge_singles();
    void allow();
    bool numbers_differ() const;

    const TypeColumn& types_;
    std::vector<Guess> guesses_;  // by place
    std::vector<Slot> slots_;
    std::vector<std::vector<std::uint32_t>> low_slots_;  // by type, then by word
    std::unordered_map<std::uint64_t, std::uint32_t> high_slots_;
    Accounts accounts_;
    std::span<const ObjectId> targets_;  // while they are judged
    GuessCounts counts_;
};

}  // namespace heapsift
