// Exceptions and tracebacks. Every exception starts with the same fields; what a class of its own adds in C (OSError's file
// names, StopIteration's value) is read by guess. (pyerrors.h, cpython/traceback.h)

#include "parsers/cpython/objects/kinds.h"

#include <fmt/format.h>

namespace heapsift {

namespace {

void exception_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto& l = object.layout().exception;
    visit.named(object.pointer(l.dict), ".__dict__");
    visit.named(object.pointer(l.args), ".args");
    visit.named(object.pointer(l.notes), ".__notes__");
    visit.named(object.pointer(l.traceback), ".__traceback__");
    visit.named(object.pointer(l.context), ".__context__");
    visit.named(object.pointer(l.cause), ".__cause__");
}

bool exception_plausible(const ObjectReader& object) {
    const Address args = object.pointer(object.layout().exception.args);
    if (args.is_null()) return false;
    const TypeId type = object.heap().type_of(args);
    return type != no_type && object.heap().types()[type].name == "tuple";
}

void traceback_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().traceback.tb_next), ".tb_next");
    visit.named(object.pointer(object.layout().traceback.tb_frame), ".tb_frame");
}

ShortValue traceback_describe(const ObjectReader& object, std::size_t) {
    return {ShortValue::Kind::summary, fmt::format("line {}", object.integer<std::int32_t>(object.layout().traceback.tb_lineno)),
            0};
}

constexpr const char* exception_names[] = {"BaseException"};
constexpr const char* traceback_names[] = {"traceback"};

}  // namespace

const ObjectKind exception_kind = {.name = "exception",
                                   .type_names = exception_names,
                                   .visit_references = exception_references,
                                   .plausible = exception_plausible};
const ObjectKind traceback_kind = {
    .name = "traceback", .type_names = traceback_names, .visit_references = traceback_references, .describe = traceback_describe};

}  // namespace heapsift
