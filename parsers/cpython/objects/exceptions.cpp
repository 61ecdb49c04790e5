// Exceptions and tracebacks. Every exception starts with the same fields. Some builtin classes add fields
// (OSError's file names, StopIteration's value), which their Python subclasses inherit. (pyerrors.h,
// cpython/traceback.h)

#include "parsers/cpython/objects/fields.h"
#include "parsers/cpython/objects/kinds.h"

#include <fmt/format.h>

namespace heapsift {

namespace {

void exception_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto& l = object.layout().exception;
    visit.named(object.pointer(l.dict), ".__dict__");
    visit.named(object.pointer(l.args), ".args");
    visit.named(object.pointer(l.message), ".message");
    visit.named(object.pointer(l.notes), ".__notes__");
    visit.named(object.pointer(l.traceback), ".__traceback__");
    visit.named(object.pointer(l.context), ".__context__");
    visit.named(object.pointer(l.cause), ".__cause__");
}

bool exception_plausible(const ObjectReader& object) {
    const Address args = object.pointer(object.layout().exception.args);
    if (args.is_null()) return false;
    return object.heap().types().is(object.heap().type_of(args), KnownType::tuple);
}

void traceback_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().traceback.tb_next), ".tb_next");
    visit.named(object.pointer(object.layout().traceback.tb_frame), ".tb_frame");
}

ShortValue traceback_describe(const ObjectReader& object, std::size_t) {
    return {ShortValue::Kind::summary,
            fmt::format("line {}", object.integer<std::int32_t>(object.layout().traceback.tb_lineno)), 0};
}

/// An exception whose class adds fields in C.
template <auto Struct, const auto& Fields>
void own_references(const ObjectReader& object, ReferenceVisitor& visit) {
    exception_references(object, visit);
    visit_fields<Struct, Fields>(object, visit);
}

template <auto Struct, const auto& Fields>
constexpr ObjectKind own_kind(const char* name, std::span<const char* const> type_names) {
    return {.name = name,
            .type_names = type_names,
            .visit_references = own_references<Struct, Fields>,
            .plausible = exception_plausible,
            .struct_size = struct_size<Struct>};
}

constexpr const char* exception_names[] = {"BaseException"};
constexpr const char* traceback_names[] = {"traceback"};

constexpr const char* stop_iteration_names[] = {"StopIteration"};
constexpr const char* system_exit_names[] = {"SystemExit"};
constexpr const char* import_error_names[] = {"ImportError"};
constexpr const char* os_error_names[] = {"OSError"};
constexpr const char* syntax_error_names[] = {"SyntaxError"};
constexpr const char* unicode_error_names[] = {"UnicodeEncodeError", "UnicodeDecodeError",
                                               "UnicodeTranslateError"};
constexpr const char* name_error_names[] = {"NameError"};
constexpr const char* attribute_error_names[] = {"AttributeError"};
constexpr const char* exception_group_names[] = {"BaseExceptionGroup"};

constexpr ReferenceField<stop_iteration_layout> stop_iteration_fields[] = {
    {&stop_iteration_layout::value, ".value"}};
constexpr ReferenceField<system_exit_layout> system_exit_fields[] = {{&system_exit_layout::code, ".code"}};
constexpr ReferenceField<import_error_layout> import_error_fields[] = {
    {&import_error_layout::msg, ".msg"},
    {&import_error_layout::name, ".name"},
    {&import_error_layout::path, ".path"},
    {&import_error_layout::name_from, ".name_from"}};
constexpr ReferenceField<os_error_layout> os_error_fields[] = {{&os_error_layout::myerrno, ".errno"},
                                                               {&os_error_layout::strerror, ".strerror"},
                                                               {&os_error_layout::filename, ".filename"},
                                                               {&os_error_layout::filename2, ".filename2"}};
constexpr ReferenceField<syntax_error_layout> syntax_error_fields[] = {
    {&syntax_error_layout::msg, ".msg"},
    {&syntax_error_layout::filename, ".filename"},
    {&syntax_error_layout::lineno, ".lineno"},
    {&syntax_error_layout::offset, ".offset"},
    {&syntax_error_layout::end_lineno, ".end_lineno"},
    {&syntax_error_layout::end_offset, ".end_offset"},
    {&syntax_error_layout::text, ".text"},
    {&syntax_error_layout::print_file_and_line, ".print_file_and_line"},
    {&syntax_error_layout::metadata, ".<metadata>"}};
constexpr ReferenceField<unicode_error_layout> unicode_error_fields[] = {
    {&unicode_error_layout::encoding, ".encoding"},
    {&unicode_error_layout::object, ".object"},
    {&unicode_error_layout::reason, ".reason"}};
constexpr ReferenceField<name_error_layout> name_error_fields[] = {{&name_error_layout::name, ".name"}};
constexpr ReferenceField<attribute_error_layout> attribute_error_fields[] = {
    {&attribute_error_layout::obj, ".obj"}, {&attribute_error_layout::name, ".name"}};
constexpr ReferenceField<exception_group_layout> exception_group_fields[] = {
    {&exception_group_layout::msg, ".message"}, {&exception_group_layout::excs, ".exceptions"}};

const ObjectKind kinds_of_exceptions[] = {
    {.name = "exception",
     .type_names = exception_names,
     .visit_references = exception_references,
     .plausible = exception_plausible},
    {.name = "traceback",
     .type_names = traceback_names,
     .visit_references = traceback_references,
     .describe = traceback_describe},
    own_kind<&Layout::stop_iteration, stop_iteration_fields>("StopIteration", stop_iteration_names),
    own_kind<&Layout::system_exit, system_exit_fields>("SystemExit", system_exit_names),
    own_kind<&Layout::import_error, import_error_fields>("ImportError", import_error_names),
    own_kind<&Layout::os_error, os_error_fields>("OSError", os_error_names),
    own_kind<&Layout::syntax_error, syntax_error_fields>("SyntaxError", syntax_error_names),
    own_kind<&Layout::unicode_error, unicode_error_fields>("UnicodeError", unicode_error_names),
    own_kind<&Layout::name_error, name_error_fields>("NameError", name_error_names),
    own_kind<&Layout::attribute_error, attribute_error_fields>("AttributeError", attribute_error_names),
    own_kind<&Layout::exception_group, exception_group_fields>("ExceptionGroup", exception_group_names),
};

}  // namespace

std::span<const ObjectKind> exception_kinds() { return kinds_of_exceptions; }

}  // namespace heapsift
