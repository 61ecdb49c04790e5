#include "cli/block_lookup.h"

#include "cli/address_lookup.h"

namespace heapsift {

std::optional<NativeBlock> asked_block(Session& session, Question& question,
                                       const AddressArgument& argument) {
    const std::optional<Address> address = address_of_no_object(question.heap(), argument);
    if (!address || session.options().no_native) return std::nullopt;
    question.also(Need::retained);
    const HeapGraph& graph = question.graph();
    const BlockId block = native_block_at(graph, *address);
    if (block == no_block) return std::nullopt;
    return native_block(graph, question.retained(), block, *address, session.options().rows());
}

}  // namespace heapsift
