#pragma once

// What the words of a command line mean (a command, a core, an address), in whatever order people type them.

#include "parsers/base/error.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heapsift {

/// Which words a command takes besides its name. A new kind of word needs a flag here, a member of Words, a
/// branch in Reader::take_after_command and a case in what_it_takes (words.cpp). A type is given by an
/// option, --type (type_option.h).
struct WordShape {
    std::string name;
    bool takes_core = true;
    bool takes_address = false;
    bool takes_addresses = false;  // with takes_address: any number of addresses
    bool takes_topics = false;     // help: a single word, whatever it is
    bool takes_paths = false;      // batch: any number of words, all of them paths
    bool takes_process = false;    // with takes_paths: capture's word is a process id
    bool takes_exports = false;    // with takes_paths or takes_older: files that export wrote, too
    bool takes_older = false;      // report: of two cores the first is the older one
    bool takes_lines = false;      // with takes_older: or any number of files with lines of batches
    bool takes_sql = false;        // query: a statement, or -
};

struct Words {
    std::string command;  // empty if there were no words
    std::optional<std::string> core;
    std::optional<std::int32_t> process = {};  // a living one, in place of a core
    std::optional<std::string> address;
    std::vector<std::string> more_addresses;  // after the first
    std::optional<std::string> sql = {};      // "-": it comes from standard input
    std::vector<std::string> topics;
    std::vector<std::string> paths;         // with takes_lines: files after the first two
    std::optional<std::string> older = {};  // a core to compare with
    std::vector<std::string> notes;         // lines for standard error
    std::string typed = {};  // the whole command line behind the program's name, quoted for the shell
};

struct WordRules {
    std::span<const WordShape> commands;
    std::string default_command = "overview";
    bool core_given = false;                          // by --core: no word is then taken for a file
    std::function<bool(const std::string&)> is_file;  // whether something exists at this path
};

/// Whether this is a process id, where no file has that name: up to seven digits.
bool looks_like_process_id(const std::string& word);

/// The error for a line that names two cores.
Error two_cores(const std::string& first, const std::string& second);
/// The error for one that names three, where a command takes two.
Error third_core(const std::string& word, const std::string& command);

/// What looks like a process id is one, where a core may stand, unless a file has that name. (An address has
/// eight digits at least.) Throws `Error` (exit 2), one line that helps, if a word fits nowhere:
/// "unknown-command", "unexpected-word", "two-cores", "script", "no-such-file".
Words read_words(std::span<const std::string> words, const WordRules& rules);

}  // namespace heapsift
