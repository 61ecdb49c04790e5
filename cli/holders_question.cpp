#include "cli/holders_question.h"

#include "analysis/holders.h"
#include "cli/question.h"
#include "cli/render/holders.h"
#include "cli/type_option.h"

namespace heapsift {

ExitCode answer_holders(Session& session, const std::string& command, const std::string& type,
                        bool subclasses) {
    Question question(session, {Need::retained});
    std::vector<TypeId> types;
    if (!type.empty()) types = types_named(question.heap().snapshot(), type, subclasses);
    const HeapGraph& graph = question.graph();
    HoldersResult result = holders(graph, types, {}, session.options().rows(), session.progress(),
                                   question.answers(), &question.retained());
    session.note_references(question.heap());
    return session.write(render_holders(std::move(result), command, type));
}

}  // namespace heapsift
