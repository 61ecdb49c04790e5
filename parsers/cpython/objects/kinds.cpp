#include "parsers/cpython/objects/kinds.h"

#include <iterator>
#include <vector>

// The kinds of the interpreter and its standard library, one line for each kind or family.

namespace heapsift {

std::span<const ObjectKind* const> cpython_kinds() {
    static const ObjectKind* const single[] = {
        &int_kind,
        &bool_kind,
        &old_int_kind,
        &old_bool_kind,
        &float_kind,
        &complex_kind,
        &str_kind,
        &old_unicode_kind,
        &bytes_kind,
        &bytearray_kind,
        &list_kind,
        &tuple_kind,
        &dict_kind,
        &defaultdict_kind,
        &ordered_dict_kind,
        &set_kind,
        &function_kind,
        &code_kind,
        &frame_kind,
        &generator_kind,
        &type_kind,
        &module_kind,
        &module_definition_kind,
        &method_kind,
        &builtin_function_kind,
        &descriptor_kind,
        &method_wrapper_kind,
        &weakref_kind,
        &weakproxy_kind,
        &deque_kind,
        &memoryview_kind,
        &managed_buffer_kind,
        &array_kind,
        &struct_kind,
        &product_kind,
        &combinations_kind,
        &permutations_kind,
        &decimal_kind,
    };
    static const std::vector<const ObjectKind*> kinds = [] {
        std::vector<const ObjectKind*> all(std::begin(single), std::end(single));
        for (const auto family :
             {simple_kinds(), iterator_kinds(), exception_kinds(), functools_kinds(), itertools_kinds(),
              contextvars_kinds(), typing_kinds(), io_kinds(), thread_kinds(), asyncio_kinds(),
              text_module_kinds(), datetime_kinds(), xml_kinds(), pickle_kinds(), ctypes_kinds(),
              database_kinds(), system_module_kinds(), old_kinds()})
            for (const ObjectKind& kind : family) all.push_back(&kind);
        return all;
    }();
    return kinds;
}

}  // namespace heapsift
