// collections.deque: a doubly linked list of blocks of 64 items (2.7: 62); spare blocks are kept for reuse.
// (_collectionsmodule.c)

#include "parsers/cpython/objects/kinds.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {

namespace {

std::uint64_t block_items(const Layout& l) { return (*l.deque_block.rightlink - *l.deque_block.data) / 8; }

std::uint64_t length(const ObjectReader& object) {
    const LayoutOffset len = object.layout().deque.len;  // 2.7
    const std::int64_t count = len.present() ? object.integer<std::int64_t>(len) : object.var_size();
    return static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0));
}

std::uint64_t block_count(const ObjectReader& object) {
    const std::uint64_t per_block = block_items(object.layout());
    return (object.integer<std::uint64_t>(object.layout().deque.leftindex) % per_block + length(object) +
            per_block - 1) /
           per_block;
}

std::uint64_t size(const ObjectReader& object) {
    return object.type().basicsize + block_count(object) * *object.layout().deque_block.size;
}

/// The block to the right; null if the links do not agree or lead back to the first, so that no block is
/// visited twice.
Address next_block(const ObjectReader& object, Address block) {
    const Layout& l = object.layout();
    const Address next = object.heap().pointer(block + *l.deque_block.rightlink);
    if (next == object.pointer(l.deque.leftblock) ||
        object.heap().pointer(next + *l.deque_block.leftlink) != block)
        return {};
    return next;
}

void buffers(const ObjectReader& object, BufferVisitor& visit) {
    const Layout& l = object.layout();
    const Address last = object.pointer(l.deque.rightblock);
    Address block = object.pointer(l.deque.leftblock);
    const std::uint64_t most = block_count(object) + 1;
    for (std::uint64_t n = 0; !block.is_null() && n < most; ++n) {
        visit.visit(block, *l.deque_block.size, false);
        if (block == last) break;
        block = next_block(object, block);
    }
    if (!l.deque.freeblocks.present()) return;
    const auto spare = std::min<std::uint64_t>(object.integer<std::uint64_t>(l.deque.numfreeblocks), 16);
    for (std::uint64_t i = 0; i < spare; ++i)
        if (const Address free = object.heap().pointer(object.at(*l.deque.freeblocks + 8 * i));
            !free.is_null())
            visit.visit(free, *l.deque_block.size, false);
}

void deque_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const Layout& l = object.layout();
    const std::uint64_t per_block = block_items(l);
    Address block = object.pointer(l.deque.leftblock);
    std::uint64_t slot = object.integer<std::uint64_t>(l.deque.leftindex);
    const std::uint64_t count = length(object);
    for (std::uint64_t i = 0; i < count && !block.is_null(); ++i, ++slot) {
        if (slot >= per_block) {
            slot = 0;
            block = next_block(object, block);
            if (block.is_null()) return;
        }
        visit.indexed(object.heap().pointer(block + *l.deque_block.data + 8 * slot), i);
    }
}

ShortValue deque_describe(const ObjectReader& object, std::size_t) {
    return {ShortValue::Kind::summary, fmt::format("deque of {}", length(object)), 0};
}

constexpr const char* deque_names[] = {"collections.deque"};

}  // namespace

const ObjectKind deque_kind = {.name = "deque",
                               .type_names = deque_names,
                               .size = size,
                               .visit_buffers = buffers,
                               .visit_references = deque_references,
                               .describe = deque_describe};

}  // namespace heapsift
