// heapsift doctor: what the core holds and what it lacks. It also answers, as far as possible, for a core
// without a recognised interpreter: then the missing files are what helps.

#include "cli/commands/doctor.h"

#include "analysis/doctor.h"
#include "cli/command_options.h"
#include "cli/question.h"
#include "cli/render/doctor.h"
#include "cli/render/types.h"

#include <memory>
#include <optional>

namespace heapsift {
namespace {

struct DoctorOptions {
    bool missing = false;
};

ExitCode write_missing(Session& session) {
    const CoreFile core = session.open_core();
    const std::vector<std::string> missing = missing_files(core.modules());
    if (missing.empty()) session.note("none-missing", "no program file is missing");
    return session.write(render_missing(missing));
}

ExitCode run_doctor(Session& session, const DoctorOptions& options) {
    if (options.missing) return write_missing(session);
    std::optional<Question> question;
    std::optional<Error> reason;
    try {
        question.emplace(session, std::initializer_list<Need>{Need::references, Need::sizes});
    } catch (const Error& error) {
        if (error.exit() != ExitCode::cannot_analyse || !session.core_was_read()) throw;
        reason = error;
    }
    if (question) {
        const HeapReader& heap = question->filled();
        const DoctorResult result = doctor(heap, session.progress(), question->answers());
        note_damaged_objects(result.damaged_objects, session.diagnostics());
        session.note_references(heap);
        return session.write(render_doctor(result, session.index_there()));
    }
    session.diagnostics() = Diagnostics();  // opening the core again would report the same again
    const CoreFile core = session.open_core();
    const DoctorResult result = doctor(core);
    return session.write(render_doctor(result), reason);
}

}  // namespace

CommandRunner setup_doctor(CommandOptions& declare) {
    auto options = std::make_shared<DoctorOptions>();
    declare.flag("--missing", options->missing, "print only the program files not found, one path per line");
    return [options](Session& session) { return run_doctor(session, *options); };
}

}  // namespace heapsift
