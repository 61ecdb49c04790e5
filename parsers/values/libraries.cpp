// Objects of libraries that programs hold many of: frames of pandas, rows of Django's and SQLAlchemy's models.
//
// A DataFrame or Series keeps its data in a manager, a class made by Cython: among its words are the tuple of blocks
// and the list of axes; a block has its values among its own. Cython orders such fields as they were declared, and
// versions differ, so they are told by what they are (pandas/_libs/internals.pyx of 1.3 to 2.2). A block of NumPy's
// arrays has one row for each column, an extension array is one column.
// A Django model knows its primary key's attribute by its `_meta` (db/models/options.py of 2.2 to 5.0), an instance mapped by SQLAlchemy
// has its key in its state: a tuple of class, key, and token (orm/state.py of 1.3 to 2.0).

#include "parsers/cpython/type_flags.h"
#include "parsers/numpy/array_layout.h"
#include "parsers/values/families.h"
#include "parsers/values/parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {

namespace {

constexpr std::uint64_t most_body = 512;  // bytes of a manager or a block
constexpr std::size_t most_blocks = 256, shown_dtypes = 4;

/// The first object among the words of a C object of which `wanted` holds.
template <class F>
std::optional<ObjectReader> among_words(const ObjectReader& object, F&& wanted) {
    const PythonHeap& heap = object.heap();
    const std::uint64_t end = std::min(object.type().basicsize, most_body);
    for (std::uint64_t at = *heap.layout().object.size; at + 8 <= end; at += 8)
        if (const auto one = object_at(heap, heap.pointer(object.at(at))); one && wanted(*one)) return one;
    return std::nullopt;
}

bool is_called_array(const ObjectReader& object) {
    return object.type().name == "numpy.ndarray" || object.type().name == "numpy.memmap";
}

/// Of an array of at least one.
std::int64_t last_dimension(const ArrayFacts& facts) {
    return facts.shape[static_cast<std::size_t>(facts.nd - 1)];
}

/// What an extension array keeps its elements in: a word of its own, or an attribute.
std::optional<ObjectReader> inner_array(const ObjectReader& values) {
    if (const auto own = among_words(values, is_called_array)) return own;
    for (const char* const name : {"_ndarray", "_data", "_codes"})
        if (const auto inner = object_at(values.heap(), stored_attribute(values, name));
            inner && is_called_array(*inner))
            return inner;
    return std::nullopt;
}

std::string dtype_name(const PythonHeap& heap, Address dtype) {
    const auto facts = descr_facts(heap, dtype);
    return facts ? facts->name() : std::string("?");
}

/// "Int64", "UInt8": how pandas calls an integer that may be missing.
std::string masked_name(std::string name) {
    if (name.starts_with('u') && name.size() > 1) name[1] = 'I';
    if (!name.empty() && name[0] >= 'a' && name[0] <= 'z') name[0] = static_cast<char>(name[0] - 'a' + 'A');
    return name;
}

/// How pandas calls the dtype of an extension array.
std::string extension_name(const ObjectReader& values) {
    const PythonHeap& heap = values.heap();
    const std::string type = short_name(values.type().name);
    if (type == "Categorical") return "category";
    if (type == "BooleanArray") return "boolean";
    if (type == "StringArray" || type.starts_with("ArrowString")) return "string";
    const auto inner = inner_array(values);
    const auto facts = inner ? array_facts(*inner) : std::nullopt;
    if (type == "IntegerArray" || type == "FloatingArray")
        return facts ? masked_name(dtype_name(heap, facts->descr)) : type;
    const auto dtype = among_words(
        values, [](const ObjectReader& one) { return one.type().name.find("Dtype") != std::string::npos; });
    if (dtype) return short_name(dtype->type().name);
    return facts ? dtype_name(heap, facts->descr) : type;
}

struct Blocks {
    std::int64_t rows = -1, columns = 0;
    std::vector<std::pair<std::string, std::int64_t>> dtypes;  // and how many columns have each

    void add(const std::string& dtype, std::int64_t count) {
        columns += count;
        const auto known =
            std::find_if(dtypes.begin(), dtypes.end(), [&](const auto& one) { return one.first == dtype; });
        if (known == dtypes.end())
            dtypes.emplace_back(dtype, count);
        else
            known->second += count;
    }
};

bool add_block(const ObjectReader& block, Blocks& blocks) {
    const auto values = among_words(block, [](const ObjectReader& one) {
        return is_called_array(one) || one.type().name.starts_with("pandas.core.arrays.");
    });
    if (!values) return false;
    if (!is_called_array(*values)) {
        blocks.add(extension_name(*values), 1);
        const auto inner = inner_array(*values);
        if (const auto facts = inner ? array_facts(*inner) : std::nullopt;
            facts && facts->nd > 0 && blocks.rows < 0)
            blocks.rows = last_dimension(*facts);
        return true;
    }
    const auto facts = array_facts(*values);
    if (!facts || facts->nd < 1) return false;
    const auto descr = descr_facts(values->heap(), facts->descr);
    if (!descr) return false;
    blocks.rows = last_dimension(*facts);
    blocks.add(descr->name(), facts->nd > 1 ? facts->shape.front() : 1);
    return true;
}

std::optional<Blocks> blocks_of(const ObjectReader& object) {
    const auto manager = object_at(object.heap(), stored_attribute(object, "_mgr"));
    if (!manager) return std::nullopt;
    // The manager of a Series is written in Python.
    auto tuple = object_at(object.heap(), stored_attribute(*manager, "blocks"));
    if (!tuple)
        tuple = among_words(*manager,
                            [](const ObjectReader& one) { return one.type().known == KnownType::tuple; });
    if (!tuple) return std::nullopt;
    Blocks blocks;
    const FirstItems first = first_items(object.heap(), tuple->address(), most_blocks);
    if (first.items.size() < first.count) return std::nullopt;
    for (const Address item : first.items) {
        const auto block = object_at(object.heap(), item);
        if (!block || !add_block(*block, blocks)) return std::nullopt;
    }
    std::stable_sort(blocks.dtypes.begin(), blocks.dtypes.end(), [](const auto& a, const auto& b) {
        return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    return blocks;
}

ShortValue data_frame(const Describing& of) {
    const auto blocks = blocks_of(of.object);
    if (!blocks || blocks->columns < 0) return {};
    std::string text = blocks->rows < 0 ? fmt::format("{} columns", blocks->columns)
                                        : fmt::format("({}, {})", blocks->rows, blocks->columns);
    for (std::size_t i = 0; i < blocks->dtypes.size(); ++i) {
        text += i == 0 ? ": " : ", ";
        if (i == shown_dtypes) {
            text += "…";
            break;
        }
        text += fmt::format("{} {}", blocks->dtypes[i].second, blocks->dtypes[i].first);
    }
    return {.kind = ShortValue::Kind::summary, .text = std::move(text)};
}

ShortValue series(const Describing& of) {
    const auto blocks = blocks_of(of.object);
    if (!blocks || blocks->dtypes.size() != 1) return {};
    const std::string& dtype = blocks->dtypes.front().first;
    return {.kind = ShortValue::Kind::summary,
            .text = blocks->rows < 0 ? dtype : fmt::format("({},) {}", blocks->rows, dtype)};
}

ShortValue pandas_index(const Describing& of) {
    if (const Address range = stored_attribute(of.object, "_range"); !range.is_null()) {
        ValueText value(of);
        return std::move(value.part(range)).literal("");
    }
    const auto data = object_at(of.heap(), stored_attribute(of.object, "_data"));
    if (!data) return {};
    if (!is_called_array(*data)) return {.kind = ShortValue::Kind::summary, .text = extension_name(*data)};
    return {.kind = ShortValue::Kind::summary,
            .text = of.values.part(data->address(), of.limit, of.depth + 1).text};
}

ShortValue django_model(const Describing& of) {
    const PythonHeap& heap = of.heap();
    const auto meta = object_at(heap, class_attribute(heap, of.object.type(), "_meta"));
    if (!meta) return {};
    const auto field = object_at(heap, stored_attribute(*meta, "pk"));
    if (!field) return {};
    const auto attribute = str_value(heap, stored_attribute(*field, "attname"));
    if (!attribute) return {};
    const Address key = stored_attribute(of.object, *attribute);
    ValueText value(of, short_name(of.object.type().name) + "(pk=");
    if (key.is_null())
        value.add("None");
    else
        value.part(key);
    return std::move(value).literal();
}

ShortValue mapped_instance(const Describing& of) {
    const PythonHeap& heap = of.heap();
    const auto state = object_at(heap, stored_attribute(of.object, "_sa_instance_state"));
    if (!state) return {};
    const FirstItems identity = first_items(heap, stored_attribute(*state, "key"), 3);
    const std::string name = short_name(of.object.type().name);
    // No key yet: not in the database.
    if (identity.count < 2) {
        const ShortValue attributes = instance_value(of);
        if (attributes.kind != ShortValue::Kind::none) return attributes;
        return {.kind = ShortValue::Kind::name, .text = name + "(no primary key)"};
    }
    const FirstItems key = first_items(heap, identity.items[1], 1);
    ValueText value(of, name + "(pk=");
    value.part(key.count == 1 && !key.items.empty() ? key.items.front() : identity.items[1]);
    return std::move(value).literal();
}

constexpr ValueRow library_rows[] = {{"pandas.core.frame.DataFrame", data_frame, false},
                                     {"pandas.core.series.Series", series, false},
                                     {"pandas.core.indexes.base.Index", pandas_index, false},
                                     {"django.db.models.base.Model", django_model, false}};

}  // namespace

std::span<const ValueRow> library_values() { return library_rows; }
Describe mapped_value() { return mapped_instance; }

}  // namespace heapsift
