// The beginning of an expression is read in every possible way at once; readings that lead nowhere drop out
// as the steps are followed.

#include "analysis/expression_roots.h"

#include "analysis/object_row.h"
#include "parsers/cpython/build/quirks.h"

#include <algorithm>
#include <charconv>

namespace heapsift {
namespace {

std::optional<std::uint64_t> whole_number(std::string_view digits, int base) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return value;
}

/// Up to 3.10 a code object has only the last part of its name.
bool is_called(const PythonFrame& frame, std::string_view typed, bool qualified) {
    if (frame.name == typed) return true;
    if (frame.name.ends_with(typed) && frame.name[frame.name.size() - typed.size() - 1] == '.') return true;
    const std::size_t dot = typed.rfind('.');
    return !qualified && dot != std::string_view::npos && frame.name == typed.substr(dot + 1);
}

bool is_thread(const PythonThread& thread, const Literal& typed) {
    if (typed.kind == Literal::Kind::text) return thread.name == typed.text;
    const double number = as_double(typed);
    return typed.kind == Literal::Kind::integer &&
           (number == static_cast<double>(thread.thread_id) ||
            (thread.tid && number == static_cast<double>(*thread.tid)));
}

}  // namespace

const std::vector<PythonThread>& ExpressionRoots::threads() const {
    if (!threads_) threads_ = python_threads(heap_.core(), python_);
    return *threads_;
}

std::vector<ExpressionPlace> ExpressionRoots::named(std::string_view text) const {
    std::vector<ExpressionPlace> places;
    if (const std::size_t length = address_length(text); length > 0)
        if (const Address object = object_at(text.substr(0, length)); !object.is_null())
            places.push_back({length, object, nullptr, false});
    add_special(text, places);
    add_frames(text, 0, nullptr, places);
    add_modules(text, places);
    return places;
}

Address ExpressionRoots::object_at(std::string_view typed) const {
    std::vector<Address> readings;
    if (const std::size_t mark = typed.find("0x"); mark != std::string_view::npos) {
        std::string_view digits = typed.substr(mark + 2);
        digits = digits.substr(0, digits.find_first_not_of("0123456789abcdefABCDEF"));
        if (const auto value = whole_number(digits, 16)) readings.push_back(Address(*value));
    } else {
        for (const int base : {10, 16})
            if (const auto value = whole_number(typed.starts_with("0X") ? typed.substr(2) : typed, base))
                readings.push_back(Address(*value));
    }
    for (const Address reading : readings)
        if (columns().find(reading) != no_object) return reading;
    for (const Address reading : readings)
        if (const ObjectId object = heap_.locate(reading).object; object != no_object)
            return columns().address_of(object);
    return {};
}

// The first interpreter that knows a name is meant: subinterpreters have modules of the same names.
void ExpressionRoots::add_modules(std::string_view text, std::vector<ExpressionPlace>& places) const {
    const std::size_t before = places.size();
    for (const PythonInterpreter& interpreter : columns().python.interpreters) {
        for (std::size_t end = identifier_length(text); end > 0;) {
            const Address module = steps_.item(interpreter.modules, text_literal(text.substr(0, end)));
            if (!module.is_null()) places.push_back({end, module, nullptr, false});
            const std::size_t more =
                text.substr(end).starts_with('.') ? identifier_length(text.substr(end + 1)) : 0;
            end = more > 0 ? end + 1 + more : 0;
        }
        add_global(steps_.item(interpreter.modules, text_literal("__main__")), text, places);
        if (places.size() > before) return;
    }
}

void ExpressionRoots::add_global(Address module, std::string_view text,
                                 std::vector<ExpressionPlace>& places) const {
    const std::size_t length = identifier_length(text);
    if (module.is_null() || length == 0) return;
    const Address value =
        steps_.item(steps_.referent(module, Field::attributes), text_literal(text.substr(0, length)));
    if (!value.is_null()) places.push_back({length, value, nullptr, false});
}

std::vector<ExpressionPlace> ExpressionRoots::builtins(std::string_view text) const {
    std::vector<ExpressionPlace> places;
    for (const PythonInterpreter& interpreter : columns().python.interpreters)
        if (places.empty())
            add_global(steps_.item(interpreter.modules, text_literal(builtins_name(python_.layout()))), text,
                       places);
    return places;
}

void ExpressionRoots::add_frames(std::string_view text, std::size_t from, const Literal* thread,
                                 std::vector<ExpressionPlace>& places) const {
    const bool qualified = python_.layout().code.co_qualname.present();
    for (std::size_t at = text.find("()", from); at != std::string_view::npos; at = text.find("()", at + 1)) {
        const std::string_view name = text.substr(from, at - from);
        if (name.empty() || name.find_first_of("['\"(") != std::string_view::npos) return;
        for (const PythonThread& known : threads()) {
            if (thread && !is_thread(known, *thread)) continue;
            for (const PythonFrame& frame : known.frames)
                if (is_called(frame, name, qualified))
                    places.push_back({at + 2, frame.object, &frame, false});
        }
    }
}

// thread('MainThread').func(), threadlocal(0x…), generator(0x…)
void ExpressionRoots::add_special(std::string_view text, std::vector<ExpressionPlace>& places) const {
    const std::size_t word = identifier_length(text);
    const std::string_view what = text.substr(0, word);
    if (what != "thread" && what != "threadlocal" && what != "generator") return;
    const std::string_view rest = text.substr(word);
    const auto bracket = rest.starts_with('(') ? bracket_at_start(rest) : std::nullopt;
    if (!bracket || bracket->content.empty()) return;
    const std::size_t end = word + bracket->length;
    if (what == "thread") {
        auto name = whole_literal(bracket->content);
        if (!name) name = text_literal(bracket->content);
        if (text.substr(end).starts_with('.')) add_frames(text, end + 1, &*name, places);
        return;
    }
    const Address object =
        address_length(bracket->content) == bracket->content.size() ? object_at(bracket->content) : Address();
    if (object.is_null()) return;
    if (what == "threadlocal")
        add_thread_local(object, end, places);
    else
        add_generator(object, end, places);
}

// `local` is a dict of one thread's values, or the _thread._local, which has a dict for each thread that used
// it.
void ExpressionRoots::add_thread_local(Address local, std::size_t at,
                                       std::vector<ExpressionPlace>& places) const {
    const std::size_t before = places.size();
    if (const Address dicts = steps_.referent(local, Field::dicts_of_threads); !dicts.is_null())
        for (const Address dict : steps_.values(dicts))
            if (steps_.is_dict(dict)) places.push_back({at, dict, nullptr, true});
    if (places.size() == before) places.push_back({at, local, nullptr, steps_.is_dict(local)});
}

void ExpressionRoots::add_generator(Address generator, std::size_t at,
                                    std::vector<ExpressionPlace>& places) const {
    const ObjectId object = columns().find(generator);
    const PythonFrame* suspended = nullptr;
    if (const TypeId type = columns().type_of(object);
        type != no_type && has_own_frame(columns().types[type].known))
        if (auto frame = generator_frame(python_, generator))
            suspended =
                generator_frames_.emplace_back(std::make_unique<PythonFrame>(std::move(*frame))).get();
    places.push_back({at, generator, suspended, false});
}

void ExpressionRoots::visit_names(const NameVisitor& visit) const {
    for (const PythonInterpreter& interpreter : columns().python.interpreters) {
        const auto visit_text_keys = [&](Address dict) {
            python_.visit_dict(dict, [&](Address key, Address) {
                if (const auto name = python_.unicode_text(key, 200)) visit(named_step(*name));
            });
        };
        visit_text_keys(interpreter.modules);
        const Address main = steps_.item(interpreter.modules, text_literal("__main__"));
        if (!main.is_null()) visit_text_keys(steps_.referent(main, Field::attributes));
    }
    for (const PythonThread& thread : threads())
        for (const PythonFrame& frame : thread.frames) visit(named_step(frame.name + "()"));
}

}  // namespace heapsift
