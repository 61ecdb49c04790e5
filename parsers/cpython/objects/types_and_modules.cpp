// type and module. A type holds its namespace, bases and mro; a class statement adds names, slots and the
// keys that its instances share. Members of __slots__ follow the type, and sys.getsizeof does not count them.
// (typeobject.c, moduleobject.c)

#include "parsers/cpython/build/quirks.h"
#include "parsers/cpython/objects/kinds.h"
#include "parsers/cpython/type_flags.h"

#include <fmt/format.h>

namespace heapsift {

namespace {

bool is_heap_type(const ObjectReader& object) {
    return object.integer<std::uint64_t>(object.layout().type.tp_flags) & heap_type_flag;
}

std::uint64_t type_size(const ObjectReader& object) {
    const Layout& l = object.layout();
    if (!type_has_own_size(l)) return basic_size(object);
    if (!is_heap_type(object)) return *l.type.size;
    const Address keys = object.pointer(l.heap_type.ht_cached_keys);
    const auto facts = keys.is_null() ? std::nullopt : object.heap().dict_keys(keys);
    return *l.heap_type.size + (facts ? facts->keys_size : 0);
}

std::uint64_t type_body(const ObjectReader& object) {
    return is_heap_type(object) ? basic_size(object) : *object.layout().type.size;
}

void type_buffers(const ObjectReader& object, BufferVisitor& visit) {
    const auto& l = object.layout().heap_type;
    if (!is_heap_type(object)) return;
    const Address keys = object.pointer(l.ht_cached_keys);
    if (const auto facts = keys.is_null() ? std::nullopt : object.heap().dict_keys(keys))
        visit.visit(keys, facts->keys_size, false);
    if (const Address name = object.pointer(l.ht_tpname); !name.is_null()) visit.visit(name, 1, false);
}

void type_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const Layout& l = object.layout();
    const bool heap_type = is_heap_type(object);
    const auto reported = heap_type ? ReferenceKind::strong : ReferenceKind::hidden;
    const Address state = object.heap().static_type_state(object.address());
    visit.named(object.heap().type_dict(object.address()), ".__dict__", reported);
    visit.named(object.pointer(l.type.tp_cache), ".<tp_cache>", reported);
    visit.named(object.pointer(l.type.tp_mro), ".__mro__", reported);
    visit.named(object.pointer(l.type.tp_bases), ".__bases__", reported);
    visit.named(object.pointer(l.type.tp_base), ".__base__", reported);
    // In a static builtin type of 3.12 and later, tp_subclasses is an index, not a pointer.
    const Address subclasses =
        state.is_null() ? object.pointer(l.type.tp_subclasses)
                        : object.heap().pointer(state + *l.managed_static_type_state.tp_subclasses);
    visit.named(subclasses, ".<subclasses>", ReferenceKind::hidden);
    if (!heap_type) return;
    visit.named(object.pointer(l.heap_type.ht_module), ".<module>");
    visit.named(object.pointer(l.heap_type.ht_name), ".__name__", ReferenceKind::hidden);
    visit.named(object.pointer(l.heap_type.ht_qualname), ".__qualname__", ReferenceKind::hidden);
    visit.named(object.pointer(l.heap_type.ht_slots), ".<slots>", ReferenceKind::hidden);
    const Address keys = object.pointer(l.heap_type.ht_cached_keys);
    const auto facts = keys.is_null() ? std::nullopt : object.heap().dict_keys(keys);
    if (!facts) return;
    for (std::uint64_t i = 0; i < facts->entry_count; ++i) {
        const Address key =
            object.heap().pointer(facts->entries + i * facts->entry_size + (facts->entry_size == 24 ? 8 : 0));
        if (!key.is_null()) visit.visit(key, ReferenceKind::hidden, {ReferenceName::Form::key, "", 0, key});
    }
}

ShortValue type_describe(const ObjectReader& object, std::size_t) {
    const TypeId id = object.heap().types().find(object.address());
    return {ShortValue::Kind::name,
            fmt::format("<class '{}'>", id == no_type ? "?" : object.heap().types()[id].name), 0};
}

// Numbers of guesses in the state start here; those in the body of a module's subclass are lower.
constexpr std::uint64_t first_of_state = std::uint64_t{1} << 31;

struct ModuleState {
    Address start;
    std::uint64_t words = 0;
};

/// A word of a C module's definition; since 3.15 the module has a copy of it. 0 if it has none.
std::int64_t of_definition(const ObjectReader& object, LayoutOffset in_definition, LayoutOffset in_module) {
    if (in_module.present()) return object.integer<std::int64_t>(in_module);
    const Address def = object.pointer(object.layout().module.md_def);
    if (def.is_null() || !in_definition.present()) return 0;
    return object.heap().integer<std::int64_t>(def + *in_definition);
}

/// The state of a C module: its words, as many as the definition says.
ModuleState module_state(const ObjectReader& object) {
    const auto& l = object.layout().module;
    const Address state = object.pointer(l.md_state);
    if (state.is_null()) return {};
    const std::int64_t size = of_definition(object, object.layout().module_def.m_size, l.md_state_size);
    if (size <= 0 || size > (1 << 20)) return {};
    return {state, object.readable_items(state, size / 8)};
}

bool is_candidate(const ObjectReader& object, Address target) {
    return !target.is_null() && target.aligned(8) && object.heap().type_of(target) != no_type;
}

void module_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto& l = object.layout().module;
    visit.named(object.pointer(l.md_dict), ".__dict__");
    visit.named(object.pointer(l.md_name), ".<name>", ReferenceKind::hidden);
    visit.named(object.pointer(l.md_def), ".<definition>", ReferenceKind::weak);
    const ModuleState state = module_state(object);
    for (std::uint64_t i = 0; i < state.words; ++i) {
        const Address target = object.heap().pointer(state.start + 8 * i);
        if (is_candidate(object, target))
            visit.visit(target, ReferenceKind::guess,
                        {ReferenceName::Form::text, ".<module state>", first_of_state + i, {}});
    }
}

/// What m_traverse reports, of the state or of variables elsewhere, is not known.
bool module_exact(const ObjectReader& object) {
    const auto& l = object.layout();
    if (of_definition(object, l.module_def.m_traverse, l.module.md_state_traverse) != 0) return false;
    const ModuleState state = module_state(object);
    for (std::uint64_t i = 0; i < state.words; ++i)
        if (is_candidate(object, object.heap().pointer(state.start + 8 * i))) return false;
    return true;
}

/// The definition of a C module without phases keeps a copy of its dictionary for later interpreters.
void definition_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().module_def.m_copy), ".<copy of __dict__>");
}

void module_buffers(const ObjectReader& object, BufferVisitor& visit) {
    const Address state = object.pointer(object.layout().module.md_state);
    if (!state.is_null()) visit.visit(state, 1, false);
}

ShortValue module_describe(const ObjectReader& object, std::size_t) {
    const auto& l = object.layout().module;
    auto name = object.heap().unicode_text(object.pointer(l.md_name), 200);
    if (!name)
        name =
            object.heap().unicode_text(object.heap().dict_value(object.pointer(l.md_dict), "__name__"), 200);
    return {ShortValue::Kind::name, "<module '" + name.value_or("?") + "'>", 0};
}

constexpr const char* type_names[] = {"type"};
constexpr const char* module_names[] = {"module"};
constexpr const char* definition_names[] = {"moduledef"};

}  // namespace

const ObjectKind type_kind = {.name = "type",
                              .type_names = type_names,
                              .size = type_size,
                              .body_size = type_body,
                              .visit_buffers = type_buffers,
                              .visit_references = type_references,
                              .describe = type_describe};
const ObjectKind module_kind = {.name = "module",
                                .type_names = module_names,
                                .visit_buffers = module_buffers,
                                .visit_references = module_references,
                                .describe = module_describe,
                                .exact = module_exact};
const ObjectKind module_definition_kind = {
    .name = "moduledef", .type_names = definition_names, .visit_references = definition_references};

}  // namespace heapsift
