// Where the time of `heapsift types` goes: the passes that find the objects, one by one, and the pass that sizes them; and what
// the references cost beside.
//
// The builder tells the name of each pass as it begins (the progress line of the terminal); the CPU time between two names is the
// first one's. Prints a line a pass, then the number of objects.

#include "analysis/types.h"
#include "parsers/base/error.h"
#include "parsers/snapshot/heap_snapshot.h"
#include "parsers/snapshot/reference_graph.h"
#include "tests/benchmarks/cpu_time.h"

#include <cstdio>
#include <string>
#include <vector>

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: benchmark-passes CORE\n", stderr);
        return 2;
    }
    using namespace heapsift;
    std::vector<std::pair<std::string, double>> passes{{"core file", cpu_seconds()}};
    auto mark = [&](std::string_view pass, double) {
        if (passes.back().first != pass) passes.emplace_back(pass, cpu_seconds());
    };
    try {
        Diagnostics diagnostics;
        const HeapSnapshot heap = HeapSnapshot::build(CoreFile::open(argv[1], {}, diagnostics), diagnostics, mark);
        mark("adding up types", 0);
        const TypesResult types = group_by_type(heap, SortKey::memory, 0);
        mark("references", 0);
        const ReferenceGraph& references = heap.references(mark);
        mark("end", 0);
        for (std::size_t i = 0; i + 1 < passes.size(); ++i)
            std::printf("%s\t%.6f\n", passes[i].first.c_str(), passes[i + 1].second - passes[i].second);
        std::printf("objects\t%zu\n", heap.object_count());
        std::printf("edges\t%zu\n", static_cast<std::size_t>(references.reference_count()));
        std::printf("edge bytes\t%zu\n", static_cast<std::size_t>(references.memory_bytes()));
        return types.total_count == heap.object_count() ? 0 : 1;
    } catch (const Error& error) {
        std::fprintf(stderr, "benchmark-passes: %s\n", error.message().c_str());
        return 1;
    }
}
