#include "parsers/snapshot/sqlite_connections.h"

#include "parsers/base/text.h"

#include <algorithm>
#include <optional>

namespace heapsift {
namespace {

constexpr std::uint64_t least_connection = 512, most_connection = 2048;  // 712 to 864 bytes in 3.22 to 3.46
constexpr std::uint64_t allocators_header = 8;

}  // namespace

std::vector<std::uint32_t> sqlite_connections(const CoreFile& core, const BlockNumbers& numbers,
                                              std::span<const ObjectWord> of_objects) {
    std::vector<std::uint32_t> found;
    for (const ObjectWord& word : of_objects) {
        const auto target = numbers.find(word.to);
        if (!target || target->bytes < least_connection || target->bytes > most_connection ||
            word.to - target->start > allocators_header)
            continue;
        const auto first = core.memory().read<std::uint64_t>(word.to);
        const Module* module = first ? core.module_at(Address(*first)) : nullptr;
        if (module && base_name(module->path).find("sqlite3") != std::string_view::npos)
            found.push_back(target->number);
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

}  // namespace heapsift
