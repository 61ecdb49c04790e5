// The line that must change is where the program fills what keeps the memory. A core does not say which line did,
// but each code object lists the globals and attributes that it uses (co_names: CPython, Objects/codeobject.c), so
// the few functions that name a holder can be told. Whose a file is, its folder tells, as for groups (holding/groups.h).

#include "analysis/suspects/code_that_names.h"

#include "analysis/holding/groups.h"
#include "parsers/cpython/object_kind.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

namespace heapsift {
namespace {

constexpr std::int64_t most_names = 1000;
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

/// Methods of Python's own containers and strings: nearly every function uses them, of whatever object.
bool is_method_of_everything(const std::string& name) {
    constexpr std::array<std::string_view, 20> names = {
        "items", "keys",  "values", "get",  "pop",   "append", "add",  "update", "clear",  "copy",
        "count", "index", "insert", "join", "split", "format", "sort", "remove", "extend", "setdefault"};
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string name_in_source(const Scene& scene) {
    if (scene.holder().frame.size() + scene.holder().local.size() > 0) return {};
    const std::string& module = scene.root();
    const HeapSnapshot& columns = scene.heap().snapshot();
    for (std::size_t back = 0; const ReferenceStep* step = scene.step(back); ++back) {
        if (step->kind != ReferenceStep::Kind::attribute || step->nameless) continue;
        if (!scene.step(back + 1))  // the module's global, or thread-local
            return scene.is_module_of_program(module) || !scene.holder().thread_local_name.empty()
                       ? step->name
                       : std::string();
        const ObjectId owner = scene.owner(back);
        if (owner == no_object) continue;
        const TypeId as_class = columns.types.find(columns.address_of(owner));
        const TypeId type = as_class == no_type ? columns.type_of(owner) : as_class;
        if (scene.is_class_of_program(type)) return step->name;
    }
    return {};
}

namespace {

/// Code objects of the program's own files; kept, or a look at each object's type would be most of a warm answer.
struct CodeOfProgram {
    std::vector<ObjectId> objects;

    std::size_t rows() const { return objects.size(); }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapReader& heap) {
        part.list(self.objects, [&](auto& object, Part& p) { kept_object(object, p, heap); });
    }
};

CodeOfProgram find_code(const HeapReader& heap) {
    const PythonHeap& python = heap.python_heap();
    const HeapSnapshot& columns = heap.snapshot();
    const std::string library = library_folder(*columns.roots);
    std::vector<bool> is_code;
    for (const TypeInfo& type : columns.types) is_code.push_back(type.known == KnownType::code);
    CodeOfProgram found;
    for (ObjectId object{0}; object < columns.object_count() && found.objects.size() < most_codes; ++object) {
        const TypeId type = columns.type_of(object);
        if (type == no_type || !is_code[type]) continue;
        const Address file = python.pointer(columns.address_of(object) + *python.layout().code.co_filename);
        if (is_file_of_program(python.unicode_text(file, longest_path).value_or(""), library))
            found.objects.push_back(object);
    }
    return found;
}

}  // namespace

CodeThatNames::CodeThatNames(const HeapReader& heap, KeptAnswers* answers) {
    const PythonHeap& python = heap.python_heap();
    const auto& l = python.layout().code;
    if (!l.co_filename.present() || !l.co_names.present()) return;
    for (const ObjectId object :
         kept_answer(answers, KeptQuestion("code"), heap, [&] { return find_code(heap); }).objects) {
        const Address code = heap.snapshot().address_of(object);
        Code found{place_of_code(python, code), {}};
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

std::vector<SourcePlace> CodeThatNames::of(const std::string& name, std::size_t most,
                                           std::size_t& all) const {
    std::vector<SourcePlace> places;
    if (!name.empty() && !is_method_of_everything(name))
        for (const Code& code : codes_)
            if (std::find(code.names.begin(), code.names.end(), name) != code.names.end())
                places.push_back(code.place);
    std::sort(places.begin(), places.end(), [](const SourcePlace& a, const SourcePlace& b) {
        return std::tuple(runs_at_first(a), a.file, a.line, a.function) <
               std::tuple(runs_at_first(b), b.file, b.line, b.function);
    });
    places.erase(std::unique(places.begin(), places.end()), places.end());
    const auto first = std::find_if(places.begin(), places.end(), runs_at_first);
    if (first != places.begin()) places.erase(first, places.end());
    all = places.size();
    if (places.size() > most) places.resize(most);
    return places;
}

}  // namespace heapsift
