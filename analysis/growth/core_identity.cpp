#include "analysis/growth/core_identity.h"

#include "analysis/overview_core.h"
#include "parsers/base/paths.h"

#include <algorithm>
#include <map>

namespace heapsift {
namespace {

/// What a cut core does not say is no difference.
bool may_equal(const std::string& a, const std::string& b) { return a == b || a.empty() || b.empty(); }

/// gdb and the kernel write down more or less of a command line.
bool may_begin_alike(const std::string& a, const std::string& b) {
    const std::size_t common = std::min(a.size(), b.size());
    return a.compare(0, common, b, 0, common) == 0;
}

/// Whether all that both have loaded lies at the same addresses.
bool has_modules_in_same_places(const CoreIdentity& a, const CoreIdentity& b) {
    std::map<std::string, Address> places;
    for (const CoreIdentity::PlacedModule& module : a.modules) places.emplace(module.path, module.start);
    std::size_t common = 0;
    for (const CoreIdentity::PlacedModule& module : b.modules) {
        const auto at = places.find(module.path);
        if (at == places.end()) continue;
        if (at->second != module.start) return false;
        ++common;
    }
    return common > 1;  // the program itself may always lie at the same place
}

}  // namespace

CoreIdentity core_identity(const HeapReader& heap) {
    const CoreFile& core = heap.core();
    const OverviewCore facts = overview_core(core, heap.snapshot().python);
    CoreIdentity identity;
    identity.file = facts.file_name;
    identity.python = facts.python;
    identity.command = facts.process.name;
    identity.arguments = facts.process.arguments;
    identity.pid = facts.process.pid;
    identity.cut = facts.extent.cut();
    for (const Module& module : core.modules()) identity.modules.push_back({module.path, module.start});
    return identity;
}

bool may_be_same_program(const CoreIdentity& a, const CoreIdentity& b) {
    if (!a.script.empty() && !b.script.empty()) return is_same_or_another_release(a.script, b.script);
    return may_equal(a.command, b.command) && may_begin_alike(a.arguments, b.arguments);
}

bool may_be_same_process(const CoreIdentity& before, const CoreIdentity& after) {
    return !before.cut && !after.cut && before.pid == after.pid && before.python == after.python &&
           may_be_same_program(before, after) && has_modules_in_same_places(before, after);
}

}  // namespace heapsift
