// Whatever happens, a run ends with an exit code of the contract and at most one line that says why.

#include "cli/program.h"

#include "cli/complete/complete.h"
#include "cli/console.h"
#include "cli/invocation.h"
#include "cli/manual/write_manual.h"

#include <exception>
#include <new>
#include <optional>
#include <utility>

namespace heapsift {
namespace {

ExitCode run(Invocation& invocation) {
    try {
        return invocation.run();
    } catch (const Error& error) {
        return invocation.fail(error);
    } catch (const std::bad_alloc&) {
        return invocation.fail(
            cannot_analyse("out-of-memory", "there is not enough memory for this question",
                           "a machine with more memory, or a narrower question (-n, --type)"));
    } catch (const std::exception& error) {
        return invocation.fail(cannot_analyse("internal-error",
                                              std::string("something unexpected happened: ") + error.what(),
                                              "this is a mistake in heapsift; please report it"));
    }
}

/// What shells and the build ask, and no help mentions; nothing if it is a person's line.
std::optional<ExitCode> run_hidden(const std::vector<std::string>& arguments) {
    if (arguments.size() == 2 && arguments[0] == "__manual") {
        write_manual(arguments[1]);
        return ExitCode::answered;
    }
    if (arguments.empty() || arguments[0] != "__complete") return std::nullopt;
    Output output;
    output.write(complete({arguments.begin() + 1, arguments.end()}));
    output.flush();
    return ExitCode::answered;
}

}  // namespace

int run_program(std::vector<std::string> arguments, EndProcess end) {
    try {
        if (const auto hidden = run_hidden(arguments)) return static_cast<int>(*hidden);
        Invocation invocation(std::move(arguments), run_program, end);
        return static_cast<int>(run(invocation));
    } catch (const OutputClosed&) {
        return 0;
    } catch (const Error& error) {
        return static_cast<int>(error.exit());  // even the reason could not be written
    } catch (const std::exception&) {
        return 1;
    }
}

}  // namespace heapsift
