#include "parsers/snapshot/judge_guesses.h"

// Which guesses are references.
//
// A word in the body of a C type that nobody has described, and that is the address of an object, may be a
// reference, a borrowed pointer, or left over from the block's previous owner. Reference counts tell, since
// the target counts each real reference. So first all references that are known for sure are counted. A
// target with nothing left to explain refuses all guesses. A target with exactly as many candidates as
// references left to explain proves them all. In between, it says nothing.
//
// A type's code treats one word, a slot, alike in all objects of the type: it owns what the word leads to, or
// it does not. So where a slot has many guesses, a sample of them decides for all. A slot that the sample
// proves is kept, one that it refuses is dropped. The dropped are no candidates any more, and what the kept
// explain is explained: both may decide further slots, in two more rounds. Where the sample is of two minds
// (a word that the code uses in two ways, or does not clear), guesses are judged one by one, and so are those
// of a slot that has few. There, what targets prove holds. Of the rest, a word that was mostly proved goes
// first, one that was mostly refused goes last, and one that was hardly ever proved is refused.
//
// Whatever the sample says, no guess is followed for which the target's count has no room: it would take the
// memory from its real holder. So a stale word in a slot that is kept is refused by itself.
//
// The counts of immortal objects tell nothing; a guess that leads to one is believed unless its slot is
// dropped, or was hardly ever proved.
//
// Nothing is sorted. Each target has an account: its room, and its candidates. The guesses are passed over in
// the order of their places, with the accounts prefetched, once for each round and a few times besides.

#include <algorithm>
#include <cassert>

namespace heapsift {

namespace {

constexpr std::uint64_t enough_to_sample = 1024;  // guesses of a slot; fewer are judged one by one
constexpr std::uint64_t sample_size = 512;
constexpr std::uint32_t enough_said = 32;  // of the sample, for a slot to be kept or dropped
constexpr std::uint32_t as_many = 32;      // for each that says otherwise
constexpr int rounds_of_slots = 3;
constexpr double hardly_ever = 0.2;
constexpr std::uint32_t low_words = 1 << 13;  // bytes
constexpr std::size_t ahead = 16;

/// A number that looks random, and is the same in each run (SplitMix64). Every nth object would not do:
/// programs make objects by turns, and the sample would have those of one turn alone.
std::uint64_t mixed(std::uint64_t number) {
    number = (number + 1) * 0x9e3779b97f4a7c15;
    number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
    number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
    return number ^ (number >> 31);
}

}  // namespace

void GuessJudge::Accounts::mark(ObjectId target) {
    if (target / 64 >= marks_.size()) marks_.resize(target / 64 + target / 256 + 1);
    marks_[target / 64] |= std::uint64_t{1} << (target % 64);
}

void GuessJudge::Accounts::open(const std::function<std::uint64_t(ObjectId)>& left) {
    before_.reserve(marks_.size());
    std::uint32_t count = 0;
    for (const std::uint64_t marks : marks_) {
        before_.push_back(count);
        count += static_cast<unsigned>(std::popcount(marks));
    }
    accounts_.reserve(count);
    for (std::size_t word = 0; word < marks_.size(); ++word)
        for (std::uint64_t marks = marks_[word]; marks != 0; marks &= marks - 1)
            accounts_.emplace_back().set_room(
                left(ObjectId(64 * word + static_cast<unsigned>(std::countr_zero(marks)))));
}

std::uint32_t GuessJudge::slot_of(TypeId type, std::uint32_t word) {
    std::uint32_t* known = nullptr;
    if (word < low_words && word % 8 == 0) {
        if (type >= low_slots_.size()) low_slots_.resize(type + 1);
        std::vector<std::uint32_t>& slots = low_slots_[type];
        if (word / 8 >= slots.size()) slots.resize(word / 8 + 1, no_slot);
        known = &slots[word / 8];
    } else {
        known = &high_slots_.try_emplace(std::uint64_t{type} << 32 | word, no_slot).first->second;
    }
    if (*known == no_slot) {
        *known = static_cast<std::uint32_t>(slots_.size());
        slots_.push_back({.type = type, .word = word});
    }
    return *known;
}

void GuessJudge::add(std::vector<Guess>& some, std::span<const ObjectId> targets, std::uint64_t before) {
    for (Guess& guess : some) {
        accounts_.mark(targets[guess.place()]);
        const bool leads_to_itself = guess.leads_to_itself(targets);
        guess.move(before);
        guess.set_slot(slot_of(types_[guess.source()], guess.word()));
        Slot& slot = slots_[guess.word()];
        slot.guesses += !leads_to_itself;
        slot.alone = slot.alone || guess.alone();
    }
    guesses_.insert(guesses_.end(), some.begin(), some.end());
    some.clear();
}

void GuessJudge::judge(std::span<const ObjectId> targets,
                       const std::function<std::uint64_t(ObjectId)>& left) {
    if (guesses_.empty()) return;
    targets_ = targets;
    accounts_.open(left);
    const std::vector<std::uint64_t> sample = begin_slots();
    for (int round = 0; round < rounds_of_slots; ++round) {
        judge_slots(sample);
        if (!decide()) break;
        apply();
    }
    judge_singles();
    allow();
    for (const Guess& guess : guesses_)
        ++(guess.verdict() == GuessVerdict::proved    ? counts_.proved
           : guess.verdict() == GuessVerdict::allowed ? counts_.allowed
                                                      : counts_.refused);
    accounts_ = {};
}

template <class F>
void GuessJudge::visit_guesses(F&& visit) {
    for (std::size_t i = 0; i < guesses_.size(); ++i) {
        if (i + ahead < guesses_.size()) accounts_.fetch(targets_[guesses_[i + ahead].place()]);
        if (!guesses_[i].leads_to_itself(targets_))
            visit(guesses_[i], slots_[guesses_[i].word()], targets_[guesses_[i].place()]);
    }
}

/// Counts the candidates, and returns which guesses are the sample: of each slot some 512 in all its length.
std::vector<std::uint64_t> GuessJudge::begin_slots() {
    std::vector<std::uint64_t> most;  // by slot: up to which mixed number an object is in the sample
    for (Slot& slot : slots_) {
        if (slot.alone || slot.guesses < enough_to_sample) slot.rule = Slot::Rule::single;
        most.push_back(slot.rule == Slot::Rule::single
                           ? 0
                           : ~std::uint64_t{0} / std::max<std::uint64_t>(slot.guesses, 1) * sample_size);
    }
    std::vector<std::uint64_t> sample;
    visit_guesses([&](const Guess& guess, const Slot&, ObjectId target) {
        ++accounts_[target].candidates;
        if (mixed(guess.source()) < most[guess.word()])
            sample.push_back(static_cast<std::uint64_t>(&guess - guesses_.data()));
    });
    return sample;
}

/// What the sample says of the slots that are open.
void GuessJudge::judge_slots(std::span<const std::uint64_t> sample) {
    for (Slot& slot : slots_)
        if (slot.rule == Slot::Rule::open) slot.proved = slot.refused = 0;
    for (const std::uint64_t i : sample) {
        Slot& slot = slots_[guesses_[i].word()];
        if (slot.rule != Slot::Rule::open) continue;
        const Account& account = accounts_[targets_[guesses_[i].place()]];
        slot.proved += account.proves();
        slot.refused += account.room == 0;
    }
}

/// Returns whether any slot is decided that was open.
bool GuessJudge::decide() {
    bool any = false;
    for (Slot& slot : slots_) {
        slot.fresh = false;
        if (slot.rule != Slot::Rule::open) continue;
        const bool kept = slot.proved >= enough_said && slot.proved / as_many >= slot.refused;
        const bool dropped = slot.refused >= enough_said && slot.refused / as_many >= slot.proved;
        if (!kept && !dropped) continue;
        slot.rule = kept ? Slot::Rule::proved : Slot::Rule::refused;
        slot.fresh = any = true;
    }
    return any;
}

/// Keeps and drops the guesses of what was decided last.
void GuessJudge::apply() {
    visit_guesses([&](Guess& guess, const Slot& slot, ObjectId target) {
        if (!slot.fresh) return;
        Account& account = accounts_[target];
        --account.candidates;
        if (slot.rule == Slot::Rule::proved && account.take()) guess.set(GuessVerdict::proved);
    });
}

/// What targets say of single guesses. A slot that is still open is judged one by one if its sample refused
/// some.
void GuessJudge::judge_singles() {
    for (Slot& slot : slots_) {
        if (slot.rule == Slot::Rule::open && slot.refused > 0) slot.rule = Slot::Rule::single;
        if (slot.rule == Slot::Rule::single) slot.proved = slot.refused = 0;
    }
    visit_guesses([&](Guess& guess, Slot& slot, ObjectId target) {
        if (slot.rule > Slot::Rule::open) return;
        const Account& account = accounts_[target];
        if (account.proves()) guess.set(GuessVerdict::proved);
        if (slot.rule != Slot::Rule::single) return;
        slot.proved += account.proves();
        slot.refused += account.room == 0;
    });
}

/// Follows what else has room: words that were mostly proved first, then by place.
void GuessJudge::allow() {
    std::vector<std::uint32_t> by_belief;  // slots, to begin with
    for (std::uint32_t i = 0; i < slots_.size(); ++i)
        if (slots_[i].rule <= Slot::Rule::open && slots_[i].belief() >= hardly_ever) by_belief.push_back(i);
    std::sort(by_belief.begin(), by_belief.end(),
              [&](std::uint32_t a, std::uint32_t b) { return slots_[a].belief() > slots_[b].belief(); });
    // Slots of the same belief share a rank.
    constexpr std::uint32_t none = 0xffffffff;
    std::vector<std::uint32_t> rank_of(slots_.size(), none);
    std::vector<std::uint64_t> begin{0};  // by rank
    for (std::size_t i = 0; i < by_belief.size(); ++i) {
        if (i > 0 && slots_[by_belief[i]].belief() < slots_[by_belief[i - 1]].belief()) begin.push_back(0);
        rank_of[by_belief[i]] = static_cast<std::uint32_t>(begin.size() - 1);
        begin.back() += slots_[by_belief[i]].guesses;
    }
    std::uint64_t count = 0;
    for (std::uint64_t& start : begin) start = std::exchange(count, count + start);
    std::vector<std::uint64_t> order(count);
    for (std::size_t i = 0; i < guesses_.size(); ++i)
        if (const std::uint32_t rank = rank_of[guesses_[i].word()];
            rank != none && !guesses_[i].leads_to_itself(targets_))
            order[begin[rank]++] = i;
    for (Guess& guess : guesses_)  // those of targets that have room for all
        if (guess.verdict() == GuessVerdict::proved && slots_[guess.word()].rule <= Slot::Rule::open)
            accounts_[targets_[guess.place()]].take();
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (i + ahead < order.size()) accounts_.fetch(targets_[guesses_[order[i + ahead]].place()]);
        Guess& guess = guesses_[order[i]];
        if (guess.verdict() == GuessVerdict::refused && accounts_[targets_[guess.place()]].take())
            guess.set(GuessVerdict::allowed);
    }
}

/// Whether no two guesses of one object have the same number.
bool GuessJudge::numbers_differ() const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> numbers;
    for (const Guess& guess : guesses_)
        numbers.emplace_back(static_cast<std::uint32_t>(guess.source()), slots_[guess.word()].word);
    std::sort(numbers.begin(), numbers.end());
    return std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end();
}

JudgedGuesses GuessJudge::finish() {
    std::vector<JudgedGuesses::Slot> slots;
    std::vector<JudgedGuesses::One> ones;
    const auto of_slot = [](const Slot& slot) {
        return slot.rule == Slot::Rule::proved ? GuessVerdict::proved
               : slot.rule == Slot::Rule::open ? GuessVerdict::allowed
                                               : GuessVerdict::refused;
    };
    for (const Slot& slot : slots_)
        if (of_slot(slot) != GuessVerdict::refused) slots.push_back({slot.type, slot.word, of_slot(slot)});
    for (const Guess& guess : guesses_)
        if (guess.verdict() != of_slot(slots_[guess.word()]))
            ones.push_back({guess.source(), slots_[guess.word()].word, guess.verdict()});
    const auto by_key = [](const auto& a, const auto& b) { return a.key() < b.key(); };
    std::sort(slots.begin(), slots.end(), by_key);
    // They are sorted by source; within one source, a kind's own guesses may come before those of lower
    // words.
    std::stable_sort(ones.begin(), ones.end(), by_key);
    // Else one's verdict would be told of the other (JudgedGuesses::verdict).
    assert(numbers_differ());
    guesses_ = {};
    return {std::move(slots), std::move(ones)};
}

}  // namespace heapsift
