// The list of commands: adding one touches this file, and its own.

#include "cli/command_list.h"

#include "cli/commands/arrays.h"
#include "cli/commands/batch.h"
#include "cli/commands/cycles.h"
#include "cli/commands/doctor.h"
#include "cli/commands/dominators.h"
#include "cli/commands/export.h"
#include "cli/commands/gc.h"
#include "cli/commands/objects.h"
#include "cli/commands/overview.h"
#include "cli/commands/refcounts.h"
#include "cli/commands/referents.h"
#include "cli/commands/referrers.h"
#include "cli/commands/retained.h"
#include "cli/commands/show.h"
#include "cli/commands/threads.h"
#include "cli/commands/types.h"
#include "cli/commands/why.h"

namespace heapsift {

const std::vector<Command>& all_commands() {
    static const std::vector<Command> commands = {
        {{.name = "overview"},
         "[CORE]",
         "the first screen: the process, where its memory is, what holds most",
         false,
         setup_overview},
        {{.name = "types"}, "[CORE]", "objects by type: how many, how large", true, setup_types},
        {{.name = "objects"}, "[CORE]", "single objects, largest first", true, setup_objects},
        {{.name = "show", .takes_address = true},
         "ADDRESS [CORE]",
         "one object: its type, value, sizes, referents and referrers",
         false,
         setup_show},
        {{.name = "why", .takes_address = true},
         "ADDRESS [CORE]",
         "what keeps an object alive: the path from a root; with --type, of all instances",
         true,
         setup_why},
        {{.name = "dominators", .takes_address = true},
         "[ADDRESS] [CORE]",
         "what retains the memory: threads, modules, packages, and what holds most in each",
         false,
         setup_dominators},
        {{.name = "retained", .takes_address = true, .takes_addresses = true},
         "ADDRESS... [CORE]",
         "what deleting these objects would free, or all of a --type, or all that a --holder holds",
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
        {{.name = "cycles"},
         "[CORE]",
         "objects that keep each other alive: garbage not yet freed; with --all also those in use",
         true,
         setup_cycles},
        {{.name = "gc"},
         "[CORE]",
         "the garbage collector: settings, generations, gc.garbage, what a collection would free",
         true,
         setup_gc},
        {{.name = "refcounts"},
         "[CORE]",
         "objects with more references counted than found: held by C code, or leaked",
         true,
         setup_refcounts},
        {{.name = "arrays"},
         "[CORE]",
         "NumPy arrays: what owns their memory, what holds them, which slices keep whole arrays",
         true,
         setup_arrays},
        {{.name = "threads"},
         "[CORE]",
         "what each thread was doing: its Python calls, their locals, and what each keeps",
         false,
         setup_threads},
        {{.name = "doctor"},
         "[CORE]",
         "how complete the answers are: what the core lacks, which files were found",
         false,
         setup_doctor},
        {{.name = "export"},
         "-o FILE [CORE]",
         "write the whole heap to a file: .db, .jsonl, .heapsnapshot, .folded, .dot",
         false,
         setup_export,
         true,
         export_details},
        {{.name = "batch", .takes_core = false, .takes_paths = true},
         "PATH...",
         "many cores: one line of JSON each, with a signature that groups like causes",
         false,
         setup_batch,
         true,
         batch_details},
        {{.name = "help", .takes_core = false, .takes_topics = true},
         "[TOPIC|COMMAND]",
         "capture: how to get a core; address: how to name an object; words: the terms; or a "
         "command's name",
         false,
         nullptr},
    };
    return commands;
}

}  // namespace heapsift
