// A few lines for each allocator.

#include "parsers/memory/other_allocators.h"

#include "parsers/memory/mimalloc.h"
#include "parsers/memory/mimalloc3.h"
#include "parsers/memory/tcmalloc.h"

#include <fmt/format.h>

namespace heapsift {
namespace {

void note_damage(const char* name, std::uint64_t places, std::uint64_t bytes, Diagnostics& diagnostics) {
    if (places == 0) return;
    diagnostics.add(
        "allocator-damaged",
        fmt::format("{} places in {}'s memory ({} bytes) do not add up: some of its free blocks are "
                    "taken for blocks in use",
                    places, name, bytes),
        Severity::damage);
}

}  // namespace

std::vector<std::unique_ptr<const Allocator>> find_other_allocators(const CoreFile& core,
                                                                    Diagnostics& diagnostics) {
    std::vector<std::unique_ptr<const Allocator>> found;
    if (auto mimalloc = Mimalloc::find(core.memory())) {
        note_damage("mimalloc", mimalloc->damage().places, mimalloc->damage().bytes, diagnostics);
        found.push_back(std::move(mimalloc));
    }
    if (auto mimalloc = Mimalloc3::find(core.memory(), core.modules())) {
        note_damage("mimalloc", mimalloc->damage().places, mimalloc->damage().bytes, diagnostics);
        found.push_back(std::move(mimalloc));
    }
    if (auto tcmalloc = Tcmalloc::find(core.memory(), core.modules())) {
        note_damage("tcmalloc", tcmalloc->damage().places, tcmalloc->damage().bytes, diagnostics);
        found.push_back(std::move(tcmalloc));
    }
    return found;
}

}  // namespace heapsift
