// How each object is laid out in memory, written from CPython's headers and not from the readers under test.
// The types' sizes and flags are those of their static definitions in Objects/ and Modules/.

#include "tests/cpython/python_heap_builder.h"

#include "parsers/cpython/objects/kinds.h"
#include "parsers/cpython/type_finder.h"

#include <algorithm>
#include <stdexcept>

namespace heapsift::test {

namespace {

constexpr Address heap_start(0x7f0000000000), static_start(0x555500010000), code_start(0x555500001000);
constexpr std::uint64_t page = 4096;

std::uint64_t round_up(std::uint64_t n, std::uint64_t to) { return (n + to - 1) / to * to; }

}  // namespace

PythonHeapBuilder::PythonHeapBuilder(const Layout& layout)
    : kinds(cpython_kinds().begin(), cpython_kinds().end()) {
    runtime_.layout = layout;
    runtime_.version.major = layout.version.major;
    runtime_.version.minor = layout.version.minor;
    regions_.push_back({heap_start, {}, true, false, -1});
    regions_.push_back({static_start, {}, true, false, 0});
    regions_.push_back({code_start, std::vector<std::byte>(page), false, true, 0});
    runtime_.type_type = builtin("type");
}

// --- raw memory

std::byte* PythonHeapBuilder::bytes_at(Address at, std::size_t size) {
    for (Region& region : regions_)
        if (at >= region.start && at - region.start + size <= region.bytes.size())
            return region.bytes.data() + (at - region.start);
    throw std::logic_error("the test writes outside of its memory");
}

Address PythonHeapBuilder::allocate(std::uint64_t bytes) {
    heap_.reset();
    Region& region = regions_[0];
    const std::uint64_t chunk = std::max<std::uint64_t>(32, round_up(bytes + 8, 16));
    // Leaves room after the last chunk for the header of a top chunk.
    region.bytes.resize(round_up(top_ + chunk + 64, page));
    put(region.start + top_ + 8, chunk | 1);
    const Address block = region.start + top_ + 16;
    top_ += chunk;
    std::memset(bytes_at(block, chunk - 16), 0, chunk - 16);
    put(region.start + top_ + 8, (region.bytes.size() - top_) | 1);
    return block;
}

Address PythonHeapBuilder::allocate_static(std::uint64_t bytes) {
    heap_.reset();
    Region& region = regions_[1];
    const std::uint64_t at = region.bytes.size();
    region.bytes.resize(at + round_up(bytes, 16));
    return region.start + at;
}

void PythonHeapBuilder::set_bits(Address object, const LayoutBits& field, std::uint32_t value) {
    if (!field.present()) return;
    const Address word = object + (*field.byte & ~3U);
    std::uint32_t bits = 0;
    std::memcpy(&bits, bytes_at(word, 4), 4);
    const unsigned first = (*field.byte & 3U) * 8U + field.bit;
    bits &= ~(((1U << field.width) - 1U) << first);
    put(word, bits | value << first);
}

Address PythonHeapBuilder::c_string(std::string_view text) {
    const Address at = allocate_static(text.size() + 1);
    std::memcpy(bytes_at(at, text.size() + 1), text.data(), text.size());
    return at;
}

const std::vector<Region>& PythonHeapBuilder::regions() { return regions_; }

// --- types

TypeOptions PythonHeapBuilder::builtin_options(const std::string& name) {
    const Layout& l = layout();
    TypeOptions o;
    o.basicsize = *l.object.size;
    auto gc = [&](LayoutOffset size, bool own_sizeof = false) {
        if (!size.present()) throw std::invalid_argument(name + " is not in this version");
        o.basicsize = *size;
        o.flags = have_gc_flag;
        o.own_sizeof = own_sizeof;
    };
    auto plain = [&](LayoutOffset size, std::int64_t itemsize = 0, bool own_sizeof = false) {
        if (!size.present()) throw std::invalid_argument(name + " is not in this version");
        o.basicsize = *size;
        o.itemsize = itemsize;
        o.own_sizeof = own_sizeof;
    };
    const std::uint32_t frame_header = l.interpreter_frame.localsplus.or_else(0);
    const std::pair<const char*, LayoutOffset> only_collected[] = {
        {"function", l.function.size},
        {"method", l.method.size},
        {"builtin_function_or_method", l.builtin_function.size},
        {"method-wrapper", l.wrapper.size},
        {"cell", l.cell.size},
        {"property", l.property.size},
        {"classmethod", l.classmethod.size},
        {"staticmethod", l.staticmethod.size},
        {"functools.partial", l.partial.size},
        {"mappingproxy", l.mappingproxy.size},
        {"slice", l.slice.size},
        {"weakref", l.weakref.size},
        {"classobj", l.old_class.size},
        {"instance", l.old_instance.size},
        {"module", l.module.size},
        {"traceback", l.traceback.size},
        {"managedbuffer", l.managed_buffer.size}};
    for (const auto& [one, size] : only_collected)
        if (name == one) return gc(size), o;
    if (name == "object")
        o.own_sizeof = true;
    else if (name == "type") {
        gc(l.heap_type.size, true);
        o.itemsize = *l.member_def.size;
        o.flags |= type_subclass_flag;
    } else if (name == "tuple") {
        gc(l.tuple.ob_item);
        o.itemsize = 8;
        o.flags |= tuple_subclass_flag;
    } else if (name == "int" && l.int_.ob_ival.present()) {
        plain(l.int_.size);
        o.flags |= 1ULL << 23;  // Py_TPFLAGS_INT_SUBCLASS
    } else if (name == "unicode") {
        plain(l.unicode.size, 0, true);
        o.flags |= unicode_subclass_flag;
    } else if (name == "str" && l.unicode.str.present()) {
        plain(*l.bytes.ob_sval + 1, 1, true);
        o.flags |= bytes_subclass_flag;
    } else if (name == "int") {
        plain(l.long_.ob_digit, 4, true);
        o.flags |= long_subclass_flag;
    } else if (name == "bool") {
        plain(l.long_.size, 4);
        o.flags |= long_subclass_flag;
        o.base = builtin("int");
    } else if (name == "float")
        plain(l.float_.size);
    else if (name == "complex")
        plain(l.complex.size);
    else if (name == "str") {
        plain(l.unicode.size, 0, true);
        o.flags |= unicode_subclass_flag;
    } else if (name == "bytes") {
        plain(*l.bytes.ob_sval + 1, 1);
        o.flags |= bytes_subclass_flag;
    } else if (name == "bytearray")
        plain(l.bytearray.size, 0, true);
    else if (name == "list") {
        gc(l.list.size, true);
        o.flags |= list_subclass_flag;
    } else if (name == "dict") {
        gc(l.dict.size, true);
        o.flags |= dict_subclass_flag;
    } else if (name == "collections.defaultdict") {
        gc(l.defaultdict.size);
        o.flags |= dict_subclass_flag;
        o.base = builtin("dict");
    } else if (name == "collections.OrderedDict") {
        gc(l.ordered_dict.size, true);
        o.flags |= dict_subclass_flag;
        o.base = builtin("dict");
    } else if (name == "set" || name == "frozenset")
        gc(l.set.size, true);
    else if (name == "code") {
        plain(l.code.co_code_adaptive.present() ? l.code.co_code_adaptive : l.code.size, 0, true);
        if (l.code.co_code_adaptive.present()) o.itemsize = 2;
    } else if (name == "frame") {
        gc(l.frame.f_frame_data.present() ? LayoutOffset(*l.frame.f_frame_data + frame_header) : l.frame.size,
           true);
        o.itemsize = 8;
        o.no_var_size = l.frame.f_frame_data.present();
    } else if (name == "generator" || name == "coroutine" || name == "async_generator") {
        gc(l.generator.gi_iframe.present() ? LayoutOffset(*l.generator.gi_iframe + frame_header)
                                           : l.generator.size,
           l.generator.gi_iframe.present());
        if (l.generator.gi_iframe.present()) o.itemsize = 8;
        o.no_var_size = true;
    } else if (name == "builtin_method") {
        gc(l.builtin_method.size);
        o.base = builtin("builtin_function_or_method");
    } else if (name == "method_descriptor" || name == "member_descriptor")
        gc(*l.descriptor.size + 8);
    else if (name == "range")
        plain(l.range.size);
    else if (name == "PyCapsule")
        plain(l.capsule.size);
    else if (name == "BaseException") {
        gc(l.exception.size);
        o.flags |= exception_subclass_flag;
        o.dictoffset = *l.exception.dict;
    } else if (name == "collections.deque")
        gc(l.deque.size, true);
    else if (name == "memoryview") {
        gc(*l.memoryview.view + *l.buffer.size);
        o.itemsize = 8;
    } else if (name == "array.array")
        plain(l.array.size, 0, true);
    else if (name == "_io.BytesIO")
        gc(l.bytes_io.size, true);
    else if (name == "_io.BufferedReader")
        gc(l.buffered.size, true);
    else if (name == "_struct.Struct")
        plain(l.struct_.size, 0, true);
    else if (name == "itertools.product")
        gc(l.product.size, true);
    else if (name == "itertools.combinations")
        gc(l.combinations.size, true);
    else if (name == "itertools.permutations")
        gc(l.permutations.size, true);
    else if (name == "decimal.Decimal")
        plain(l.decimal.size, 0, true);
    else if (name == "xml.etree.ElementTree.Element")
        gc(l.element.size, true);
    else if (name != "NoneType" && name != "ellipsis" && name != "NotImplementedType")
        throw std::logic_error("no builtin type " + name);
    return o;
}

Address PythonHeapBuilder::builtin(const std::string& name) {
    if (const auto known = builtins_.find(name); known != builtins_.end()) return known->second;
    const TypeOptions options = builtin_options(name);
    const Address type = allocate_static(*layout().type.size);
    builtins_[name] = type;
    fill_type(type, name, options, {});
    return type;
}

Address PythonHeapBuilder::c_type(const std::string& tp_name, const TypeOptions& options) {
    const Address type = allocate_static(*layout().type.size);
    fill_type(type, tp_name, options, {});
    return type;
}

void PythonHeapBuilder::fill_type(Address type, const std::string& tp_name, const TypeOptions& options,
                                  const Entries& members) {
    const auto& l = layout().type;
    TypeRecord& record = records_[type.value];
    record.options = options;
    record.mro = {type};
    const Address base = options.base.is_null() && tp_name != "object" ? builtin("object") : options.base;
    if (!base.is_null())
        record.mro.insert(record.mro.end(), records_[base.value].mro.begin(), records_[base.value].mro.end());
    // `object` itself may still be under construction, as the base of `type` and of the types that describe
    // it.
    put_header(type, options.metatype.is_null() ? builtin("type") : options.metatype);
    set(type, l.tp_basicsize, options.basicsize);
    set(type, l.tp_itemsize, options.itemsize);
    set(type, l.tp_flags, options.flags | ready_flag);
    set(type, l.tp_dictoffset, options.dictoffset);
    set(type, l.tp_dealloc, code_address());
    set(type, l.tp_base, base);
    set(type, l.tp_name, c_string(tp_name));
    Entries entries = members;
    if (options.own_sizeof) entries.emplace_back(str("__sizeof__"), object("method_descriptor"));
    const std::vector<Address> mro = records_[type.value].mro;
    set(type, l.tp_mro, tuple(mro));
    set(type, l.tp_dict, dict(entries));
}

Address PythonHeapBuilder::python_class(const std::string& name, const ClassOptions& class_options) {
    const Layout& l = layout();
    const Address base = class_options.base.is_null() ? builtin("object") : class_options.base;
    const TypeOptions inherited = records_[base.value].options;
    TypeOptions options = inherited;
    options.base = base;
    options.own_sizeof = false;
    options.flags |= heap_type_flag | have_gc_flag;
    const std::uint64_t first_slot = options.basicsize;
    options.basicsize += 8 * class_options.slots.size();
    if (class_options.slots.empty() && options.dictoffset == 0 && !(inherited.flags & managed_dict_flag)) {
        if (since(11).contain(l.version) && options.itemsize == 0) {
            options.flags |= managed_dict_flag |
                             (minor() >= 13 && options.basicsize == *l.object.size ? inline_values_flag : 0);
            options.dictoffset = minor() >= 12 ? -1 : 0;
        } else if (options.itemsize != 0) {
            options.dictoffset = -8;  // from the end of the items
            options.basicsize += 8;
        } else {
            options.dictoffset = static_cast<std::int64_t>(options.basicsize);
            options.basicsize += 8;
        }
    }
    // After the type: one PyMemberDef per slot, which ob_size counts.
    const Address type =
        allocate(16 + *l.heap_type.size + *l.member_def.size * class_options.slots.size()) + 16;
    const Address name_str = str(name);
    Entries members = {{str("__module__"), str(class_options.module)}};
    for (const auto& [key, value] : class_options.members) members.emplace_back(str(key), value);
    fill_type(type, name, options, members);
    put(type + *l.var_object.ob_size, static_cast<std::int64_t>(class_options.slots.size()));
    for (std::size_t i = 0; i < class_options.slots.size(); ++i) {
        const Address member = type + *l.heap_type.size + *l.member_def.size * i;
        set(member, l.member_def.name, c_string(class_options.slots[i]));
        set(member, l.member_def.type, std::int32_t{16});  // T_OBJECT_EX
        set(member, l.member_def.offset, first_slot + 8 * i);
    }
    // A class statement makes tp_name point into the str of the name.
    set(type, l.type.tp_name, name_str + (l.ascii.size.present() ? *l.ascii.size : *l.bytes.ob_sval));
    set(type, l.heap_type.ht_name, name_str);
    set(type, l.heap_type.ht_qualname, str(name));
    if (!class_options.attributes.empty() && l.heap_type.ht_cached_keys.present()) {  // since 3.3
        Entries names;
        for (const std::string& attribute : class_options.attributes)
            names.emplace_back(str(attribute), Address());
        KeysOptions shared;
        shared.log2_size = class_options.attributes.size() <= 5 ? 3 : 6;
        shared.refcount = 2;  // the class, and an instance
        set(type, l.heap_type.ht_cached_keys, keys(names, shared));
    }
    return type;
}

std::uint64_t PythonHeapBuilder::presize(Address type) const {
    const std::uint64_t flags = records_.at(type.value).options.flags;
    const bool managed =
        minor() >= 11 && (flags & (managed_dict_flag | (minor() >= 12 ? managed_weakref_flag : 0)));
    const bool header = (flags & have_gc_flag) && !layout().version.free_threaded;
    const std::uint64_t header_bytes = layout().version.major == 2 ? 32 : 16;
    return (header ? header_bytes : 0) + (managed ? 16 : 0);
}

// --- objects

void PythonHeapBuilder::put_header(Address object, Address type) {
    if (layout().version.free_threaded) {  // its owner's thread, its own count, that of others
        put(object, Address(0x7f0000abc740));
        put(object + 12, std::uint32_t{1});
    } else {
        put(object, std::uint64_t{1});
    }
    put(object + *layout().object.ob_type, type);
}

Address PythonHeapBuilder::object(Address type, std::int64_t items) {
    const TypeOptions options = records_.at(type.value).options;
    const std::uint64_t before = presize(type);
    const std::uint64_t body =
        options.basicsize + static_cast<std::uint64_t>(options.itemsize) * static_cast<std::uint64_t>(items);
    const bool inline_values = options.flags & inline_values_flag;
    const Address at = allocate(before + body + (inline_values ? 8 * 34 : 0)) + before;
    put_header(at, type);
    if (options.itemsize != 0 && !options.no_var_size) put(at + *layout().var_object.ob_size, items);
    return at;
}

Address PythonHeapBuilder::none() {
    if (none_.is_null()) none_ = object("NoneType");
    return none_;
}

Address PythonHeapBuilder::integer_of_digits(const std::vector<std::uint32_t>& digits, bool negative) {
    const auto& l = layout().long_;
    const Address type = builtin("int");
    const Address at = allocate(*l.ob_digit + 4 * std::max<std::uint64_t>(digits.size(), 1));
    put_header(at, type);
    const auto count = static_cast<std::int64_t>(digits.size());
    if (l.lv_tag.present())
        set(at, l.lv_tag, static_cast<std::uint64_t>(count) << 3 | (count == 0 ? 1U : negative ? 2U : 0U));
    else
        put(at + *layout().var_object.ob_size, negative ? -count : count);
    for (std::size_t i = 0; i < digits.size(); ++i) put(at + *l.ob_digit + 4 * i, digits[i]);
    return at;
}

Address PythonHeapBuilder::integer(std::int64_t value) {
    if (layout().int_.ob_ival.present()) {
        const Address at = object("int");
        set(at, layout().int_.ob_ival, value);
        return at;
    }
    std::vector<std::uint32_t> digits;
    std::uint64_t rest =
        value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    for (; rest != 0; rest >>= 30) digits.push_back(static_cast<std::uint32_t>(rest & ((1U << 30) - 1)));
    return integer_of_digits(digits, value < 0);
}

Address PythonHeapBuilder::boolean(bool value) {
    const Address at = integer(value ? 1 : 0);
    put(at + *layout().object.ob_type, builtin("bool"));
    return at;
}

Address PythonHeapBuilder::real(double value) {
    const Address at = object("float");
    set(at, layout().float_.ob_fval, value);
    return at;
}

Address PythonHeapBuilder::str(std::string_view ascii) {
    if (layout().unicode.str.present()) {
        const Address at = object("str", static_cast<std::int64_t>(ascii.size()));
        if (!ascii.empty())
            std::memcpy(bytes_at(at + *layout().bytes.ob_sval, ascii.size()), ascii.data(), ascii.size());
        return at;
    }
    return str32(std::u32string(ascii.begin(), ascii.end()));
}

Address PythonHeapBuilder::str32(const std::u32string& text) {
    const auto& l = layout();
    if (l.unicode.str.present()) {
        const Address at = object("unicode");
        const Address characters = allocate(4 * (text.size() + 1));
        set(at, l.unicode.length, static_cast<std::int64_t>(text.size()));
        set(at, l.unicode.str, characters);
        for (std::size_t i = 0; i < text.size(); ++i)
            put(characters + 4 * i, static_cast<std::uint32_t>(text[i]));
        return at;
    }
    const char32_t widest = text.empty() ? 0 : *std::max_element(text.begin(), text.end());
    const bool ascii = widest < 0x80;
    const std::uint32_t kind = widest < 0x100 ? 1 : widest < 0x10000 ? 2 : 4;
    const std::uint64_t header = ascii ? *l.ascii.size : *l.compact_unicode.size;
    const Address type = builtin("str");
    const Address at = allocate(header + (text.size() + 1) * kind);
    put_header(at, type);
    set(at, l.ascii.length, static_cast<std::int64_t>(text.size()));
    set(at, l.ascii.hash, std::int64_t{-1});
    set_bits(at, l.ascii.state_kind, kind);
    set_bits(at, l.ascii.state_compact, 1);
    set_bits(at, l.ascii.state_ascii, ascii ? 1 : 0);
    set_bits(at, l.ascii.state_ready, 1);
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<std::uint32_t>(text[i]);
        std::memcpy(bytes_at(at + header + i * kind, kind), &c, kind);
    }
    return at;
}

Address PythonHeapBuilder::bytes(const std::string& text) {
    const Address at = object("bytes", static_cast<std::int64_t>(text.size()));
    if (!text.empty())
        std::memcpy(bytes_at(at + *layout().bytes.ob_sval, text.size()), text.data(), text.size());
    return at;
}

Address PythonHeapBuilder::tuple(const std::vector<Address>& items) {
    const Address at = object("tuple", static_cast<std::int64_t>(items.size()));
    for (std::size_t i = 0; i < items.size(); ++i) put(at + *layout().tuple.ob_item + 8 * i, items[i]);
    return at;
}

Address PythonHeapBuilder::list(const std::vector<Address>& items, std::uint64_t allocated) {
    const Address at = object("list");
    put(at + *layout().var_object.ob_size, static_cast<std::int64_t>(items.size()));
    set(at, layout().list.allocated, allocated);
    if (allocated == 0) return at;
    // Free-threaded: the array's length comes first.
    const std::uint64_t length = layout().version.free_threaded ? 8 : 0;
    const Address array = allocate(length + 8 * allocated) + length;
    set(at, layout().list.ob_item, array);
    for (std::size_t i = 0; i < items.size(); ++i) put(array + 8 * i, items[i]);
    return at;
}

Address PythonHeapBuilder::set(const std::vector<Address>& items, std::uint64_t slots) {
    const auto& l = layout().set;
    const Address at = object("set");
    const Address table = slots == 8 ? at + *l.smalltable : allocate(16 * slots);
    set(at, l.fill, items.size());
    set(at, l.used, items.size());
    set(at, l.mask, slots - 1);
    set(at, l.table, table);
    for (std::size_t i = 0; i < items.size(); ++i) {
        const std::uint64_t key_at = layout().version.major == 2 ? 8 : 0;
        put(table + 16 * i + key_at, items[i]);
        put(table + 16 * i + 8 - key_at, std::int64_t{1000} + static_cast<std::int64_t>(i));
    }
    return at;
}

Address PythonHeapBuilder::keys(const Entries& entries, const KeysOptions& options) {
    const auto& l = layout().dict_keys;
    const std::uint64_t slots = std::uint64_t{1} << options.log2_size;
    const std::uint64_t index_width = options.log2_size < 8 ? 1 : options.log2_size < 16 ? 2 : 4;
    const std::uint64_t usable = (slots << 1) / 3;
    const bool has_hash = l.dk_size.present() || options.general;
    const std::uint64_t entry_size = has_hash ? 24 : 16;
    const Address at = allocate(*l.dk_indices + slots * index_width + usable * entry_size);
    set(at, l.dk_refcnt, options.refcount);
    set(at, l.dk_size, slots);
    set(at, l.dk_log2_size, static_cast<std::uint8_t>(options.log2_size));
    set(at, l.dk_log2_index_bytes,
        static_cast<std::uint8_t>(options.log2_size + (index_width == 1   ? 0
                                                       : index_width == 2 ? 1
                                                                          : 2)));
    const bool split =
        !entries.empty() && entries.front().second.is_null() && !entries.front().first.is_null();
    set(at, l.dk_kind, static_cast<std::uint8_t>(options.general ? 0 : split ? 2 : 1));
    set(at, l.dk_usable, static_cast<std::int64_t>(usable - entries.size()));
    set(at, l.dk_nentries, static_cast<std::int64_t>(entries.size()));
    const Address first = at + *l.dk_indices + slots * index_width;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Address entry = first + entry_size * i + (has_hash ? 8 : 0);
        put(entry, entries[i].first);
        put(entry + 8, entries[i].second);
    }
    return at;
}

Address PythonHeapBuilder::dict_of_type(Address type, const Entries& entries, const KeysOptions& options) {
    const auto& l = layout().dict;
    const Address at = object(type);
    const auto live =
        std::count_if(entries.begin(), entries.end(), [](const auto& e) { return !e.first.is_null(); });
    if (l.ma_table.present()) {
        std::uint64_t slots = 8;
        while (slots < entries.size()) slots *= 2;
        const Address table = slots == 8 ? at + *l.ma_smalltable : allocate(24 * slots);
        set(at, l.ma_used,
            static_cast<std::int64_t>(std::count_if(entries.begin(), entries.end(),
                                                    [](const auto& e) { return !e.second.is_null(); })));
        set(at, l.ma_mask, slots - 1);
        set(at, l.ma_table, table);
        for (std::size_t i = 0; i < entries.size(); ++i) {
            put(table + 24 * i + 8, entries[i].first);
            put(table + 24 * i + 16, entries[i].second);
        }
        return at;
    }
    set(at, l.ma_used, static_cast<std::int64_t>(live));
    set(at, l.ma_keys, keys(entries, options));
    return at;
}

Address PythonHeapBuilder::values(const std::vector<Address>& items, std::uint64_t capacity, Address& first) {
    const auto& l = layout().dict_values;
    Address block;
    if (l.embedded.present()) {  // 3.13: a word of header, the values, their order
        block = allocate(8 + 8 * capacity + round_up(capacity, 8));
        first = block + *l.values;
        set(block, l.capacity, static_cast<std::uint8_t>(capacity));
        set(block, l.valid, std::uint8_t{1});
    } else if (layout().dict_keys.dk_log2_size.present()) {  // 3.11, 3.12: their order, and its size in the
                                                             // byte before them
        const std::uint64_t prefix = round_up(capacity + 2, 8);
        block = allocate(prefix + 8 * capacity);
        first = block + prefix;
        put(first - 1, static_cast<std::uint8_t>(prefix));
    } else {
        block = first = allocate(8 * capacity);
    }
    for (std::size_t i = 0; i < items.size(); ++i) put(first + 8 * i, items[i]);
    return block;
}

Address PythonHeapBuilder::split_dict(Address shared, const std::vector<Address>& items,
                                      std::uint64_t capacity) {
    const auto& l = layout().dict;
    const Address at = object("dict");
    Address first;
    const Address block = values(items, capacity, first);
    set(at, l.ma_used, static_cast<std::int64_t>(std::count_if(items.begin(), items.end(), [](Address a) {
            return !a.is_null();
        })));
    set(at, l.ma_keys, shared);
    set(at, l.ma_values, layout().dict_values.embedded.present() ? block : first);
    return at;
}

// --- what a test asks

const PythonHeap& PythonHeapBuilder::heap() {
    if (heap_) return *heap_;
    std::vector<Segment> segments;
    for (const auto& [start, bytes, writable, executable, module] : regions_)
        segments.push_back({.start = start,
                            .size = bytes.size(),
                            .data = bytes.data(),
                            .state = ByteState::in_core,
                            .writable = writable,
                            .executable = executable,
                            .module = module});
    memory_ = std::make_unique<AddressSpace>(std::move(segments));
    types_ = std::make_unique<TypeTable>(find_types(*memory_, runtime_, kinds));
    heap_ = std::make_unique<PythonHeap>(*memory_, runtime_, *types_);
    return *heap_;
}

ObjectReader PythonHeapBuilder::reader(Address object) {
    const TypeId id = heap().type_of(object);
    if (id == no_type) throw std::logic_error("the type of the object was not found");
    return {heap(), object, heap().types()[id]};
}

}  // namespace heapsift::test
