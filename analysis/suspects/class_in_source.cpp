#include "analysis/suspects/class_in_source.h"

#include "analysis/holding/groups.h"
#include "parsers/values/parts.h"

#include <string_view>
#include <utility>

namespace heapsift {

bool is_of_program(const RootSet& roots, const LoadedModule& module) {
    return module.name == "__main__" ||
           (!module.file.empty() && is_file_of_program(module.file, library_folder(roots)));
}

/// Its module is the longest part of its name that is one ("app.models" of "app.models.Order.Line").
std::optional<ClassInSource> class_in_source(const HeapReader& heap, TypeId type) {
    const HeapSnapshot& columns = heap.snapshot();
    if (type == no_type || !columns.types[type].python_class) return std::nullopt;
    const RootSet& roots = *columns.roots;
    const std::string& name = columns.types[type].name;
    for (std::size_t end = name.rfind('.'); end != std::string::npos && end > 0;
         end = name.rfind('.', end - 1))
        for (const LoadedModule& module : roots.modules())
            if (std::string_view(name).substr(0, end) == module.name)
                return is_of_program(roots, module)
                           ? std::optional(ClassInSource{name.substr(end + 1), module.file})
                           : std::nullopt;
    return std::nullopt;
}

std::vector<ClassInSource> classes_in_source(const HeapReader& heap, TypeId type) {
    std::vector<ClassInSource> classes;
    for (const TypeInfo* one : lookup_order(heap.python_heap(), heap.python_heap().types()[type]))
        if (auto found = class_in_source(heap, heap.python_heap().types().id_of(*one)))
            classes.push_back(std::move(*found));
    return classes;
}

}  // namespace heapsift
