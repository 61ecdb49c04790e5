// A session. Warnings go to standard error, unless the document carries them. The line that says which core
// is used always goes there, because an answer about the wrong core looks like any other.

#include "cli/session.h"

#include "analysis/object_row.h"
#include "cli/complete/kept_type_names.h"
#include "cli/index_place.h"
#include "cli/large_blocks.h"
#include "cli/machine.h"
#include "cli/pass_times.h"
#include "cli/units.h"
#include "cli/write/csv.h"
#include "cli/write/json.h"
#include "cli/write/text.h"
#include "parsers/base/in_pieces.h"
#include "parsers/base/program_name.h"
#include "parsers/base/text.h"
#include "parsers/snapshot/reference_graph.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace heapsift {
namespace {

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

}  // namespace

Session::Session(const CommonOptions& options, const Words& words, Console& console, Redactor& redactor,
                 ProgramRun program, EndProcess end)
    : options_(options),
      words_(words),
      console_(console),
      redactor_(redactor),
      program_(program),
      end_(end),
      wishes_{words.core.value_or(""), options.core, environment("HEAPSIFT_CORE"), options.search},
      progress_(options.progress) {
    if (options.verbose) clock_.emplace();
    for (const std::string& path :
         {wishes_.argument, wishes_.option, wishes_.environment, wishes_.search.executable})
        redactor_.know_path(path);
    for (const std::string& path : {wishes_.search.sysroot, wishes_.search.debug_dir})
        redactor_.know_directory(path);
}

ProgressCallback Session::progress() {
    if (watch_)
        return [this](std::string_view pass, double done) {
            enter(pass);
            watch_(pass, done);
        };
    if (!clock_) return progress_.callback();
    return [this, show = progress_.callback()](std::string_view pass, double done) {
        clock_->enter(pass);
        if (show) show(pass, done);
    };
}

void Session::enter(std::string_view pass) {
    if (clock_) clock_->enter(pass);
}

void Session::tell_passes() {
    if (clock_) console_.table(pass_table(clock_->passes()));
}

const CoreChoice& Session::choice() {
    if (choice_) return *choice_;
    if (words_.process) {
        choose_process();
        return *choice_;
    }
    choice_ = choose_core(wishes_, store_);
    redactor_.know_path(choice_->path);
    redactor_.know_path(choice_->search.executable);
    core_ = core_json(*choice_, redactor_);
    if (const std::string why = why_this_core(*choice_); !why.empty()) console_.note(why);
    return *choice_;
}

void Session::choose_process() {
    redactor_.know_path(options_.keep);
    live_ = std::make_unique<LiveProcess>(
        *words_.process, LiveProcessOptions{options_.keep, index_directory(options_.index_dir)},
        words_.typed);
    choice_ = CoreChoice{options_.keep, ChosenBy::argument, live_->search(wishes_.search)};
    core_ = core_json(*choice_, redactor_);
    live_->describe(core_);
    store_ = {};  // the process may be gone when the next question is asked
    next_command_knows_ = false;
}

void Session::take_core_of_process() {
    enter("taking the core of the process");
    live_->take(progress());
    progress_.clear();
    choice_->path = live_->path();
    console_.note(live_->how_it_was_taken());
}

void Session::know_secrets(const CoreFile& core) {
    if (!redactor_.active()) return;
    for (const Module& module : core.modules()) {
        redactor_.know_path(module.path);
        redactor_.know_path(module.file);
    }
    for (const MappedFile& file : core.mapped_files()) redactor_.know_path(file.path);
}

void Session::know_core(const CoreFile& core, const PythonRuntime* python) {
    core_ = core_json(*choice_, core, python, redactor_);
    core_was_read_ = true;
    if (live_) live_->describe(core_);
    cut_ = core.extent().cut();
    know_secrets(core);
}

CoreFile Session::read_core() {
    const CoreChoice& choice = this->choice();
    if (live_ && !live_->is_taken()) take_core_of_process();
    enter("opening the core");
    identity_ = identity_of(choice.path);
    const std::string directory = options_.no_index || live_ ? "" : index_directory(options_.index_dir);
    if (!directory.empty()) copy_.emplace(unpacked_copy(directory, choice));
    CoreFile core = CoreFile::open(choice.path, choice.search, diagnostics_, copy_ ? &*copy_ : nullptr,
                                   live_ ? live_->name() : "");
    know_core(core, nullptr);
    if (const std::string unused = unused_executable(core.modules(), choice.search.executable);
        !unused.empty())
        diagnostics_.add("executable-not-used", unused);
    return core;
}

void Session::open_index(const CoreFile& core) {
    if (options_.no_index || live_) return;
    enter("the index");
    const std::string directory = index_directory(options_.index_dir);
    if (directory.empty()) return;
    index_key_ = index_key(*choice_, core);
    // The key is of what lies at the path now: that may be another core than the one that was opened.
    if (!identity_ || identity_of(choice_->path) != identity_) return;
    index_ = std::make_unique<IndexFile>(index_path(directory, *choice_, !options_.no_native), index_key_);
    answers_file_ = std::make_unique<IndexFile>(answers_path(index_->path()), index_key_);
    answers_ = KeptAnswers(answers_file_.get());
}

/// Returns why it could not be written; "" if it was, or need not be.
std::string Session::keep_index() {
    if (!index_ || !parts_) return "";
    enter("writing the index");
    // Not before the answer was written: it numbers what is redacted, and is the same without an index.
    redactor_.know_directory(std::filesystem::path(index_->path()).parent_path().string());
    const auto parts = std::exchange(parts_, nullptr);
    using State = IndexFile::State;
    if (index_->state() == State::foreign)
        console_.note("the index of this core was another core's or another build's: it is made anew");
    if (index_->state() == State::damaged)
        console_.note("the index of this core is damaged (" + index_->why() + "): it is made anew");
    if (index_->state() == State::refused)
        return "the index " + index_->path() + " is not used: " + index_->why();
    index_->remember_checked();
    const std::string why = keep_in_index(*index_, parts(), unpacked());
    if (why.empty()) {
        keep_answers();
        keep_names();
    }
    return why;
}

/// Beside the index, unless they are there.
void Session::keep_names() {
    const std::string path = names_path(index_->path());
    if (type_names_ && !has_type_names(path, choice_->path))
        keep_type_names(path, choice_->path, type_names_());
}

std::string Session::unpacked() const { return copy_ && copy_->is_mapped() ? copy_->path() : ""; }

/// Says that the core was unpacked in vain for the next command, or makes room for what it found.
void Session::tell_copy() {
    if (!copy_) return;
    redactor_.know_directory(std::filesystem::path(copy_->path()).parent_path().string());
    if (const std::string why = why_not_kept(*copy_); !why.empty()) console_.note(why);
    if (copy_->state() == UnpackedCopy::State::kept)
        drop_old_indexes(index_ ? index_->path() : std::string(), copy_->path());
}

void Session::keep_answers() {
    using State = IndexFile::State;
    if (answers_file_->state() == State::damaged)
        console_.note("what was kept of answers about this core is damaged (" + answers_file_->why() +
                      "): it is made anew");
    answers_file_->remember_checked();
    const std::vector<PartWriter> found = answers_.take_found();
    if (found.empty()) return;
    // Who reads the old file keeps it: it only loses its name.
    if (KeptAnswers::is_full(*answers_file_, found.size())) {
        ::unlink(answers_file_->path().c_str());
        answers_file_ = std::make_unique<IndexFile>(answers_file_->path(), index_key_);
        answers_ = KeptAnswers(answers_file_.get());
    }
    keep_in_index(*answers_file_, found, unpacked());  // if there is no room for it, it is found anew
}

IndexThere Session::write_index() {
    const std::string why = keep_index();
    const auto there = index_there();
    if (!why.empty() || !there)
        throw cannot_analyse("index-not-written", why.empty() ? "the index could not be written" : why);
    return *there;
}

std::optional<IndexThere> Session::index_there() const {
    return index_ ? heapsift::index_there(index_->path(), index_key_, unpacked()) : std::nullopt;
}

CoreFile Session::open_core() {
    CoreFile core = read_core();
    if (!live_) next_command_knows_ = remember_core(*choice_, wishes_, store_);
    return core;
}

/// How many objects there are is not known yet: nothing is refused here.
void Session::make_room_for_objects(const CoreFile& core) {
    if (index_ && has_columns(*index_, {})) return;
    const MemoryRoom room = memory_room(options_.memory, index_directory(options_.index_dir));
    if (use_of(room, memory_to_find_objects(core.extent().in_core_bytes)) == MemoryFit::in_files)
        keep_large_blocks_in(room.folder);
}

void Session::make_room(std::uint64_t objects, std::uint64_t blocks, MemoryNeed need) {
    const std::string folder = index_directory(options_.index_dir);
    const std::uint64_t needed = memory_for(objects, blocks, need),
                        found = memory_for(objects, 0, MemoryNeed::found);
    const MemoryRoom room =
        memory_room(options_.memory, folder, found - std::min(found, large_block_bytes()));
    const std::uint64_t least = memory_for(objects, 0, MemoryNeed::objects);
    // A directory that the redactor knows takes a number: an answer that follows must not depend on it.
    const auto refuse = [&] {
        redactor_.know_directory(folder);
        refuse_for_memory(room, needed, least);
    };
    switch (use_of(room, needed)) {
        case MemoryFit::in_memory:
            keep_large_blocks_in_memory();
            return;
        case MemoryFit::in_files:
            if (!keep_large_blocks_in(folder)) refuse();
            if_disk_is_full(WithoutRoom::fail);
            console_.note(in_files_note(room, needed, redactor_.active() ? "files" : folder));
            return;
        case MemoryFit::too_much:
            refuse();
    }
}

CoreHeap Session::open_heap() {
    set_threads(options_.jobs.value_or(available_processors()));
    CoreFile core = read_core();
    open_index(core);
    make_room_for_objects(core);
    progress_.set_core_bytes(core.extent().in_core_bytes);
    CoreHeap heap = CoreHeap::open(std::move(core), diagnostics_, progress(), index_.get(),
                                   choice().search.runtime.value_or(0));
    const PythonRuntime& python = heap.snapshot().python;
    know_core(heap.core(), &python);
    if (!live_) next_command_knows_ = remember_core(*choice_, wishes_, store_);
    if (options_.verbose) {
        console_.note("interpreter found by " + python.found_by);
        console_.note("layout: " + python.layout_source);
    }
    return heap;
}

void Session::note_references(const HeapReader& heap, ObjectId object) {
    const HeapSnapshot& columns = heap.snapshot();
    const ReferenceGraph& references = *columns.references;
    if (const auto& first = references.first_dangling()) {
        // What was overwritten may be eight bytes of a value.
        const std::string target = redactor_.active() ? "" : ", to " + hexadecimal(first->target.value);
        diagnostics_.add(
            "references-dangling",
            fmt::format("{} to what is no object: something was overwritten ({}from {}, a {}{})",
                        counted(references.dangling(), "reference leads", "references lead"),
                        references.dangling() > 1 ? "the first " : "",
                        hexadecimal(columns.address_of(first->source).value),
                        escape_for_terminal(type_name(columns.types, columns.type_of(first->source))),
                        target),
            Severity::damage);
    }
    if (object != no_object && heap.facts(object).damaged)
        diagnostics_.add("object-damaged",
                         fmt::format("the object at {} does not read: only what can be there is shown",
                                     hexadecimal(columns.address_of(object).value)),
                         Severity::damage);
    if (!options_.verbose) return;
    if (const auto& read = columns.traversed->counts(); read.learned + read.emulated + read.failed > 0)
        console_.note(fmt::format(
            "read off their types' own code: {} of {} by a plan, {} of {} by emulation; "
            "it failed for {} of {}",
            counted(read.learned, "object"), counted(read.learned_types, "type"), grouped(read.emulated),
            counted(read.emulated_types, "type"), grouped(read.failed), counted(read.failed_types, "type")));
    const GuessCounts& guesses = references.guesses();
    console_.note(
        fmt::format("references of {} are known exactly, of {} guessed: {} words proved by reference counts, "
                    "{} possible, "
                    "{} refused",
                    counted(columns.object_count() - guesses.objects, "object"), grouped(guesses.objects),
                    grouped(guesses.proved), grouped(guesses.allowed), grouped(guesses.refused)));
}

std::string unused_executable(const std::vector<Module>& modules, const std::string& path) {
    const bool told = path.empty() || std::any_of(modules.begin(), modules.end(), [&](const Module& module) {
                          return module.file == path && (module.file_state == ModuleFileState::found ||
                                                         module.file_state == ModuleFileState::unverified);
                      });
    return told ? std::string()
                : escape_for_terminal(path) +
                      " is not the program of this core (other build-id) and was not used";
}

Error Session::explained(const Error& error) const {
    const bool said = error.code() == "runtime-not-found";  // its message already says if the core is cut
    if (!cut_ || said || error.exit() != ExitCode::cannot_analyse) return error;
    const std::string cut = "the core is cut; what was looked for may be in the missing part";
    return {error.exit(), error.code(), error.message(),
            error.hint().empty() ? cut : error.hint() + "; " + cut};
}

void Session::note(std::string_view code, const std::string& message) {
    if (options_.format == Format::json)
        diagnostics_.add(code, message);
    else
        console_.note(message);
}

Page Session::page() const {
    Page page;
    const bool terminal = is_terminal(STDOUT_FILENO);
    page.width = terminal ? terminal_width(STDOUT_FILENO) : 0;
    page.height = terminal && !options_.limit ? terminal_height(STDOUT_FILENO) : 0;
    page.colour = use_colour(options_.colour, STDOUT_FILENO);
    page.exact_bytes = options_.exact_bytes;
    page.lower_bounds = cut_;
    page.redactor = &redactor_;
    if (live_)
        page.core_words = " " + shell_quoted(redactor_.path(live_->words()));
    else if (choice_ && !next_command_knows_)
        page.core_words = " " + shell_quoted(redactor_.path(choice_->path));
    return page;
}

Page Session::page_of_file() const {
    Page page = this->page();
    page.width = page.height = 0;
    page.colour = false;
    page.program = default_program_name;
    if (choice_ && !live_) page.core_words = " " + shell_quoted(base_name(redactor_.path(choice_->path)));
    return page;
}

Envelope Session::envelope(const std::string& command) const {
    return {command, core_, is_whole(), is_whole(), diagnostics_.all()};
}

Json Session::error_document(const std::string& command, const Error& error) const {
    Json document = head(command);
    document["data"] = nullptr;
    document["error"] = error_json(error, redactor_);
    return document;
}

void Session::refuse_csv(const std::string& what, const std::string& hint) const {
    if (options_.format == Format::csv)
        throw wrong_usage("not-a-table", fmt::format("--format csv is for tables; {} is not one", what),
                          hint);
}

void Session::finish() {
    progress_.clear();
    if (!parts_ && index_ && answers_file_) keep_answers();  // a session that goes on after the first time
    if (const std::string why = keep_index(); !why.empty()) console_.note(why);
    tell_copy();
}

void Session::include(const Session& one, const std::string& path) {
    for (Diagnostic diagnostic : one.diagnostics_.all()) {
        diagnostic.message = escape_for_terminal(base_name(path)) + ": " + diagnostic.message;
        diagnostics_.add(diagnostic);
    }
    cut_ = cut_ || one.cut_;
    core_was_read_ = core_was_read_ || one.core_was_read_;
}

ExitCode Session::write(const Document& document, const std::optional<Error>& error) {
    progress_.clear();
    enter("writing the answer");
    if (!document.rows || document.csv_columns.empty())
        refuse_csv("this answer of " + document.command, "use --json");
    number_values(document.data, redactor_);
    if (options_.format != Format::json)
        for (const Diagnostic& diagnostic : diagnostics_.all()) console_.warning(diagnostic);
    Output output;
    const auto write = [&](std::string_view text) { output.write(text); };
    switch (options_.format) {
        case Format::json: {
            Json head = this->head(document.command);
            head["certain"] = is_whole() && document.certain;
            if (error) head["error"] = error_json(*error, redactor_);
            write_json(head, document, redactor_, write);
            break;
        }
        case Format::text:
            write_text(document, page(), write);
            break;
        case Format::csv:
            write_csv(document, redactor_, write);
            break;
        case Format::jsonl:
            write_json_lines(document, redactor_, write);
            break;
    }
    return written(output, error);
}

ExitCode Session::written(Output& output, const std::optional<Error>& error) {
    output.flush();
    if (error) console_.error(*error);
    if (const std::string why = keep_index(); !why.empty()) console_.note(why);
    tell_copy();
    const ExitCode exit = error ? error->exit() : exit_code();
    if (end_) {
        tell_passes();
        end_(static_cast<int>(exit));
    }
    enter("giving memory back");
    return exit;
}

}  // namespace heapsift
