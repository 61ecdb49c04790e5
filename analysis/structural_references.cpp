#include "analysis/structural_references.h"

#include "parsers/cpython/object_kind.h"

#include <algorithm>

namespace heapsift {

StructuralTargets::StructuralTargets(const HeapSnapshot& heap) : heap_(heap) {
    const PythonHeap python(heap.core().memory(), heap.python(), heap.types());
    const LayoutOffset md_dict = python.layout().module.md_dict;
    for (const PythonInterpreter& interpreter : heap.python().interpreters) {
        python.visit_dict(interpreter.modules, [&](Address, Address module) {
            const TypeId type = python.type_of(module);
            // Anything may be put into sys.modules; only a module is one.
            if (type == no_type || !heap.types()[type].kind || std::string_view(heap.types()[type].kind->name) != "module")
                return;
            modules_.push_back(module);
            modules_and_dicts_.push_back(module);
            if (const Address dict = md_dict.present() ? python.pointer(module + *md_dict) : Address(); !dict.is_null())
                modules_and_dicts_.push_back(dict);
        });
    }
    for (std::vector<Address>* sorted : {&modules_, &modules_and_dicts_}) {
        std::sort(sorted->begin(), sorted->end());
        sorted->erase(std::unique(sorted->begin(), sorted->end()), sorted->end());
    }
}

bool StructuralTargets::contains(Address target) const {
    if (std::binary_search(modules_and_dicts_.begin(), modules_and_dicts_.end(), target)) return true;
    const TypeId as_type = heap_.types().find(target);
    return as_type != no_type && !heap_.types()[as_type].heap_type;
}

}  // namespace heapsift
