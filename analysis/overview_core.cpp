#include "analysis/overview_core.h"

#include "analysis/doctor.h"
#include "parsers/base/text.h"

#include <algorithm>

namespace heapsift {

OverviewCore overview_core(const CoreFile& core, const PythonRuntime& python) {
    OverviewCore facts;
    facts.file_name = base_name(core.path());
    facts.process = core.process();
    facts.threads = core.threads().size();
    facts.extent = core.extent();
    facts.python = "CPython " + python.version.text() + (python.free_threaded ? ", free-threaded" : "") +
                   (python.debug ? ", debug build" : "");
    const auto has_file = [](const Module& module) {
        return module.file_state != ModuleFileState::not_needed;
    };
    facts.module_count =
        static_cast<std::size_t>(std::count_if(core.modules().begin(), core.modules().end(), has_file));
    facts.modules_missing = missing_files(core.modules()).size();
    return facts;
}

}  // namespace heapsift
