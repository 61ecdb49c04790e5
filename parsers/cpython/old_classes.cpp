#include "parsers/cpython/old_classes.h"

#include "parsers/cpython/build/quirks.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace heapsift {
namespace {

constexpr std::size_t longest_class_name = 200;
constexpr std::size_t most_classes = 4096;  // looked at for one attribute
constexpr std::int64_t most_bases = 1024;

// frameobject.h, opcode.h of 2.7: what a frame has begun and not ended, each of three ints, the first of which says
// what it is.
constexpr std::int32_t most_blocks = 20, setup_loop = 120;
constexpr std::uint64_t block_size = 12;

bool is_old_class(const PythonHeap& heap, Address object) {
    const TypeId type = object.is_null() ? no_type : heap.type_of(object);
    return type != no_type && heap.types()[type].name == "classobj";
}

bool needs_finalizing(const PythonHeap& heap, Address generator) {
    const Layout& l = heap.layout();
    if (!l.frame.f_iblock.present() || !l.frame.f_blockstack.present() || !l.frame.f_stacktop.present())
        return false;
    const Address frame = heap.pointer(generator + *l.generator.gi_frame);
    if (frame.is_null() || heap.pointer(frame + *l.frame.f_stacktop).is_null()) return false;
    const auto blocks = std::min(heap.integer<std::int32_t>(frame + *l.frame.f_iblock), most_blocks);
    for (std::int32_t i = 0; i < blocks; ++i)
        if (heap.integer<std::int32_t>(frame + *l.frame.f_blockstack +
                                       block_size * static_cast<std::uint64_t>(i)) != setup_loop)
            return true;
    return false;
}

}  // namespace

std::string old_class_name(const PythonHeap& heap, Address old_class) {
    if (!has_old_classes(heap.layout()) || !is_old_class(heap, old_class)) return "?";
    const auto& l = heap.layout().old_class;
    const std::string name =
        heap.unicode_text(heap.pointer(old_class + *l.cl_name), longest_class_name).value_or("?");
    const auto module =
        heap.unicode_text(heap.dict_value(heap.pointer(old_class + *l.cl_dict), "__module__"), longest_class_name);
    return module && *module != builtins_name(heap.layout()) ? *module + "." + name : name;
}

Address old_class_of(const PythonHeap& heap, Address object) {
    if (!has_old_classes(heap.layout())) return {};
    if (is_old_class(heap, object)) return object;
    const TypeId type = object.is_null() ? no_type : heap.type_of(object);
    if (type == no_type || heap.types()[type].name != "instance") return {};
    return heap.pointer(object + *heap.layout().old_instance.in_class);
}

Address old_class_attribute(const PythonHeap& heap, Address old_class, std::string_view name) {
    if (!has_old_classes(heap.layout())) return {};
    const auto& l = heap.layout().old_class;
    std::vector<Address> pending{old_class};  // the next one last
    for (std::size_t seen = 0; !pending.empty() && seen < most_classes; ++seen) {
        const Address at = pending.back();
        pending.pop_back();
        if (!is_old_class(heap, at)) continue;
        if (const Address found = heap.dict_value(heap.pointer(at + *l.cl_dict), name); !found.is_null())
            return found;
        const Address bases = heap.pointer(at + *l.cl_bases);
        if (!heap.types().is(heap.type_of(bases), KnownType::tuple)) continue;
        for (std::int64_t i = std::min(heap.var_size(bases), most_bases);
             i-- > 0 && pending.size() < most_classes;)
            pending.push_back(
                heap.pointer(bases + *heap.layout().tuple.ob_item + 8 * static_cast<std::uint64_t>(i)));
    }
    return {};
}

bool OldFinalizers::has(Address object, const TypeInfo& type) {
    if (!has_old_classes(heap_.layout())) return false;
    if (type.known == KnownType::generator) return needs_finalizing(heap_, object);
    if (type.name != "instance" || type.python_class) return false;
    const auto& l = heap_.layout().old_instance;
    const Address old_class = heap_.pointer(object + *l.in_class);
    const auto [at, is_new] = of_class_.try_emplace(old_class.value, false);
    if (is_new) at->second = !old_class_attribute(heap_, old_class, "__del__").is_null();
    return at->second || !heap_.dict_value(heap_.pointer(object + *l.in_dict), "__del__").is_null();
}

}  // namespace heapsift
