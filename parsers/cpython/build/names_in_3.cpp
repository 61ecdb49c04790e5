#include "parsers/cpython/build/names_in_3.h"

#include <algorithm>
#include <iterator>

namespace heapsift {
namespace {

struct Renamed {
    std::string_view in_2, in_3;
};

// By the name in 2.7.
constexpr Renamed renamed[] = {
    {"Element", "xml.etree.ElementTree.Element"},
    {"bool", "bool of 2.7"},
    {"callable-iterator", "callable_iterator"},
    {"deque_iterator", "_collections._deque_iterator"},
    {"deque_reverse_iterator", "_collections._deque_reverse_iterator"},
    {"dictionary-itemiterator", "dict_itemiterator"},
    {"dictionary-keyiterator", "dict_keyiterator"},
    {"dictionary-valueiterator", "dict_valueiterator"},
    {"dictproxy", "mappingproxy"},
    {"instancemethod", "method"},
    {"int", "int of 2.7"},
    {"itertools.ifilter", "filter"},
    {"itertools.ifilterfalse", "itertools.filterfalse"},
    {"itertools.imap", "map"},
    {"itertools.izip", "zip"},
    {"itertools.izip_longest", "itertools.zip_longest"},
    {"itertools.tee", "itertools._tee"},
    {"itertools.tee_dataobject", "itertools._tee_dataobject"},
    {"listiterator", "list_iterator"},
    {"listreverseiterator", "list_reverseiterator"},
    {"long", "int"},
    {"rangeiterator", "range_iterator"},
    {"setiterator", "set_iterator"},
    {"str", "bytes"},
    {"thread._local", "_thread._local"},
    {"thread.lock", "_thread.lock"},
    {"tupleiterator", "tuple_iterator"},
    {"unicode", "unicode of 2.7"},
};

constexpr Renamed attributes[] = {
    {"func_closure", "__closure__"}, {"func_code", "__code__"}, {"func_defaults", "__defaults__"},
    {"func_dict", "__dict__"},       {"func_doc", "__doc__"},   {"func_globals", "__globals__"},
    {"func_name", "__name__"},       {"im_func", "__func__"},   {"im_self", "__self__"}};

constexpr std::string_view module_of_exceptions = "exceptions.";

}  // namespace

std::string_view name_in_3(const LayoutVersion& version, std::string_view tp_name) {
    if (!is_python_2(version)) return tp_name;
    if (tp_name.starts_with(module_of_exceptions)) return tp_name.substr(module_of_exceptions.size());
    const auto* const at =
        std::lower_bound(std::begin(renamed), std::end(renamed), tp_name,
                         [](const Renamed& row, std::string_view name) { return row.in_2 < name; });
    return at != std::end(renamed) && at->in_2 == tp_name ? at->in_3 : tp_name;
}

std::string_view attribute_in_3(const LayoutVersion& version, std::string_view name) {
    if (!is_python_2(version)) return {};
    for (const Renamed& row : attributes)
        if (row.in_2 == name) return row.in_3;
    return {};
}

}  // namespace heapsift
