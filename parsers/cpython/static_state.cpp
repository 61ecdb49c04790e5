#include "parsers/cpython/static_state.h"

// Sources: pystate.c (interp_head, _PyThreadState_Current), gcmodule.c (generations, _PyGC_generation0, enabled,
// debug, collecting, garbage, callbacks) of 2.7 and 3.6.

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace heapsift {

namespace {

constexpr std::uint64_t most_interpreters = 4096;

/// Calls `visit(place, word)` for each aligned word of the module's variables.
template <class Visit>
void visit_variables(const CoreFile& core, const Module& module, Visit&& visit) {
    for (const Segment& segment : core.memory().segments()) {
        if (!segment.writable || segment.state != ByteState::in_core || segment.start < module.start ||
            segment.start >= module.image_end)
            continue;
        for (std::uint64_t at = 0; at + 8 <= segment.size; at += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, segment.data + at, 8);
            if (word != 0 && word % 8 == 0) visit(segment.start + at, Address(word));
        }
    }
}

/// Where the newest interpreter stands: other variables may point to older ones.
Address list_of_interpreters(const CoreFile& core, const Module& module, const Layout& layout,
                             const std::function<bool(Address)>& is_interpreter) {
    Address best;
    std::uint64_t longest = 0;
    visit_variables(core, module, [&](Address place, Address word) {
        std::uint64_t length = 0;
        for (Address at = word; length < most_interpreters && !at.is_null() && is_interpreter(at); ++length)
            at = core.memory().read_address(at + *layout.interpreter_state.next).value_or(Address());
        if (length <= longest) return;
        longest = length;
        best = place;
    });
    return best;
}

/// Whether three lists that close begin here, each with a threshold.
bool begins_generations(const AddressSpace& memory, const Layout& layout, Address at) {
    const auto& header = layout.gc_head;
    const auto link = [&](Address node, LayoutOffset field) {
        return memory.read_address(node + *field).value_or(Address());
    };
    for (std::uint32_t i = 0; i < 3; ++i) {
        const Address head = at + i * *layout.gc_generation.size;
        const auto threshold = memory.read<std::int32_t>(head + *layout.gc_generation.threshold);
        const Address next = link(head, header.next), prev = link(head, header.prev);
        if (!threshold || *threshold < 0 || next.is_null() || prev.is_null()) return false;
        if (link(next, header.prev) != head || link(prev, header.next) != head) return false;
    }
    return true;
}

Address generations_of_collector(const CoreFile& core, const Module& module, const Layout& layout) {
    if (const auto youngest = core.symbol(module, "_PyGC_generation0"))
        if (const auto at = core.memory().read_address(*youngest)) return *at;
    Address found;
    visit_variables(core, module, [&](Address, Address word) {
        if (found.is_null() && word >= module.start && word < module.image_end &&
            begins_generations(core.memory(), layout, word))
            found = word;
    });
    return found;
}

}  // namespace

void StaticState::put_into(Layout& layout) const {
    layout.runtime_state = runtime;
    layout.runtime_state.gc = 0;
    layout.gc_state = collector;
}

std::optional<StaticState> find_static_state(const CoreFile& core, const Module& module, const Layout& layout,
                                             const std::function<bool(Address)>& is_interpreter) {
    StaticState state;
    std::vector<std::pair<Address, LayoutOffset*>> places;
    const auto add = [&](std::optional<Address> address, LayoutOffset& field) {
        if (address && *address >= module.start && *address < module.image_end)
            places.emplace_back(*address, &field);
    };
    auto interpreters = core.symbol(module, "interp_head");
    if (!interpreters)
        if (const Address found = list_of_interpreters(core, module, layout, is_interpreter);
            !found.is_null())
            interpreters = found;
    if (!interpreters) return std::nullopt;
    add(interpreters, state.runtime.interpreters_head);
    add(core.symbol(module, "_PyThreadState_Current"), state.runtime.tstate_current);
    const Address generations = generations_of_collector(core, module, layout);
    add(generations, state.collector.generations);
    if (core.symbol(module, "generations") == generations) {
        auto& collector = state.collector;
        const std::pair<const char*, LayoutOffset*> settings[] = {
            {"enabled", &collector.enabled},
            {"debug", &collector.debug},
            {"collecting", &collector.collecting},
            {"garbage", &collector.garbage},
            {"callbacks", &collector.callbacks},
            {"long_lived_total", &collector.long_lived_total},
            {"long_lived_pending", &collector.long_lived_pending}};
        for (const auto& [name, field] : settings) add(core.symbol(module, name), *field);
    }
    if (places.empty()) return std::nullopt;
    state.start = std::min_element(places.begin(), places.end(), [](const auto& a, const auto& b) {
                      return a.first < b.first;
                  })->first;
    for (const auto& [address, field] : places) *field = static_cast<std::uint32_t>(address - state.start);
    return state;
}

}  // namespace heapsift
