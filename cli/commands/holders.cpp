// heapsift holders: who holds the memory, by owner and attribute.

#include "cli/commands/holders.h"

#include "cli/command_options.h"
#include "cli/help.h"
#include "cli/holders_question.h"
#include "parsers/base/program_name.h"

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
    declare.text("--type", options->type, "NAME", "only who holds instances of this type (* is any text)");
    declare.flag("--subclasses", options->subclasses, "with --type: its subclasses too");
    return [options](Session& session) {
        return answer_holders(session, "holders", options->type, options->subclasses);
    };
}

std::string holders_examples() {
    return examples_text({
        {command_line("holders"), "what holds most, and what else holds it"},
        {command_line("holders --type '*.Order'"), "who holds the instances of one type"},
        {command_line("retained --holder app.CACHE"), "what deleting one of them would free"},
    });
}

}  // namespace heapsift
