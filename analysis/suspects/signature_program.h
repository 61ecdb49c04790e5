#pragma once

// Which program it was, for signatures.

#include "parsers/elf/core_file.h"
#include "parsers/reading/heap_reader.h"

#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// What Python itself keeps of its command line. Each list has at most 64 words of 4096 characters; empty where `sys`
/// has none that is a list of str. Not escaped; bytes that are not UTF-8 are themselves.
struct CommandWords {
    std::vector<std::string> original;   // sys.orig_argv (3.10 and later): the interpreter first
    std::vector<std::string> arguments;  // sys.argv: the script, "-c", or with -m the module's file first
    std::string module = {};             // __main__.__spec__.name: what -m ran; "" of a script
    std::string file = {};               // __main__.__file__: from 3.9 on with its directory; "" of -c
    bool of_multiprocessing = false;     // __main__ is a copy of the parent's: __mp_main__
    std::string package = {};  // whose __main__.py is arguments[0], if it or one around it is loaded
    // What multiprocessing told a child, which it started anew, of its parent's main module: its name
    // ("app.__main__" of -m and a package), or its file; "" of -c and of a prompt, which have neither. Nothing: it is
    // no such child, or its frames do not tell.
    std::optional<std::string> of_parent = {};
};
/// For a heap with roots. A program may store there what it likes. Cost: some hundred reads of the core.
CommandWords command_words(const HeapReader& heap);

/// The program: "worker.py" for "python3 -X dev /srv/worker.py --id 7", "app.main" for "python -m app.main"; for a
/// process of another name, or title, the first word. Of a child that multiprocessing or joblib started anew (spawn,
/// forkserver, loky), whose command line is that of its machinery, the program of its parent. Of a command line a core keeps 79
/// bytes, and no ends of words: so `words` say it where they begin as these bytes do, or these have no arguments, or where
/// the main module's file stands there. Numbers of three or more digits, which may be process ids, and dates become "#";
/// longer than 120 bytes it ends in a number of the whole. Escaped for a terminal. Without `with_arguments`, as under
/// --redact, the name of the process, and eight hexadecimal digits of a hash of the program where this is another:
/// "python3 #1b2c3d4e".
std::string program_name(const ProcessInfo& process, const CommandWords& words, bool with_arguments);

/// A signature's text without the name of the program's file: "f(), #1b2c3d4e" of "f(), app.py", with a hash of the name. For
/// --redact, under which the program has no name.
std::string without_program_file(const std::string& text, const CommandWords& words);

}  // namespace heapsift
