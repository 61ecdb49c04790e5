// What the emulated tp_traverse of each object in a core visits, for tests that compare it with gc.get_referents.
//
//     heapsift-emulated-traverse CORE [SYSROOT]
//
// For each object that the collector can hold: "R", its address, and what was visited, in that order, in hexadecimal; or "F", its
// address and type, if the code did not come to its end. Then, for people, on standard error: how many, how long, what failed first.

#include "parsers/base/error.h"
#include "parsers/emulation/traverse.h"
#include "parsers/snapshot/passes.h"

#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <map>
#include <string>

using namespace heapsift;

int main(int count, char** arguments) {
    if (count < 2) return 2;
    try {
        Diagnostics diagnostics;
        FileSearch search;
        if (count > 2) search.sysroot = arguments[2];
        HeapSources sources(CoreFile::open(arguments[1], search, diagnostics));
        HeapSnapshot snapshot;
        find_heap(sources, snapshot, diagnostics);
        const PythonHeap& python = *sources.python;
        const ObjectAccess& access = *sources.access;
        const auto traverse = Traverse::start(sources.core);
        if (!traverse) {
            fmt::print(stderr, "nothing can be emulated\n");
            return 1;
        }
        const auto& type_layout = python.layout().type;
        const auto slot = [&](Address type, std::uint64_t offset) { return python.pointer(type + offset); };
        const std::uint64_t tp_is_gc = *type_layout.tp_mro - 16;  // object.h: tp_is_gc, tp_bases, tp_mro
        const Address is_gc_of_type = slot(python.runtime().type_type, tp_is_gc);
        std::vector<Traverse::Call> calls;
        std::vector<ObjectId> ids;
        const std::clock_t began = std::clock();
        for (ObjectId id{0}; id < snapshot.object_count(); ++id) {
            const TypeInfo& type = snapshot.type_info(id);
            const Address object = snapshot.address_of(id);
            if (!access.is_gc(object, type)) continue;
            const Address function = slot(type.address, *type_layout.tp_traverse);
            if (function.is_null()) continue;
            if (const Address is_gc = slot(type.address, tp_is_gc);
                !is_gc.is_null() && is_gc != is_gc_of_type)
                if (const auto answer = traverse->ask(is_gc, object);
                    !answer || static_cast<std::int32_t>(*answer) == 0)
                    continue;
            calls.push_back({function, object});
            ids.push_back(id);
        }
        std::string out;
        std::uint64_t exact = 0, visits = 0;
        std::map<std::string, std::uint64_t> failed;
        traverse->run(calls, [&](std::size_t at, bool done, std::span<const Address> visited) {
            if (!done) {
                const std::string& name = snapshot.type_info(ids[at]).name;
                ++failed[name];
                out += fmt::format("F\t{:x}\t{}\n", calls[at].object.value, name);
                return;
            }
            ++exact;
            visits += visited.size();
            out += fmt::format("R\t{:x}\t", calls[at].object.value);
            for (const Address target : visited) out += fmt::format("{:x} ", target.value);
            out += '\n';
            if (out.size() > (1 << 20)) {
                std::fwrite(out.data(), 1, out.size(), stdout);
                out.clear();
            }
        });
        std::fwrite(out.data(), 1, out.size(), stdout);
        const double seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
        fmt::print(stderr, "{} calls, {} finished, {} visits, {:.2f} s CPU, {:.2f} us a call; {}\n",
                   calls.size(), exact, visits, seconds,
                   seconds * 1e6 / static_cast<double>(std::max<std::size_t>(1, calls.size())),
                   traverse->failures().first);
        for (const auto& [name, number] : failed) fmt::print(stderr, "  {} of {}\n", number, name);
    } catch (const Error& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
