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

struct CommonOptions {
    std::string core;
    FileSearch search;
    Format format = Format::text;
    std::optional<std::size_t> limit;  // 0: all
    bool exact_bytes = false;
    bool redact = false;
    When colour = When::automatic;
    When progress = When::automatic;
    bool quiet = false;
    bool verbose = false;

    /// -n where given, else 20 in text and none (0) for machines.
    std::size_t rows() const { return limit.value_or(format == Format::text ? 20 : 0); }
};

/// Declares them; they are filled when the command line is parsed, and `options` must live until then.
/// `own_format`: without --format, which the command has declared itself.
void add_common_options(CommandOptions& declare, CommonOptions& options, bool own_format);

/// The group of --help that they stand in.
inline constexpr const char* common_group = "Options of every command";

}  // namespace heapsift
