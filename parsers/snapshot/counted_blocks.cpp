// C++ libraries count the owners of an object as Python does, and a count settles what no look at a word can: if three
// words lead to an object that counts two owners, one of them is a leftover or a pointer that does not own. Such false
// edges are few, but each takes a whole storage from its owner. (Of 60 rows of large storages in a real torch process,
// 30 lost theirs to leftovers behind the end of vectors in autograd's nodes.)
//
// torch's tensors are the way in. A Python tensor leads to a TensorImpl that leads back to it, so the TensorImpl is
// proved, and with it the address of the virtual functions by which all others of its class are known: those that
// autograd saved, which no Python object stands for. Each leads to its StorageImpl by a known field. All these are
// counted. The bytes of a storage are owned by the StorageImpl that would free them, and by nothing else.
//
// The words that own a counted object are chosen as references to Python objects are: first known fields, then words
// by what speaks for their field (pointer_fields.cpp), as many as are counted. Where equal words compete for the last
// place all are taken: what they lead to is then shared, which is less wrong than the choice of one. A word to the middle
// of a counted object never owns it. If fewer were found than are counted, the rest may be anywhere, in a register
// say, and other words that lead to its start keep what they had.

// Their own words are known as well: four pointers of a TensorImpl, two of a StorageImpl. What stands elsewhere in these
// blocks, and in the last word of what autograd notes of a tensor, which is behind it, owns nothing.

#include "parsers/snapshot/counted_blocks.h"

#include "parsers/libraries/kinds.h"

#include <algorithm>
#include <cstring>

namespace heapsift {
namespace {

constexpr std::size_t most_tables = 64;          // classes of tensors
constexpr std::uint64_t most_before_data = 128;  // bytes that an allocator may put before aligned data
constexpr std::uint64_t largest_tensor =
    192;  // bytes behind the header that a block of a plain TensorImpl has
constexpr std::uint8_t of_known_field = 0, of_object = 1, worst = 7;

void add_table(std::vector<Address>& tables, Address table) {
    if (tables.size() < most_tables && std::find(tables.begin(), tables.end(), table) == tables.end())
        tables.push_back(table);
}

bool contains(const std::vector<Address>& tables, Address table) {
    return std::find(tables.begin(), tables.end(), table) != tables.end();
}

Address first_word(std::span<const std::byte> bytes) {
    std::uint64_t first = 0;
    if (bytes.size() >= sizeof first) std::memcpy(&first, bytes.data(), sizeof first);
    return Address(first);
}

}  // namespace

CountedBlocks::CountedBlocks(const CoreFile& core, const ObjectAccess& access, const FoundObjects& objects,
                             const BlockNumbers& numbers)
    : core_(core), access_(access), objects_(objects), numbers_(numbers) {}

void CountedBlocks::find(const NativeWords& words, const PointerFields& fields, const FindBlock& find_block) {
    learn_tables();
    if (tensor_tables_.empty()) return;
    states_.assign(numbers_.size(), State::other);
    sources_.assign(numbers_.size(), Source::other);
    find_targets(find_block);
    std::vector<std::uint64_t> starts;
    for (const Target& target : targets_) starts.push_back(target.start);
    starts_ = AddressSet(std::move(starts));
    look_at_blocks(fields, find_block);
    look_at_objects(words);
    choose();
}

void CountedBlocks::learn_tables() {
    const TypeTable& types = access_.heap().types();
    for (ObjectId object{0}; object < objects_.addresses.size(); ++object) {
        const TypeInfo& type = types[objects_.types[object]];
        if (type.kind != &tensor_kind) continue;
        const auto facts = tensor_facts(ObjectReader(access_.heap(), objects_.addresses[object], type));
        if (!facts || (!tensor_tables_.empty() && facts->header != header_)) continue;
        header_ = facts->header;
        add_table(tensor_tables_, facts->table);
        if (facts->storage) add_table(storage_tables_, facts->storage->table);
    }
}

void CountedBlocks::find_targets(const FindBlock& find_block) {
    numbers_.visit([&](const BlockNumbers::Block& block) {
        const Address table = first_word(core_.memory().view(block.start, block.bytes));
        const bool is_tensor = contains(tensor_tables_, table);
        if ((!is_tensor && !contains(storage_tables_, table)) || !find_block(block.start.value)) return;
        std::uint32_t count = 0;
        if (is_tensor) {
            const auto facts = tensor_impl_facts(core_.memory(), block.start, header_);
            if (!facts) return;
            count = facts->count;
            if (block.bytes <= static_cast<std::uint64_t>(header_) + largest_tensor)
                sources_[block.number] =
                    facts->nd > tensor_inline_dimensions ? Source::large_tensor : Source::tensor;
            const auto noted = find_block(facts->autograd.value);
            if (noted && noted->start == facts->autograd) sources_[noted->number] = Source::noted;
        } else {
            const auto facts = storage_impl_facts(core_.memory(), block.start, header_);
            if (!facts) return;
            count = facts->count;
            add_data(*facts, find_block);
            sources_[block.number] = Source::storage;
        }
        targets_.push_back({block.start.value, block.number, count, is_tensor});
        states_[block.number] = State::lacking;
    });
    std::sort(targets_.begin(), targets_.end(),
              [](const Target& a, const Target& b) { return a.start < b.start; });
}

void CountedBlocks::add_data(const StorageFacts& storage, const FindBlock& find_block) {
    if (!storage.owns_data) return;
    const auto block = find_block(storage.data.value);
    if (!block || storage.data - block->start > most_before_data || states_[block->number] != State::other)
        return;
    states_[block->number] = State::data;
    owner_words_.push_back(storage.data_field);
}

const CountedBlocks::Target* CountedBlocks::target_at(std::uint64_t start) const {
    const auto at = std::lower_bound(targets_.begin(), targets_.end(), start,
                                     [](const Target& a, std::uint64_t b) { return a.start < b; });
    return at != targets_.end() && at->start == start ? &*at : nullptr;
}

void CountedBlocks::look_at_blocks(const PointerFields& fields, const FindBlock& find_block) {
    numbers_.visit([&](const BlockNumbers::Block& block) {
        if (states_[block.number] == State::data || !find_block(block.start.value)) return;
        const auto bytes = core_.memory().view(block.start, block.bytes);
        std::optional<PointerFields::Fields> known;
        visit_targets(bytes, [&](std::uint64_t at, std::uint64_t word, const Target* target) {
            if (target->number == block.number) return;
            std::uint8_t rank = worst;
            if (states_[block.number] != State::other) {
                if (!target->is_tensor && at == static_cast<std::uint64_t>(header_)) rank = of_known_field;
            } else {
                if (!known) known = fields.fields_of(block, bytes, find_block);
                rank = static_cast<std::uint8_t>(
                    2 + static_cast<int>(fields.belief(*known, at / 8, word, *find_block(word), 0)));
            }
            candidates_.push_back(
                {static_cast<std::uint32_t>(target - targets_.data()), rank, block.start + at});
        });
    });
}

void CountedBlocks::look_at_objects(const NativeWords& words) {
    const TypeTable& types = access_.heap().types();
    const ObjectId end(static_cast<std::uint32_t>(objects_.addresses.size()));
    words.visit_objects(
        ObjectId{0}, end, [&](ObjectId object, std::span<const std::byte> bytes, Address start) {
            visit_targets(bytes, [&](std::uint64_t at, std::uint64_t word, const Target* target) {
                const ObjectKind* const kind = types[objects_.types[object]].kind;
                std::uint8_t rank = of_object;
                if (kind == &tensor_kind || kind == &torch_storage_kind) {
                    if (owning_field(access_.heap(), objects_.addresses[object], Address(word)) != start + at)
                        return;
                    rank = of_known_field;
                }
                candidates_.push_back(
                    {static_cast<std::uint32_t>(target - targets_.data()), rank, start + at});
            });
        });
}

void CountedBlocks::choose() {
    std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
        if (a.target != b.target) return a.target < b.target;
        return a.rank != b.rank ? a.rank < b.rank : a.word < b.word;
    });
    for (std::size_t from = 0; from < candidates_.size();) {
        const Target& target = targets_[candidates_[from].target];
        std::size_t to = from;
        while (to < candidates_.size() && candidates_[to].target == candidates_[from].target) ++to;
        const std::size_t enough = std::min<std::size_t>(to, from + target.count);
        if (enough == from + target.count) states_[target.number] = State::counted;
        for (std::size_t i = from; i < to && (i < enough || candidates_[i].rank == candidates_[i - 1].rank);
             ++i)
            owner_words_.push_back(candidates_[i].word);
        from = to;
    }
    candidates_ = {};
    std::sort(owner_words_.begin(), owner_words_.end());
}

bool CountedBlocks::is_field(const BlockNumbers::Block& source, std::size_t index) const {
    if (sources_.empty()) return true;
    const std::uint64_t at = 8 * index, first = static_cast<std::uint64_t>(header_);
    switch (sources_[source.number]) {
        case Source::tensor:
        case Source::large_tensor:
            return (at >= first && at < first + tensor_pointers) ||
                   (sources_[source.number] == Source::large_tensor && at == first + tensor_extents);
        case Source::storage:
            return at >= first && at < first + storage_pointers;
        case Source::noted:
            return at + 16 <= source.bytes;
        case Source::other:
            break;
    }
    return true;
}

Belief CountedBlocks::belief(Address at, std::uint32_t number, std::uint64_t offset, Belief otherwise) const {
    if (!knows(number)) return otherwise;
    if (std::binary_search(owner_words_.begin(), owner_words_.end(), at)) return Belief::field;
    return states_[number] == State::lacking && offset == 0 ? otherwise : Belief::none;
}

}  // namespace heapsift
