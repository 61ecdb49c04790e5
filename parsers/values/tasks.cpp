// Tasks and futures: whether they are done, with what, and where a coroutine stands.
//
// A future of C has its state behind the message it was cancelled with, up to 3.8 behind the traceback of where it
// was made; since 3.13 an exception lies between them
// (_asynciomodule.c). States are 0 pending, 1 cancelled, 2 finished. The futures of concurrent.futures and those
// written in Python have the same in attributes.

#include "parsers/base/text.h"
#include "parsers/cpython/threads.h"
#include "parsers/values/families.h"
#include "parsers/values/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace heapsift {

namespace {

constexpr const char* states[] = {"pending", "cancelled", "finished"};

/// What there is to say after the state: " result=3". Empty: nothing.
struct Outcome {
    std::string text;
    bool cut = false;
};

Outcome outcome_of(const Describing& of, Address result, Address exception) {
    Outcome outcome;
    const bool failed = !exception.is_null() && !is_none(of.heap(), exception);
    const Address what = failed ? exception : result;
    if (what.is_null()) return outcome;
    const ShortValue value = of.values.part(what, of.limit, of.depth + 1);
    outcome.text = (failed ? " exception=" : " result=") + value.text;
    outcome.cut = value.cut;
    return outcome;
}

template <class Fields>
const char* state_of(const Describing& of, const Fields& fields) {
    const LayoutOffset before = fields.cancel_message.present() ? fields.cancel_message : fields.source_tb;
    if (!before.present()) return nullptr;
    std::uint64_t at = *before + 8;
    for (const LayoutOffset between : {fields.cancelled, fields.awaited_by})
        if (between.present() && *between == at) at += 8;
    const auto state = of.heap().integer<std::uint32_t>(of.object.at(at));
    return state < std::size(states) ? states[state] : nullptr;
}

ShortValue with_outcome(std::string begin, const Outcome& outcome) {
    if (outcome.text.empty()) return {.kind = ShortValue::Kind::name, .text = begin + ">"};
    return {.kind = ShortValue::Kind::summary,
            .text = begin + outcome.text + ">",
            .cut = outcome.cut,
            .without_values = begin + ">"};
}

ShortValue future(const Describing& of) {
    const auto& l = of.object.layout().future;
    const char* const state = state_of(of, l);
    if (!state) return {};
    Outcome outcome;
    if (state == states[2])
        outcome = outcome_of(of, of.object.pointer(l.result), of.object.pointer(l.exception));
    return with_outcome(fmt::format("<{} {}", short_name(of.object.type().name), state), outcome);
}

/// Its name is a number until somebody asks for it (3.13).
std::string task_name(const PythonHeap& heap, Address name) {
    if (const auto number = int_value(heap, name)) return fmt::format("'Task-{}'", *number);
    const auto text = str_value(heap, name);
    return text ? quoted_str(*text) : "?";
}

/// "main() at app.py:23"
std::string coroutine_words(const PythonHeap& heap, Address coroutine) {
    const auto object = object_at(heap, coroutine);
    if (!object || !has_own_frame(object->type().known)) return {};
    const auto name = str_value(heap, object->pointer(heap.layout().generator.gi_qualname));
    if (!name) return {};
    std::string words = *name + "()";
    if (const auto frame = generator_frame(heap, coroutine); frame && frame->line > 0)
        words += fmt::format(" at {}:{}", base_name(frame->file), frame->line);
    return words;
}

ShortValue task(const Describing& of) {
    const auto& l = of.object.layout().task;
    const char* const state = state_of(of, l);
    if (!state) return {};
    const std::string type = short_name(of.object.type().name);
    const std::string coroutine = coroutine_words(of.heap(), of.object.pointer(l.coro));
    const std::string running = coroutine.empty() ? "" : " coro=<" + coroutine + ">";
    const std::string name =
        l.name.present() ? " name=" + task_name(of.heap(), of.object.pointer(l.name)) : std::string();  // 3.8
    Outcome outcome;
    if (state == states[2])
        outcome = outcome_of(of, of.object.pointer(l.result), of.object.pointer(l.exception));
    return {.kind = ShortValue::Kind::summary,
            .text = fmt::format("<{} {}{}{}{}>", type, state, name, running, outcome.text),
            .cut = outcome.cut,
            .without_values = fmt::format("<{} {}{}>", type, state, running)};
}

/// concurrent.futures, and asyncio without its C module.
ShortValue future_in_python(const Describing& of) {
    auto state = str_value(of.heap(), stored_attribute(of.object, "_state"));
    if (!state) return {};
    std::transform(state->begin(), state->end(), state->begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    Outcome outcome;
    if (*state == states[2])
        outcome =
            outcome_of(of, stored_attribute(of.object, "_result"), stored_attribute(of.object, "_exception"));
    return with_outcome(fmt::format("<{} {}", short_name(of.object.type().name), *state), outcome);
}

/// A coroutine or generator, with the line where it stands.
ShortValue coroutine(const Describing& of) {
    const std::string words = coroutine_words(of.heap(), of.object.address());
    if (words.empty() || words.find(" at ") == std::string::npos) return {};
    return {.kind = ShortValue::Kind::name, .text = fmt::format("<{} {}>", of.object.type().name, words)};
}

constexpr ValueRow task_rows[] = {{"_asyncio.Future", future},
                                  {"_asyncio.Task", task},
                                  {"asyncio.futures.Future", future_in_python, false},
                                  {"concurrent.futures._base.Future", future_in_python, false},
                                  {"coroutine", coroutine},
                                  {"generator", coroutine},
                                  {"async_generator", coroutine}};

}  // namespace

std::span<const ValueRow> task_values() { return task_rows; }

}  // namespace heapsift
