#pragma once

// What a child process finds with the emulator, sent back as a part of an index would be kept.
//
// Code of types is run in a child (parsers/emulation/in_child.h), which may die of it. The child marks what it is at;
// the next one is told to leave that out, and begins again. What it sends is read with the checks of an index.

#include "parsers/emulation/in_child.h"
#include "parsers/index/part.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace heapsift {

/// What `find(refused, output)` gives in a child, with `Found::fields(found, part, types)` as its form; an empty
/// Found if that fails. `refused` grows by what a child marked and died of, `most_children` times at most.
template <class Found, class Find>
Found found_in_child(const char* name, std::size_t types, std::size_t most_children, Find&& find) {
    std::vector<std::uint32_t> refused;
    for (std::size_t tries = 0; tries < most_children; ++tries) {
        ChildResult sent = run_in_child([&](ChildOutput& output) {
            PartWriter part(name);
            const Found found = find(refused, output);
            Found::fields(found, part, types);
            for (const auto blob : part.blobs()) output.write(blob);
        });
        if (!sent.finished && !sent.mark) break;
        if (!sent.finished) {
            refused.push_back(*sent.mark);
            continue;
        }
        const auto bytes = std::make_shared<const std::vector<std::vector<std::byte>>>(std::move(sent.parts));
        Found found;
        try {
            PartReader part({bytes->begin(), bytes->end()}, true, bytes);
            Found::fields(found, part, types);
            part.finish();
        } catch (const IndexDamage&) {
            break;
        }
        return found;
    }
    return {};
}

}  // namespace heapsift
