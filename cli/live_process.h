#pragma once

// A question about a living process: its core is taken into a file without a name, answered from, and gone.

#include "cli/core_room.h"
#include "cli/json.h"
#include "parsers/base/progress.h"
#include "parsers/capture/capture.h"
#include "parsers/elf/core_types.h"
#include "parsers/process/process_facts.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace heapsift {

class OutputFile;

struct LiveProcessOptions {
    std::string keep;             // --keep: the file that the core is to stay in; "" for none
    std::string index_directory;  // where there may be room for the core
};

class LiveProcess {
public:
    /// Throws `Error` if its memory may not be read (parsers/process/access.h), if it is no Python
    /// ("not-python", exit 1), and if `keep` cannot be written. Stops nothing. `again`: the words to type to
    /// ask the same again.
    LiveProcess(std::int32_t pid, LiveProcessOptions options, const std::string& again);
    ~LiveProcess();
    LiveProcess(const LiveProcess&) = delete;
    LiveProcess& operator=(const LiveProcess&) = delete;

    /// "process 1234"
    std::string name() const;
    /// What a hint adds to ask about the same again: the file that is kept, else the process.
    std::string words() const;
    /// Where program files are looked for, unless the command line says it: as the process sees them.
    FileSearch search(FileSearch given) const;

    /// Takes the core, once. Throws `Error`.
    void take(const ProgressCallback& progress);
    bool is_taken() const { return result_.has_value(); }
    /// Where it can be opened, as long as this object lives.
    std::string path() const;
    /// The file that is kept; "" for none.
    const std::string& kept() const { return options_.keep; }
    /// How long the process stood, and what was copied: one line for people.
    std::string how_it_was_taken() const;
    /// Adds to `core` of the document: live, stood_ns, live_pid.
    void describe(Json& core) const;

private:
    std::int32_t pid_;
    LiveProcessOptions options_;
    ProcessFacts facts_;
    CoreRoom room_;
    std::unique_ptr<OutputFile> file_;
    std::optional<CaptureResult> result_;
};

}  // namespace heapsift
