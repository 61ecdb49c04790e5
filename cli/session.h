#pragma once

// One question about one core: choosing the core, opening it, and writing the answer in the requested format.

#include "analysis/kept_answers.h"
#include "cli/common_options.h"
#include "cli/console.h"
#include "cli/core_choice.h"
#include "cli/document/document.h"
#include "cli/index_place.h"
#include "cli/json_envelope.h"
#include "cli/live_process.h"
#include "cli/memory_plan.h"
#include "cli/page.h"
#include "cli/program_run.h"
#include "cli/progress.h"
#include "cli/words.h"
#include "parsers/base/passes.h"
#include "parsers/reading/core_heap.h"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace heapsift {

class Session {
public:
    Session(const CommonOptions& options, const Words& words, Console& console, Redactor& redactor,
            ProgramRun program, EndProcess end);

    const CommonOptions& options() const { return options_; }
    const Words& words() const { return words_; }
    Console& console() { return console_; }
    Redactor& redactor() { return redactor_; }
    Diagnostics& diagnostics() { return diagnostics_; }
    /// For the parsers and analyses, which report their passes to it: it shows progress, and times them under
    /// -v.
    ProgressCallback progress();
    /// From now on `watch` gets what is reported, in place of the line on standard error; also by callbacks that were
    /// handed out before, if this was called before. It may throw, which ends the work.
    void watch_progress(ProgressCallback watch) { watch_ = std::move(watch); }
    /// With -v, the table of passes up to now; the last output of a run.
    void tell_passes();
    void clear_progress() { progress_.clear(); }
    /// Runs the whole program with other arguments; only for a process that does nothing else afterwards.
    ProgramRun program_run() const { return program_; }
    /// Whether `write` ends the process.
    bool ends_process() const { return end_ != nullptr; }

    /// The core that is asked about; chosen on first use. For a living process: throws `Error` if it may not be read.
    const CoreChoice& choice();
    /// Chooses the core and reads its headers; then it becomes the core in use. Of a living process it is taken first,
    /// has no index, and becomes nothing.
    CoreFile open_core();
    /// The same, and finds all objects; the core becomes the one in use only after that.
    CoreHeap open_heap();
    /// For a command that does not make its core the one in use.
    void leave_core_in_use() { store_ = {}; }
    /// Makes room for the columns of so many objects and blocks of C code: in memory, or else in files. Those of
    /// `found` are there already. Throws `Error` (exit 1): "too-little-memory".
    void make_room(std::uint64_t objects, std::uint64_t blocks, MemoryNeed need);
    /// Writes the index now, instead of after the answer. Throws `Error` (exit 1): "index-not-written".
    IndexThere write_index();
    /// The index of the heap that was opened as it is now; nothing if there is none.
    std::optional<IndexThere> index_there() const;
    /// The index of the heap that was opened; null without one.
    IndexFile* index() { return index_.get(); }
    /// What questions to this core found before. What they find now is kept with the index.
    KeptAnswers& answers() { return answers_; }
    /// What the index is to keep of this run: called once after the answer was written, if there is an index.
    /// `type_names`: the names of the heap's types, the most frequent first, for completion.
    void keep_afterwards(std::function<std::vector<PartWriter>()> parts,
                         std::function<std::vector<std::string>()> type_names) {
        parts_ = std::move(parts);
        type_names_ = std::move(type_names);
    }
    /// For a heap with references: reports how they are known (with -v), and which of them could not be read.
    /// `object`: the one that was asked about, or no_object.
    void note_references(const HeapReader& heap, ObjectId object = no_object);
    /// True once the core's headers have been read, whatever failed later.
    bool core_was_read() const { return core_was_read_; }

    /// Writes the answer, warnings first. `error`: why it is not the whole answer; the exit code is then its
    /// own. The last act of a command: the program ends here, except in tests and under the sanitizers.
    ExitCode write(const Document& document, const std::optional<Error>& error = std::nullopt);

    /// Throws if csv was asked for. `what` ("gc without --list") names what is no table.
    void refuse_csv(const std::string& what, const std::string& hint) const;

    /// Keeps in the index what was found, for a session whose answer is part of another one's; nothing is written. Again:
    /// what was found since, of answers alone.
    void finish();
    /// Takes over the warnings of a session that asked about one of several cores, each with its file's name, and
    /// whether its core was cut.
    void include(const Session& one, const std::string& path);

    /// The document around an answer, without `data`, as far as it is known now.
    Json head(const std::string& command) const { return envelope_json(envelope(command), redactor_); }
    /// For a file that others read: of no width or colour, and its commands name the core by its base name.
    Page page_of_file() const;
    /// The document for an error in `command`, wherever it happened.
    Json error_document(const std::string& command, const Error& error) const;

    /// `error`, with a hint if a cut core may be the reason.
    Error explained(const Error& error) const;

    /// How text is shown on standard output.
    Page page() const;
    /// What the core's state makes of an answer that was given: exit 0 or 3.
    ExitCode exit_code() const { return is_whole() ? ExitCode::answered : ExitCode::answered_in_part; }

    /// A line on standard error; in JSON a warning of the document.
    void note(std::string_view code, const std::string& message);

private:
    CoreFile read_core();
    void choose_process();
    void take_core_of_process();
    void open_index(const CoreFile& core);
    void make_room_for_objects(const CoreFile& core);
    std::string keep_index();
    std::string unpacked() const;
    void tell_copy();
    void keep_answers();
    void keep_names();
    void enter(std::string_view pass);
    void know_secrets(const CoreFile& core);
    void know_core(const CoreFile& core, const PythonRuntime* python);
    Envelope envelope(const std::string& command) const;
    ExitCode written(Output& output, const std::optional<Error>& error);
    bool is_whole() const { return diagnostics_.complete() && !cut_; }

    const CommonOptions& options_;
    const Words& words_;
    Console& console_;
    Redactor& redactor_;
    ProgramRun program_;
    EndProcess end_;
    CoreInUseStore store_ = CoreInUseStore::from_environment();
    CoreWishes wishes_;
    std::optional<CoreChoice> choice_;
    std::unique_ptr<LiveProcess> live_;  // in place of a core that is there already
    Json core_;
    bool core_was_read_ = false;
    bool cut_ = false;
    bool next_command_knows_ = true;  // a later command that names no core will be about this one
    Diagnostics diagnostics_;
    std::optional<FileIdentity> identity_;  // of the core, before it was opened
    std::optional<UnpackedCopy> copy_;      // of the core, should it be compressed
    std::unique_ptr<IndexFile> index_;
    std::unique_ptr<IndexFile> answers_file_;
    KeptAnswers answers_;
    IndexKey index_key_{};
    std::function<std::vector<PartWriter>()> parts_;
    std::function<std::vector<std::string>()> type_names_;
    Progress progress_;
    ProgressCallback watch_;
    std::optional<PassClock> clock_;  // with -v
};

/// The warning that the file given by --executable is not part of the core. Empty if it was used, if it was
/// not given, or if the core says too little to tell.
std::string unused_executable(const std::vector<Module>& modules, const std::string& path);

}  // namespace heapsift
