#include "parsers/numpy/array_layout.h"

// Reading arrays and dtypes; the essay is in the header.

#include <fmt/format.h>

namespace heapsift {

namespace {

// PyArrayObject_fields
constexpr std::uint64_t at_data = 16, at_nd = 24, at_dimensions = 32, at_base = 48, at_descr = 56, at_flags = 64;
// PyArray_Descr, the part that both variants share
constexpr std::uint64_t at_kind = 24, at_byteorder = 26, at_type_num = 28;
// and what moved: 1.x has a 32-bit elsize at 32; 2.x has 64-bit flags at 32 and elsize at 40
constexpr std::uint64_t old_elsize = 32, old_fields = 48, old_names = 56;
constexpr std::uint64_t new_elsize = 40, new_fields = 96, new_names = 104;
constexpr std::uint64_t old_descr_basicsize = 96;

}  // namespace

std::string DescrFacts::name() const {
    switch (kind) {
        case 'b':
            return "bool";
        case 'i':
            return fmt::format("int{}", itemsize * 8);
        case 'u':
            return fmt::format("uint{}", itemsize * 8);
        case 'f':
            return fmt::format("float{}", itemsize * 8);
        case 'c':
            return fmt::format("complex{}", itemsize * 8);
        case 'm':
            return "timedelta64";
        case 'M':
            return "datetime64";
        case 'O':
            return "object";
        case 'S':
            return fmt::format("bytes{}", itemsize * 8);
        case 'U':
            return fmt::format("str{}", itemsize * 8);
        case 'T':
            return "StringDType";
        case 'V':
            return fmt::format("void{}", itemsize * 8);
        default:
            return "dtype";
    }
}

std::optional<DescrFacts> descr_facts(const PythonHeap& heap, Address descr) {
    const TypeId type = descr.is_null() ? no_type : heap.type_of(descr);
    if (type == no_type) return std::nullopt;
    const auto kind = heap.memory().read<char>(descr + at_kind);
    if (!kind) return std::nullopt;
    DescrFacts facts;
    facts.kind = *kind;
    facts.byteorder = heap.integer<char>(descr + at_byteorder);
    facts.type_num = heap.integer<std::int32_t>(descr + at_type_num);
    // dtype instances of 1.x are 96 bytes; a subclass adds to the layout of its release.
    TypeId root = type;
    while (heap.types()[root].base != no_type && heap.types()[heap.types()[root].base].base != no_type)
        root = heap.types()[root].base;
    const bool is_old = heap.types()[root].basicsize == old_descr_basicsize && heap.types()[root].name == "numpy.dtype";
    if (is_old) {
        const auto elsize = heap.integer<std::int32_t>(descr + old_elsize);
        if (elsize < 0) return std::nullopt;
        facts.itemsize = static_cast<std::uint64_t>(elsize);
        facts.fields = heap.pointer(descr + old_fields);
        facts.names = heap.pointer(descr + old_names);
    } else {
        const auto elsize = heap.integer<std::int64_t>(descr + new_elsize);
        if (elsize < 0) return std::nullopt;
        facts.itemsize = static_cast<std::uint64_t>(elsize);
        // Only the old kinds of dtype have fields; new-style ones (StringDType, user dtypes) end before them.
        if (facts.type_num >= 0 && (facts.type_num < 24 || (facts.type_num >= 256 && facts.type_num < 2056))) {
            facts.fields = heap.pointer(descr + new_fields);
            facts.names = heap.pointer(descr + new_names);
        }
    }
    return facts;
}

std::optional<ArrayFacts> array_facts(const ObjectReader& array) {
    const PythonHeap& heap = array.heap();
    ArrayFacts facts;
    facts.data = heap.pointer(array.at(at_data));
    facts.nd = heap.integer<std::int32_t>(array.at(at_nd));
    facts.dimensions = heap.pointer(array.at(at_dimensions));
    facts.base = heap.pointer(array.at(at_base));
    facts.descr = heap.pointer(array.at(at_descr));
    facts.flags = heap.integer<std::uint32_t>(array.at(at_flags));
    if (facts.nd < 0 || facts.nd > max_dimensions) return std::nullopt;
    const auto descr = descr_facts(heap, facts.descr);
    if (!descr) return std::nullopt;
    facts.itemsize = descr->itemsize;
    std::uint64_t bytes = facts.itemsize;
    for (std::int32_t i = 0; i < facts.nd; ++i) {
        const auto extent = heap.memory().read<std::int64_t>(facts.dimensions + 8 * static_cast<std::uint64_t>(i));
        if (!extent || *extent < 0) return std::nullopt;
        facts.shape[static_cast<std::size_t>(i)] = *extent;
        if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(*extent), &bytes)) return std::nullopt;
    }
    facts.nbytes = bytes;
    return facts;
}

std::string shape_text(const ArrayFacts& array) {
    std::string text = "(";
    for (std::int32_t i = 0; i < array.nd; ++i) {
        if (i > 0) text += ", ";
        text += std::to_string(array.shape[static_cast<std::size_t>(i)]);
    }
    return text + (array.nd == 1 ? ",)" : ")");
}

}  // namespace heapsift
