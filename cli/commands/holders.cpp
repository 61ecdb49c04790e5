// heapsift holders: who holds the memory, by owner and attribute.

#include "cli/commands/holders.h"

#include "cli/command_options.h"
#include "cli/holders_question.h"

#include <memory>

namespace heapsift {
namespace {

struct HoldersOptions {
    std::string type;
    bool subclasses = false;
};

}  // namespace

CommandRunner setup_holders(CommandOptions& declare) {
    auto options = std::make_shared<HoldersOptions>();
    declare.text("--type", options->type, "NAME", "only who holds instances of this type (* is any text)",
                 ValueKind::type);
    declare.flag("--subclasses", options->subclasses, "with --type: its subclasses too");
    return [options](Session& session) {
        return answer_holders(session, "holders", options->type, options->subclasses);
    };
}

}  // namespace heapsift
