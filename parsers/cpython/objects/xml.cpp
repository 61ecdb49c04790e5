// ElementTree's elements, builders and parsers, and the parser of expat. (_elementtree.c, pyexpat.c)

#include "parsers/cpython/objects/kinds.h"
#include "parsers/cpython/objects/versioned_fields.h"

#include <algorithm>

namespace heapsift {

namespace {

constexpr std::uint64_t largest_xml_count = std::uint64_t{1} << 40;

struct ElementExtra {
    Address start;
    std::uint64_t length = 0;
    std::uint64_t external = 0;  // bytes of a separate array of children
};

ElementExtra element_extra(const ObjectReader& object) {
    const auto& l = object.layout().element_extra;
    ElementExtra extra;
    extra.start = object.pointer(object.layout().element.extra);
    if (extra.start.is_null()) return extra;
    // In 2.7 these are ints.
    const auto count = [&](LayoutOffset field) {
        const auto word = object.heap().integer<std::uint64_t>(extra.start + *field);
        return std::min(*l.allocated - *l.length < 8 ? word & 0xffffffff : word, largest_xml_count);
    };
    extra.length = count(l.length);
    if (object.heap().pointer(extra.start + *l.children) != extra.start + *l.inline_children)
        extra.external = 8 * count(l.allocated);
    return extra;
}

std::uint64_t element_size(const ObjectReader& object) {
    const ElementExtra extra = element_extra(object);
    return object.type().basicsize +
           (extra.start.is_null() ? 0 : *object.layout().element_extra.size + extra.external);
}

void element_buffers(const ObjectReader& object, BufferVisitor& visit) {
    const ElementExtra extra = element_extra(object);
    if (extra.start.is_null()) return;
    visit.visit(extra.start, *object.layout().element_extra.size, false);
    if (extra.external)
        visit.visit(object.heap().pointer(extra.start + *object.layout().element_extra.children),
                    extra.external, false);
}

void element_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const Layout& l = object.layout();
    visit.named(object.pointer(l.element.tag), ".tag");
    // The low bit of text and tail means that a list of strings is waiting to be joined.
    visit.named(Address(object.pointer(l.element.text).value & ~std::uint64_t{1}), ".text");
    visit.named(Address(object.pointer(l.element.tail).value & ~std::uint64_t{1}), ".tail");
    const ElementExtra extra = element_extra(object);
    if (extra.start.is_null()) return;
    visit.named(object.heap().pointer(extra.start + *l.element_extra.attrib), ".attrib");
    const Address children = object.heap().pointer(extra.start + *l.element_extra.children);
    const std::uint64_t count = object.readable_items(children, static_cast<std::int64_t>(extra.length));
    for (std::uint64_t i = 0; i < count; ++i) visit.indexed(object.heap().pointer(children + 8 * i), i);
}

void element_iterator_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const Layout& l = object.layout();
    const Address stack = object.pointer(l.element_iterator.parent_stack);
    const std::uint64_t step = *l.parent_locator.size;
    const auto used = std::clamp(object.integer<std::int64_t>(l.element_iterator.parent_stack_used),
                                 std::int64_t{0}, std::int64_t{1} << 40);
    const std::uint64_t there =
        object.readable_items(stack, used * static_cast<std::int64_t>(step / 8)) * 8 / step;
    for (std::uint64_t i = 0; i < there; ++i)
        visit.named(object.heap().pointer(stack + i * step + *l.parent_locator.parent), ".<parent>");
    visit.named(object.pointer(l.element_iterator.root_element), ".<root>");
    visit.named(object.pointer(l.element_iterator.sought_tag), ".<tag>");
}

// StartElementHandler and so on: as many as pyexpat.c has names for.
constexpr std::int64_t handler_count = 22;

void expat_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto& l = object.layout().expat_parser;
    const Address handlers = object.pointer(l.handlers);
    for (std::uint64_t i = 0; i < object.readable_items(handlers, handler_count); ++i)
        visit.named(object.heap().pointer(handlers + 8 * i), ".<handler>");
    visit.named(object.pointer(l.intern), ".intern", ReferenceKind::hidden);
    visit.named(object.pointer(l.parent), ".<parent>");
}

void expat_buffers(const ObjectReader& object, BufferVisitor& visit) {
    if (const Address handlers = object.pointer(object.layout().expat_parser.handlers); !handlers.is_null())
        visit.visit(handlers, 8 * handler_count, false);
}

constexpr const char* element_names[] = {"xml.etree.ElementTree.Element"};
constexpr const char* element_iterator_names[] = {"_elementtree._element_iterator"};
constexpr const char* expat_names[] = {"pyexpat.xmlparser"};

constexpr const char* tree_builder_names[] = {"xml.etree.ElementTree.TreeBuilder"};
constexpr const char* xml_parser_names[] = {"xml.etree.ElementTree.XMLParser"};

constexpr VersionedField<tree_builder_layout> tree_builder_fields[] = {
    {&tree_builder_layout::root, ".<root>"},
    {&tree_builder_layout::current, ".<current element>"},
    {&tree_builder_layout::last, ".<last element>"},
    {&tree_builder_layout::last_for_tail, ".<last element for a tail>"},
    {&tree_builder_layout::data, ".<data>"},
    {&tree_builder_layout::stack, ".<stack>"},
    {&tree_builder_layout::element_factory, ".<element factory>"},
    {&tree_builder_layout::comment_factory, ".<comment factory>"},
    {&tree_builder_layout::pi_factory, ".<processing instruction factory>"},
    {&tree_builder_layout::events_append, ".<append to events>"},
    {&tree_builder_layout::start_event, ".<start event>"},
    {&tree_builder_layout::end_event, ".<end event>"},
    {&tree_builder_layout::start_ns_event, ".<start-ns event>"},
    {&tree_builder_layout::end_ns_event, ".<end-ns event>"},
    {&tree_builder_layout::comment_event, ".<comment event>"},
    {&tree_builder_layout::pi_event, ".<pi event>"}};
constexpr VersionedField<xml_parser_layout> xml_parser_fields[] = {
    {&xml_parser_layout::target, ".target"},
    {&xml_parser_layout::entity, ".entity"},
    {&xml_parser_layout::names, ".<names>"},
    {&xml_parser_layout::handle_start_ns, ".<handle start ns>"},
    {&xml_parser_layout::handle_end_ns, ".<handle end ns>"},
    {&xml_parser_layout::handle_start, ".<handle start>"},
    {&xml_parser_layout::handle_data, ".<handle data>"},
    {&xml_parser_layout::handle_end, ".<handle end>"},
    {&xml_parser_layout::handle_comment, ".<handle comment>"},
    {&xml_parser_layout::handle_pi, ".<handle pi>"},
    {&xml_parser_layout::handle_doctype, ".<handle doctype>"},
    {&xml_parser_layout::handle_close, ".<handle close>"},
    {&xml_parser_layout::module, ".<module>", never}};

const ObjectKind kinds_of_xml[] = {
    {.name = "Element",
     .type_names = element_names,
     .size = element_size,
     .visit_buffers = element_buffers,
     .visit_references = element_references},
    {.name = "Element iterator",
     .type_names = element_iterator_names,
     .visit_references = element_iterator_references,
     .struct_size = struct_size<&Layout::element_iterator>},
    {.name = "expat parser",
     .type_names = expat_names,
     .visit_buffers = expat_buffers,
     .visit_references = expat_references,
     .struct_size = struct_size<&Layout::expat_parser>},
    versioned_kind<&Layout::tree_builder, tree_builder_fields>("TreeBuilder", tree_builder_names),
    versioned_kind<&Layout::xml_parser, xml_parser_fields>("XMLParser", xml_parser_names),
};

}  // namespace

std::span<const ObjectKind> xml_kinds() { return kinds_of_xml; }

}  // namespace heapsift
