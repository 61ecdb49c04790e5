// First references, as they are printed or with the same meaning. If none has that name, what Python finds in
// dicts: an attribute of an instance, its class and its bases, a name of a module. Last, a key whose quotes a
// shell has removed.

#include "analysis/expression_steps.h"

#include "analysis/steps.h"
#include "parsers/cpython/build/names_in_3.h"
#include "parsers/cpython/old_classes.h"
#include "parsers/cpython/type_flags.h"
#include "parsers/reading/heap_reader.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::size_t most_bases = 1000;
constexpr std::size_t longest_key = 1000;  // what a key that somebody typed in full is compared with

bool is_plain_attribute(std::string_view step) {
    return step.size() > 1 && step[0] == '.' && identifier_length(step.substr(1)) == step.size() - 1;
}

/// True if the printed name begins with `typed`.
bool begins_with(const ReferenceStep& step, char typed) {
    switch (step.kind) {
        case ReferenceStep::Kind::item:
            return typed == '[';
        case ReferenceStep::Kind::key:
            return typed == 'k';
        case ReferenceStep::Kind::index:
            return typed == (step.within.empty() ? '[' : step.within.front());
        default:
            return is_dotted(step) ? typed == '.' : notation(step).front() == typed;
    }
}

}  // namespace

struct ExpressionSteps::Following {
    const ExpressionPlace& place;
    std::string_view rest;   // from `start` on
    std::size_t start;       // place.at, after any spaces
    std::string_view first;  // the first step of `rest`
    std::vector<ExpressionPlace>& found;

    void lead(Address target, std::size_t length) const {
        const ExpressionPlace next{start + length, target, nullptr, false};
        if (!target.is_null() && std::find(found.begin(), found.end(), next) == found.end())
            found.push_back(next);
    }
};

ExpressionSteps::ExpressionSteps(const HeapReader& heap, const PythonHeap& python)
    : heap_(heap), python_(python) {
    for (const LoadedModule& module : heap.snapshot().roots->modules())
        if (!module.dict.is_null()) module_dicts_.push_back(module.dict);
    std::sort(module_dicts_.begin(), module_dicts_.end());
}

bool ExpressionSteps::is_module_dict(Address object) const {
    return std::binary_search(module_dicts_.begin(), module_dicts_.end(), object);
}

std::vector<ExpressionPlace> ExpressionSteps::from(const ExpressionPlace& place,
                                                   std::string_view text) const {
    std::vector<ExpressionPlace> found;
    const std::size_t start = std::min(text.find_first_not_of(' ', place.at), text.size());
    const std::string_view rest = text.substr(start);
    const Following step{place, rest, start, first_step(rest), found};
    if (rest.empty()) return found;
    if (place.frame) follow_frame(step);
    if (!found.empty() || place.object.is_null()) return found;
    const bool dotted = is_plain_attribute(step.first);
    if (dotted && (place.items_are_attributes || is_module_dict(place.object)))
        step.lead(item(place.object, text_literal(step.first.substr(1))), step.first.size());
    if (found.empty() && rest.front() == '[') follow_index(step, false);
    if (found.empty()) follow_references(step, false);
    if (found.empty() && dotted) follow_attribute(step);
    if (found.empty() && rest.front() == '[') follow_index_from_the_end(step);
    if (found.empty() && rest.front() == '[') follow_index(step, true);
    if (found.empty() && rest.find('[') != std::string_view::npos && !is_dict(place.object))
        follow_references(step, true);
    return found;
}

void ExpressionSteps::visit_references(Address object,
                                       const std::function<void(const Reference&)>& visit) const {
    if (const ObjectId id = columns().find(object); id != no_object) heap_.visit_references(id, visit);
}

Address ExpressionSteps::referent(Address object, Field field) const {
    Address found;
    visit_references(object, [&](const Reference& reference) {
        if (found.is_null() && reference.step.is(field)) found = reference.target;
    });
    return found;
}

Address ExpressionSteps::attribute(Address object, const std::string& name) const {
    Address found;
    visit_references(object, [&](const Reference& reference) {
        if (found.is_null() && reference.step.kind == ReferenceStep::Kind::attribute &&
            reference.step.name == name)
            found = reference.target;
    });
    return found;
}

std::vector<Address> ExpressionSteps::values(Address dict) const {
    std::vector<Address> found;
    python_.visit_dict(dict, [&](Address, Address value) { found.push_back(value); });
    return found;
}

Address ExpressionSteps::item(Address dict, const Literal& key) const {
    Address found;
    if (is_dict(dict)) {
        python_.visit_dict(dict, [&](Address known, Address value) {
            if (found.is_null() && equals(known, key)) found = value;
        });
        return found;
    }
    visit_references(dict, [&](const Reference& reference) {
        if (!found.is_null() || reference.step.kind != ReferenceStep::Kind::item) return;
        const auto known = whole_literal(reference.step.key->text);
        if (known && means_the_same(*known, key)) found = reference.target;
    });
    return found;
}

bool ExpressionSteps::equals_number(Address key, std::uint64_t flags, const Literal& literal) const {
    const Layout& l = python_.layout();
    Literal known;
    if (const auto number = python_.c_long(key)) {
        known.kind = Literal::Kind::integer;
        known.negative = *number < 0;
        auto rest =
            known.negative ? 0 - static_cast<std::uint64_t>(*number) : static_cast<std::uint64_t>(*number);
        for (; rest != 0; rest >>= 30)
            known.limbs.push_back(static_cast<std::uint32_t>(rest & ((1U << 30) - 1)));
    } else if (flags & long_subclass_flag) {
        known.kind = Literal::Kind::integer;
        std::uint64_t count = 0;
        if (l.long_.lv_tag.present()) {
            const auto tag = python_.integer<std::uint64_t>(key + *l.long_.lv_tag);
            count = tag >> 3;
            known.negative = (tag & 3) == 2;
        } else {
            const std::int64_t size = python_.var_size(key);
            known.negative = size < 0;
            count = known.negative ? 0 - static_cast<std::uint64_t>(size) : static_cast<std::uint64_t>(size);
        }
        constexpr std::uint64_t most_of_a_float = 35;  // limbs
        if (count > std::max<std::uint64_t>(literal.limbs.size(), most_of_a_float)) return false;
        known.limbs.resize(count);
        if (count > 0 && !python_.memory().read_bytes(key + *l.long_.ob_digit, known.limbs.data(), 4 * count))
            return false;
        while (!known.limbs.empty() && known.limbs.back() == 0) known.limbs.pop_back();
    } else {
        const TypeId type = python_.type_of(key);
        if (!python_.types().is(type, KnownType::floating)) return false;
        known.kind = Literal::Kind::real;
        known.real = python_.integer<double>(key + *l.float_.ob_fval);
    }
    return means_the_same(known, literal);
}

/// Whether a str of 2.7 has these characters for its bytes, as its repr shows them: '\xc3\xa9'.
bool ExpressionSteps::are_bytes(Address key, std::string_view utf8) const {
    constexpr std::uint64_t longest = 1 << 16;
    const auto facts = python_.unicode(key);
    if (!facts || facts->length > longest || facts->length > utf8.size()) return false;
    std::string bytes(facts->length, '\0');
    if (!bytes.empty() && !python_.memory().read_bytes(facts->data, bytes.data(), bytes.size())) return false;
    std::string wide;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x80) wide += static_cast<char>(0xc0U | byte >> 6);
        wide += static_cast<char>(byte >= 0x80 ? 0x80U | (byte & 0x3fU) : byte);
    }
    return wide == utf8;
}

bool ExpressionSteps::equals(Address key, const Literal& literal) const {
    const Layout& l = python_.layout();
    const auto flags = python_.integer<std::uint64_t>(python_.type_address(key) + *l.type.tp_flags);
    const auto length = static_cast<std::uint64_t>(std::max<std::int64_t>(python_.var_size(key), 0));
    switch (literal.kind) {
        case Literal::Kind::text: {
            if (!python_.is_unicode(key)) return false;
            const auto facts = python_.unicode(key);
            if (facts && facts->bytes && are_bytes(key, literal.text)) return true;
            if (!facts || facts->length > literal.text.size() || facts->length * 4 < literal.text.size())
                return false;
            return python_.unicode_text(key, literal.text.size() + 1) == literal.text;
        }
        case Literal::Kind::bytes: {
            if (!(flags & bytes_subclass_flag) || length != literal.text.size()) return false;
            std::string bytes(literal.text.size(), '\0');
            return bytes.empty() ||
                   (python_.memory().read_bytes(key + *l.bytes.ob_sval, bytes.data(), bytes.size()) &&
                    bytes == literal.text);
        }
        case Literal::Kind::tuple: {
            if (!(flags & tuple_subclass_flag) || length != literal.items.size()) return false;
            for (std::size_t i = 0; i < length; ++i)
                if (!equals(python_.pointer(key + *l.tuple.ob_item + 8 * i), literal.items[i])) return false;
            return true;
        }
        case Literal::Kind::integer:
        case Literal::Kind::real:
            return equals_number(key, flags, literal);
        default: {
            const ObjectId id = columns().find(key);
            const auto known =
                id == no_object ? std::nullopt : whole_literal(heap_.value(id, longest_key).text);
            return known && means_the_same(*known, literal);
        }
    }
}

// Items of dicts, lists and tuples, without naming all the others.
void ExpressionSteps::follow_index(const Following& step, bool unquoted) const {
    const auto bracket = bracket_at_start(step.rest);
    const auto key = bracket ? whole_literal(bracket->content, unquoted) : std::nullopt;
    const Layout& l = python_.layout();
    const Address object = step.place.object;
    const bool dict = is_dict(object);
    if (dict && key) step.lead(item(object, *key), bracket->length);
    if (dict && bracket && unquoted && step.found.empty())
        step.lead(item(object, text_literal(bracket->content)), bracket->length);
    if (dict || !key) return;
    const auto flags = python_.integer<std::uint64_t>(python_.type_address(object) + *l.type.tp_flags);
    if (!(flags & (list_subclass_flag | tuple_subclass_flag)) || key->kind != Literal::Kind::integer ||
        key->limbs.size() > 1)
        return;
    const std::int64_t count = python_.var_size(object);
    std::int64_t index = key->limbs.empty() ? 0 : key->limbs[0];
    if (key->negative) index = count - index;
    if (index < 0 || index >= count) return;
    const Address items =
        flags & list_subclass_flag ? python_.pointer(object + *l.list.ob_item) : object + *l.tuple.ob_item;
    step.lead(python_.pointer(items + 8 * static_cast<std::uint64_t>(index)), bracket->length);
}

void ExpressionSteps::follow_references(const Following& step, bool unquoted) const {
    const bool key_was_compared = step.rest.front() == '[' && is_dict(step.place.object);
    visit_references(step.place.object, [&](const Reference& reference) {
        if (!reference.step.known() || !begins_with(reference.step, step.rest.front())) return;
        const std::string name = notation(reference.step);
        if (key_was_compared && !step.rest.starts_with(name)) return;
        if (const auto length = match_name(name, step.rest, unquoted)) step.lead(reference.target, *length);
        if (reference.step.kind == ReferenceStep::Kind::cell) follow_shared_local(step, reference, unquoted);
    });
}

// f_locals shows the content of a cell, where the reference is one to the cell.
void ExpressionSteps::follow_shared_local(const Following& step, const Reference& cell, bool unquoted) const {
    ReferenceStep local;
    local.kind = ReferenceStep::Kind::local;
    local.name = cell.step.name;
    for (const char* frame : {".", ".gi_frame.", ".cr_frame.", ".ag_frame."}) {
        local.within = frame;
        if (const auto length = match_name(notation(local), step.rest, unquoted))
            step.lead(referent(cell.target, Field::cell_contents), *length);
    }
}

void ExpressionSteps::follow_index_from_the_end(const Following& step) const {
    const auto bracket = bracket_at_start(step.rest);
    const auto key = bracket ? whole_literal(bracket->content) : std::nullopt;
    if (!key || key->kind != Literal::Kind::integer || !key->negative || key->limbs.size() > 1 ||
        is_dict(step.place.object))
        return;
    std::vector<Address> items;
    visit_references(step.place.object, [&](const Reference& reference) {
        const ReferenceStep& item = reference.step;
        if (item.kind == ReferenceStep::Kind::index && item.within.empty() && item.number == items.size())
            items.push_back(reference.target);
    });
    if (key->limbs[0] <= items.size()) step.lead(items[items.size() - key->limbs[0]], bracket->length);
}

Address ExpressionSteps::class_of(Address object) const {
    const ObjectId id = columns().find(object);
    return id == no_object || columns().type_of(id) == no_type ? Address() : columns().type_info(id).address;
}

Address ExpressionSteps::type_dict(Address type) const {
    const Address dict = python_.type_dict(type);
    return dict.is_null() ? referent(type, Field::attributes) : dict;
}

// A static type has an mro too, which no traverse reports in every version; its bases do instead.
void ExpressionSteps::add_dicts_of_bases(Address type, std::vector<Address>& dicts) const {
    std::vector<Address> order;
    if (const Address mro = referent(type, Field::mro); !mro.is_null())
        visit_references(mro, [&](const Reference& reference) {
            if (order.size() < most_bases && reference.step.kind == ReferenceStep::Kind::index)
                order.push_back(reference.target);
        });
    TypeId base = order.empty() ? columns().types.find(type) : no_type;
    for (; base != no_type && order.size() < most_bases; base = columns().types[base].base)
        order.push_back(columns().types[base].address);
    for (const Address one : order)
        if (const Address dict = type_dict(one);
            !dict.is_null() && std::find(dicts.begin(), dicts.end(), dict) == dicts.end())
            dicts.push_back(dict);
}

// object.__getattribute__ and type.__getattribute__, as far as they look into dicts.
std::vector<Address> ExpressionSteps::dicts_on_the_way(Address object) const {
    std::vector<Address> dicts;
    if (columns().types.find(object) != no_type)
        add_dicts_of_bases(object, dicts);
    else if (const Address own = referent(object, Field::attributes); !own.is_null())
        dicts.push_back(own);
    add_dicts_of_bases(class_of(object), dicts);
    return dicts;
}

// obj.__dict__['x'] when no __dict__ was ever asked for: the values are in the instance, and the reference is
// named .x.
void ExpressionSteps::follow_values(const Following& step) const {
    const std::string_view index = step.rest.substr(step.first.size());
    const auto bracket = index.starts_with('[') ? bracket_at_start(index) : std::nullopt;
    const auto key = bracket ? whole_literal(bracket->content, true) : std::nullopt;
    if (!key || key->kind != Literal::Kind::text) return;
    step.lead(attribute(step.place.object, key->text), step.first.size() + bracket->length);
}

void ExpressionSteps::follow_attribute(const Following& step) const {
    const Literal name = text_literal(step.first.substr(1));
    const Address object = step.place.object;
    const bool is_type = columns().types.find(object) != no_type;
    if (name.text == "__class__") return step.lead(class_of(object), step.first.size());
    if (name.text == "__dict__")
        return is_type ? step.lead(type_dict(object), step.first.size()) : follow_values(step);
    if (const std::string_view in_3 = attribute_in_3(python_.layout().version, name.text); !in_3.empty()) {
        visit_references(object, [&](const Reference& reference) {
            const std::string called = notation(reference.step);
            if (called.starts_with('.') && std::string_view(called).substr(1) == in_3)
                step.lead(reference.target, step.first.size());
        });
        if (!step.found.empty()) return;
    }
    for (const Address dict : dicts_on_the_way(object)) {
        step.lead(item(dict, name), step.first.size());
        if (!step.found.empty()) return;
    }
    if (const Address old_class = old_class_of(python_, object); !old_class.is_null())
        step.lead(old_class_attribute(python_, old_class, name.text), step.first.size());
}

// The names of a frame's slots: by f_locals, with the contents of cells, and by their references. Also what a
// reference from a running frame is called: func() <code>, func() <function>.
void ExpressionSteps::visit_frame_names(
    const PythonFrame& frame, const std::function<void(Address, const ReferenceStep&)>& visit) const {
    using What = FrameSlot::What;
    const auto visit_field = [&](Address value, FieldName name, const char* mark) {
        visit(value, field_step(name));
        visit(value, named_step(mark));
    };
    visit_slots(python_, frame, [&](const FrameSlot& slot) {
        switch (slot.what) {
            case What::function:
                visit_field(slot.value, ".<function>", "<function>");
                break;
            case What::code:
                visit_field(slot.value, ".f_code", "<code>");
                break;
            case What::locals:
                visit_field(slot.value, ".f_locals", "<f_locals>");
                break;
            case What::frame:
                visit(slot.value, named_step("<frame>"));
                break;
            case What::stack:
                visit_field(slot.value, ".<value stack>", "<value stack>");
                break;
            case What::local: {
                const std::string name = python_.unicode_text(slot.name, 200).value_or("?");
                const auto visit_as = [&](Address value, ReferenceStep::Kind kind) {
                    ReferenceStep step = attribute_step(name);
                    step.kind = kind;
                    if (kind == ReferenceStep::Kind::local) step.within = ".";
                    visit(value, step);
                };
                const Address content = slot.cell ? referent(slot.value, Field::cell_contents) : slot.value;
                if (!content.is_null()) {
                    visit_as(content, ReferenceStep::Kind::attribute);
                    visit_as(content, ReferenceStep::Kind::local);
                }
                if (slot.cell) visit_as(slot.value, ReferenceStep::Kind::cell);
                visit_as(slot.value, ReferenceStep::Kind::frame_local);
                break;
            }
        }
    });
}

void ExpressionSteps::follow_frame(const Following& step) const {
    visit_frame_names(*step.place.frame, [&](Address target, const ReferenceStep& name) {
        const bool mark = name.kind == ReferenceStep::Kind::name;
        if (const auto length = match_name(notation(name), step.rest, !mark)) step.lead(target, *length);
    });
    if (!step.found.empty() || !is_plain_attribute(step.first)) return;
    // For a module or class body that is running: its names are in a dict.
    visit_slots(python_, *step.place.frame, [&](const FrameSlot& slot) {
        if (slot.what == FrameSlot::What::locals)
            step.lead(item(slot.value, text_literal(step.first.substr(1))), step.first.size());
    });
}

void ExpressionSteps::visit_names(const ExpressionPlace& place, const NameVisitor& visit) const {
    if (place.frame)
        visit_slots(python_, *place.frame, [&](const FrameSlot& slot) {
            if (slot.what != FrameSlot::What::local) return;
            std::string name = python_.unicode_text(slot.name, 200).value_or("?");
            const bool empty = slot.cell && referent(slot.value, Field::cell_contents).is_null();
            if (!empty && identifier_length(name) == name.size()) visit(attribute_step(std::move(name)));
        });
    if (place.object.is_null()) return;
    const auto visit_attributes = [&](Address dict, bool inherited) {
        visit_references(dict, [&](const Reference& reference) {
            if (reference.step.kind != ReferenceStep::Kind::item) return;
            const auto key = whole_literal(reference.step.key->text);
            if (!key || key->kind != Literal::Kind::text || identifier_length(key->text) != key->text.size())
                return;
            const ReferenceStep attribute = attribute_step(key->text);
            if (!inherited || !is_dunder(attribute)) visit(attribute);
        });
    };
    if (place.items_are_attributes || is_module_dict(place.object)) visit_attributes(place.object, false);
    visit_references(place.object, [&](const Reference& reference) {
        using Kind = ReferenceStep::Kind;
        const Kind kind = reference.step.kind;
        if (kind != Kind::key && kind != Kind::offset && kind != Kind::none) visit(reference.step);
    });
    const Address own = referent(place.object, Field::attributes);
    for (const Address dict : dicts_on_the_way(place.object)) visit_attributes(dict, dict != own);
}

}  // namespace heapsift
