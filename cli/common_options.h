#pragma once

// The options that every command takes.

#include "cli/terminal.h"
#include "parsers/elf/core_file.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace heapsift {

class CommandOptions;

enum class Format { text, json, jsonl, csv };

inline constexpr std::size_t rows_for_people = 20;
inline constexpr std::size_t most_jobs = 512;
inline constexpr std::size_t most_memory = std::size_t{1} << 60;

struct CommonOptions {
    std::string core;
    FileSearch search;
    std::string keep;        // of a living process: the file that its core stays in
    bool no_index = false;   // neither read nor written
    bool no_native = false;  // blocks of C code are no part of the graph
    std::string index_dir;   // empty: the cache directory
    Format format = Format::text;
    std::optional<std::size_t> jobs;    // threads; else as many as there are processors
    std::optional<std::size_t> memory;  // bytes that columns may take; else what can be had
    std::optional<std::size_t> limit;   // 0: all
    bool exact_bytes = false;
    bool redact = false;
    When colour = When::automatic;
    When progress = When::automatic;
    bool quiet = false;
    bool verbose = false;

    /// -n if given; else 20 in text, and 0 (all) for machines.
    std::size_t rows() const { return limit.value_or(format == Format::text ? rows_for_people : 0); }
};

/// Declares the options. Parsing the command line fills `options`, which must live until then. `own_format`:
/// leaves out --format, which the command has declared itself. (A --jobs or --keep of its own is seen.)
void add_common_options(CommandOptions& declare, CommonOptions& options, bool own_format);

/// Their heading in --help.
inline constexpr const char* common_group = "Options of every command";

}  // namespace heapsift
