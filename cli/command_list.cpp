// The list of commands. To add one, NAME:
//
//     analysis/NAME.h         a function of a HeapReader (or a Work) that returns a result of plain values
//     cli/render/NAME.h       the result as a Document
//     cli/commands/NAME.h     its options, a Question with what it needs, session.write
//     this file               its entry, and what words it takes (cli/words.h)
//     cli/command_texts.cpp   what help and the manual say of it, with examples
//     kept answers            if it walks over all objects: kept_answer (analysis/kept_answers.h); and if it is
//                             asked often, a line in cli/commands/index.cpp
//     tests                   analysis/NAME_test.cpp on a HandmadeHeap, cli for the document, and in
//                             cli/invocation_test.cpp the words that it cannot do without (an address), if any;
//                             and its line in the lists of real/index.py (the same with an index and without),
//                             real/memory.py (with little memory), benchmarks/growth.py and benchmarks/warm.py.
//                             What else has a list of questions (index_attack.py, scale.py, commands.py) asks
//                             some of them only
//     README.md               its line in the table "Ask"
//
// CMake finds new files by itself. `types` is one to start from: its tests are analysis/types_test.cpp and
// "render types" in cli/render_test.cpp; for --type see cli/type_option.h and `objects`.

#include "cli/command_list.h"

#include "cli/commands/arrays.h"
#include "cli/commands/batch.h"
#include "cli/commands/browse.h"
#include "cli/commands/capture.h"
#include "cli/commands/cycles.h"
#include "cli/commands/diff.h"
#include "cli/commands/doctor.h"
#include "cli/commands/dominators.h"
#include "cli/commands/duplicates.h"
#include "cli/commands/export.h"
#include "cli/commands/gc.h"
#include "cli/commands/holders.h"
#include "cli/commands/index.h"
#include "cli/commands/lines.h"
#include "cli/commands/memory.h"
#include "cli/commands/native.h"
#include "cli/commands/objects.h"
#include "cli/commands/overview.h"
#include "cli/commands/query.h"
#include "cli/commands/refcounts.h"
#include "cli/commands/referents.h"
#include "cli/commands/referrers.h"
#include "cli/commands/report.h"
#include "cli/commands/retained.h"
#include "cli/commands/show.h"
#include "cli/commands/suspects.h"
#include "cli/commands/tasks.h"
#include "cli/commands/threads.h"
#include "cli/commands/types.h"
#include "cli/commands/waste.h"
#include "cli/commands/why.h"

namespace heapsift {

const std::vector<Command>& all_commands() {
    static const std::vector<Command> commands = {
        {{.name = "overview"},
         "[CORE]",
         "the process, where its memory is, what holds most",
         false,
         setup_overview},
        {{.name = "suspects"}, "[CORE]", "likely causes, each with its fix", false, setup_suspects},
        {{.name = "types"}, "[CORE]", "objects by type: how many, how large", true, setup_types},
        {{.name = "holders"}, "[CORE]", "who holds the memory: owner and attribute", true, setup_holders},
        {{.name = "objects"}, "[CORE]", "single objects, largest first", true, setup_objects},
        {{.name = "show", .takes_address = true},
         "ADDRESS [CORE]",
         "one object: type, value, sizes, references",
         false,
         setup_show},
        {{.name = "why", .takes_address = true},
         "ADDRESS [CORE]",
         "what keeps an object, or a --type, alive",
         true,
         setup_why},
        {{.name = "dominators", .takes_address = true},
         "[ADDRESS] [CORE]",
         "what holds the memory, by thread and module",
         false,
         setup_dominators},
        {{.name = "retained", .takes_address = true, .takes_addresses = true},
         "ADDRESS... [CORE]",
         "what deleting objects would free",
         true,
         setup_retained},
        {{.name = "referrers", .takes_address = true},
         "ADDRESS [CORE]",
         "what refers to an object",
         true,
         setup_referrers},
        {{.name = "referents", .takes_address = true},
         "ADDRESS [CORE]",
         "what an object refers to",
         true,
         setup_referents},
        {{.name = "cycles"}, "[CORE]", "garbage: objects that keep each other alive", true, setup_cycles},
        {{.name = "gc"}, "[CORE]", "the garbage collector: settings and state", true, setup_gc},
        {{.name = "refcounts"}, "[CORE]", "objects held, or leaked, by C code", true, setup_refcounts},
        {{.name = "arrays"}, "[CORE]", "NumPy arrays: what owns them, what holds them", true, setup_arrays},
        {{.name = "memory"}, "[CORE]", "who owns each byte of the process", true, setup_memory},
        {{.name = "native"}, "[CORE]", "blocks of C code, by C++ class and size", true, setup_native},
        {{.name = "threads"}, "[CORE]", "calls of each thread, with their locals", false, setup_threads},
        {{.name = "tasks", .takes_address = true},
         "[ADDRESS] [CORE]",
         "tasks and generators: where each waits, for what",
         true,
         setup_tasks},
        {{.name = "lines"}, "[CORE]", "memory by source line, if tracemalloc was on", true, setup_lines},
        {{.name = "duplicates"},
         "[CORE]",
         "equal values, and what one copy would save",
         true,
         setup_duplicates},
        {{.name = "waste"}, "[CORE]", "memory that the same content would not need", true, setup_waste},
        {{.name = "diff", .takes_core = false, .takes_paths = true, .takes_exports = true},
         "OLD NEW...",
         "what grew between cores of one program",
         true,
         setup_diff,
         false,
         diff_details},
        {{.name = "browse"}, "[CORE]", "all of it on a terminal, key by key", false, setup_browse},
        {{.name = "index"}, "[CORE]", "computes ahead what later questions need", false, setup_index},
        {{.name = "doctor"},
         "[CORE]",
         "what the core lacks, and which files were found",
         false,
         setup_doctor},
        {{.name = "export"},
         "-o FILE [CORE]",
         "write the whole heap to a file",
         false,
         setup_export,
         true,
         export_details},
        {{.name = "query", .takes_sql = true},
         "SQL [CORE]",
         "SQL over the heap: objects, references, types, ...",
         true,
         setup_query,
         false,
         query_details},
        {{.name = "report", .takes_exports = true, .takes_older = true, .takes_lines = true},
         "-o FILE [OLD] [CORE]",
         "one page to look at and to send",
         false,
         setup_report,
         false,
         report_details},
        {{.name = "capture", .takes_core = false, .takes_paths = true, .takes_process = true},
         "PID -o FILE",
         "take the core of a running process, which goes on",
         false,
         setup_capture,
         false,
         capture_details},
        {{.name = "batch", .takes_core = false, .takes_paths = true},
         "PATH...",
         "many cores, one line of JSON each",
         false,
         setup_batch,
         true,
         batch_details},
        {{.name = "help", .takes_core = false, .takes_topics = true},
         "[TOPIC|COMMAND]",
         "topics: capture, fleet, address, words, environment",
         false,
         nullptr},
    };
    return commands;
}

}  // namespace heapsift
