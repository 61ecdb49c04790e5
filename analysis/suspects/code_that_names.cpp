// The line that must change is where the program fills what keeps the memory. A core does not say which line did,
// but each code object lists the globals and attributes that it uses (co_names: CPython, Objects/codeobject.c), so
// the few functions that name a holder can be told. What a mapping of a library has, app['cache'], is asked for by a
// constant (co_consts); what a function shares with those inside it, by a free variable of theirs. Whose a file is, its
// folder tells, as for groups (holding/groups.h).

#include "analysis/suspects/code_that_names.h"

#include "analysis/holding/groups.h"
#include "parsers/base/text.h"
#include "parsers/cpython/object_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

namespace heapsift {
namespace {

constexpr std::size_t longest_name = 200, longest_path = 1000, most_codes = 100'000;

/// Runs once for each instance, or once: what fills a container is elsewhere, if anything else names it.
bool runs_at_first(const SourcePlace& place) {
    const std::string& function = place.function;
    return place.is_body_of_module() || function == "__init__" || function.ends_with(".__init__") ||
           function.ends_with(".__new__");
}

/// The body of a class begins with `__module__ = __name__` and `__qualname__ = …`, and defines what it names.
bool is_body_of_class(const std::vector<std::string>& names) {
    return names.size() >= 3 && names[0] == "__name__" && names[1] == "__module__" &&
           names[2] == "__qualname__";
}

/// Whether a function is a method, or within one, of none of the classes. False if none is known.
bool is_in_another_class(const CodeThatNames::Code& code, const std::vector<ClassInSource>& classes) {
    const std::string& function = code.place.function;
    std::size_t end = function.find(".<locals>");
    if (end == std::string::npos) end = function.size();
    const std::size_t dot = function.rfind('.', end - std::min<std::size_t>(end, 1));
    if (classes.empty() || dot == std::string::npos) return false;
    return std::none_of(classes.begin(), classes.end(), [&](const ClassInSource& one) {
        return one.name == std::string_view(function).substr(0, dot) && may_be_same_file(one.file, code.path);
    });
}

/// Methods of Python's own containers and strings: nearly every function uses them, of whatever object.
bool is_method_of_everything(const std::string& name) {
    constexpr std::array<std::string_view, 20> names = {
        "items", "keys",  "values", "get",  "pop",   "append", "add",  "update", "clear",  "copy",
        "count", "index", "insert", "join", "split", "format", "sort", "remove", "extend", "setdefault"};
    return std::find(names.begin(), names.end(), name) != names.end();
}

void cut(CodePlaces& found, std::size_t most) {
    if (found.places.size() <= most) return;
    found.more += found.places.size() - most;
    found.places.resize(most);
    found.filling = std::min(found.filling, most);
}

/// By file and line, each once.
void put_in_order(CodePlaces& found, std::size_t most) {
    std::sort(found.places.begin(), found.places.end(), [](const SourcePlace& a, const SourcePlace& b) {
        return std::tie(a.file, a.line, a.function) < std::tie(b.file, b.line, b.function);
    });
    found.places.erase(std::unique(found.places.begin(), found.places.end()), found.places.end());
    cut(found, most);
}

/// Code objects of the program's own files; kept, or a look at each object's type would be most of a warm answer.
struct CodeOfProgram {
    std::vector<ObjectId> objects;
    std::vector<ObjectId> functions;  // up to 3.10, whose code does not know its qualified name

    std::size_t rows() const { return objects.size() + functions.size(); }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapReader& heap) {
        part.list(self.objects, [&](auto& object, Part& p) { kept_object(object, p, heap); });
        part.list(self.functions, [&](auto& object, Part& p) { kept_object(object, p, heap); });
    }
};

CodeOfProgram find_code(const HeapReader& heap) {
    const PythonHeap& python = heap.python_heap();
    const HeapSnapshot& columns = heap.snapshot();
    const std::string library = library_folder(*columns.roots);
    std::vector<bool> is_code, is_function;
    for (const TypeInfo& type : columns.types) {
        is_code.push_back(type.known == KnownType::code);
        is_function.push_back(type.known == KnownType::function);
    }
    const bool qualified = python.layout().code.co_qualname.present();
    CodeOfProgram found;
    for (ObjectId object{0}; object < columns.object_count() && found.objects.size() < most_codes; ++object) {
        const TypeId type = columns.type_of(object);
        if (type == no_type || !(is_code[type] || (is_function[type] && !qualified))) continue;
        const Address at = columns.address_of(object);
        const Address code = is_code[type] ? at : python.pointer(at + *python.layout().function.func_code);
        if (!is_code[type] && !python.types().is(python.type_of(code), KnownType::code)) continue;
        const Address file = python.pointer(code + *python.layout().code.co_filename);
        if (is_file_of_program(python.unicode_text(file, longest_path).value_or(""), library))
            (is_code[type] ? found.objects : found.functions).push_back(object);
    }
    if (found.functions.size() > most_codes) found.functions.resize(most_codes);
    return found;
}

/// Of functions, by their code. functools.wraps gives a function the name of another one: that is none.
std::map<Address, std::string> qualified_names(const HeapReader& heap,
                                               const std::vector<ObjectId>& functions) {
    std::map<Address, std::string> names;
    const PythonHeap& python = heap.python_heap();
    for (const ObjectId object : functions) {
        const Address function = heap.snapshot().address_of(object);
        const Address code = python.pointer(function + *python.layout().function.func_code);
        const std::string own = place_of_code(python, code).function;
        std::string name = place_of_function(python, function).function;
        if (last_name_of(name) == own) names.try_emplace(code, std::move(name));
    }
    return names;
}

}  // namespace

CodeThatNames::CodeThatNames(const HeapReader& heap, KeptAnswers* answers) : python_(heap.python_heap()) {
    const PythonHeap& python = python_;
    const auto& l = python.layout().code;
    if (!l.co_filename.present() || !l.co_names.present()) return;
    const CodeOfProgram kept =
        kept_answer(answers, KeptQuestion("code"), heap, [&] { return find_code(heap); });
    const std::map<Address, std::string> qualified = qualified_names(heap, kept.functions);
    for (const ObjectId object : kept.objects) {
        const Address code = heap.snapshot().address_of(object);
        Code found{code,
                   place_of_code(python, code),
                   python.unicode_text(python.pointer(code + *l.co_filename), longest_path).value_or(""),
                   {}};
        if (const auto name = qualified.find(code); name != qualified.end())
            found.place.function = name->second;
        const Address names = python.pointer(code + *l.co_names);
        if (!found.place.known() || !python.types().is(python.type_of(names), KnownType::tuple)) continue;
        const std::int64_t count = std::min(python.var_size(names), most_names);
        for (std::int64_t i = 0; i < count; ++i) {
            const Address name =
                python.pointer(names + *python.layout().tuple.ob_item + 8 * static_cast<std::uint64_t>(i));
            found.names.push_back(python.unicode_text(name, longest_name).value_or(""));
        }
        if (!is_body_of_class(found.names)) codes_.push_back(std::move(found));
    }
}

bool CodeThatNames::Code::runs_at_first() const { return heapsift::runs_at_first(place); }

std::string CodeThatNames::Code::own_name() const { return last_name_of(place.function); }

std::vector<Address> CodeThatNames::constants(const Code& code) const {
    const auto& l = python_.layout().code;
    std::vector<Address> found;
    const Address tuple = l.co_consts.present() ? python_.pointer(code.address + *l.co_consts) : Address();
    if (!python_.types().is(python_.type_of(tuple), KnownType::tuple)) return found;
    const auto count =
        static_cast<std::uint64_t>(std::clamp<std::int64_t>(python_.var_size(tuple), 0, most_names));
    for (std::uint64_t i = 0; i < count; ++i)
        found.push_back(python_.pointer(tuple + *python_.layout().tuple.ob_item + 8 * i));
    return found;
}

bool CodeThatNames::is_str(Address object, const std::string& text) const {
    return python_.types().is(python_.type_of(object), KnownType::str) &&
           python_.unicode_text(object, longest_name).value_or("") == text;
}

bool CodeThatNames::has_constant(const Code& code, const std::string& text) const {
    const std::vector<Address> all = constants(code);
    return std::any_of(all.begin(), all.end(), [&](Address one) { return is_str(one, text); });
}

bool CodeThatNames::has_comprehension(const Code& code) const {
    const auto& l = python_.layout().code;
    const std::vector<Address> all = constants(code);
    return std::any_of(all.begin(), all.end(), [&](Address one) {
        if (!python_.types().is(python_.type_of(one), KnownType::code)) return false;
        const std::string name = python_.unicode_text(python_.pointer(one + *l.co_name)).value_or("");
        return name == "<listcomp>" || name == "<dictcomp>" || name == "<setcomp>";
    });
}

bool CodeThatNames::has_free_variable(const Code& code, const NameInSource& name) const {
    const bool qualified = python_.layout().code.co_qualname.present();
    if (code.place.file != name.file || (qualified && !code.place.function.starts_with(name.within)))
        return false;
    const std::vector<std::string> variables = free_variables_of_code(python_, code.address);
    return std::find(variables.begin(), variables.end(), name.text) != variables.end();
}

bool CodeThatNames::uses(const Code& code, const NameInSource& name) const {
    switch (name.kind) {
        case NameInSource::Kind::name:
            return std::find(code.names.begin(), code.names.end(), name.text) != code.names.end();
        case NameInSource::Kind::key:
            return has_constant(code, name.text);
        case NameInSource::Kind::variable:
            return has_free_variable(code, name);
        case NameInSource::Kind::local:
            return code.address == name.code;
    }
    return false;
}

bool CodeThatNames::is_builtin(const std::string& name) const {
    const auto& interpreters = python_.runtime().interpreters;
    return std::any_of(interpreters.begin(), interpreters.end(), [&](const PythonInterpreter& interpreter) {
        return !interpreter.builtins.is_null() && !python_.dict_value(interpreter.builtins, name).is_null();
    });
}

std::optional<UsedByCode> CodeThatNames::place_in(const Code& code, const NameInSource& name) const {
    const auto numbered = [](const auto& all, auto&& is_it, UsedByCode::Table table) {
        const auto at = std::find_if(all.begin(), all.end(), is_it);
        return at == all.end()
                   ? std::nullopt
                   : std::optional(UsedByCode{table, static_cast<std::uint32_t>(at - all.begin())});
    };
    const auto is_text = [&](const std::string& text) { return text == name.text; };
    switch (name.kind) {
        case NameInSource::Kind::name:
            return numbered(code.names, is_text, UsedByCode::Table::names);
        case NameInSource::Kind::key:
            return numbered(
                constants(code), [&](Address one) { return is_str(one, name.text); },
                UsedByCode::Table::constants);
        case NameInSource::Kind::variable:
            return place_of_free_variable(code, name.text);
        case NameInSource::Kind::local:
            break;
    }
    return place_of_local(code, name.text);
}

std::optional<UsedByCode> CodeThatNames::place_of_local(const Code& code, const std::string& name) const {
    for (const auto& [table, names] :
         {std::pair(UsedByCode::Table::cells, cell_variables_of_code(python_, code.address)),
          std::pair(UsedByCode::Table::locals, local_variables_of_code(python_, code.address))})
        if (const auto at = std::find(names.begin(), names.end(), name); at != names.end())
            return UsedByCode{.table = table, .place = static_cast<std::uint32_t>(at - names.begin())};
    return std::nullopt;
}

// Free variables are the last of all names of local variables, up to 3.10 they come behind co_cellvars.
std::optional<UsedByCode> CodeThatNames::place_of_free_variable(const Code& code,
                                                                const std::string& name) const {
    const auto& l = python_.layout().code;
    const std::vector<std::string> free = free_variables_of_code(python_, code.address);
    const auto found = std::find(free.begin(), free.end(), name);
    const auto before = l.co_localsplusnames.present()
                            ? python_.var_size(python_.pointer(code.address + *l.co_localsplusnames)) -
                                  static_cast<std::int64_t>(free.size())
                        : l.co_cellvars.present()
                            ? python_.var_size(python_.pointer(code.address + *l.co_cellvars))
                            : std::int64_t{-1};
    if (found == free.end() || before < 0 || before > most_names) return std::nullopt;
    return UsedByCode{.table = UsedByCode::Table::cells,
                      .place = static_cast<std::uint32_t>(before + (found - free.begin()))};
}

CodeUse CodeThatNames::use_in(const Code& code, const NameInSource& name) const {
    auto place = place_in(code, name);
    if (!place) return {};
    place->called = !is_method_of_everything(name.text);
    if (is_in_another_class(code, name.of_classes)) {
        place->of_self = false;
        for (const char* self : {"self", "cls"})  // as inner functions and comprehensions have it
            if (const auto shared = place_of_free_variable(code, self)) place->self_cell = shared->place;
    }
    place->filled_within = name.filled_within;
    const std::vector<Address> all = constants(code);
    const auto none = std::find_if(all.begin(), all.end(), [&](Address one) {
        return python_.types().is(python_.type_of(one), KnownType::none);
    });
    if (none != all.end()) place->none_constant = static_cast<std::uint32_t>(none - all.begin());
    return use_of(python_, code.address, code.names, *place);
}

void CodeThatNames::add_places(const NameInSource& name, std::vector<Found>& found) const {
    constexpr std::size_t most_of_key = 8;  // by more, it is a word of the program, not the name of one thing
    if (name.text.empty()) return;
    const bool of_everything = name.kind == NameInSource::Kind::name && is_method_of_everything(name.text);
    const Operations* operations = operations_of(python_.layout().version);
    if (of_everything && !(operations && operations->tells_methods())) return;
    // co_names does not tell `pager.open` from `open`.
    const bool of_methods =
        name.kind == NameInSource::Kind::name && !name.of_class.empty() && is_builtin(name.text);
    const std::size_t before = found.size();
    for (const Code& code : codes_) {
        const bool is_method = !name.of_class.empty() &&
                               code.place.function.starts_with(name.of_class + ".") &&
                               (name.of_file.empty() || may_be_same_file(name.of_file, code.path));
        if (!uses(code, name) || (of_methods && !is_method)) continue;
        const auto is_one_of = [&](const std::vector<std::string>& all, const std::string& one) {
            return std::find(all.begin(), all.end(), one) != all.end();
        };
        const bool in_module =
            std::any_of(name.files.begin(), name.files.end(),
                        [&](const std::string& file) { return may_be_same_file(file, code.path); });
        const bool elsewhere =
            !name.files.empty() && !in_module &&
            std::none_of(name.modules.begin(), name.modules.end(),
                         [&](const auto& module) { return is_one_of(code.names, module); });
        const CodeUse use = use_in(code, name);
        const bool is_local = name.kind == NameInSource::Kind::local;
        const bool is_another = of_everything || is_local || is_in_another_class(code, name.of_classes);
        if (is_another && !(use.read && use.used)) continue;
        found.push_back({&code, use, is_method || in_module || is_local, elsewhere, is_local});
    }
    if (name.kind == NameInSource::Kind::key && found.size() - before > most_of_key) found.resize(before);
}

void CodeThatNames::add_places_of_givers(const NameInSource& name, std::size_t first,
                                         std::vector<Found>& found) const {
    std::set<std::string> givers;
    for (std::size_t i = first; i < found.size(); ++i)
        if (const std::string own = found[i].code->own_name(); found[i].use.gives && is_identifier(own) &&
                                                               !own.starts_with("__") &&
                                                               !is_method_of_everything(own))
            givers.insert(own);
    for (const std::string& giver : givers) {
        std::vector<Found> users;
        add_places({.text = giver, .filled_within = name.filled_within}, users);
        for (Found& user : users)
            if (user.use.adds()) found.push_back(std::move(user));
    }
}

CodePlaces CodeThatNames::that_call(const std::vector<std::string>& functions, const std::string& module,
                                    std::size_t most, const std::string& rather_without) const {
    const auto is_used = [](const Code& code, const std::string& name) {
        return std::find(code.names.begin(), code.names.end(), name) != code.names.end();
    };
    CodePlaces calls, with_other, uses;
    const auto take_earlier = [](std::optional<SourcePlace>& first, SourcePlace place, std::int32_t line) {
        if (line > 0) place.line = line;
        if (!first || place.line < first->line) first = std::move(place);
    };
    for (const Code& code : codes_) {
        if (!module.empty() && !is_used(code, module)) continue;
        std::optional<SourcePlace> called, used;
        for (const std::string& function : functions) {
            if (!is_used(code, function)) continue;
            const CodeUse use = use_in(code, {.text = function});
            take_earlier(used, code.place, use.line);
            if (use.called_line > 0) take_earlier(called, code.place, use.called_line);
        }
        const bool other = !rather_without.empty() && is_used(code, rather_without);
        if (called) (other ? with_other : calls).places.push_back(std::move(*called));
        if (used) uses.places.push_back(std::move(*used));
    }
    CodePlaces& found = !calls.places.empty() ? calls : !with_other.places.empty() ? with_other : uses;
    put_in_order(found, most);
    return std::move(found);
}

std::int32_t CodeThatNames::line_of_call(const Code& code, const std::string& name) const {
    if (std::find(code.names.begin(), code.names.end(), name) == code.names.end()) return 0;
    return use_in(code, {.text = name}).called_line;
}

std::vector<SourcePlace> CodeThatNames::callers_of(const NamesOfClass& called) const {
    CodePlaces found;
    for (const Code& code : codes_) {
        std::int32_t first = 0;
        for (const std::string& name : called.among(code.path, code.names))
            if (const std::int32_t line = line_of_call(code, name); line > 0 && (first == 0 || line < first))
                first = line;
        if (first == 0) continue;
        found.places.push_back(code.place);
        found.places.back().line = first;
    }
    put_in_order(found, found.places.size());
    return std::move(found.places);
}

CodePlaces CodeThatNames::in_order(std::vector<Found> found, bool bodies_count, std::size_t most) {
    const auto rank = [&](const Found& one) {
        if (one.elsewhere) return 3;
        if (one.code->place.is_body_of_module()) return bodies_count || one.use.adds() ? 0 : 2;
        return one.code->runs_at_first() && !one.use.adds() ? 1 : 0;
    };
    const auto place_of = [](const Found& one) {
        SourcePlace place = one.code->place;
        if (one.use.line > 0) place.line = one.use.line;
        return place;
    };
    const auto key = [&](const Found& one) {
        const SourcePlace place = place_of(one);
        const int likeliest_first = !one.use.adds() ? 2 : one.use.use == UseByCode::adds ? 0 : 1;
        return std::tuple(rank(one), likeliest_first, place.is_body_of_module(), one.code->runs_at_first(),
                          !one.own_name, place.file, place.line, place.function);
    };
    std::sort(found.begin(), found.end(), [&](const Found& a, const Found& b) { return key(a) < key(b); });
    CodePlaces once;
    std::set<const Code*> seen;
    std::set<SourcePlace> told;  // two functions made by one `def` are one place
    for (const Found& one : found) {
        if (rank(one) > rank(found.front())) break;
        if (!seen.insert(one.code).second) continue;
        SourcePlace place = place_of(one);
        if (!told.insert(place).second) continue;
        once.places.push_back(std::move(place));
        once.filling += one.use.adds();
    }
    once.sets = !found.empty() && found.front().is_local && found.front().use.use == UseByCode::stores;
    cut(once, most);
    return once;
}

CodePlaces CodeThatNames::of(const std::vector<NameInSource>& names, std::size_t most) const {
    std::vector<Found> found;
    bool nowhere = false;  // the last name that is asked for in any case is used
    for (const NameInSource& name : names) {
        if (name.only_else && !nowhere) continue;
        const std::size_t before = found.size();
        add_places(name, found);
        if (!name.only_else) nowhere = found.size() == before;
        add_places_of_givers(name, before, found);
    }
    return in_order(std::move(found), false, most);
}

CodePlaces CodeThatNames::that_set(const std::vector<NameInSource>& names, std::size_t most,
                                   bool at_first) const {
    std::vector<Found> found;
    for (const NameInSource& name : names) add_places(name, found);
    std::map<const Code*, SourcePlace> first;  // line of each function that sets one
    const auto makes_one = [&](const Code& code) {
        return std::any_of(names.begin(), names.end(), [&](const NameInSource& name) {
            return !name.of_class.empty() && line_of_call(code, last_name_of(name.of_class)) > 0;
        });
    };
    for (const Found& one : found) {
        const bool sets = one.use.used && (one.use.use == UseByCode::stores || one.use.adds());
        if (!sets || one.elsewhere) continue;
        if (!at_first && (one.code->runs_at_first() || makes_one(*one.code))) continue;
        SourcePlace place = one.code->place;
        if (one.use.line > 0) place.line = one.use.line;
        const auto [at, is_new] = first.try_emplace(one.code, place);
        if (!is_new && place.line < at->second.line) at->second = std::move(place);
    }
    CodePlaces result{.places = {}, .more = 0, .filling = 0, .sets = true};
    for (auto& [code, place] : first) result.places.push_back(std::move(place));
    put_in_order(result, most);
    return result;
}

CodePlaces CodeThatNames::that_make(const std::vector<std::string>& makers,
                                    const std::vector<std::string>& made_of, std::size_t most) const {
    const auto names_one_of_them = [&](const Code& code) {
        return made_of.empty() || std::any_of(made_of.begin(), made_of.end(), [&](const std::string& name) {
                   return std::find(code.names.begin(), code.names.end(), name) != code.names.end();
               });
    };
    std::vector<Found> found;
    for (const std::string& name : makers) add_places({.text = name}, found);
    std::erase_if(found, [&](const Found& one) {
        return (one.use.read && !one.use.used) || !names_one_of_them(*one.code);
    });
    return in_order(std::move(found), true, most);
}

}  // namespace heapsift
