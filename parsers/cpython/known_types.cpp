#include "parsers/cpython/known_types.h"

#include <algorithm>
#include <iterator>

namespace heapsift {
namespace {

struct Row {
    std::string_view name;
    KnownType type;
};

// By name.
constexpr Row rows[] = {
    {"NoneType", KnownType::none},
    {"_ctypes.CType_Type", KnownType::ctypes_type},
    {"_thread._local", KnownType::thread_local_data},
    {"_thread._localdummy", KnownType::thread_local_dummy},
    {"array.array", KnownType::array_array},
    {"async_generator", KnownType::async_generator},
    {"bool", KnownType::boolean},
    {"bool of 2.7", KnownType::boolean},
    {"builtin_function_or_method", KnownType::builtin_function},
    {"bytearray", KnownType::bytearray},
    {"bytes", KnownType::bytes},
    {"cell", KnownType::cell},
    {"code", KnownType::code},
    {"collections.OrderedDict", KnownType::ordered_dict},
    {"collections.defaultdict", KnownType::default_dict},
    {"collections.deque", KnownType::deque},
    {"complex", KnownType::complex},
    {"coroutine", KnownType::coroutine},
    {"dict", KnownType::dict},
    {"ellipsis", KnownType::ellipsis},
    {"float", KnownType::floating},
    {"frame", KnownType::frame},
    {"frozenset", KnownType::frozen_set},
    {"function", KnownType::function},
    {"generator", KnownType::generator},
    {"int", KnownType::integer},
    {"int of 2.7", KnownType::integer},
    {"list", KnownType::list},
    {"mappingproxy", KnownType::mapping_proxy},
    {"memoryview", KnownType::memoryview},
    {"method", KnownType::method},
    {"method_descriptor", KnownType::method_descriptor},
    {"mmap.mmap", KnownType::mmap},
    {"module", KnownType::module},
    {"numpy.dtype", KnownType::numpy_dtype},
    {"set", KnownType::set},
    {"str", KnownType::str},
    {"traceback", KnownType::traceback},
    {"tuple", KnownType::tuple},
    {"unicode of 2.7", KnownType::str},
};

static_assert(std::is_sorted(std::begin(rows), std::end(rows),
                             [](const Row& a, const Row& b) { return a.name < b.name; }));

}  // namespace

KnownType known_type(std::string_view name) {
    const Row* at =
        std::lower_bound(std::begin(rows), std::end(rows), name,
                         [](const Row& row, std::string_view wanted) { return row.name < wanted; });
    return at != std::end(rows) && at->name == name ? at->type : KnownType::other;
}

}  // namespace heapsift
