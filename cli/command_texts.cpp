// The prose of help and of the manual: what each command answers, what to know about it, and lines to try.
//
// One entry a command, in the order of command_list.cpp. The examples come first in help, since they are what
// people read. Exit codes, variables and files are here as well: they are the same for every command.

#include "cli/command_texts.h"

#include <algorithm>

namespace heapsift {
namespace {

const std::vector<CommandText>& command_texts() {
    static const std::vector<CommandText> texts = {
        {"overview",
         "The first screen: what process this was, where its memory is, the largest types, and the likely "
         "causes. A core alone on the command line means the same.",
         {{"core.1234", "the same as overview core.1234"},
          {"core.1234 --top types", "one table instead"},
          {"core.1234 --json", "all of it for a script"}}},
        {"suspects",
         "What probably fills the memory, the most bytes first. Each cause comes with what it was concluded "
         "from, a fix for the program, and the next command.",
         {{"suspects", "causes, each with its fix"},
          {"suspects --json -n 3", "the first three, for a script"}}},
        {"types",
         "Objects grouped by type: how many there are, how large they are, and what they retain: the memory "
         "that deleting all of them would free.",
         {{"types", "types by what they retain"},
          {"types --sort memory", "the same by their own memory: quicker"},
          {"types --type 'shop.*'", "the types of one module"},
          {"types --by-line", "by source line, if tracemalloc was on"}}},
        {"holders",
         "Who holds the memory: by the type of the owner and the attribute, by function and local, by module "
         "and global.",
         {{"holders", "what holds most, and what else holds it"},
          {"holders --type '*.Order'", "who holds the instances of one type"},
          {"retained --holder app.CACHE", "what deleting one of them would free"}}},
        {"objects",
         "Single objects, the largest first. Conditions compare a size, a reference count or what an object "
         "retains with a number; all of them must hold.",
         {{"objects", "the largest objects"},
          {"objects --type dict --where 'retained>=10M'", "dicts that keep much alive"},
          {"objects --type shop.Order --json", "all of one type, for a script"}}},
        {"show",
         "One object: its type and value, its sizes, its reference count and how many of these references "
         "were "
         "found, what it refers to by name, and who refers to it. Also a block of C code, by its address.",
         {{"show 0x7f31c2a4d5e0", "an object, by its address from a table"},
          {"show \"app.CACHE['k']\"", "or by a Python expression"},
          {"show 0x7f31c2a4d5e0 --retained", "also what it retains, and what holds it"}}},
        {"why",
         "The path that keeps an object alive, from a module, a running function or a thread down to it, as "
         "one "
         "would write it in Python. With --type: what keeps all instances of a type alive, grouped by owner "
         "and attribute.",
         {{"why 0x7f31c2a4d5e0", "the shortest path to an object"},
          {"why --type app.Node", "what holds the instances of a type"},
          {"why \"app.CACHE['k']\" --paths 5", "five paths, each through another referrer"}}},
        {"dominators",
         "The tree of what holds the memory: below each thread, module and package the objects that only it "
         "keeps alive, by what they retain.",
         {{"dominators", "the top of the tree"},
          {"dominators app.CACHE --depth 5", "five levels below one object"},
          {"dominators --min 5%", "without what is smaller"}}},
        {"retained",
         "What deleting a set of objects would free, by type: the objects of these addresses, all instances "
         "of "
         "a type, or what an attribute holds.",
         {{"retained 0x7f31c2a4d5e0", "one object, with what only it keeps alive"},
          {"retained --type app.Node", "all instances of a type, together"},
          {"retained --holder 'app.Node.children[*]'", "what an attribute holds"}}},
        {"referrers",
         "Every object that refers to this one, with the name of the reference: an attribute, an item, a "
         "key, a "
         "local variable.",
         {{"referrers 0x7f31c2a4d5e0", "one step up"}, {"why 0x7f31c2a4d5e0", "the whole path from a root"}}},
        {"referents",
         "Every object that this one refers to, with the name of the reference.",
         {{"referents 0x7f31c2a4d5e0", "one step down"},
          {"dominators 0x7f31c2a4d5e0", "what only this object keeps alive, as a tree"}}},
        {"cycles",
         "Objects that keep each other alive, and are reached by nothing else: garbage that waits for the "
         "collector, and garbage that it will never free, with the reason.",
         {{"cycles", "garbage in cycles, and why it was not freed"},
          {"cycles --id 1", "one cycle: its members, and which references to break"},
          {"cycles --all", "also cycles that are in use"}}},
        {"gc",
         "The garbage collector as it was: whether it was enabled, its thresholds and counts, its "
         "generations, "
         "gc.garbage, and what gc.collect() would free.",
         {{"gc", "settings and state"}, {"gc --list", "the objects that gc.collect() would find"}}},
        {"refcounts",
         "Objects with more references than were found in the core. What holds them is C code; or C code "
         "forgot to release them.",
         {{"refcounts", "types with more references than were found"},
          {"refcounts --type app.Function", "the instances of one type"}}},
        {"arrays",
         "NumPy arrays: the largest, what owns their memory, which small views keep large arrays in memory, "
         "and "
         "who holds them.",
         {{"arrays", "the largest arrays"},
          {"arrays --pinned", "large arrays kept alive by small slices of them"},
          {"arrays --by-holder", "who holds them"}}},
        {"memory",
         "Who owns each byte of the process: Python objects, array data, C code, what allocators keep free, "
         "stacks, program files. Whether a page of zeros was ever touched is known from the kernel's cores "
         "and those of capture; in others (gcore's, copies without holes) it depends on who was given it.",
         {{"memory", "categories and allocators"}, {"memory --regions", "each mapping of the process"}}},
        {"native",
         "The blocks that C and C++ code allocated: by class and size, and which of them nothing refers to "
         "any "
         "more.",
         {{"native", "classes and sizes"},
          {"native --leaked", "blocks to which nothing refers"},
          {"native --blocks", "each block, the largest first"}}},
        {"threads",
         "The calls of each thread when the core was taken, with their local variables and what these "
         "retain.",
         {{"threads", "Python's calls"},
          {"threads --native", "also those of C code"},
          {"threads --tasks", "also the asyncio tasks of each loop"}}},
        {"tasks",
         "Tasks of asyncio, greenlets and suspended generators: where each waits, for what, and what it "
         "retains.",
         {{"tasks", "by place in the code"}, {"tasks --list", "one by one"}}},
        {"lines",
         "Memory by the source line that allocated it. It needs tracemalloc to have been on in the process: "
         "PYTHONTRACEMALLOC=1, or python -X tracemalloc.",
         {{"lines", "the lines that allocated most"},
          {"lines --traceback 5", "by the five most recent calls"},
          {"lines --native", "blocks of C code alone"}}},
        {"duplicates",
         "Equal strings, numbers and containers that exist several times, and what one copy of each would "
         "save.",
         {{"duplicates", "values with many copies, those first that cost most"},
          {"duplicates --json -n 100", "the first hundred, with all holders and fixes"},
          {"waste", "copies beside other memory that could be saved"}}},
        {"waste",
         "Memory that the same content would not need: copies, boxed numbers, unused room, with a fix for "
         "each.",
         {{"waste", "what the same content would not need, with a fix for each"},
          {"duplicates", "the row of equal values, value by value"},
          {"arrays --waste", "the row of arrays, array by array"}}},
        {"diff",
         "What grew between two or more cores of one program, and where it is held. In place of a core, a "
         "file "
         "that export has written (.db) will do, and the id of a process that runs.",
         {{"diff core.1 core.2", "what grew together, and where it is held"},
          {"diff core.1 1234", "what grew until now in a process that runs"},
          {"diff core.1 core.2 --by holder", "one table, whole"},
          {"diff core.1 core.2 --max-growth 5%", "exit code 4 if it grew by more"}}},
        {"capture",
         "Takes the core of a running process, which goes on: without a debugger, and without anything "
         "installed in it. All that is asked of a core can be asked of that one.",
         {{"capture 1234 -o core.1234", "a core; the process goes on"},
          {"capture 1234 -o core.zst", "compressed: a fourth of the size"},
          {"capture 1234 -o - > core.zst", "to standard output, compressed too"},
          {"capture 1234 --fork -o core.1234", "stops it for milliseconds"}}},
        {"browse",
         "The answers of the other commands as lists on a terminal, one key apart: suspects, the dominator tree, "
         "holders, types, threads and their locals; of one object what it keeps, what refers to it, what it refers "
         "to, and what keeps it alive. Enter opens a row, Backspace goes back; what is known of the row, and the "
         "command that shows it, stand below.\n\n"
         "y copies that command (to the clipboard, where the terminal allows it), Y what Python calls the object; "
         "/ searches, f keeps the rows with a text in them, s sorts, m marks, h goes back to an earlier list, g to "
         "an address or an expression; ? lists all keys. Click and wheel do what they should. Where a list takes "
         "long, Esc stops it; keys pressed meanwhile, or while the core is read, are played when there is a list.\n\n"
         "Without a terminal, or on one of TERM=dumb, browse says so and ends with exit code 2.",
         {{"browse core.1234", "begin with the suspects: Enter, Enter"},
          {"browse --redact", "without values, to show to somebody else"},
          {"index", "before it, for a large core: every list is then there at once"}}},
        {"index",
         "Computes what the questions about a core need and keeps it, so that each of them takes a moment. "
         "Every command keeps what it computed; this is for doing it ahead.",
         {{"index core.1234", "everything for the questions to come"}}},
        {"doctor",
         "What the core holds and lacks: its segments, the program files that were found, and what is "
         "therefore "
         "guessed.",
         {{"doctor", "is anything missing?"},
          {"doctor --missing", "the program files to copy from the other machine"}}},
        {"export",
         "Writes every type, object, reference and array to a file: SQLite, lines of JSON, a graph for other "
         "tools.",
         {{"export core.1234 -o heap.db", "as SQLite"},
          {"export -o heap.heapsnapshot", "for the memory panel of Chrome DevTools"},
          {"export -o heap.folded", "for a flame graph"}}},
        {"query",
         "SQL over the heap, in the tables of an SQLite export, without one. SQLite answers it; rows are "
         "read "
         "from the core as they are needed. SQL is one word, quoted for the shell, or - for standard input.",
         {{"query \"SELECT count(*) FROM object\"", "one number"},
          {"query \"SELECT * FROM named_object ORDER BY retained DESC LIMIT 10\"", "what retains most"},
          {"query - --format csv < question.sql", "from a file, for a script"}}},
        {"report",
         "Writes one HTML page that needs nothing else: what fills the memory, the likely causes with their "
         "fixes and paths, pictures of what retains what, and tables that sort and filter. With two cores "
         "also what grew. Of the lines of a batch: causes over time, by version and by host.",
         {{"report -o heap.html", "a page about the core in use"},
          {"report -o grown.html core.1 core.2", "with what grew from the first to the second"},
          {"report -o fleet.html lines.jsonl", "of many cores, from the lines of batch"},
          {"report -o heap.html --redact", "without values that the program stored"}}},
        {"batch",
         "Answers about many cores, one line of JSON each. Cores with a like cause share a signature.",
         {{"batch /var/crash", "every core in a folder"},
          {"batch core.1 core.2 -j 2", "two at a time"},
          {"batch /var/crash -o lines.jsonl --resume lines.jsonl", "go on after a kill"}}},
        {"help",
         "Help on a command or a topic.",
         {{"help why", "a command"}, {"help address", "ways to name an object"}}},
    };
    return texts;
}

}  // namespace

const CommandText& text_of_command(std::string_view name) {
    static const CommandText none;
    const auto& all = command_texts();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const CommandText& text) { return text.command == name; });
    return found == all.end() ? none : *found;
}

const std::string& text_of_heapsift() {
    static const std::string text =
        "heapsift answers questions about the memory of a CPython process from its core: which objects there "
        "are, what they take, and what keeps each of them alive. The process may be dead, hung or still "
        "serving; nothing has to be installed in it. The core is only read, and nothing leaves the "
        "machine.\n\n"
        "Name the core once; later commands in the same terminal are about the same core. The words may "
        "stand "
        "in any order. An ADDRESS is a number as the tables print it, or a Python expression such as "
        "app.CACHE['k']: see heapsift help address.";
    return text;
}

const std::vector<Example>& examples_of_heapsift() {
    static const std::vector<Example> examples = {
        {"core.1234 --top types", "the first question"},
        {"objects", "later commands use the same core"},
        {"show 0x7f31c2a4d5e0", "one object, by its address from a table"},
        {"show \"app.CACHE['k']\"", "or by a Python expression"},
        {"help address", "more ways to name an object"},
    };
    return examples;
}

const std::vector<Term>& exit_codes() {
    static const std::vector<Term> codes = {
        {"0", "answered"},
        {"1", "the input cannot be analysed: no core, or not of an interpreter that heapsift knows"},
        {"2", "the command line is wrong"},
        {"3", "answered in part: the core is cut or damaged, and the warnings say what is missing"},
        {"4", "answered, and a limit of growth that was set (diff) is exceeded"},
        {"130", "interrupted"},
    };
    return codes;
}

const std::vector<Term>& environment_variables() {
    static const std::vector<Term> variables = {
        {"HEAPSIFT_CORE", "the core that a command is about if its line names none"},
        {"HEAPSIFT_STATE", "off: no core in use is remembered for the next command"},
        {"HEAPSIFT_INDEX_LIMIT", "what all indexes together may take: 5G (default 20G)"},
        {"HEAPSIFT_EMULATION", "off: no code of types is run in the emulator; their references are guessed"},
        {"NO_COLOR", "not empty: no colour"},
        {"XDG_CACHE_HOME", "in place of ~/.cache"},
        {"XDG_STATE_HOME", "in place of ~/.local/state"},
    };
    return variables;
}

const std::vector<Term>& files_of_heapsift() {
    static const std::vector<Term> files = {
        {"~/.cache/heapsift/",
         "the indexes: what was computed of each core, but no value that the program stored; and compressed "
         "cores, unpacked. Readable by their owner alone. They may be removed at any time"},
        {"~/.local/state/heapsift/", "which core each terminal session uses"},
    };
    return files;
}

}  // namespace heapsift
