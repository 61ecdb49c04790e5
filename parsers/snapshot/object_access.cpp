// Sizes, values and references of one object. What a class adds comes from instance.cpp, the rest from the
// object's kind. What neither knows is guessed: aligned words of the body that point at something whose type
// is known.

#include "parsers/snapshot/object_access.h"

#include "parsers/base/text.h"
#include "parsers/cpython/build/collector.h"
#include "parsers/cpython/build/object_header.h"
#include "parsers/cpython/build/quirks.h"
#include "parsers/cpython/build/refcount.h"
#include "parsers/cpython/running_frames.h"
#include "parsers/cpython/type_flags.h"
#include "parsers/snapshot/nothing_reported.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace heapsift {

namespace {

constexpr std::uint64_t max_guessed_bytes = 1 << 20;
// mypyc (CPyTagged) keeps a small number in the word itself, shifted by one, and marks the address of an int.
constexpr std::uint64_t int_mark = 1;

// longest key in a name: a str, a tuple
constexpr std::size_t key_characters = 40, longest_tuple = 80, longest_key = 80;
constexpr std::int64_t most_key_items = 16;
constexpr int deepest_key = 4;

// structmember.h: T_OBJECT, T_OBJECT_EX
constexpr std::int32_t member_object = 6, member_object_ex = 16;
constexpr int most_members = 1024;
constexpr std::int64_t most_mro = 1024;

// By how much a size may exceed the blocks that were found: rounding, headers, a word or two in a buffer that
// is not known.
constexpr std::uint64_t unexplained_size = 4096;

struct SumBuffers : BufferVisitor {
    SumBuffers(const Allocations& a, const AddressSpace& m, PlaceVisitor* p)
        : allocations(a), core(m), places(p) {}
    void visit(Address start, std::uint64_t bytes, bool is_array) override {
        const Allocations::Held held = allocations.held(start, bytes);
        add(held, bytes);
        if (places)
            places->visit(start, bytes, held,
                          is_array ? PlaceVisitor::Role::array_data : PlaceVisitor::Role::buffer);
        if (!is_array) return;
        const std::uint64_t there = held.whole ? bytes : std::min(bytes, held.bytes);
        array_data += there;
        not_saved += there - core.saved_bytes(start, there);
    }
    void add(const Allocations::Held& held, std::uint64_t bytes) {
        memory += held.bytes;
        claimed += held.whole ? std::max(bytes, held.bytes) : held.bytes;
        whole = whole && held.whole;
        any = true;
    }
    const Allocations& allocations;
    const AddressSpace& core;
    PlaceVisitor* places;
    std::uint64_t memory = 0;
    std::uint64_t claimed = 0;
    std::uint64_t array_data = 0;
    std::uint64_t not_saved = 0;
    bool whole = true;
    bool any = false;
};

/// The bytes of its own block that belong to the object. The locals of a frame or generator lie beyond the
/// size that its type declares; in a malloc block nobody else can own them.
std::uint64_t occupied(const Allocations& allocations, Address start, std::uint64_t own,
                       const Allocations::Held& block, const TypeInfo& type) {
    const bool has_more = type.kind && type.kind->no_var_size && block.whole && block.bytes > own;
    if (!has_more) return own;
    if (const Allocator* const other = allocations.other_at(start)) {
        const auto there = other->block_at(start);
        return there && there->start == start ? block.bytes : own;
    }
    return allocations.malloc_heaps().block_starting_at(start) ? block.bytes : own;
}

bool is_weak_reference(const PythonHeap& heap, Address object) {
    const TypeId type = heap.type_of(object);
    const ObjectKind* const kind = type == no_type ? nullptr : heap.types()[type].kind;
    return kind && std::string_view(kind->name).starts_with("weak");
}

}  // namespace

bool ObjectAccess::gc_tracked(Address object, const TypeInfo& type) const {
    if (!is_gc(object, type)) return false;
    const Layout& layout = heap_->layout();
    if (has_collector_bits(layout))
        return (heap_->integer<std::uint8_t>(object + *layout.object.ob_gc_bits) & gc_bit_tracked) != 0;
    const Address header = collector_header(layout, object);
    return header_is_tracked(layout,
                             [&](std::uint32_t at) { return heap_->integer<std::uint64_t>(header + at); });
}

std::uint64_t ObjectAccess::size(const ObjectReader& reader) const {
    const Address object = reader.address();
    const TypeInfo& type = reader.type();
    std::uint64_t bytes = type.size_kind ? type.size_kind->size(reader) : basic_size(reader);
    return bytes + counted_before_instance(heap_->layout(), type.flags, is_gc(object, type),
                                           type.address == heap_->runtime().type_type);
}

std::uint64_t ObjectAccess::requested(const ObjectReader& reader) const {
    const Address object = reader.address();
    const TypeInfo& type = reader.type();
    std::uint64_t body = 0;
    if (type.kind && type.kind->body_size) {
        body = type.kind->body_size(reader);
        // A static type ends with its PyTypeObject, although its metatype's instances are larger.
        const bool static_type = (type.flags & type_subclass_flag) && !is_gc(object, type);
        if (!type.kind->plausible && !static_type) body = std::max(body, type.basicsize);
    } else {
        body = basic_size(reader);
    }
    if (type.flags & inline_values_flag) body += inline_values_size(reader);
    return body + presize(object, type);
}

std::int64_t ObjectAccess::refcount(Address object) const {
    return static_cast<std::int64_t>(count_of(*heap_, object));
}

bool ObjectAccess::immortal(Address object) const {
    return is_immortal_count(heap_->layout(), count_of(*heap_, object));
}

template <class F>
void ObjectAccess::visit_buffers(const ObjectReader& object, BufferVisitor& visit, F&& pooled_values) const {
    const TypeInfo& type = object.type();
    if (type.kind && type.kind->visit_buffers) type.kind->visit_buffers(object, visit);
    // Besides the kind's buffers: values in the place of a dict, which only a managed dict has.
    const bool managed = (type.flags & managed_dict_flag) != 0;
    const Address values = managed ? values_apart(*heap_, object.address()) : Address();
    if (values.is_null()) return;
    if (const Pool* pool = allocations_->pymalloc().pool_at(values))
        pooled_values(values, *pool);
    else
        visit_instance_buffers(object, visit);
}

// 2.7: ints and floats lie one behind the other in a block of a thousand bytes (intobject.c, floatobject.c): what is in the
// middle of a block is not rounded up.
Allocations::Held ObjectAccess::own_block(Address start, std::uint64_t own, const TypeInfo& type) const {
    Allocations::Held block = allocations_->held(start, own, declared_too_much);
    const bool is_number = type.known == KnownType::integer || type.known == KnownType::floating;
    if (is_number && numbers_have_blocks(heap_->layout()) && block.whole && block.bytes > own &&
        !allocations_->block_starting_at(start))
        block.bytes = own;
    return block;
}

bool ObjectAccess::has_one_size(const TypeInfo& type) {
    constexpr std::uint64_t varies = managed_dict_flag | inline_values_flag | type_subclass_flag;
    const ObjectKind* const kind = type.kind;
    return !type.size_kind && type.itemsize <= 0 && (type.flags & varies) == 0 &&
           (!kind || (!kind->body_size && !kind->visit_buffers && !kind->reads && !kind->no_var_size));
}

ObjectSizes ObjectAccess::one_size(Address object, const TypeInfo& type, PlaceVisitor* places) const {
    const std::uint32_t before = presize(object, type);
    const std::uint64_t own = type.basicsize + before;
    const Address start = object - before;
    const Allocations::Held block = own_block(start, own, type);
    if (places) places->visit(start, own, block, PlaceVisitor::Role::own_block);
    ObjectSizes sizes;
    sizes.size =
        type.basicsize + counted_before_instance(heap_->layout(), type.flags, is_gc(object, type), false);
    sizes.memory = sizes.block_size = block.bytes;
    sizes.damaged = !block.whole;
    const std::uint64_t there = block.whole ? std::max(own, block.bytes) : block.bytes;
    if (sizes.size > there + unexplained_size) {
        sizes.damaged = true;
        sizes.size = there;
    }
    sizes.memory = std::min(sizes.memory, allocations_->mapped_bytes());
    return sizes;
}

ObjectSizes ObjectAccess::sizes(Address object, const TypeInfo& type, PlaceVisitor* places) const {
    if (has_one_size(type)) return one_size(object, type, places);
    const ObjectReader reader(*heap_, object, type);
    const std::uint64_t own = requested(reader);
    const Address start = object - presize(object, type);
    const Allocations::Held block = own_block(start, own, type);
    if (places)
        places->visit(start, occupied(*allocations_, start, own, block, type), block,
                      PlaceVisitor::Role::own_block);
    SumBuffers buffers(*allocations_, heap_->memory(), places);
    visit_buffers(reader, buffers, [&](Address values, const Pool& pool) {
        const Allocations::Held held{.bytes = pool.block_size, .pool = &pool};
        buffers.add(held, pool.block_size);
        if (places) places->visit(values, 0, held, PlaceVisitor::Role::buffer);
    });
    ObjectSizes sizes;
    sizes.size = size(reader);
    sizes.block_size = block.bytes;
    sizes.memory = block.bytes + buffers.memory;
    sizes.array_data = buffers.array_data;
    sizes.not_saved = buffers.not_saved;
    sizes.damaged =
        !block.whole || !buffers.whole || (type.kind && type.kind->reads && !type.kind->reads(reader));
    // Types without known buffers may own some (an io.BytesIO owns a bytes object): then only all memory is a
    // bound.
    const std::uint64_t there = (block.whole ? std::max(own, block.bytes) : block.bytes) + buffers.claimed;
    const bool counts_others =
        type.size_kind && (!type.size_kind->visit_buffers || type.size_kind->size_counts_others);
    const bool others =
        counts_others && (!buffers.any || type.size_kind->size_counts_others) && !sizes.damaged;
    const std::uint64_t most = others ? allocations_->mapped_bytes() : there + unexplained_size;
    if (sizes.size > most) {
        sizes.damaged = true;
        sizes.size = there;
    }
    sizes.memory = std::min(sizes.memory, allocations_->mapped_bytes());
    return sizes;
}

void ObjectAccess::visit_places(Address object, const TypeInfo& type, PlaceVisitor& places) const {
    using Role = PlaceVisitor::Role;
    const Pymalloc& pymalloc = allocations_->pymalloc();
    const ObjectReader reader(*heap_, object, type);
    const Address start = object - presize(object, type);
    if (const Pool* pool = pymalloc.pool_at(start)) {
        places.visit(start, 0, {.pool = pool}, Role::own_block);
    } else {
        const std::uint64_t own = requested(reader);
        const Allocations::Held block = own_block(start, own, type);
        places.visit(start, occupied(*allocations_, start, own, block, type), block, Role::own_block);
    }
    struct Buffers final : BufferVisitor {
        Buffers(const Allocations& a, PlaceVisitor& p) : allocations(a), places(p) {}
        void visit(Address at, std::uint64_t bytes, bool is_array) override {
            const Pool* pool = is_array ? nullptr : allocations.pymalloc().pool_at(at);
            places.visit(at, pool ? 0 : bytes,
                         pool ? Allocations::Held{.pool = pool} : allocations.held(at, bytes),
                         is_array ? Role::array_data : Role::buffer);
        }
        const Allocations& allocations;
        PlaceVisitor& places;
    } buffers(*allocations_, places);
    visit_buffers(reader, buffers, [&](Address values, const Pool& pool) {
        places.visit(values, 0, {.pool = &pool}, Role::buffer);
    });
}

void ObjectAccess::fetch_parts(Address object, const TypeInfo& type) const {
    if (!(type.flags & dict_subclass_flag)) return;
    const auto& dict = heap_->layout().dict;
    fetch(heap_->pointer(object + *(dict.ma_keys.present() ? dict.ma_keys : dict.ma_table)));
}

void ObjectAccess::fetch_references(Address object, const TypeInfo& type) const {
    fetch_parts(object, type);
    if (type.flags & list_subclass_flag) fetch(heap_->pointer(object + *heap_->layout().list.ob_item));
    if (type.flags & managed_dict_flag) fetch(values_apart(*heap_, object));
}

ObjectFacts ObjectAccess::facts(Address object, const TypeInfo& type) const {
    ObjectFacts facts{sizes(object, type)};
    facts.refcount = static_cast<std::int64_t>(references_counted(*heap_, object));
    facts.damaged = facts.damaged || refcount(object) <= 0;
    facts.immortal = immortal(object);
    if (facts.immortal) facts.refcount &= 0xffffffff;
    facts.gc_tracked = gc_tracked(object, type);
    facts.size_is_certain = type.size_source == SizeSource::known;
    facts.references_exact = references_exact(object, type);
    return facts;
}

bool ObjectAccess::references_exact(Address object, const TypeInfo& type) const {
    if (const auto* const reading = reading_of(type); reading && is_gc(object, type))
        if (traversed_->knows(*reading, object, heap_->memory())) return true;
    if (type.guessed || (type.kind && type.kind->guesses)) return false;
    return !type.kind || !type.kind->exact || type.kind->exact(ObjectReader(*heap_, object, type));
}

void ObjectAccess::visit_buffers(Address object, const TypeInfo& type, BufferVisitor& visit) const {
    // only a managed dict has values apart from the instance
    const bool values = (type.flags & managed_dict_flag) != 0;
    const bool buffers = type.kind && type.kind->visit_buffers;
    if (!values && !buffers) return;
    const ObjectReader reader(*heap_, object, type);
    if (buffers) type.kind->visit_buffers(reader, visit);
    if (values) visit_instance_buffers(reader, visit);
}

void ObjectAccess::visit_references(Address object, const TypeInfo& type, ReferenceVisitor& visit) const {
    const bool collected = is_gc(object, type);
    if (!collected && type.kind && !type.kind->visit_references && !type.heap_type)
        return;  // str, int, float, bytes
    ObjectReader reader(*heap_, object, type);
    limit_to_block(reader);
    if (collected) {
        visit_all_references(reader, visit);
    } else {
        NothingReported unreported(visit);
        visit_all_references(reader, unreported);
    }
}

// A tuple's length that was overwritten would have it refer to whatever lies behind it. A look for its block costs more
// than the items of a short one.
void ObjectAccess::limit_to_block(ObjectReader& reader) const {
    constexpr std::int64_t many = 64;
    if (!(reader.type().flags & tuple_subclass_flag) || reader.var_size() <= many) return;
    const std::uint64_t before = presize(reader.address(), reader.type()),
                        first = *reader.layout().tuple.ob_item;
    const Allocations::Held block =
        allocations_->held(reader.address() - before, requested(reader), declared_too_much);
    if (block.whole) return;
    const std::uint64_t taken = before + first;
    reader.limit_items(block.bytes > taken ? (block.bytes - taken) / 8 : 0);
}

void ObjectAccess::visit_all_references(const ObjectReader& reader, ReferenceVisitor& visit) const {
    const TypeInfo& type = reader.type();
    if (const auto* const reading = reading_of(type); reading && is_gc(reader.address(), type))
        if (visit_traversed(reader, *reading, visit)) return;
    if (type.kind && type.kind->visit_references) type.kind->visit_references(reader, visit);
    visit_instance_references(reader, visit);
    if (type.kind && type.kind->guesses)
        visit_guesses(reader, 16, type.basicsize, visit);
    else if (type.guessed) {
        std::uint64_t end = type.guess_end;
        if (type.itemsize > 0 && !type.kind) end = std::max(end, basic_size(reader));
        visit_guesses(reader, std::max<std::uint64_t>(type.known_basicsize, 16), end, visit);
    }
}

void ObjectAccess::visit_guesses(const ObjectReader& object, std::uint64_t from, std::uint64_t to,
                                 ReferenceVisitor& visit) const {
    // What the words of a stretch lead to lies anywhere: all of it is fetched before the first is looked at.
    constexpr std::uint64_t stretch = 32 * 8;
    std::array<std::uint64_t, stretch / 8> words;
    to = std::min(to, from + max_guessed_bytes);
    for (from = (from + 7) / 8 * 8; from + 8 <= to; from += stretch) {
        const std::uint64_t end = std::min(from + stretch, to / 8 * 8);
        for (std::uint64_t offset = from; offset < end; offset += 8) {
            std::uint64_t& word = words[(offset - from) / 8];
            word = heap_->pointer(object.at(offset)).value;
            const Address target(word & ~int_mark);
            if (target.is_null() || !target.aligned(8))
                word = 0;
            else
                fetch(target);
        }
        for (std::uint64_t offset = from; offset < end; offset += 8) {
            const std::uint64_t word = words[(offset - from) / 8];
            if (word == 0) continue;
            const Address target(word & ~int_mark);
            const TypeId type = heap_->type_of(target);
            if (type == no_type || refcount(target) <= 0) continue;
            if ((word & int_mark) != 0 && heap_->types()[type].known != KnownType::integer) continue;
            visit.visit(target, ReferenceKind::guess,
                        {ReferenceName::Form::offset, "", offset, object.type().address});
        }
    }
}

ShortValue ObjectAccess::value(Address object, const TypeInfo& type, std::size_t limit) const {
    ShortValue value = values_.value(object, type, limit);
    // Decided here for all kinds and subclasses: "list of 3" names the type of a list, but not that of a
    // Stack, a subclass.
    const std::string_view text = value.text;
    value.says_type =
        text.starts_with(type.name) || (text.starts_with('<') && text.substr(1).starts_with(type.name));
    const std::string_view called = text.substr(0, std::min(text.find_first_of("( "), text.size()));
    const std::string_view whole = type.name;
    if (!value.says_type && called.size() < std::min(text.size(), whole.size()) && whole.ends_with(called) &&
        whole[whole.size() - called.size() - 1] == '.')
        value.type_letters = static_cast<std::uint32_t>(called.size());
    return value;
}

/// A key in Python's notation; if it has none, its short value or its type.
ShortValue ObjectAccess::key_value(Address key, int depth) const {
    const TypeId type = heap_->type_of(key);
    if (type == no_type) return {ShortValue::Kind::summary, "?", 0};
    const TypeInfo& info = heap_->types()[type];
    if (info.known == KnownType::tuple)
        if (ShortValue literal = tuple_literal(key, depth); literal.kind == ShortValue::Kind::literal)
            return literal;
    const bool text = (info.flags & (str_subclass_flag | bytes_subclass_flag)) != 0;
    ShortValue v = value(key, info, text ? key_characters : longest_key);
    if (v.kind != ShortValue::Kind::literal && (info.flags & tuple_subclass_flag))
        if (ShortValue literal = tuple_literal(key, depth); literal.kind == ShortValue::Kind::literal)
            return literal;
    // A key is named, not described.
    if (v.kind == ShortValue::Kind::summary && !v.without_values.empty()) v.text = v.without_values;
    // Two keys of a class of the program may look alike.
    const bool looks_alike = v.kind == ShortValue::Kind::summary && info.python_class;
    if (v.kind == ShortValue::Kind::none || looks_alike)
        v = {.kind = ShortValue::Kind::name, .text = fmt::format("<{} at {:#x}>", info.name, key.value)};
    return v;
}

/// A short tuple whose items are all literals: "('a', 1)". Else nothing.
ShortValue ObjectAccess::tuple_literal(Address tuple, int depth) const {
    const std::int64_t count = heap_->var_size(tuple);
    if (count < 0 || count > most_key_items || depth > deepest_key) return {};
    ShortValue literal{ShortValue::Kind::literal, "(", static_cast<std::uint64_t>(count)};
    for (std::int64_t i = 0; i < count; ++i) {
        const Address item =
            heap_->pointer(tuple + *heap_->layout().tuple.ob_item + 8 * static_cast<std::uint64_t>(i));
        const ShortValue v = key_value(item, depth + 1);
        const bool whole = v.kind == ShortValue::Kind::literal && !v.cut && v.finite;
        if (!whole && !v.constant) return {};
        literal.text += (i > 0 ? ", " : "") + v.text;
        if (literal.text.size() > longest_tuple) return {};
    }
    literal.text += count == 1 ? ",)" : ")";
    return literal;
}

/// The attribute that shows the object at this offset, according to the members of `type` or of a class that it
/// derives from; empty if there is none.
std::string ObjectAccess::member_at(TypeId type, std::uint64_t offset) const {
    const auto& def = heap_->layout().member_def;
    const auto member_of = [&](TypeId owner) -> std::string {
        Address member = heap_->pointer(heap_->types()[owner].address + *heap_->layout().type.tp_members);
        for (int i = 0; !member.is_null() && i < most_members; ++i, member = member + *def.size) {
            const Address name = heap_->pointer(member + *def.name);
            if (name.is_null()) break;
            const auto kind = heap_->integer<std::int32_t>(member + *def.type);
            if ((kind != member_object && kind != member_object_ex) ||
                heap_->integer<std::uint64_t>(member + *def.offset) != offset)
                continue;
            auto text = heap_->memory().read_c_string(name, 200);
            // These are kept behind the fields, and a derived type may have fields there: name_at knows better.
            if (text && !text->empty() && *text != "__dict__" && *text != "__weakref__")
                return *std::move(text);
        }
        return {};
    };
    // A class that is not on the line of tp_base has no fields that others of the line lack.
    const Address mro = heap_->pointer(heap_->types()[type].address + *heap_->layout().type.tp_mro);
    const std::int64_t count = mro.is_null() ? 0 : std::min(heap_->var_size(mro), most_mro);
    for (std::int64_t i = 0; i < count; ++i) {
        const TypeId owner = heap_->types().find(
            heap_->pointer(mro + *heap_->layout().tuple.ob_item + 8 * static_cast<std::uint64_t>(i)));
        if (owner == no_type) continue;
        if (std::string name = member_of(owner); !name.empty()) return name;
    }
    return {};
}

/// The attribute that the word at this offset is, which leads to `target`; none if Python has no name for it.
ReferenceStep ObjectAccess::step_at(TypeId type, std::uint64_t offset, Address target) const {
    if (type == no_type) return {};
    const TypeInfo& info = heap_->types()[type];
    if (static_cast<std::int64_t>(offset) == info.dictoffset && heap_->is_dict(target))
        return field_step(".__dict__");
    if (static_cast<std::int64_t>(offset) == info.weaklistoffset && is_weak_reference(*heap_, target))
        return field_step(".__weakref__");
    std::string name = member_at(type, offset);
    if (name.empty() && traversed_) {
        const FieldNames::Name* const found = traversed_->field_names().at(type, offset);
        if (found && found->item >= 0) {
            ReferenceStep step;
            step.kind = ReferenceStep::Kind::index;
            step.within = "." + found->name;
            step.number = static_cast<std::uint64_t>(found->item);
            return step;
        }
        if (found) name = found->name;
    }
    if (name.empty()) return {};
    ReferenceStep step = attribute_step(name);
    step.field = FieldName::read(("." + name).c_str()).field;
    return step;
}

std::string ObjectAccess::element_name(Address holder, std::uint64_t place) const {
    const TypeId type = heap_->type_of(holder);
    if (type == no_type || !heap_->types()[type].kind || !heap_->types()[type].kind->element_name) return "?";
    return heap_->types()[type].kind->element_name(ObjectReader(*heap_, holder, heap_->types()[type]), place);
}

Reference ObjectAccess::named(Address target, ReferenceKind kind, const ReferenceName& name) const {
    Reference reference;
    reference.target = target;
    reference.kind = kind;
    using Kind = ReferenceStep::Kind;
    ReferenceStep& step = reference.step;
    auto text_of = [&](Address str) { return heap_->unicode_text(str, 200).value_or("?"); };
    switch (name.form) {
        case ReferenceName::Form::text:
            step = field_step(name.text);
            break;
        case ReferenceName::Form::attribute:
            step.kind = Kind::attribute;
            step.name = text_of(name.key);
            if (is_identifier(step.name)) break;
            step.kind = Kind::odd_attribute;  // setattr takes any str
            if (ShortValue key = key_value(name.key); key.kind != ShortValue::Kind::none) {
                step.name = std::move(key.text);
                step.cut = key.cut;
                step.number = key.length;
            }
            break;
        case ReferenceName::Form::c_attribute:
            step = attribute_step(heap_->memory().read_c_string(name.key, 200).value_or("?"));
            break;
        case ReferenceName::Form::index:
            step.kind = Kind::index;
            step.within = name.text.text;
            step.nameless = name.text.nameless;
            step.number = name.number;
            break;
        case ReferenceName::Form::item:
            step = item_step(key_value(name.key));
            break;
        case ReferenceName::Form::key:
            step = key_step(key_value(name.key));
            break;
        case ReferenceName::Form::local:
            step.kind = Kind::local;
            step.own_frame = name.text.own_frame;
            step.within = name.text.text;
            step.name = text_of(name.key);
            break;
        case ReferenceName::Form::cell:
        case ReferenceName::Form::hidden_local:
            step.kind = name.form == ReferenceName::Form::cell ? Kind::cell : Kind::hidden_local;
            step.nameless = true;
            step.name = text_of(name.key);
            break;
        case ReferenceName::Form::element:
            step.kind = Kind::place;
            step.name = element_name(name.key, name.number);
            break;
        case ReferenceName::Form::frame_place:
            step = frame_place_step(*heap_, name.key, name.number);
            break;
        case ReferenceName::Form::offset:
            step = step_at(heap_->types().find(name.key), name.number, target);
            if (step.known()) break;
            step.kind = Kind::offset;
            step.nameless = true;
            step.number = name.number;
            break;
    }
    return reference;
}

bool ObjectAccess::holds_dead_object(Address block, std::uint64_t size) const {
    return dead_object_type(block, size) != no_type;
}

TypeId ObjectAccess::dead_object_type(Address block, std::uint64_t size) const {
    const std::uint64_t marks = allocations_->debug_hooks() ? 16 : 0;
    const std::uint64_t step = *heap_->layout().gc_head.size % 16 == 0 ? 16 : 8;
    for (std::uint64_t before = 0; before <= 32 && before + 16 <= size; before += step) {
        const Address object = block + marks + before;
        const TypeId type = heap_->type_of(object);
        if (type != no_type && count_of(*heap_, object) == 0 &&
            presize(object, heap_->types()[type]) == before)
            return type;
    }
    return no_type;
}

bool ObjectAccess::is_kept_dead(Address object) const {
    const TypeId id = object.aligned(8) ? heap_->type_of(object) : no_type;
    if (id == no_type || count_of(*heap_, object) != 0) return false;
    const TypeInfo& type = heap_->types()[id];
    const std::uint32_t before = presize(object, type);
    if (!type.heap_type || type.python_class) return false;
    const auto block = allocations_->block_starting_at(object - before);
    return block && block->usable >= before + type.basicsize;
}

bool ObjectAccess::in_free_list(Address block, std::uint64_t size) const {
    if (holds_dead_object(block, size)) return true;
    const std::uint64_t marks = allocations_->debug_hooks() ? 16 : 0;
    const auto keys = heap_->dict_keys(block + marks);
    return keys && is_unused_table(heap_->layout(), *keys) && keys->keys_size <= size;
}

}  // namespace heapsift
