// heapsift doctor: what the core holds and lacks. It also answers, as far as it can, about a core in which no
// interpreter was found: which files are missing is what helps then.

#include "cli/commands/doctor.h"

#include "analysis/doctor.h"
#include "cli/command_options.h"
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
    return session.write(render_missing(missing, session.redactor()));
}

ExitCode run_doctor(Session& session, const DoctorOptions& options) {
    if (options.missing) return write_missing(session);
    std::optional<HeapReader> heap;
    std::optional<Error> reason;
    try {
        heap = session.open_heap();
    } catch (const Error& error) {
        if (error.exit() != ExitCode::cannot_analyse || !session.core_was_read()) throw;
        reason = error;
    }
    if (heap) {
        const DoctorResult result = doctor(*heap, session.progress());
        note_damaged_objects(result.damaged_objects, session.diagnostics());
        session.note_references(*heap);
        return session.write(render_doctor(result, session.redactor()));
    }
    session.diagnostics() = Diagnostics();  // the core is opened again, and would say the same again
    const CoreFile core = session.open_core();
    const DoctorResult result = doctor(core);
    return session.write(render_doctor(result, session.redactor()), reason);
}

}  // namespace

CommandRunner setup_doctor(CommandOptions& declare) {
    auto options = std::make_shared<DoctorOptions>();
    declare.flag("--missing", options->missing, "print only the program files not found, one path per line");
    return [options](Session& session) { return run_doctor(session, *options); };
}

}  // namespace heapsift
