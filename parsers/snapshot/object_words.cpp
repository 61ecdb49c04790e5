#include "parsers/snapshot/object_words.h"

#include "parsers/base/in_pieces.h"
#include "parsers/snapshot/low_numbers.h"

#include <algorithm>
#include <vector>

namespace heapsift {

void visit_words_of_objects(const CoreFile& core, const FoundObjects& objects, const NativeWords& words,
                            const BlockNumbers& numbers, const MallocHeaps& heaps,
                            const std::function<void(const WordOfObject&)>& visit) {
    constexpr std::size_t objects_a_piece = 1 << 12;  // whose words are in memory at once, with 56 bytes each
    struct Found {
        std::optional<BlockNumbers::Lookup> blocks;
        std::vector<WordOfObject> words;
    };
    in_pieces<Found>(
        piece_count(objects.addresses.size(), objects_a_piece),
        [&](std::size_t piece, Found& found) {
            if (!found.blocks) found.blocks.emplace(numbers);
            const auto [begin, end] = piece_of(piece, objects.addresses.size(), objects_a_piece);
            words.visit_objects(
                ObjectId(static_cast<std::uint32_t>(begin)), ObjectId(static_cast<std::uint32_t>(end)),
                [&](ObjectId object, std::span<const std::byte> bytes, Address at) {
                    visit_words(bytes, [&](std::size_t i, std::uint64_t word) {
                        auto target = found.blocks->find(Address(word));
                        if (target && is_no_address(core.memory(), WordsOf::block, bytes, i, word))
                            target.reset();
                        if (target || heaps.heap_at(Address(word)))
                            found.words.push_back({object, at + 8 * i, Address(word), target});
                    });
                });
        },
        [&](std::size_t, Found& found) {
            for (const WordOfObject& word : found.words) visit(word);
            found.words.clear();
        });
}

}  // namespace heapsift
