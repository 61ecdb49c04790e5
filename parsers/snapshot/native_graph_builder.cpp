#include "parsers/snapshot/native_graph_builder.h"

#include <algorithm>

namespace heapsift {

void NativeGraphBuilder::add_block(Address start, std::uint64_t bytes, Credit credit) {
    graph_.starts_.fill().push_back(start);
    bytes_.push_back(bytes);
    graph_.credits_.fill().push_back(static_cast<std::uint8_t>(credit));
}

void NativeGraphBuilder::add_owned(ObjectId object, BlockId target) {
    auto& owners = graph_.owners_.fill();
    auto& owned = graph_.owned_.fill();
    if (owners.empty() || owners.back().object != object)
        owners.push_back({object, static_cast<std::uint32_t>(owned.size())});
    const auto first = owned.begin() + owners.back().first;
    if (std::find(first, owned.end(), node_of(target)) == owned.end()) owned.push_back(node_of(target));
}

// A block to which another one leads is no entry, unless they lead to each other in a circle.
void NativeGraphBuilder::add_leaked() {
    const auto leaked = [&](BlockId block) { return graph_.credit(block) == Credit::nothing; };
    const std::size_t count = graph_.size();
    std::vector<bool> led_to(count), met(count);
    for (BlockId block{0}; block < count; ++block)
        if (leaked(block))
            for (const std::uint32_t target : graph_.targets(block))
                if (target - objects_ != block) led_to[target - objects_] = true;
    std::vector<BlockId> waiting;
    const auto enter = [&](BlockId entry) {
        add_entry(entry, ReachedFrom::nothing, Address());
        met[entry] = true;
        waiting.push_back(entry);
        while (!waiting.empty()) {
            const BlockId block = waiting.back();
            waiting.pop_back();
            for (const std::uint32_t node : graph_.targets(block)) {
                const BlockId target(node - objects_);
                if (!leaked(target) || met[target]) continue;
                met[target] = true;
                waiting.push_back(target);
            }
        }
    };
    for (BlockId block{0}; block < count; ++block)
        if (leaked(block) && !led_to[block]) enter(block);
    for (BlockId block{0}; block < count; ++block)
        if (leaked(block) && !met[block]) enter(block);
}

NativeGraph NativeGraphBuilder::finish() {
    while (runs_ < graph_.runs_.size()) begin_run();
    starts_.push_back(graph_.targets_.fill().size());
    graph_.starts_.filled();
    graph_.bytes_ = bytes_.finish();
    graph_.credits_.filled();
    graph_.targets_.filled();
    graph_.begin_ = starts_.finish();
    graph_.owners_.filled();
    graph_.owned_.filled();
    graph_.held_.filled();
    add_leaked();
    graph_.entries_.filled();
    return std::move(graph_);
}

}  // namespace heapsift
