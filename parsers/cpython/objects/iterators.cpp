// Iterators and views of the builtin types, and the awaitables of asynchronous generators. A range's iterator
// and those of a code object take no part in collection. (listobject.c, tupleobject.c, dictobject.c,
// setobject.c, unicodeobject.c, iterobject.c, enumobject.c, bltinmodule.c, genobject.c)

#include "parsers/cpython/build/quirks.h"
#include "parsers/cpython/objects/fields.h"
#include "parsers/cpython/objects/kinds.h"

namespace heapsift {

namespace {

void dict_view_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const FieldName name =
        dict_view_has_mapping(object.layout()) ? FieldName(".mapping") : FieldName(".<mapping>");
    visit.named(object.pointer(object.layout().dict_view.dv_dict), name);
}

constexpr const char* list_iterator_names[] = {"list_iterator"};
constexpr const char* list_reverse_iterator_names[] = {"list_reverseiterator"};
constexpr const char* tuple_iterator_names[] = {"tuple_iterator"};
constexpr const char* range_iterator_names[] = {"range_iterator"};
constexpr const char* long_range_iterator_names[] = {"longrange_iterator"};
constexpr const char* set_iterator_names[] = {"set_iterator"};
constexpr const char* str_iterator_names[] = {"str_iterator", "str_ascii_iterator"};
constexpr const char* bytes_iterator_names[] = {"bytes_iterator"};
constexpr const char* bytearray_iterator_names[] = {"bytearray_iterator"};
constexpr const char* memory_iterator_names[] = {"memory_iterator"};
constexpr const char* dict_iterator_names[] = {"dict_keyiterator",          "dict_valueiterator",
                                               "dict_itemiterator",         "dict_reversekeyiterator",
                                               "dict_reversevalueiterator", "dict_reverseitemiterator"};
constexpr const char* dict_view_names[] = {"dict_keys",  "dict_values",  "dict_items",
                                           "odict_keys", "odict_values", "odict_items"};
constexpr const char* ordered_dict_iterator_names[] = {"odict_iterator"};
constexpr const char* deque_iterator_names[] = {
    "_collections._deque_iterator", "_collections._deque_reverse_iterator", "collections._deque_iterator",
    "collections._deque_reverse_iterator"};
constexpr const char* enumerate_names[] = {"enumerate"};
constexpr const char* reversed_names[] = {"reversed"};
constexpr const char* zip_names[] = {"zip"};
constexpr const char* map_names[] = {"map"};
constexpr const char* filter_names[] = {"filter"};
constexpr const char* sequence_iterator_names[] = {"iterator"};
constexpr const char* callable_iterator_names[] = {"callable_iterator"};
constexpr const char* generic_alias_iterator_names[] = {"generic_alias_iterator"};
constexpr const char* line_iterator_names[] = {"line_iterator"};
constexpr const char* positions_iterator_names[] = {"positions_iterator"};
constexpr const char* async_generator_asend_names[] = {"async_generator_asend"};
constexpr const char* async_generator_athrow_names[] = {"async_generator_athrow"};
constexpr const char* async_generator_wrapped_value_names[] = {"async_generator_wrapped_value"};
constexpr const char* coroutine_wrapper_names[] = {"coroutine_wrapper"};
constexpr const char* anext_awaitable_names[] = {"anext_awaitable"};

constexpr ReferenceField<list_iterator_layout> list_iterator_fields[] = {
    {&list_iterator_layout::it_seq, ".<sequence>"}};
constexpr ReferenceField<list_reverse_iterator_layout> list_reverse_iterator_fields[] = {
    {&list_reverse_iterator_layout::it_seq, ".<sequence>"}};
constexpr ReferenceField<tuple_iterator_layout> tuple_iterator_fields[] = {
    {&tuple_iterator_layout::it_seq, ".<sequence>"}};
constexpr ReferenceField<long_range_iterator_layout> long_range_iterator_fields[] = {
    {&long_range_iterator_layout::index, ".<index>"},
    {&long_range_iterator_layout::start, ".<start>"},
    {&long_range_iterator_layout::step, ".<step>"},
    {&long_range_iterator_layout::len, ".<length>"}};
constexpr ReferenceField<set_iterator_layout> set_iterator_fields[] = {
    {&set_iterator_layout::si_set, ".<set>"}};
constexpr ReferenceField<str_iterator_layout> str_iterator_fields[] = {
    {&str_iterator_layout::it_seq, ".<sequence>"}};
constexpr ReferenceField<bytes_iterator_layout> bytes_iterator_fields[] = {
    {&bytes_iterator_layout::it_seq, ".<sequence>"}};
constexpr ReferenceField<bytearray_iterator_layout> bytearray_iterator_fields[] = {
    {&bytearray_iterator_layout::it_seq, ".<sequence>"}};
constexpr ReferenceField<memory_iterator_layout> memory_iterator_fields[] = {
    {&memory_iterator_layout::it_seq, ".<sequence>"}};
constexpr ReferenceField<dict_iterator_layout> dict_iterator_fields[] = {
    {&dict_iterator_layout::di_dict, ".<dict>"}, {&dict_iterator_layout::di_result, ".<result>"}};
constexpr ReferenceField<ordered_dict_iterator_layout> ordered_dict_iterator_fields[] = {
    {&ordered_dict_iterator_layout::di_odict, ".<dict>"},
    {&ordered_dict_iterator_layout::di_current, ".<key>"},
    {&ordered_dict_iterator_layout::di_result, ".<result>"}};
constexpr ReferenceField<deque_iterator_layout> deque_iterator_fields[] = {
    {&deque_iterator_layout::deque, ".<deque>"}};
constexpr ReferenceField<enumerate_layout> enumerate_fields[] = {
    {&enumerate_layout::en_sit, ".<iterator>"},
    {&enumerate_layout::en_result, ".<result>"},
    {&enumerate_layout::en_longindex, ".<index>"}};
constexpr ReferenceField<reversed_layout> reversed_fields[] = {{&reversed_layout::seq, ".<sequence>"}};
constexpr ReferenceField<zip_layout> zip_fields[] = {{&zip_layout::ittuple, ".<iterators>"},
                                                     {&zip_layout::result, ".<result>"}};
constexpr ReferenceField<map_layout> map_fields[] = {{&map_layout::iters, ".<iterators>"},
                                                     {&map_layout::func, ".<function>"}};
constexpr ReferenceField<filter_layout> filter_fields[] = {{&filter_layout::it, ".<iterator>"},
                                                           {&filter_layout::func, ".<function>"}};
constexpr ReferenceField<sequence_iterator_layout> sequence_iterator_fields[] = {
    {&sequence_iterator_layout::it_seq, ".<sequence>"}};
constexpr ReferenceField<callable_iterator_layout> callable_iterator_fields[] = {
    {&callable_iterator_layout::it_callable, ".<callable>"},
    {&callable_iterator_layout::it_sentinel, ".<sentinel>"}};
constexpr ReferenceField<generic_alias_iterator_layout> generic_alias_iterator_fields[] = {
    {&generic_alias_iterator_layout::obj, ".<alias>"}};
constexpr ReferenceField<line_iterator_layout> line_iterator_fields[] = {
    {&line_iterator_layout::li_code, ".<code>"}};
constexpr ReferenceField<positions_iterator_layout> positions_iterator_fields[] = {
    {&positions_iterator_layout::pi_code, ".<code>"}};
constexpr ReferenceField<async_generator_asend_layout> async_generator_asend_fields[] = {
    {&async_generator_asend_layout::ags_gen, ".<generator>"},
    {&async_generator_asend_layout::ags_sendval, ".<value>"}};
constexpr ReferenceField<async_generator_athrow_layout> async_generator_athrow_fields[] = {
    {&async_generator_athrow_layout::agt_gen, ".<generator>"},
    {&async_generator_athrow_layout::agt_args, ".<arguments>"},
    {&async_generator_athrow_layout::agt_type, ".<exception type>"},
    {&async_generator_athrow_layout::agt_traceback, ".<traceback>"},
    {&async_generator_athrow_layout::agt_value, ".<exception>"}};
constexpr ReferenceField<async_generator_wrapped_value_layout> async_generator_wrapped_value_fields[] = {
    {&async_generator_wrapped_value_layout::agw_val, ".<value>"}};
constexpr ReferenceField<coroutine_wrapper_layout> coroutine_wrapper_fields[] = {
    {&coroutine_wrapper_layout::cw_coroutine, ".<coroutine>"}};
constexpr ReferenceField<anext_awaitable_layout> anext_awaitable_fields[] = {
    {&anext_awaitable_layout::wrapped, ".<awaitable>"},
    {&anext_awaitable_layout::default_value, ".<default>"}};

const ObjectKind kinds_of_iterators[] = {
    fields_kind<&Layout::list_iterator, list_iterator_fields>("list iterator", list_iterator_names),
    fields_kind<&Layout::list_reverse_iterator, list_reverse_iterator_fields>("reversed list iterator",
                                                                              list_reverse_iterator_names),
    fields_kind<&Layout::tuple_iterator, tuple_iterator_fields>("tuple iterator", tuple_iterator_names),
    {.name = "range iterator",
     .type_names = range_iterator_names,
     .struct_size = struct_size<&Layout::range_iterator>},
    fields_kind<&Layout::long_range_iterator, long_range_iterator_fields>("long range iterator",
                                                                          long_range_iterator_names),
    fields_kind<&Layout::set_iterator, set_iterator_fields>("set iterator", set_iterator_names),
    fields_kind<&Layout::str_iterator, str_iterator_fields>("str iterator", str_iterator_names),
    fields_kind<&Layout::bytes_iterator, bytes_iterator_fields>("bytes iterator", bytes_iterator_names),
    fields_kind<&Layout::bytearray_iterator, bytearray_iterator_fields>("bytearray iterator",
                                                                        bytearray_iterator_names),
    fields_kind<&Layout::memory_iterator, memory_iterator_fields>("memoryview iterator",
                                                                  memory_iterator_names),
    fields_kind<&Layout::dict_iterator, dict_iterator_fields>("dict iterator", dict_iterator_names),
    {.name = "dict view",
     .type_names = dict_view_names,
     .visit_references = dict_view_references,
     .struct_size = struct_size<&Layout::dict_view>},
    fields_kind<&Layout::ordered_dict_iterator, ordered_dict_iterator_fields>("OrderedDict iterator",
                                                                              ordered_dict_iterator_names),
    fields_kind<&Layout::deque_iterator, deque_iterator_fields>("deque iterator", deque_iterator_names),
    fields_kind<&Layout::enumerate, enumerate_fields>("enumerate", enumerate_names),
    fields_kind<&Layout::reversed, reversed_fields>("reversed", reversed_names),
    fields_kind<&Layout::zip, zip_fields>("zip", zip_names),
    fields_kind<&Layout::map, map_fields>("map", map_names),
    fields_kind<&Layout::filter, filter_fields>("filter", filter_names),
    fields_kind<&Layout::sequence_iterator, sequence_iterator_fields>("sequence iterator",
                                                                      sequence_iterator_names),
    fields_kind<&Layout::callable_iterator, callable_iterator_fields>("callable iterator",
                                                                      callable_iterator_names),
    fields_kind<&Layout::generic_alias_iterator, generic_alias_iterator_fields>("generic alias iterator",
                                                                                generic_alias_iterator_names),
    fields_kind<&Layout::line_iterator, line_iterator_fields>("line iterator", line_iterator_names),
    fields_kind<&Layout::positions_iterator, positions_iterator_fields>("positions iterator",
                                                                        positions_iterator_names),
    fields_kind<&Layout::async_generator_asend, async_generator_asend_fields>(
        "asynchronous generator's asend()", async_generator_asend_names),
    fields_kind<&Layout::async_generator_athrow, async_generator_athrow_fields>(
        "asynchronous generator's athrow()", async_generator_athrow_names),
    fields_kind<&Layout::async_generator_wrapped_value, async_generator_wrapped_value_fields>(
        "asynchronous generator's value", async_generator_wrapped_value_names),
    fields_kind<&Layout::coroutine_wrapper, coroutine_wrapper_fields>("coroutine wrapper",
                                                                      coroutine_wrapper_names),
    fields_kind<&Layout::anext_awaitable, anext_awaitable_fields>("anext() with a default",
                                                                  anext_awaitable_names),
};

}  // namespace

std::span<const ObjectKind> iterator_kinds() { return kinds_of_iterators; }

}  // namespace heapsift
