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
         "the first screen: what process, where its memory is, the largest types",
         false,
         setup_overview},
        {{.name = "types"}, "[CORE]", "objects grouped by type: how many, how large", true, setup_types},
        {{.name = "objects"}, "[CORE]", "single objects, largest first", true, setup_objects},
        {{.name = "show", .takes_address = true},
         "ADDRESS [CORE]",
         "one object: type, value, sizes, what it refers to, who refers to it",
         false,
         setup_show},
        {{.name = "why", .takes_address = true},
         "ADDRESS [CORE]",
         "the path that keeps an object alive, from a root down; with --type, all of a type",
         true,
         setup_why},
        {{.name = "dominators", .takes_address = true},
         "[ADDRESS] [CORE]",
         "what retains what: threads, modules, packages, and below each what holds most",
         false,
         setup_dominators},
        {{.name = "retained", .takes_address = true, .takes_addresses = true},
         "ADDRESS... [CORE]",
         "what would come free if these objects went away, or all of --type, or all that --holder holds",
         true,
         setup_retained},
        {{.name = "referrers", .takes_address = true}, "ADDRESS [CORE]", "who refers to an object", true, setup_referrers},
        {{.name = "referents", .takes_address = true}, "ADDRESS [CORE]", "what an object refers to", true, setup_referents},
        {{.name = "cycles"},
         "[CORE]",
         "objects that keep each other alive: garbage that waits, or is never freed; with --all those in use",
         true,
         setup_cycles},
        {{.name = "gc"},
         "[CORE]",
         "the garbage collector: its settings, its generations, gc.garbage, what a collection would find and free",
         true,
         setup_gc},
        {{.name = "refcounts"},
         "[CORE]",
         "objects that count more references than were found: held by C code, or leaked",
         true,
         setup_refcounts},
        {{.name = "arrays"},
         "[CORE]",
         "NumPy arrays: who owns their bytes, who holds them, which slices keep what nobody sees",
         true,
         setup_arrays},
        {{.name = "threads"},
         "[CORE]",
         "what each thread was doing: its Python functions, with their locals, and what each keeps",
         false,
         setup_threads},
        {{.name = "doctor"},
         "[CORE]",
         "what the core holds and lacks, which files were found, what is guessed",
         false,
         setup_doctor},
        {{.name = "export"},
         "-o FILE [CORE]",
         "the whole heap in a file: .db, .jsonl, .heapsnapshot, .folded, .dot",
         false,
         setup_export,
         true,
         export_details},
        {{.name = "batch", .takes_core = false, .takes_paths = true},
         "PATH...",
         "many cores, a line of JSON each, with a signature to group them by",
         false,
         setup_batch,
         true,
         batch_details},
        {{.name = "help", .takes_core = false, .takes_topics = true},
         "[TOPIC|COMMAND]",
         "capture: how to get a core; address: how to name an object; words: what the words mean; or a command's name",
         false,
         nullptr},
    };
    return commands;
}

}  // namespace heapsift
