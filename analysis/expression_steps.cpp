// References first, as they are printed or mean the same. Where none is called that, what Python looks up in
// dicts on the way: an attribute of an instance, its class and their bases, a name of a module. Last, a key
// whose quotes a shell has eaten.

#include "analysis/expression_steps.h"

#include "parsers/cpython/type_flags.h"
#include "parsers/snapshot/root_set.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::size_t most_bases = 1000;
constexpr std::string_view cell_name = ".<cell ";

bool is_plain_attribute(std::string_view step) {
    return step.size() > 1 && step[0] == '.' && identifier_length(step.substr(1)) == step.size() - 1;
}

Reference named(Address target, std::string name) {
    Reference reference;
    reference.target = target;
    reference.before = std::move(name);
    return reference;
}

}  // namespace

struct ExpressionSteps::Step {
    const ExpressionPlace& place;
    std::string_view rest;   // from `start` on
    std::size_t start;       // place.at and the blanks behind it
    std::string_view first;  // the first step of `rest`
    std::vector<ExpressionPlace>& found;

    void lead(Address target, std::size_t length) const {
        const ExpressionPlace next{start + length, target, nullptr, false};
        if (!target.is_null() && std::find(found.begin(), found.end(), next) == found.end())
            found.push_back(next);
    }
};

ExpressionSteps::ExpressionSteps(const HeapSnapshot& heap, const PythonHeap& python)
    : heap_(heap), python_(python) {
    const RootSet roots(heap);
    for (const LoadedModule& module : roots.modules())
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
    const Step step{place, rest, start, first_step(rest), found};
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
    if (const ObjectId id = heap_.find(object); id != no_object) heap_.visit_references(id, visit);
}

Address ExpressionSteps::referent(Address object, std::string_view name) const {
    Address found;
    visit_references(object, [&](const Reference& reference) {
        if (found.is_null() && !reference.key && reference.before == name && reference.after.empty())
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
        if (!found.is_null() || !reference.key || reference.before != "[") return;
        const auto known = whole_literal(reference.key->text);
        if (known && means_the_same(*known, key)) found = reference.target;
    });
    return found;
}

bool ExpressionSteps::equals_number(Address key, std::uint64_t flags, const Literal& literal) const {
    const Layout& l = python_.layout();
    Literal known;
    if (flags & long_subclass_flag) {
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
        if (type == no_type || python_.types()[type].name != "float") return false;
        known.kind = Literal::Kind::real;
        known.real = python_.integer<double>(key + *l.float_.ob_fval);
    }
    return means_the_same(known, literal);
}

bool ExpressionSteps::equals(Address key, const Literal& literal) const {
    const Layout& l = python_.layout();
    const auto flags = python_.integer<std::uint64_t>(python_.type_address(key) + *l.type.tp_flags);
    const auto length = static_cast<std::uint64_t>(std::max<std::int64_t>(python_.var_size(key), 0));
    switch (literal.kind) {
        case Literal::Kind::text: {
            if (!(flags & str_subclass_flag)) return false;
            const auto facts = python_.unicode(key);
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
            const ObjectId id = heap_.find(key);
            const auto known = id == no_object ? std::nullopt : whole_literal(heap_.value(id).text);
            return known && means_the_same(*known, literal);
        }
    }
}

// Items of dicts, lists and tuples, without a name for each of the others.
void ExpressionSteps::follow_index(const Step& step, bool unquoted) const {
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

void ExpressionSteps::follow_references(const Step& step, bool unquoted) const {
    const bool key_was_compared = step.rest.front() == '[' && is_dict(step.place.object);
    visit_references(step.place.object, [&](const Reference& reference) {
        if (!reference.before.starts_with(step.rest.front())) return;
        const std::string name = reference.name();
        if (key_was_compared && !step.rest.starts_with(name)) return;
        if (const auto length = match_name(name, step.rest, unquoted)) step.lead(reference.target, *length);
        if (name.starts_with(cell_name)) follow_shared_local(step, reference, unquoted);
    });
}

// f_locals shows what is in a cell, where the reference is one to the cell.
void ExpressionSteps::follow_shared_local(const Step& step, const Reference& cell, bool unquoted) const {
    const std::string name = cell.before.substr(cell_name.size(), cell.before.size() - cell_name.size() - 1);
    for (const char* frame : {".", ".gi_frame.", ".cr_frame.", ".ag_frame."})
        if (const auto length = match_name(frame + ("f_locals['" + name + "']"), step.rest, unquoted))
            step.lead(referent(cell.target, ".cell_contents"), *length);
}

void ExpressionSteps::follow_index_from_the_end(const Step& step) const {
    const auto bracket = bracket_at_start(step.rest);
    const auto key = bracket ? whole_literal(bracket->content) : std::nullopt;
    if (!key || key->kind != Literal::Kind::integer || !key->negative || key->limbs.size() > 1 ||
        is_dict(step.place.object))
        return;
    std::vector<Address> items;
    visit_references(step.place.object, [&](const Reference& reference) {
        if (reference.name() == "[" + std::to_string(items.size()) + "]") items.push_back(reference.target);
    });
    if (key->limbs[0] <= items.size()) step.lead(items[items.size() - key->limbs[0]], bracket->length);
}

Address ExpressionSteps::class_of(Address object) const {
    const ObjectId id = heap_.find(object);
    return id == no_object || heap_.type_of(id) == no_type ? Address()
                                                           : heap_.types()[heap_.type_of(id)].address;
}

Address ExpressionSteps::type_dict(Address type) const {
    const Address dict = python_.type_dict(type);
    return dict.is_null() ? referent(type, ".__dict__") : dict;
}

// A static type has an mro too, which no traverse reports in every version: there its bases will do.
void ExpressionSteps::add_dicts_of_bases(Address type, std::vector<Address>& dicts) const {
    std::vector<Address> order;
    if (const Address mro = referent(type, ".__mro__"); !mro.is_null())
        visit_references(mro, [&](const Reference& reference) {
            if (order.size() < most_bases && reference.before.starts_with('['))
                order.push_back(reference.target);
        });
    TypeId base = order.empty() ? heap_.types().find(type) : no_type;
    for (; base != no_type && order.size() < most_bases; base = heap_.types()[base].base)
        order.push_back(heap_.types()[base].address);
    for (const Address one : order)
        if (const Address dict = type_dict(one);
            !dict.is_null() && std::find(dicts.begin(), dicts.end(), dict) == dicts.end())
            dicts.push_back(dict);
}

// object.__getattribute__ and type.__getattribute__, as far as they look into dicts.
std::vector<Address> ExpressionSteps::dicts_on_the_way(Address object) const {
    std::vector<Address> dicts;
    if (heap_.types().find(object) != no_type)
        add_dicts_of_bases(object, dicts);
    else if (const Address own = referent(object, ".__dict__"); !own.is_null())
        dicts.push_back(own);
    add_dicts_of_bases(class_of(object), dicts);
    return dicts;
}

// obj.__dict__['x'] where no __dict__ was ever asked for: the values lie in the instance, and the reference
// is called .x.
void ExpressionSteps::follow_values(const Step& step) const {
    const std::string_view index = step.rest.substr(step.first.size());
    const auto bracket = index.starts_with('[') ? bracket_at_start(index) : std::nullopt;
    const auto key = bracket ? whole_literal(bracket->content, true) : std::nullopt;
    if (!key || key->kind != Literal::Kind::text) return;
    step.lead(referent(step.place.object, "." + key->text), step.first.size() + bracket->length);
}

void ExpressionSteps::follow_attribute(const Step& step) const {
    const Literal name = text_literal(step.first.substr(1));
    const Address object = step.place.object;
    const bool is_type = heap_.types().find(object) != no_type;
    if (name.text == "__class__") return step.lead(class_of(object), step.first.size());
    if (name.text == "__dict__")
        return is_type ? step.lead(type_dict(object), step.first.size()) : follow_values(step);
    for (const Address dict : dicts_on_the_way(object)) {
        step.lead(item(dict, name), step.first.size());
        if (!step.found.empty()) return;
    }
}

// What the slots of a frame are called: by f_locals, with the contents of cells, and as references are.
void ExpressionSteps::visit_frame_names(const PythonFrame& frame,
                                        const std::function<void(Address, const std::string&)>& visit) const {
    using What = FrameSlot::What;
    visit_slots(python_, frame, [&](const FrameSlot& slot) {
        switch (slot.what) {
            case What::function:
                visit(slot.value, ".<function>");
                break;
            case What::code:
                visit(slot.value, ".f_code");
                break;
            case What::locals:
                visit(slot.value, ".f_locals");
                break;
            case What::frame:
                visit(slot.value, "<frame>");
                break;
            case What::stack:
                visit(slot.value, ".<value stack>");
                break;
            case What::local: {
                const std::string name = python_.unicode_text(slot.name, 200).value_or("?");
                const Address content = slot.cell ? referent(slot.value, ".cell_contents") : slot.value;
                if (!content.is_null()) {
                    visit(content, "." + name);
                    visit(content, ".f_locals['" + name + "']");
                }
                if (slot.cell) visit(slot.value, ".<cell " + name + ">");
                visit(slot.value, "local '" + name + "'");
                break;
            }
        }
    });
}

void ExpressionSteps::follow_frame(const Step& step) const {
    Address body;  // of a module or class: its names are in a dict
    visit_frame_names(*step.place.frame, [&](Address target, const std::string& name) {
        if (const auto length = match_name(name, step.rest, true)) step.lead(target, *length);
        if (name == ".f_locals") body = target;
        const bool spoken =
            name == ".<function>" || name == ".f_code" || name == ".f_locals" || name == ".<value stack>";
        if (!spoken) return;
        // func() <code>, func() <function>: what a reference from a running frame is called
        const std::string mark = name == ".f_code"     ? "<code>"
                                 : name == ".f_locals" ? "<f_locals>"
                                                       : name.substr(1);
        if (const auto length = match_name(mark, step.rest, false)) step.lead(target, *length);
    });
    if (step.found.empty() && !body.is_null() && is_plain_attribute(step.first))
        step.lead(item(body, text_literal(step.first.substr(1))), step.first.size());
}

void ExpressionSteps::visit_names(const ExpressionPlace& place, const NameVisitor& visit) const {
    if (place.frame)
        visit_frame_names(*place.frame, [&](Address target, const std::string& name) {
            if (is_plain_attribute(name) && name != ".f_code" && name != ".f_locals")
                visit(named(target, name));
        });
    if (place.object.is_null()) return;
    const auto visit_attributes = [&](Address dict, bool inherited) {
        visit_references(dict, [&](const Reference& reference) {
            if (reference.before != "[" || !reference.key) return;
            const auto key = whole_literal(reference.key->text);
            if (!key || key->kind != Literal::Kind::text || identifier_length(key->text) != key->text.size())
                return;
            if (!inherited || !key->text.starts_with("__")) visit(named(reference.target, "." + key->text));
        });
    };
    if (place.items_are_attributes || is_module_dict(place.object)) visit_attributes(place.object, false);
    visit_references(place.object, [&](const Reference& reference) {
        if (!reference.before.starts_with("key ") && !reference.before.starts_with('<')) visit(reference);
    });
    const Address own = referent(place.object, ".__dict__");
    for (const Address dict : dicts_on_the_way(place.object)) visit_attributes(dict, dict != own);
}

}  // namespace heapsift
