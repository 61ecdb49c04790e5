// An expression may begin in several ways (json.decoder: a module, or an attribute of the module json), and a
// name may fit several references. So all of them are followed, step by step, in the order of the text; what
// is left at its end is the answer.

#include "analysis/expression.h"

#include "analysis/expression_roots.h"
#include "analysis/expression_steps.h"
#include "analysis/object_row.h"
#include "analysis/steps.h"
#include "parsers/base/text.h"

#include <algorithm>
#include <map>
#include <set>

namespace heapsift {
namespace {

constexpr std::size_t most_near = 3, most_candidates = 20000;

std::string without_quotes(std::string text) {
    std::erase_if(text, [](char c) { return c == '\'' || c == '"'; });
    return text;
}

class Evaluation {
public:
    Evaluation(const HeapReader& heap, std::string_view text)
        : heap_(heap),
          python_(heap.python_heap()),
          steps_(heap, python_),
          roots_(heap, python_, steps_),
          text_(text) {}

    ExpressionFinding run() {
        for (const auto& roots : {roots_.named(text_), roots_.builtins(text_)}) {
            follow(roots);
            if (!finding_.objects.empty() || !finding_.lost.empty()) return finding_;
        }
        explain();
        return finding_;
    }

private:
    void follow(const std::vector<ExpressionPlace>& roots) {
        std::map<std::size_t, std::set<ExpressionPlace>> waiting;  // by how much of the text is done
        for (const ExpressionPlace& root : roots) waiting[root.at].insert(root);
        while (!waiting.empty() && waiting.begin()->first < text_.size()) {
            const auto places = waiting.extract(waiting.begin());
            const std::size_t at = places.key();
            if (at > reached_) stopped_.clear();
            bool led_on = false;
            for (const ExpressionPlace& place : places.mapped())
                for (const ExpressionPlace& next : steps_.from(place, text_)) {
                    waiting[next.at].insert(next);
                    led_on = true;
                }
            if (led_on || at < reached_) continue;
            reached_ = at;
            stopped_.insert(places.mapped().begin(), places.mapped().end());
        }
        for (const auto& [at, places] : waiting)
            for (const ExpressionPlace& place : places) arrive(place);
        sort_answers();
    }

    void arrive(const ExpressionPlace& place) {
        if (place.object.is_null()) {
            finding_.is_frame = true;
            reached_ = place.at;
            stopped_ = {place};
        } else if (const ObjectId object = columns().find(place.object); object != no_object) {
            finding_.objects.push_back(object);
        } else {
            finding_.lost.push_back(place.object);
        }
    }

    void sort_answers() {
        auto& objects = finding_.objects;
        std::sort(objects.begin(), objects.end());
        objects.erase(std::unique(objects.begin(), objects.end()), objects.end());
        const auto name = [&](ObjectId object) -> std::string {
            return type_name(columns().types, columns().type_of(object));
        };
        std::stable_sort(objects.begin(), objects.end(),
                         [&](ObjectId a, ObjectId b) { return name(a) < name(b); });
    }

    void explain() {
        finding_.understood = without_blanks(text_.substr(0, reached_));
        const std::string_view rest = without_blanks(text_.substr(reached_));
        finding_.missing = first_step(rest);
        const std::string_view call = rest.substr(finding_.missing.size());
        if (stopped_.empty() && call.starts_with('(')) finding_.missing += first_step(call);
        std::vector<ReferenceStep> names;
        const auto keep = [&](const ReferenceStep& name) {
            if (names.size() < most_candidates) names.push_back(name);
        };
        for (const ExpressionPlace& place : stopped_) {
            if (const ObjectId object = columns().find(place.object); object != no_object)
                finding_.stopped_at.push_back(object);
            finding_.is_frame = finding_.is_frame || place.object.is_null();
            steps_.visit_names(place, keep);
        }
        if (stopped_.empty()) roots_.visit_names(keep);
        choose_near(names);
    }

    void choose_near(const std::vector<ReferenceStep>& names) {
        std::vector<std::string> texts;  // without quotes: shells remove them, people forget them
        for (const ReferenceStep& name : names) texts.push_back(without_quotes(notation(name)));
        const auto with_name = [&](const std::string& text) {
            return names[static_cast<std::size_t>(std::find(texts.begin(), texts.end(), text) -
                                                  texts.begin())];
        };
        std::set<std::string> unique;
        std::vector<std::string> candidates;
        for (const std::string& text : texts)
            if (unique.insert(text).second) candidates.push_back(text);
        const auto nearest = nearest_words(without_quotes(finding_.missing), candidates, most_near);
        finding_.near_is_guess = !nearest.empty();
        for (const std::string& text : nearest) finding_.near.push_back(with_name(text));
        if (!nearest.empty() || stopped_.empty()) return;
        for (const std::string& text : candidates) {
            if (finding_.near.size() == most_near) break;
            const bool alike = finding_.missing.empty() || text.front() == finding_.missing.front();
            if (alike && !is_dunder(with_name(text))) finding_.near.push_back(with_name(text));
        }
    }

    const HeapSnapshot& columns() const { return heap_.snapshot(); }

    const HeapReader& heap_;
    const PythonHeap& python_;
    const ExpressionSteps steps_;
    const ExpressionRoots roots_;
    std::string_view text_;
    std::size_t reached_ = 0;
    std::set<ExpressionPlace> stopped_;  // where nothing led on, furthest in the text
    ExpressionFinding finding_;
};

}  // namespace

ExpressionFinding find_expression(const HeapReader& heap, std::string_view text) {
    return Evaluation(heap, without_blanks(text)).run();
}

}  // namespace heapsift
