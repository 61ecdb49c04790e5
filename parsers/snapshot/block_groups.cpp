// An object of a C++ class with virtual functions begins with the address of their table (Itanium C++ ABI, 2.5),
// which lies in a module's data and leads to code. A block that begins with such a word may be a C struct of
// pointers to functions' tables as well; either way the word tells what the block is.

#include "parsers/snapshot/block_groups.h"

#include <algorithm>

namespace heapsift {

BlockGroups::BlockGroups(const CoreFile& core) : core_(core), lowest_(~std::uint64_t{0}) {
    for (const Module& module : core.modules()) {
        lowest_ = std::min(lowest_, module.start);
        highest_ = std::max(highest_, module.image_end);
    }
}

bool BlockGroups::is_table(Address address) {
    if (address < lowest_ || address >= highest_ || !address.aligned(8)) return false;
    const Segment* segment = core_.memory().find(address);
    if (!segment || segment->module < 0 || segment->executable) return false;
    const auto [known, is_new] = tables_.try_emplace(address.value, false);
    if (!is_new) return known->second;
    // The first function may be a pure one, or inlined away; then the second tells.
    for (const std::uint64_t at : {0, 8}) {
        const auto function = core_.memory().read_address(address + at);
        const Segment* code = function ? core_.memory().find(*function) : nullptr;
        if (code && code->executable && code->module >= 0) return known->second = true;
    }
    return false;
}

std::uint32_t BlockGroups::add(const MemoryBlock& block, std::uint32_t label) {
    Address table(core_.memory().read<std::uint64_t>(block.start).value_or(0));
    if (!is_table(table)) table = Address();
    if (!last_ || last_->size != block.bytes || last_->table != table || last_->label != label) {
        const auto number = static_cast<std::uint32_t>(groups_.size());
        const auto [known, is_new] = groups_.try_emplace({block.bytes, table, label});
        last_ = &known->second;
        if (is_new) last_->number = number;
        last_->size = block.bytes;
        last_->table = table;
        last_->label = label;
    }
    ++last_->count;
    last_->example = block.start;
    return last_->number;
}

std::vector<BlockGroup> BlockGroups::take() {
    std::vector<BlockGroup> groups;
    groups.reserve(groups_.size());
    for (const auto& [key, group] : groups_) groups.push_back(group);
    groups_.clear();
    last_ = nullptr;
    std::ranges::sort(groups, {}, &BlockGroup::number);
    return groups;
}

}  // namespace heapsift
