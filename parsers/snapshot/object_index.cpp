#include "parsers/snapshot/object_index.h"

#include "parsers/base/in_pieces.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace heapsift {

namespace {

constexpr std::size_t indexed_a_piece = 1 << 17;
constexpr std::uint64_t free_bytes = 256 << 20, bytes_an_object = 64;  // both together bound its memory

}  // namespace

/// The numbers of the chunks that have objects, ascending, each once.
std::vector<std::uint64_t> ObjectIndex::chunks_of(AddressView addresses) {
    std::vector<std::uint64_t> all;
    const auto add = [](std::uint64_t chunk, std::vector<std::uint64_t>& to) {
        if (to.empty() || to.back() != chunk) to.push_back(chunk);
    };
    in_pieces<std::vector<std::uint64_t>>(
        piece_count(addresses.size(), indexed_a_piece),
        [&](std::size_t piece, std::vector<std::uint64_t>& some) {
            some.clear();
            const auto [begin, end] = piece_of(piece, addresses.size(), indexed_a_piece);
            for (std::size_t id = begin; id < end; ++id) add(addresses[id].value >> chunk_bits, some);
        },
        [&](std::size_t, const std::vector<std::uint64_t>& some) {
            for (const std::uint64_t chunk : some) add(chunk, all);
        });
    return all;
}

ObjectIndex::ObjectIndex(AddressView addresses) : addresses_(addresses) {
    const std::vector<std::uint64_t> chunks = chunks_of(addresses);
    if (chunks.size() * words_a_chunk * sizeof(Word) > free_bytes + bytes_an_object * addresses.size())
        return;
    std::vector<std::uint32_t> of_page(pages, none), of_chunk;
    // All chunks first: then the number of words is known.
    std::uint32_t words = 0;
    for (const std::uint64_t chunk : chunks) {
        const Address address(chunk << chunk_bits);
        if (address.value >> address_bits) break;
        std::uint32_t& page = of_page[address.value >> page_bits];
        if (page == none) {
            page = static_cast<std::uint32_t>(of_chunk.size());
            of_chunk.resize(of_chunk.size() + chunks_a_page, none);
        }
        of_chunk[page + chunk_in_page(address)] = words;
        words += words_a_chunk;
    }
    std::vector<Word> filled(words);
    const auto word_of = [](Address address) { return address.value >> word_bits; };
    in_any_order(piece_count(addresses.size(), indexed_a_piece), [&](std::size_t piece) {
        auto [begin, end] = piece_of(piece, addresses.size(), indexed_a_piece);
        // A word that two pieces share is filled by the first.
        const auto follows = [&](std::size_t id) {
            return id > 0 && id < addresses.size() && word_of(addresses[id - 1]) == word_of(addresses[id]);
        };
        while (begin < end && follows(begin)) ++begin;
        if (begin == end) return;
        while (follows(end)) ++end;
        std::uint64_t last_word = ~std::uint64_t{0};
        Word* word = nullptr;
        for (ObjectId id(begin); id < end; ++id) {
            const Address address = addresses[id];
            if (address.value >> address_bits) break;
            if (word_of(address) != last_word) {
                last_word = word_of(address);
                const std::uint32_t page = of_page[address.value >> page_bits];
                word = &filled[of_chunk[page + chunk_in_page(address)] + word_in_chunk(address)];
                word->before = id;
            }
            word->bits |= std::uint64_t{1} << (address.value >> granule_bits & 63);
            if (address.value % 16 != 0) word->unaligned = 1;
        }
    });
    pages_ = std::move(of_page);
    chunks_ = std::move(of_chunk);
    words_ = std::move(filled);
}

ObjectId ObjectIndex::search(Address address) const {
    const auto it = std::lower_bound(addresses_.begin(), addresses_.end(), address);
    return it != addresses_.end() && *it == address ? static_cast<ObjectId>(it - addresses_.begin())
                                                    : no_object;
}

}  // namespace heapsift
