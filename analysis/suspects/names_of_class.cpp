// A code object says which names it uses, not whose. Which global a name is, the dict of its module tells; and of an
// attribute, the module or class that it may be taken of. A local variable, `cls`, a value out of a dict are no names.

#include "analysis/suspects/names_of_class.h"

#include "analysis/suspects/class_in_source.h"
#include "parsers/base/text.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::size_t longest_global = 200;

bool is_one_of_names(const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

std::string last_name_of(const std::string& qualified) { return qualified.substr(qualified.rfind('.') + 1); }

bool may_be_same_file(const std::string& a, const std::string& b) {
    return a.starts_with('/') && b.starts_with('/') ? a == b : base_name(a) == base_name(b);
}

NamesOfClass::NamesOfClass(const HeapReader& heap, TypeId type)
    : heap_(heap),
      type_(heap.snapshot().types[type].address),
      last_name_(last_name_of(heap.snapshot().types[type].name)) {
    const PythonHeap& python = heap.python_heap();
    const RootSet& roots = *heap.snapshot().roots;
    for (const LoadedModule& module : roots.modules()) {
        if (module.dict.is_null() || !is_of_program(roots, module)) continue;
        Module found{module.name, module.file, module.dict, {}};
        python.visit_dict(module.dict, [&](Address key, Address value) {
            if (value == type_)
                found.globals.push_back(python.unicode_text(key, longest_global).value_or(""));
        });
        std::erase(found.globals, "");
        modules_.push_back(std::move(found));
    }
}

bool NamesOfClass::is_attribute_of(Address owner) const {
    const PythonHeap& python = heap_.python_heap();
    const TypeTable& types = python.types();
    const Address dict = types.find(owner) != no_type ? python.type_dict(owner)
                         : types.is(python.type_of(owner), KnownType::module)
                             ? python.pointer(owner + *python.layout().module.md_dict)
                             : Address();
    return !dict.is_null() && python.dict_value(dict, last_name_) == type_;
}

std::vector<std::string> NamesOfClass::among(const std::string& path,
                                             const std::vector<std::string>& names) const {
    std::vector<std::string> found;
    const bool may_be_attribute = is_one_of_names(names, last_name_);
    for (const Module& module : modules_) {
        const bool is_its_module = module.file.empty() ? path.starts_with('<')  // python -c
                                                       : may_be_same_file(module.file, path);
        if (!is_its_module) continue;
        for (const std::string& global : module.globals)
            if (is_one_of_names(names, global) && !is_one_of_names(found, global)) found.push_back(global);
        if (!may_be_attribute || is_one_of_names(found, last_name_)) continue;
        const auto leads_there = [&](const std::string& name) {
            const Address value = heap_.python_heap().dict_value(module.dict, name);
            return !value.is_null() && is_attribute_of(value);
        };
        const bool is_part_of_package =
            std::any_of(modules_.begin(), modules_.end(), [&](const Module& other) {
                return is_one_of_names(names, last_name_of(other.name)) &&
                       is_one_of_names(other.globals, last_name_);
            });  // shop.orders.Order
        if (is_part_of_package || std::any_of(names.begin(), names.end(), leads_there))
            found.push_back(last_name_);
    }
    return found;
}

}  // namespace heapsift
