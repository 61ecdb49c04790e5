#include "parsers/numpy/array_layout.h"

// Reading arrays and dtypes; the essay is in the header. dtype.str follows arraydescr_protocol_typestr_get in
// descriptor.c, the unit of a date append_metastr_to_string in datetime.c; units are in the order of
// NPY_DATETIMEUNIT.

#include "parsers/cpython/instance.h"
#include "parsers/numpy/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace heapsift {

namespace {

// PyArrayObject_fields
constexpr std::uint64_t at_data = 16, at_nd = 24, at_dimensions = 32, at_strides = 40, at_base = 48,
                        at_descr = 56, at_flags = 64;
// PyArray_Descr: the part that both variants share,
constexpr std::uint64_t at_kind = 24, at_byteorder = 26, at_type_num = 28;
// and what moved. 1.x has a 32-bit elsize at 32; 2.x has 64-bit flags at 32 and elsize at 40.
constexpr std::uint64_t at_old_flags = 27,
                        at_new_flags = 32;  // the first bit: an element contains objects
constexpr std::uint64_t old_subarray = 40, old_user_metadata = 72, new_user_metadata = 56, new_subarray = 88;
constexpr std::uint64_t at_na_object = 88;  // after what new-style dtypes share
constexpr std::uint64_t old_elsize = 32, old_fields = 48, old_names = 56, old_metadata = 80;
constexpr std::uint64_t new_elsize = 40, new_fields = 96, new_names = 104, new_metadata = 112;
constexpr std::uint64_t old_descr_basicsize = 96;
constexpr std::int32_t object_type_num = 17, unicode_type_num = 19, datetime_type_num = 21,
                       timedelta_type_num = 22;
// PyArray_DatetimeDTypeMetaData: after an NpyAuxData of four pointers, the unit and its multiple
constexpr std::uint64_t at_unit = 32, at_unit_count = 36;
constexpr std::array units = {"Y", "M", "W", "", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"};
constexpr int longest_chain = 1000;  // of bases; NumPy shortens it to one array if it can

// "[25us]"; empty for a date without a unit, or if it cannot be read.
std::string unit_text(const PythonHeap& heap, Address metadata) {
    if (metadata.is_null()) return {};
    const auto unit = heap.memory().read<std::int32_t>(metadata + at_unit);
    const auto count = heap.memory().read<std::int32_t>(metadata + at_unit_count);
    if (!unit || !count || *unit < 0 || static_cast<std::size_t>(*unit) >= units.size()) return {};
    const char* name = units[static_cast<std::size_t>(*unit)];
    return *count == 1 ? fmt::format("[{}]", name) : fmt::format("[{}{}]", *count, name);
}

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

namespace {

/// Which of the two variants it is. dtype instances of 1.x are 96 bytes; a subclass adds to the layout of its
/// release.
bool is_old_descr(const PythonHeap& heap, TypeId type) {
    TypeId root = type;
    while (heap.types()[root].base != no_type && heap.types()[heap.types()[root].base].base != no_type)
        root = heap.types()[root].base;
    return heap.types()[root].basicsize == old_descr_basicsize &&
           heap.types().is(root, KnownType::numpy_dtype);
}

/// Its size of an item in bytes; nothing if it is negative.
std::optional<std::uint64_t> item_size(const PythonHeap& heap, Address descr, bool old) {
    const auto elsize = old ? std::int64_t{heap.integer<std::int32_t>(descr + old_elsize)}
                            : heap.integer<std::int64_t>(descr + new_elsize);
    return elsize < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(elsize));
}

/// DescrFacts::itemsize alone: all that is asked of the dtypes of most arrays.
std::optional<std::uint64_t> descr_itemsize(const PythonHeap& heap, Address descr) {
    const TypeId type = descr.is_null() ? no_type : heap.type_of(descr);
    if (type == no_type || !heap.memory().read<char>(descr + at_kind)) return std::nullopt;
    return item_size(heap, descr, is_old_descr(heap, type));
}

}  // namespace

std::optional<DescrFacts> descr_facts(const PythonHeap& heap, Address descr) {
    const TypeId type = descr.is_null() ? no_type : heap.type_of(descr);
    if (type == no_type) return std::nullopt;
    const auto kind = heap.memory().read<char>(descr + at_kind);
    if (!kind) return std::nullopt;
    DescrFacts facts;
    facts.kind = *kind;
    facts.byteorder = heap.integer<char>(descr + at_byteorder);
    facts.type_num = heap.integer<std::int32_t>(descr + at_type_num);
    const bool old = is_old_descr(heap, type);
    const auto itemsize = item_size(heap, descr, old);
    if (!itemsize) return std::nullopt;
    facts.itemsize = *itemsize;
    if (old) {
        facts.fields = heap.pointer(descr + old_fields);
        facts.names = heap.pointer(descr + old_names);
        facts.metadata = heap.pointer(descr + old_metadata);
        facts.subarray = heap.pointer(descr + old_subarray);
        facts.user_metadata = heap.pointer(descr + old_user_metadata);
        facts.has_objects = heap.integer<std::uint8_t>(descr + at_old_flags) & 1;
    } else {
        facts.user_metadata = heap.pointer(descr + new_user_metadata);
        facts.has_objects = heap.integer<std::uint8_t>(descr + at_new_flags) & 1;
        if (facts.kind == 'T') facts.na_object = heap.pointer(descr + at_na_object);
        // Only the old kinds of dtype have fields; new-style ones (StringDType, user dtypes) end before them.
        if (facts.type_num >= 0 &&
            (facts.type_num < 24 || (facts.type_num >= 256 && facts.type_num < 2056))) {
            facts.fields = heap.pointer(descr + new_fields);
            facts.names = heap.pointer(descr + new_names);
            facts.metadata = heap.pointer(descr + new_metadata);
            facts.subarray = heap.pointer(descr + new_subarray);
        }
    }
    return facts;
}

namespace {

constexpr int deepest_fields = 16;
constexpr std::uint64_t most_steps = 4 * most_object_places;

/// A non-negative int of at most two digits of 30 bits.
std::optional<std::uint64_t> small_int(const PythonHeap& heap, Address number) {
    if (const auto value = heap.c_long(number))
        return *value >= 0 ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
    const auto& l = heap.layout().long_;
    const auto digits = l.lv_tag.present()
                            ? static_cast<std::int64_t>(heap.integer<std::uint64_t>(number + *l.lv_tag) >> 3)
                            : heap.var_size(number);
    if (number.is_null() || digits < 0 || digits > 2) return std::nullopt;
    std::uint64_t value = 0;
    for (std::int64_t i = digits; i-- > 0;)
        value = value << 30 |
                heap.integer<std::uint32_t>(number + *l.ob_digit + 4 * static_cast<std::uint64_t>(i));
    return value;
}

struct ObjectPlaces {
    std::vector<std::uint64_t> found;
    std::uint64_t steps = 0;  // dtypes looked at; ends a circle of dtypes that refer to each other
};

/// A dtype may name a field twice (by its title), and fields may overlap; each offset counts once.
void add_object_places(const PythonHeap& heap, Address descr, std::uint64_t at, int depth,
                       ObjectPlaces& places) {
    if (depth > deepest_fields || ++places.steps > most_steps || places.found.size() >= most_object_places)
        return;
    const auto facts = descr_facts(heap, descr);
    if (!facts) return;
    if (facts->type_num == object_type_num) {
        places.found.push_back(at);
        return;
    }
    if (!facts->has_objects) return;
    if (!facts->subarray.is_null()) {
        const Address base = heap.pointer(facts->subarray);
        const auto element = descr_facts(heap, base);
        if (!element || element->itemsize == 0) return;
        for (std::uint64_t i = 0; i < std::min(facts->itemsize / element->itemsize, most_object_places); ++i)
            add_object_places(heap, base, at + i * element->itemsize, depth + 1, places);
        return;
    }
    // A field is a tuple: its dtype, its offset, and perhaps a title.
    const std::uint64_t items = *heap.layout().tuple.ob_item;
    heap.visit_dict(facts->fields, [&](Address, Address field) {
        if (heap.var_size(field) < 2) return;
        const auto offset = small_int(heap, heap.pointer(field + items + 8));
        if (offset) add_object_places(heap, heap.pointer(field + items), at + *offset, depth + 1, places);
    });
}

}  // namespace

std::vector<std::uint64_t> object_places(const PythonHeap& heap, Address descr) {
    const auto facts = descr_facts(heap, descr);
    if (!facts || (facts->type_num != object_type_num && !facts->has_objects)) return {};
    ObjectPlaces all;
    add_object_places(heap, descr, 0, 0, all);
    std::vector<std::uint64_t>& places = all.found;
    const std::uint64_t itemsize = facts->itemsize;
    std::erase_if(places, [&](std::uint64_t place) { return itemsize < 8 || place > itemsize - 8; });
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    return places;
}

namespace {

/// The indices of the element that has this byte; `place` becomes the byte's offset in it. Nothing if no
/// element has it.
std::optional<std::string> element_index(const ObjectReader& array, const ArrayFacts& facts,
                                         std::uint64_t& place) {
    const auto strides = array_strides(array, facts);
    if (!strides) return std::nullopt;
    std::vector<std::size_t> widest_first;
    for (std::size_t i = 0; i < strides->size(); ++i)
        if (facts.shape[i] > 1) widest_first.push_back(i);
    std::sort(widest_first.begin(), widest_first.end(),
              [&](std::size_t a, std::size_t b) { return (*strides)[a] > (*strides)[b]; });
    std::vector<std::uint64_t> indices(strides->size());
    for (const std::size_t i : widest_first) {
        if ((*strides)[i] <= 0) return std::nullopt;
        const auto stride = static_cast<std::uint64_t>((*strides)[i]);
        indices[i] = std::min(place / stride, static_cast<std::uint64_t>(facts.shape[i] - 1));
        place -= indices[i] * stride;
    }
    if (place >= facts.itemsize) return std::nullopt;
    return indices.empty() ? "[()]" : fmt::format("[{}]", fmt::join(indices, ", "));
}

/// The index of a subarray's element; these are in C order.
std::string subarray_index(const PythonHeap& heap, Address shape, std::uint64_t number) {
    std::vector<std::uint64_t> indices(
        static_cast<std::size_t>(std::clamp<std::int64_t>(heap.var_size(shape), 0, max_dimensions)));
    for (std::size_t i = indices.size(); i-- > 0;) {
        const auto extent =
            small_int(heap, heap.pointer(shape + *heap.layout().tuple.ob_item + 8 * i)).value_or(0);
        indices[i] = extent == 0 ? 0 : number % extent;
        number = extent == 0 ? 0 : number / extent;
    }
    return fmt::format("[{}]", fmt::join(indices, ", "));
}

/// The path from an element of this dtype to the object at a byte of it: "['inner']['deep'][1]". Nothing if
/// there is none.
std::optional<std::string> path_to_object(const PythonHeap& heap, Address descr, std::uint64_t place,
                                          int depth) {
    const auto facts = descr_facts(heap, descr);
    if (!facts || depth > deepest_fields || place >= facts->itemsize) return std::nullopt;
    if (facts->type_num == object_type_num) return place == 0 ? std::optional(std::string()) : std::nullopt;
    if (!facts->has_objects) return std::nullopt;
    if (!facts->subarray.is_null()) {
        const Address base = heap.pointer(facts->subarray);
        const auto element = descr_facts(heap, base);
        if (!element || element->itemsize == 0) return std::nullopt;
        const auto rest = path_to_object(heap, base, place % element->itemsize, depth + 1);
        if (!rest) return std::nullopt;
        return subarray_index(heap, heap.pointer(facts->subarray + 8), place / element->itemsize) + *rest;
    }
    std::optional<std::string> path;
    const std::uint64_t items = *heap.layout().tuple.ob_item;
    heap.visit_dict(facts->fields, [&](Address key, Address field) {
        if (path || heap.var_size(field) < 2) return;
        const auto offset = small_int(heap, heap.pointer(field + items + 8));
        const TypeId type = heap.type_of(key);
        if (!offset || *offset > place || type == no_type || !heap.unicode(key)) return;
        const TypeInfo& info = heap.types()[type];
        if (!info.kind || !info.kind->describe) return;
        const auto rest = path_to_object(heap, heap.pointer(field + items), place - *offset, depth + 1);
        if (rest) path = "[" + info.kind->describe(ObjectReader(heap, key, info), 200).text + "]" + *rest;
    });
    return path;
}

}  // namespace

std::string element_name(const ObjectReader& array, std::uint64_t place) {
    const auto facts = array_facts(array);
    if (!facts) return "<element>";
    const auto index = element_index(array, *facts, place);
    const auto path = index ? path_to_object(array.heap(), facts->descr, place, 0) : std::nullopt;
    return path ? *index + *path : "<element>";
}

std::string descr_str(const PythonHeap& heap, const DescrFacts& descr) {
    const char order = descr.byteorder == '=' ? '<' : descr.byteorder;  // cores of x86-64 only
    if (descr.type_num == object_type_num) return fmt::format("{}{}", order, descr.kind);
    const std::uint64_t length = descr.type_num == unicode_type_num ? descr.itemsize / 4 : descr.itemsize;
    const bool is_date = descr.type_num == datetime_type_num || descr.type_num == timedelta_type_num;
    return fmt::format("{}{}{}{}", order, descr.kind, length,
                       is_date ? unit_text(heap, descr.metadata) : std::string());
}

std::optional<ArrayFacts> array_facts(const ObjectReader& array) {
    const PythonHeap& heap = array.heap();
    // All that is asked of an array begins here, several times for each.
    const AddressSpace::Window fields(heap.memory(), array.address(), at_flags + sizeof(std::uint32_t));
    std::optional<ArrayFacts> result(std::in_place);
    ArrayFacts& facts = *result;
    facts.data = fields.pointer(at_data);
    facts.nd = fields.read<std::int32_t>(at_nd).value_or(0);
    facts.dimensions = fields.pointer(at_dimensions);
    facts.base = fields.pointer(at_base);
    facts.descr = fields.pointer(at_descr);
    facts.flags = fields.read<std::uint32_t>(at_flags).value_or(0);
    if (facts.nd < 0 || facts.nd > max_dimensions) return std::nullopt;
    const auto itemsize = descr_itemsize(heap, facts.descr);
    if (!itemsize) return std::nullopt;
    facts.itemsize = *itemsize;
    std::uint64_t bytes = facts.itemsize;
    const AddressSpace::Window extents(
        heap.memory(), facts.dimensions,
        sizeof(std::int64_t) * static_cast<std::size_t>(std::max(facts.nd, 1)));
    for (std::int32_t i = 0; i < facts.nd; ++i) {
        const auto extent = extents.read<std::int64_t>(8 * static_cast<std::uint64_t>(i));
        if (!extent || *extent < 0) return std::nullopt;
        facts.shape[static_cast<std::size_t>(i)] = *extent;
        if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(*extent), &bytes)) return std::nullopt;
    }
    facts.nbytes = bytes;
    return result;
}

std::optional<std::vector<std::int64_t>> array_strides(const ObjectReader& array, const ArrayFacts& facts) {
    const PythonHeap& heap = array.heap();
    const Address strides = heap.pointer(array.at(at_strides));
    std::vector<std::int64_t> result;
    for (std::int32_t i = 0; i < facts.nd; ++i) {
        const auto stride = heap.memory().read<std::int64_t>(strides + 8 * static_cast<std::uint64_t>(i));
        if (!stride) return std::nullopt;
        result.push_back(*stride);
    }
    return result;
}

std::optional<VoidFacts> void_facts(const ObjectReader& scalar) {
    const PythonHeap& heap = scalar.heap();
    const auto descr = descr_facts(heap, heap.pointer(scalar.at(void_descr)));
    if (!descr) return std::nullopt;
    return VoidFacts{heap.pointer(scalar.at(void_obval)), heap.pointer(scalar.at(void_base)),
                     descr->itemsize};
}

bool array_lacks_bytes(const ObjectReader& array, const ArrayFacts& facts) {
    const auto strides = array_strides(array, facts);
    if (!strides || facts.nbytes == 0) return false;
    Address first = facts.data;
    std::uint64_t bytes = facts.itemsize;
    for (std::size_t i = 0; i < strides->size(); ++i) {
        std::int64_t distance = 0;
        if (__builtin_mul_overflow((*strides)[i], facts.shape[i] - 1, &distance)) return false;
        const std::uint64_t length =
            distance < 0 ? -static_cast<std::uint64_t>(distance) : static_cast<std::uint64_t>(distance);
        if (distance < 0) first = first - length;
        if (__builtin_add_overflow(bytes, length, &bytes)) return false;
    }
    const AddressSpace& memory = array.heap().memory();
    return memory.mapped_bytes(first, bytes) == bytes && memory.saved_bytes(first, bytes) < bytes;
}

namespace {

struct BaseStep {
    Address next;       // null: the chain ends at the object
    bool lent = false;  // and the owner of the bytes is unknown
};

/// From an object with array data to the one that it has them from.
BaseStep step_to_base(const ObjectReader& object) {
    const Layout& l = object.layout();
    const TypeInfo& type = object.type();
    const auto base_unless_owner = [&](std::uint64_t flags, std::uint64_t base) {
        if (object.heap().integer<std::uint32_t>(object.at(flags)) & array_flag_owns_data) return BaseStep{};
        const Address next = object.heap().pointer(object.at(base));
        return BaseStep{next, next.is_null()};
    };
    if (type.kind == &ndarray_kind) return base_unless_owner(at_flags, at_base);
    if (type.kind == &numpy_void_kind) return base_unless_owner(void_flags, void_base);
    if (type.known == KnownType::memoryview && l.memoryview.view.present() && l.buffer.obj.present())
        return {object.heap().pointer(object.at(*l.memoryview.view + *l.buffer.obj))};
    if (type.name == "numpy.lib.stride_tricks.DummyArray" ||
        type.name == "numpy.lib._stride_tricks_impl.DummyArray")
        return {instance_attribute(object, "base")};
    return {};
}

}  // namespace

Address array_owner(const ObjectReader& array) {
    const PythonHeap& heap = array.heap();
    Address at = array.address();
    for (int steps = 0; steps < longest_chain; ++steps) {
        const TypeId type = heap.type_of(at);
        if (type == no_type) return Address();
        const BaseStep step = step_to_base(ObjectReader(heap, at, heap.types()[type]));
        if (step.lent) return Address();
        if (step.next.is_null()) return at;
        at = step.next;
    }
    return Address();
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
