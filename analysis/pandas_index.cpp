// There are four ways to keep labels, recognized by the attribute that exists. A RangeIndex has a `_range`
// and no array. A MultiIndex has `_levels`, one Index of the distinct labels for each level, and `_codes`,
// one array for each level with the places of the labels. Any other has `_data`: an ndarray, mostly of str,
// or an extension array: a Categorical (codes again, and the categories in its dtype), or one around an
// ndarray (DatetimeArray). Source: pandas/core/indexes/{base,range,multi,extension}.py of 1.5 and 2.2.

#include "analysis/pandas_index.h"

#include "parsers/cpython/float_text.h"
#include "parsers/numpy/array_layout.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>

namespace heapsift {
namespace {

constexpr std::size_t longest_label = 60, most_levels = 8;
constexpr int most_indexes = 3;  // a label of a level of a category

std::optional<std::int64_t> integer_value(const HeapReader& heap, ObjectId object) {
    if (object == no_object) return {};
    const std::string text = heap.value(object, 40).text;
    std::int64_t value = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
    return end.ec == std::errc() && end.ptr == text.data() + text.size() ? std::optional(value)
                                                                         : std::nullopt;
}

std::optional<ArrayFacts> facts_of(PandasReader& pandas, ObjectId array) {
    const HeapReader& heap = pandas.heap();
    const HeapSnapshot& columns = heap.snapshot();
    if (array == no_object || !pandas.kind(array).array) return {};
    return array_facts(ObjectReader(heap.python_heap(), columns.address_of(array), columns.type_info(array)));
}

std::string type_of(const HeapSnapshot& heap, ObjectId object) {
    const TypeId type = heap.type_of(object);
    return type == no_type ? std::string() : heap.types[type].name;
}

std::string cut(std::string text, bool longer) { return longer ? text + "…" : text; }

std::string object_label(const HeapReader& heap, Address object) {
    const PythonHeap& python = heap.python_heap();
    if (python.is_unicode(object))
        if (const auto facts = python.unicode(object))
            return cut(python.unicode_text(object, longest_label).value_or("?"),
                       facts->length > longest_label);
    const ObjectId id = heap.snapshot().find(object);
    if (id == no_object) return "?";
    const std::string text = heap.value(id, longest_label).text;
    return text.empty() ? "<" + type_of(heap.snapshot(), id) + ">" : text;
}

/// For a datetime64: "2024-01-31", with the time unless it is midnight.
std::string date_label(std::int64_t ticks, std::string_view unit) {
    const std::int64_t a_second = unit == "ns"   ? 1000000000
                                  : unit == "us" ? 1000000
                                  : unit == "ms" ? 1000
                                  : unit == "s"  ? 1
                                                 : 0;
    if (a_second == 0) return "?";
    if (ticks == INT64_MIN) return "NaT";
    const std::chrono::sys_seconds at{std::chrono::seconds(ticks / a_second - (ticks % a_second < 0))};
    const auto day = std::chrono::floor<std::chrono::days>(at);
    if (day < std::chrono::sys_days(std::chrono::year(1) / 1 / 1) ||
        day > std::chrono::sys_days(std::chrono::year(9999) / 12 / 31))
        return "?";
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(at - day);
    std::string text = fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                                   static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
    if (at != day)
        text += fmt::format(" {:02}:{:02}:{:02}", time.hours().count(), time.minutes().count(),
                            time.seconds().count());
    return text;
}

struct Element {
    std::string dtype;  // "<i8"
    Address at;
};

/// The element at a place along the last axis; of an array of two dimensions, in the first row.
std::optional<Element> element(PandasReader& pandas, ObjectId array, std::uint64_t place) {
    const auto facts = facts_of(pandas, array);
    if (!facts || facts->nd < 1) return {};
    const std::size_t last = static_cast<std::size_t>(facts->nd) - 1;
    if (place >= static_cast<std::uint64_t>(facts->shape[last])) return {};
    const HeapReader& heap = pandas.heap();
    const HeapSnapshot& columns = heap.snapshot();
    const auto strides = array_strides(
        ObjectReader(heap.python_heap(), columns.address_of(array), columns.type_info(array)), *facts);
    const auto descr = descr_facts(heap.python_heap(), facts->descr);
    if (!strides || !descr) return {};
    return Element{descr_str(heap.python_heap(), *descr),
                   facts->data + place * static_cast<std::uint64_t>((*strides)[last])};
}

std::optional<std::int64_t> integer_at(const HeapReader& heap, const Element& one) {
    const PythonHeap& python = heap.python_heap();
    if (one.dtype == "|i1") return python.integer<std::int8_t>(one.at);
    if (one.dtype == "<i2") return python.integer<std::int16_t>(one.at);
    if (one.dtype == "<i4") return python.integer<std::int32_t>(one.at);
    if (one.dtype == "<i8") return python.integer<std::int64_t>(one.at);
    if (one.dtype == "|u1") return python.integer<std::uint8_t>(one.at);
    if (one.dtype == "<u2") return python.integer<std::uint16_t>(one.at);
    if (one.dtype == "<u4") return python.integer<std::uint32_t>(one.at);
    return {};
}

std::string element_label(const HeapReader& heap, const Element& one) {
    const PythonHeap& python = heap.python_heap();
    if (one.dtype == "|O") return object_label(heap, python.pointer(one.at));
    if (const auto number = integer_at(heap, one)) return fmt::format("{}", *number);
    if (one.dtype == "<u8") return fmt::format("{}", python.integer<std::uint64_t>(one.at));
    if (one.dtype == "<f8") return float_text(python.integer<double>(one.at));
    if (one.dtype == "<f4") return float_text(python.integer<float>(one.at));
    if (one.dtype == "|b1") return python.integer<std::uint8_t>(one.at) ? "True" : "False";
    if (one.dtype.starts_with("<M8[") && one.dtype.ends_with("]"))
        return date_label(python.integer<std::int64_t>(one.at),
                          std::string_view(one.dtype).substr(4, one.dtype.size() - 5));
    return "?";
}

std::string label(PandasReader& pandas, ObjectId index, std::uint64_t place, int depth);

/// The label at a place of an array of codes.
std::string coded_label(PandasReader& pandas, ObjectId codes, ObjectId labels, std::uint64_t place,
                        int depth) {
    const auto one = element(pandas, codes, place);
    const auto code = one ? integer_at(pandas.heap(), *one) : std::nullopt;
    if (!code || labels == no_object) return "?";
    return *code < 0 ? "nan" : label(pandas, labels, static_cast<std::uint64_t>(*code), depth + 1);
}

std::string joined_label(PandasReader& pandas, ObjectId levels, ObjectId codes, std::uint64_t place,
                         int depth) {
    const std::vector<ObjectId>&labels = pandas.parts(levels), &arrays = pandas.parts(codes);
    if (labels.size() != arrays.size()) return "?";
    std::string text;
    for (std::size_t i = 0; i < labels.size() && i < most_levels; ++i)
        text += (i == 0 ? "(" : ", ") + coded_label(pandas, arrays[i], labels[i], place, depth);
    return text + (labels.size() > most_levels ? ", …)" : ")");
}

std::string values_label(PandasReader& pandas, ObjectId values, std::uint64_t place, int depth) {
    const HeapReader& heap = pandas.heap();
    const std::vector<ObjectId>& arrays = pandas.arrays_below(values);
    if (arrays.empty() || type_of(heap.snapshot(), values).ends_with(".PeriodArray")) return "?";
    const ObjectId array = arrays.front();
    if (type_of(heap.snapshot(), values).ends_with(".Categorical"))
        for (const NamedObject& part : pandas.attributes(values))
            if (type_of(heap.snapshot(), part.object).ends_with(".CategoricalDtype"))
                return coded_label(pandas, array, pandas.attribute(part.object, "_categories"), place, depth);
    const auto one = element(pandas, array, place);
    return one ? element_label(heap, *one) : "?";
}

std::string label(PandasReader& pandas, ObjectId index, std::uint64_t place, int depth) {
    if (depth >= most_indexes || !pandas.kind(index).index) return "?";
    ObjectId range = no_object, levels = no_object, codes = no_object, values = no_object;
    for (const NamedObject& one : pandas.attributes(index)) {
        if (one.name == "_range") range = one.object;
        if (one.name == "_levels") levels = one.object;
        if (one.name == "_codes") codes = one.object;
        if (one.name == "_data") values = one.object;
    }
    if (range != no_object) {
        const auto start = integer_value(pandas.heap(), pandas.attribute(range, "start"));
        const auto step = integer_value(pandas.heap(), pandas.attribute(range, "step"));
        std::int64_t further = 0, at = 0;
        if (!start || !step || __builtin_mul_overflow(*step, static_cast<std::int64_t>(place), &further) ||
            __builtin_add_overflow(*start, further, &at))
            return "?";
        return fmt::format("{}", at);
    }
    if (levels != no_object && codes != no_object) return joined_label(pandas, levels, codes, place, depth);
    return values == no_object ? "?" : values_label(pandas, values, place, depth);
}

}  // namespace

std::optional<std::uint64_t> values_length(PandasReader& pandas, ObjectId values) {
    // A sparse array keeps only the elements that differ from its fill value.
    if (type_of(pandas.heap().snapshot(), values).ends_with(".SparseArray")) return {};
    const std::vector<ObjectId>& arrays = pandas.arrays_below(values);
    const auto facts = arrays.empty() ? std::nullopt : facts_of(pandas, arrays.front());
    if (!facts || facts->nd < 1) return {};
    return static_cast<std::uint64_t>(facts->shape[static_cast<std::size_t>(facts->nd) - 1]);
}

std::optional<std::uint64_t> index_length(PandasReader& pandas, ObjectId index) {
    for (const NamedObject& one : pandas.attributes(index)) {
        if (one.name == "_range") {
            const auto length = integer_value(pandas.heap(), pandas.attribute(one.object, "<length>"));
            return length && *length >= 0 ? std::optional(static_cast<std::uint64_t>(*length)) : std::nullopt;
        }
        if (one.name == "_data") return values_length(pandas, one.object);
        if (one.name == "_codes") {
            const std::vector<ObjectId>& codes = pandas.parts(one.object);
            return codes.empty() ? std::nullopt : values_length(pandas, codes.front());
        }
    }
    return {};
}

std::string index_label(PandasReader& pandas, ObjectId index, std::uint64_t place) {
    return label(pandas, index, place, 0);
}

}  // namespace heapsift
