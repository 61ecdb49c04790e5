// What the families of values share. Everything read here may lie: counts are limited by what is asked for,
// and an attribute that is no str, int or tuple is not taken for one.

#include "parsers/values/parts.h"

#include "parsers/cpython/instance.h"
#include "parsers/cpython/quoted_text.h"
#include "parsers/cpython/type_flags.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {

namespace {

constexpr std::size_t most_classes = 64;
constexpr std::size_t longest_text = 300;
constexpr std::uint64_t most_places = 4096;  // of a table, whose first ones may all be empty
constexpr std::size_t shortest_part = 12;
constexpr std::size_t longest_name = 100;

std::uint64_t flags_of(const PythonHeap& heap, Address object) {
    const TypeId type = object.is_null() ? no_type : heap.type_of(object);
    return type == no_type ? 0 : heap.types()[type].flags;
}

/// Names of attributes as text.
struct CollectAttributes : ReferenceVisitor {
    CollectAttributes(const PythonHeap& h, std::size_t m) : heap(h), most(m) {}
    void visit(Address target, ReferenceKind, const ReferenceName& name) override {
        if (found.size() >= most) return;
        std::optional<std::string> text;
        if (name.form == ReferenceName::Form::attribute) text = heap.unicode_text(name.key, longest_name);
        if (name.form == ReferenceName::Form::c_attribute)
            text = heap.memory().read_c_string(name.key, longest_name);
        if (text) found.emplace_back(std::move(*text), target);
        if (name.form == ReferenceName::Form::text && name.text.field == Field::attributes) dict = target;
    }
    const PythonHeap& heap;
    std::size_t most;
    std::vector<std::pair<std::string, Address>> found;
    Address dict;
};

struct FindSlot : ReferenceVisitor {
    FindSlot(const PythonHeap& h, std::string_view n) : heap(h), wanted(n) {}
    void visit(Address target, ReferenceKind, const ReferenceName& name) override {
        if (!found.is_null()) return;
        if (name.form == ReferenceName::Form::c_attribute &&
            heap.memory().read_c_string(name.key, longest_name) == wanted)
            found = target;
        if (name.form == ReferenceName::Form::attribute && heap.unicode_equals(name.key, wanted))
            found = target;
        if (name.form == ReferenceName::Form::text && name.text.field == Field::attributes) dict = target;
    }
    const PythonHeap& heap;
    std::string_view wanted;
    Address found, dict;
};

}  // namespace

Address stored_attribute(const ObjectReader& object, std::string_view name) {
    FindSlot slot(object.heap(), name);
    visit_instance_attributes(object, slot);
    if (slot.found.is_null() && !slot.dict.is_null()) return object.heap().dict_value(slot.dict, name);
    return slot.found;
}

std::vector<std::pair<std::string, Address>> stored_attributes(const ObjectReader& object, std::size_t most) {
    CollectAttributes all(object.heap(), most);
    visit_instance_attributes(object, all);
    if (!all.dict.is_null() && all.found.size() < most)
        for (const auto& [key, value] : first_entries(object.heap(), all.dict, most - all.found.size()))
            if (auto name = object.heap().unicode_text(key, longest_name))
                all.found.emplace_back(std::move(*name), value);
    return std::move(all.found);
}

std::vector<const TypeInfo*> lookup_order(const PythonHeap& heap, const TypeInfo& type) {
    std::vector<const TypeInfo*> order = {&type};
    const Address mro = heap.pointer(type.address + *heap.layout().type.tp_mro);
    if (!mro.is_null() && (flags_of(heap, mro) & tuple_subclass_flag))
        for (const Address one : first_items(heap, mro, most_classes).items)
            if (const TypeId id = heap.types().find(one); id != no_type && &heap.types()[id] != &type)
                order.push_back(&heap.types()[id]);
    if (order.size() > 1) return order;
    for (TypeId base = type.base; base != no_type && order.size() < most_classes;
         base = heap.types()[base].base)
        order.push_back(&heap.types()[base]);
    return order;
}

Address class_attribute(const PythonHeap& heap, const TypeInfo& type, std::string_view name) {
    for (const TypeInfo* at : lookup_order(heap, type))
        if (const Address found = heap.dict_value(heap.type_dict(at->address), name); !found.is_null())
            return found;
    return {};
}

std::optional<ObjectReader> object_at(const PythonHeap& heap, Address object) {
    const TypeId type = object.is_null() ? no_type : heap.type_of(object);
    if (type == no_type) return std::nullopt;
    return ObjectReader(heap, object, heap.types()[type]);
}

std::string short_name(std::string_view type_name) {
    const std::size_t dot = type_name.rfind('.');
    return std::string(
        dot == std::string_view::npos || type_name.starts_with('<') ? type_name : type_name.substr(dot + 1));
}

std::optional<std::vector<std::uint32_t>> int_digits(const PythonHeap& heap, Address object,
                                                     std::size_t most) {
    if (const auto number = heap.c_long(object)) {
        auto rest =
            *number < 0 ? 0 - static_cast<std::uint64_t>(*number) : static_cast<std::uint64_t>(*number);
        std::vector<std::uint32_t> digits;
        for (; rest != 0; rest >>= 30) digits.push_back(static_cast<std::uint32_t>(rest & ((1U << 30) - 1)));
        if (digits.size() > most) return std::nullopt;
        return digits;
    }
    if (!(flags_of(heap, object) & long_subclass_flag)) return std::nullopt;
    const auto& l = heap.layout().long_;
    std::uint64_t count = 0;
    if (l.lv_tag.present()) {
        count = heap.integer<std::uint64_t>(object + *l.lv_tag) >> 3;
    } else {
        const std::int64_t size = heap.var_size(object);
        count = size < 0 ? 0 - static_cast<std::uint64_t>(size) : static_cast<std::uint64_t>(size);
    }
    if (count > most) return std::nullopt;
    std::vector<std::uint32_t> digits(count);
    if (count > 0 && !heap.memory().read_bytes(object + *l.ob_digit, digits.data(), 4 * count))
        return std::nullopt;
    for (const std::uint32_t digit : digits)
        if (digit >= 1U << 30) return std::nullopt;
    return digits;
}

std::optional<std::int64_t> int_value(const PythonHeap& heap, Address object) {
    if (const auto number = heap.c_long(object)) return number;
    const auto digits = int_digits(heap, object, 3);
    if (!digits || (digits->size() == 3 && (*digits)[2] >= 8)) return std::nullopt;
    std::int64_t value = 0;
    for (std::size_t i = digits->size(); i-- > 0;) value = (value << 30) | (*digits)[i];
    const auto& l = heap.layout().long_;
    const bool negative = l.lv_tag.present() ? (heap.integer<std::uint64_t>(object + *l.lv_tag) & 3) == 2
                                             : heap.var_size(object) < 0;
    return negative ? -value : value;
}

std::optional<std::string> str_value(const PythonHeap& heap, Address object) {
    if (object.is_null() || !heap.is_unicode(object)) return std::nullopt;  // None reads as an empty str
    return heap.unicode_text(object, longest_text);
}

bool is_true(const PythonHeap& heap, Address object) {
    const TypeId type = object.is_null() ? no_type : heap.type_of(object);
    return heap.types().is(type, KnownType::boolean) && int_value(heap, object).value_or(0) != 0;
}

bool is_none(const PythonHeap& heap, Address object) {
    return !object.is_null() && heap.types().is(heap.type_of(object), KnownType::none);
}

FirstItems first_items(const PythonHeap& heap, Address sequence, std::size_t most) {
    FirstItems first;
    const std::uint64_t flags = flags_of(heap, sequence);
    if (!(flags & (list_subclass_flag | tuple_subclass_flag))) return first;
    const bool list = (flags & list_subclass_flag) != 0;
    const std::int64_t count = heap.var_size(sequence);
    if (count <= 0) return first;
    first.count = static_cast<std::uint64_t>(count);
    const Address items =
        list ? heap.pointer(sequence + *heap.layout().list.ob_item) : sequence + *heap.layout().tuple.ob_item;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(first.count, most); ++i) {
        const Address item = heap.pointer(items + 8 * i);
        if (item.is_null()) break;
        first.items.push_back(item);
    }
    return first;
}

std::vector<std::pair<Address, Address>> first_entries(const PythonHeap& heap, Address dict,
                                                       std::size_t most) {
    std::vector<std::pair<Address, Address>> entries;
    auto facts = dict.is_null() || !heap.is_dict(dict) ? std::nullopt : heap.dict(dict);
    if (!facts) return entries;
    facts->entry_count = std::min(facts->entry_count, most_places);
    for (std::uint64_t i = 0; i < facts->entry_count && entries.size() < most; ++i) {
        DictFacts one = *facts;
        one.entry_count = 1;
        one.entries = facts->entries + i * facts->entry_size;
        if (!one.values.is_null()) one.values = facts->values + 8 * i;
        heap.visit_dict(one, [&](Address key, Address value) { entries.emplace_back(key, value); });
    }
    return entries;
}

std::string qualified_name(const PythonHeap& heap, const TypeInfo& type) {
    const LayoutOffset field = heap.layout().heap_type.ht_qualname;
    if (type.heap_type && field.present())
        if (auto name = heap.unicode_text(heap.pointer(type.address + *field), longest_name))
            return *std::move(name);
    return short_name(type.name);
}

std::string quoted_str(std::string_view text) { return quoted_text(text, false, ""); }

ValueText& ValueText::part(Address object) {
    const std::size_t room = of_.limit > text_.size() ? of_.limit - text_.size() : 0;
    const ShortValue value = of_.values.part(object, std::max(room, shortest_part), of_.depth + 1);
    cut_ = cut_ || value.cut;
    finite_ = finite_ && value.finite;
    nan_ = nan_ || value.nan;
    text_ += value.text;
    return *this;
}

bool ValueText::next() {
    if (parts_ > 0 && text_.size() >= of_.limit) {
        leave_out_the_rest();
        return false;
    }
    if (parts_++ > 0) text_ += ", ";
    return true;
}

void ValueText::leave_out_the_rest() {
    text_ += parts_ > 0 ? ", …" : "…";
    cut_ = true;
}

ShortValue ValueText::literal(std::string_view end, std::string kept) && {
    text_ += end;
    const std::size_t length = text_.size();
    return {.kind = ShortValue::Kind::literal,
            .text = std::move(text_),
            .length = length,
            .cut = cut_,
            .finite = finite_,
            .nan = nan_,
            .without_values = std::move(kept)};
}

ShortValue whole_literal_value(std::string text) {
    const std::size_t length = text.size();
    return {.kind = ShortValue::Kind::literal, .text = std::move(text), .length = length};
}

}  // namespace heapsift
