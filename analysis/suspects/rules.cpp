#include "analysis/suspects/rules.h"

namespace heapsift {

Cause find_cause(const Scene& scene) {
    for (const auto family :
         {library_rules(), cache_rules(), error_rules(), queue_rules(), callback_rules(), place_rules()})
        for (const Rule& rule : family)
            if (auto cause = rule.find(scene)) {
                cause->kind = rule.kind;
                cause->general = cause->general || rule.general;
                cause->is_container = rule.is_container;
                return *std::move(cause);
            }
    return {.kind = "holder", .words = {}, .general = true, .fix = {}};
}

}  // namespace heapsift
