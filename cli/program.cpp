// Whatever happens, a run ends with an exit code of the contract and at most one line that says why.

#include "cli/program.h"

#include "cli/invocation.h"

#include <exception>
#include <new>
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

}  // namespace

int run_program(std::vector<std::string> arguments, EndProcess end) {
    try {
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
