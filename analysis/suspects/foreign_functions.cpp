// A function of a shared library that was used once is an attribute of its ctypes.CDLL: a _FuncPtr, by its name
// (CPython, Lib/ctypes/__init__.py, CDLL.__getattr__: 2.7 to 3.15). The program's code calls it by that name.

#include "analysis/suspects/foreign_functions.h"

#include "analysis/steps.h"
#include "parsers/base/text.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace heapsift {
namespace {

constexpr std::size_t most_functions = 256, longest_path_of_library = 1000;

struct ForeignFunction {
    std::string library;  // the base name of CDLL._name; "" of what the program is linked with: CDLL(None)
    std::string name;
};

class ForeignFunctions {
public:
    explicit ForeignFunctions(const HeapReader& heap) : heap_(heap) {
        const HeapSnapshot& columns = heap.snapshot();
        std::vector<bool> is_library;
        for (TypeId type{0}; type < columns.types.size(); ++type) {
            is_library.push_back(columns.types.derives_from_named(type, {"ctypes.CDLL"}));
            is_function_.push_back(
                columns.types.derives_from_named(type, {"_ctypes.CFuncPtr", "_ctypes.PyCFuncPtr"}));
        }
        for (ObjectId object{0}; object < columns.object_count(); ++object)
            if (const TypeId type = columns.type_of(object); type != no_type && is_library[type]) add(object);
    }

    std::vector<ForeignFunction> found;

private:
    void add(ObjectId library) {
        std::string name;
        std::vector<std::string> functions;
        const auto look_at = [&](const ReferenceStep& step, Address target) {
            if (step.kind != ReferenceStep::Kind::attribute || step.nameless) return;
            const ObjectId object = heap_.snapshot().find(target);
            const TypeId type = object == no_object ? no_type : heap_.snapshot().type_of(object);
            if (type != no_type && is_function_[type])
                functions.push_back(step.name);
            else if (step.name == "_name" &&
                     heap_.python_heap().types().is(heap_.python_heap().type_of(target), KnownType::str))
                name = heap_.python_heap().unicode_text(target, longest_path_of_library).value_or("");
        };
        heap_.visit_references(library, [&](const Reference& reference) {
            look_at(reference.step, reference.target);
            if (!reference.step.is(Field::attributes)) return;
            if (const ObjectId dict = heap_.snapshot().find(reference.target); dict != no_object)
                heap_.visit_references(dict, [&](const Reference& item) {
                    if (const auto step = as_attribute(item.step)) look_at(*step, item.target);
                });
        });
        for (std::string& function : functions)
            if (found.size() < most_functions)
                found.push_back({std::string(base_name(name)), std::move(function)});
    }

    const HeapReader& heap_;
    std::vector<bool> is_function_;  // by type
};

bool allocates(const std::string& name) {
    constexpr std::array<std::string_view, 13> names = {
        "malloc", "calloc",  "realloc", "reallocarray", "aligned_alloc", "memalign", "posix_memalign",
        "valloc", "pvalloc", "strdup",  "strndup",      "asprintf",      "mmap"};
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Of what the program is linked with, or of the C library itself.
bool is_c_library(const std::string& library) {
    constexpr std::array<std::string_view, 4> names = {"", "libc.so.6", "libm.so.6", "libpthread.so.0"};
    return std::find(names.begin(), names.end(), library) != names.end();
}

/// The name by which the program imports the extension module in that file, by its base name; "" if that is none.
std::string name_of_extension(const HeapReader& heap, const std::string& library) {
    for (const LoadedModule& module : heap.snapshot().roots->modules())
        if (!module.file.empty() && base_name(module.file) == library)
            return module.name.substr(module.name.rfind('.') + 1);
    return {};
}

}  // namespace

ForeignCalls foreign_calls(const HeapReader& heap, const CodeThatNames& code, const std::string& module,
                           std::size_t most) {
    const std::vector<ForeignFunction> all = ForeignFunctions(heap).found;
    const auto called = [&](auto&& is_wanted, const std::string& rather_without = {}) {
        std::set<std::string> names;
        for (const ForeignFunction& one : all)
            if (is_wanted(one)) names.insert(one.name);
        ForeignCalls calls;
        std::vector<std::string> sought;
        for (const std::string& name : names) {
            if (code.that_call({name}, {}, 1).places.empty()) continue;
            sought.push_back(name);
            calls.words += (calls.words.empty() ? "" : sought.size() == 2 ? " or " : ", ") + name + "()";
        }
        calls.in = code.that_call(sought, {}, most, rather_without);
        return calls;
    };
    if (!module.empty()) {
        const std::string library(base_name(module));
        ForeignCalls calls = called([&](const ForeignFunction& one) { return one.library == library; });
        if (!calls.in.places.empty()) return calls;
        const std::string name = name_of_extension(heap, library);
        return name.empty() ? ForeignCalls()
                            : ForeignCalls{"C code of " + name, code.of({{.text = name}}, most)};
    }
    ForeignCalls calls = called([](const ForeignFunction& one) { return allocates(one.name); }, "free");
    if (calls.in.places.empty())
        calls = called([](const ForeignFunction& one) { return !is_c_library(one.library); });
    return calls;
}

}  // namespace heapsift
