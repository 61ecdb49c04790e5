#pragma once

// One question about one core: which core, opening it, and writing the answer in the format that was asked
// for.

#include "cli/common_options.h"
#include "cli/console.h"
#include "cli/core_choice.h"
#include "cli/document/document.h"
#include "cli/json_envelope.h"
#include "cli/page.h"
#include "cli/program_run.h"
#include "cli/progress.h"
#include "cli/words.h"
#include "parsers/base/passes.h"
#include "parsers/reading/core_heap.h"

#include <functional>
#include <optional>

namespace heapsift {

class Session {
public:
    Session(const CommonOptions& options, const Words& words, Console& console, Redactor& redactor,
            ProgramRun program);

    const CommonOptions& options() const { return options_; }
    const Words& words() const { return words_; }
    Console& console() { return console_; }
    Redactor& redactor() { return redactor_; }
    Diagnostics& diagnostics() { return diagnostics_; }
    /// For the parsers and analyses, which say their passes to it: shown while they run, and with -v timed.
    ProgressCallback progress();
    /// With -v: the table of passes, to now. The last that is said of a run.
    void tell_passes();
    void clear_progress() { progress_.clear(); }
    /// Runs the whole program with other arguments; in a process that does nothing else.
    ProgramRun program_run() const { return program_; }

    /// Which core it is about; chosen when it is first asked for.
    const CoreChoice& choice();
    /// Chooses the core and reads its headers. It is the core in use then.
    CoreFile open_core();
    /// The same, and all its objects; it is the core in use once they were found.
    CoreHeap open_heap();
    /// Of a heap with references: with -v how they are known; and what of them does
    /// not read. `object`: the one that was asked about, or none.
    void note_references(const HeapReader& heap, ObjectId object = no_object);
    /// True once the core's headers could be read, whatever went wrong later.
    bool core_was_read() const { return core_was_read_; }

    /// Writes the answer, warnings first. `error`: why it is not the whole answer; its exit code then.

    ExitCode write(const Document& document, const std::optional<Error>& error = std::nullopt);

    /// Throws where csv was asked for: `what`, "gc without --list", is no table.
    void refuse_csv(const std::string& what, const std::string& hint) const;

    /// The document around an answer, without `data`, as far as it is known by now.
    Json head(const std::string& command) const { return envelope_json(envelope(command), redactor_); }
    /// "command": the document for an error, wherever it struck.
    Json error_document(const std::string& command, const Error& error) const;

    /// `error`, with a hint where a cut core may be the reason.
    Error explained(const Error& error) const;

    /// A line for a person; where a document is written, a warning in it.
    void note(std::string_view code, const std::string& message);

private:
    CoreFile read_core();
    void enter(std::string_view pass);
    void know_secrets(const CoreFile& core);
    void know_core(const CoreFile& core, const PythonRuntime* python);
    Page page() const;
    Envelope envelope(const std::string& command) const;
    ExitCode written(Output& output, const std::optional<Error>& error);
    bool is_whole() const { return diagnostics_.complete() && !cut_; }

    const CommonOptions& options_;
    const Words& words_;
    Console& console_;
    Redactor& redactor_;
    ProgramRun program_;
    CoreInUseStore store_ = CoreInUseStore::from_environment();
    CoreWishes wishes_;
    std::optional<CoreChoice> choice_;
    Json core_;
    bool core_was_read_ = false;
    bool cut_ = false;
    bool next_command_knows_ = true;  // a command without a core will be about this one
    Diagnostics diagnostics_;
    Progress progress_;
    std::optional<PassClock> clock_;  // with -v
};

/// The warning that --executable names a file which is none of the core's; empty where it was used, or where
/// it was not given, or where the core says too little to tell.
std::string unused_executable(const std::vector<Module>& modules, const std::string& path);

}  // namespace heapsift
