// What only CPython 2.7 has: classes that are no types, with their instances; files of C's stdio; buffer, xrange, and
// cStringIO's objects. (classobject.c, fileobject.c, bufferobject.c, rangeobject.c, cStringIO.c of 2.7)
//
// A class statement without a base, or with such classes as bases, makes an object of the type `classobj`, and all
// instances of all of these classes are of the type `instance`, with a dict.

#include "parsers/cpython/objects/fields.h"
#include "parsers/cpython/objects/kinds.h"
#include "parsers/cpython/old_classes.h"

namespace heapsift {

namespace {

ShortValue old_class_describe(const ObjectReader& object, std::size_t) {
    return {ShortValue::Kind::name, "<class '" + old_class_name(object.heap(), object.address()) + "'>", 0};
}

ShortValue old_instance_describe(const ObjectReader& object, std::size_t) {
    const Address of = object.pointer(object.layout().old_instance.in_class);
    return {ShortValue::Kind::name, "<" + old_class_name(object.heap(), of) + " instance>", 0};
}

/// What is read is a view of another object, a str mostly.
void string_input_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const Layout& l = object.layout();
    if (l.string_input.pbuf.present() && l.buffer.obj.present())
        visit.named(object.pointer_at(std::uint64_t{*l.string_input.pbuf} + *l.buffer.obj), ".<str>");
}

void string_output_buffers(const ObjectReader& object, BufferVisitor& visit) {
    const auto& l = object.layout().string_output;
    const auto room = object.integer<std::int64_t>(l.buf_size);
    if (const Address buffer = object.pointer(l.buf); !buffer.is_null() && room > 0)
        visit.visit(buffer, static_cast<std::uint64_t>(room), false);
}

constexpr const char* old_class_names[] = {"classobj"};
constexpr const char* old_instance_names[] = {"instance"};
constexpr const char* file_names[] = {"file"};
constexpr const char* buffer_names[] = {"buffer"};
constexpr const char* string_input_names[] = {"cStringIO.StringI"};
constexpr const char* string_output_names[] = {"cStringIO.StringO"};
constexpr const char* without_references_names[] = {"xrange", "PyCObject", "EncodingMap", "imp.NullImporter"};

constexpr ReferenceField<old_class_layout> old_class_fields[] = {
    {&old_class_layout::cl_bases, ".__bases__"},       {&old_class_layout::cl_dict, ".__dict__"},
    {&old_class_layout::cl_name, ".__name__"},         {&old_class_layout::cl_getattr, ".<__getattr__>"},
    {&old_class_layout::cl_setattr, ".<__setattr__>"}, {&old_class_layout::cl_delattr, ".<__delattr__>"}};
constexpr ReferenceField<old_instance_layout> old_instance_fields[] = {
    {&old_instance_layout::in_class, ".__class__"}, {&old_instance_layout::in_dict, ".__dict__"}};
constexpr ReferenceField<file_object_layout> file_fields[] = {{&file_object_layout::f_name, ".name"},
                                                              {&file_object_layout::f_mode, ".mode"},
                                                              {&file_object_layout::f_encoding, ".encoding"},
                                                              {&file_object_layout::f_errors, ".errors"}};
constexpr ReferenceField<buffer_object_layout> buffer_fields[] = {
    {&buffer_object_layout::b_base, ".<object>"}};

const ObjectKind kinds_of_2[] = {
    {.name = "old-style class",
     .type_names = old_class_names,
     .visit_references = visit_fields<&Layout::old_class, old_class_fields>,
     .describe = old_class_describe,
     .struct_size = struct_size<&Layout::old_class>},
    {.name = "old-style instance",
     .type_names = old_instance_names,
     .visit_references = visit_fields<&Layout::old_instance, old_instance_fields>,
     .describe = old_instance_describe,
     .struct_size = struct_size<&Layout::old_instance>},
    fields_kind<&Layout::file_object, file_fields>("file", file_names),
    fields_kind<&Layout::buffer_object, buffer_fields>("buffer", buffer_names),
    {.name = "StringI",
     .type_names = string_input_names,
     .visit_references = string_input_references,
     .struct_size = struct_size<&Layout::string_input>},
    {.name = "StringO",
     .type_names = string_output_names,
     .visit_buffers = string_output_buffers,
     .struct_size = struct_size<&Layout::string_output>},
    {.name = "without references", .type_names = without_references_names},
};

}  // namespace

std::span<const ObjectKind> old_kinds() { return kinds_of_2; }

}  // namespace heapsift
