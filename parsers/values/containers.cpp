// Containers: how many items, and the first of them that say something.
//
// "list of 3" names a list; "list of 3: 'a', 'b', 'c'" says which one it is. Only literals are written, few and short
// ones. A frozenset that can be written whole is written as Python does, since it may be the
// key of a dict. Derived types are called by their own names.

#include "parsers/cpython/type_flags.h"
#include "parsers/values/families.h"
#include "parsers/values/parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {

namespace {

constexpr std::size_t shown_items = 5;
constexpr std::uint64_t most_slots = 4096, slot_of_set = 16;
constexpr std::size_t most_of_frozenset = 8;

/// The items that begin a container, written until one is no literal or there is no room.
class ItemsText {
public:
    ItemsText(const Describing& of, std::string_view name, std::uint64_t count)
        : of_(of), count_(count), kept_(fmt::format("{} of {}", name, count)) {}

    bool add(Address item) {
        const std::string text = part(item);
        return !text.empty() && take(text);
    }
    /// An entry whose value is not a literal is written as its key.
    bool add(Address key, Address value) {
        const std::string text = part(key);
        if (text.empty()) return false;
        const std::string of_value = part(value);
        return take(text + ": " + (of_value.empty() ? "…" : of_value)) || (shown_ == 0 && take(text + ": …"));
    }

    ShortValue value() const {
        if (shown_ == 0) return {.kind = ShortValue::Kind::summary, .text = kept_};
        const bool whole = shown_ == count_;
        return {.kind = ShortValue::Kind::summary,
                .text = kept_ + ": " + text_ + (whole ? "" : ", …"),
                .cut = !whole,
                .without_values = kept_};
    }

private:
    std::string part(Address item) {
        const auto object = of_.depth == 0 ? object_at(of_.heap(), item) : std::nullopt;
        if (!object) return {};
        const ShortValue value = of_.values.value(item, object->type(), longest_of_item, of_.depth + 1);
        const bool literal = value.kind == ShortValue::Kind::literal || value.constant;
        return literal ? value.text : std::string();
    }
    bool take(const std::string& text) {
        if (shown_ >= shown_items || kept_.size() + text_.size() + text.size() > of_.limit) return false;
        text_ += (shown_ > 0 ? ", " : "") + text;
        ++shown_;
        return true;
    }

    static constexpr std::size_t longest_of_item = 24;
    const Describing& of_;
    std::uint64_t count_;
    std::uint64_t shown_ = 0;
    std::string kept_, text_;
};

ShortValue sequence(const Describing& of) {
    const FirstItems first = first_items(of.heap(), of.object.address(), shown_items);
    ItemsText items(of, of.object.type().flags & list_subclass_flag ? "list" : "tuple", first.count);
    for (const Address item : first.items)
        if (!items.add(item)) break;
    return items.value();
}

/// "dict", "OrderedDict", "Counter": the name of the library's class, not that of one derived from it.
std::string mapping_name(const Describing& of) {
    for (const TypeInfo* at : lookup_order(of.heap(), of.object.type()))
        for (const char* const name :
             {"collections.Counter", "collections.OrderedDict", "collections.defaultdict", "frozendict"})
            if (at->name == name) return short_name(name);
    return "dict";
}

ShortValue mapping(const Describing& of) {
    ItemsText items(of, mapping_name(of), of.object.integer<std::uint64_t>(of.object.layout().dict.ma_used));
    if (of.depth == 0)
        for (const auto& [key, value] : first_entries(of.heap(), of.object.address(), shown_items))
            if (!items.add(key, value)) break;
    return items.value();
}

std::vector<Address> first_of_set(const Describing& of, std::size_t most) {
    const auto& l = of.object.layout().set;
    const Address table = of.object.pointer(l.table);
    const auto mask = of.object.integer<std::uint64_t>(l.mask);
    std::vector<Address> found;
    for (std::uint64_t i = 0; i <= std::min(mask, most_slots) && found.size() < most; ++i) {
        const Address key = of.heap().pointer(table + i * slot_of_set);
        if (!key.is_null() && of.heap().integer<std::int64_t>(table + i * slot_of_set + 8) != -1)
            found.push_back(key);
    }
    return found;
}

ShortValue set(const Describing& of) {
    const auto count = of.object.integer<std::uint64_t>(of.object.layout().set.used);
    ItemsText items(of, "set", count);
    for (const Address key : first_of_set(of, shown_items))
        if (!items.add(key)) break;
    return items.value();
}

ShortValue frozen_set(const Describing& of) {
    const auto count = of.object.integer<std::uint64_t>(of.object.layout().set.used);
    const auto keys = first_of_set(of, most_of_frozenset + 1);
    const std::string name = short_name(of.object.type().name);
    if (count != keys.size() || count > most_of_frozenset) return set(of);
    if (count == 0) return whole_literal_value(name + "()");
    ValueText value(of, name + "({");
    for (const Address key : keys) {
        if (!value.next()) return set(of);
        value.part(key);
    }
    return std::move(value).literal("})");
}

/// Items of a deque lie in blocks; those of its first block are the first.
ShortValue deque(const Describing& of) {
    const Layout& l = of.object.layout();
    const auto count = static_cast<std::uint64_t>(std::max<std::int64_t>(of.object.var_size(), 0));
    const auto first = of.object.integer<std::uint64_t>(l.deque.leftindex);
    const std::uint64_t of_block = (*l.deque_block.rightlink - *l.deque_block.data) / 8;
    const Address block = of.object.pointer(l.deque.leftblock);
    ItemsText items(of, "deque", count);
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, shown_items) && first < of_block - i; ++i)
        if (!items.add(of.heap().pointer(block + *l.deque_block.data + 8 * (first + i)))) break;
    return items.value();
}

constexpr ValueRow container_rows[] = {{"list", sequence},
                                       {"tuple", sequence},
                                       {"dict", mapping},
                                       {"frozendict", mapping},
                                       {"set", set},
                                       {"frozenset", frozen_set},
                                       {"collections.deque", deque},
                                       {"types.SimpleNamespace", namespace_value}};

}  // namespace

std::span<const ValueRow> container_values() { return container_rows; }

}  // namespace heapsift
