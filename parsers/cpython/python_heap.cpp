#include "parsers/cpython/python_heap.h"

// Strings and dictionaries are read before anything else can be named: type names, attribute names, module
// tables. Sources: CPython's unicodeobject.h, pycore_dict.h (3.9 to 3.13). The layout distinguishes the
// versions: a keys object with dk_log2_size has the table of 3.11 and later, one with dk_size that of 3.6 to
// 3.10. A dict without one is of 2.7, where names are str, that is bytes.

#include <algorithm>

namespace heapsift {

namespace {

void append_utf8(std::string& out, std::uint32_t c) {
    if (c < 0x80) {
        out += static_cast<char>(c);
    } else if (c < 0x800) {
        out += static_cast<char>(0xc0 | (c >> 6));
        out += static_cast<char>(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        out += static_cast<char>(0xe0 | (c >> 12));
        out += static_cast<char>(0x80 | ((c >> 6) & 0x3f));
        out += static_cast<char>(0x80 | (c & 0x3f));
    } else {
        out += static_cast<char>(0xf0 | ((c >> 18) & 7));
        out += static_cast<char>(0x80 | ((c >> 12) & 0x3f));
        out += static_cast<char>(0x80 | ((c >> 6) & 0x3f));
        out += static_cast<char>(0x80 | (c & 0x3f));
    }
}

/// Whether it is whole UTF-8 (overlong forms are let pass).
bool is_utf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto first = static_cast<unsigned char>(text[i]);
        if (first < 0x80) continue;
        const std::size_t more = first >= 0xf0 && first < 0xf8 ? 3 : first >= 0xe0 ? 2 : 1;
        if (first < 0xc2 || first >= 0xf8 || text.size() - i <= more) return false;
        for (std::size_t k = 1; k <= more; ++k)
            if ((static_cast<unsigned char>(text[i + k]) & 0xc0U) != 0x80) return false;
        i += more;
    }
    return true;
}

/// Whether all of the bytes are there. One lookup per segment.
bool readable(const AddressSpace& memory, Address from, std::uint64_t bytes) {
    while (bytes > 0) {
        const Segment* segment = memory.find(from);
        if (!segment || !segment->data) return false;
        const std::uint64_t here = std::min(bytes, segment->end() - from);
        bytes -= here;
        from = from + here;
    }
    return true;
}

bool power_of_two(std::uint64_t n) { return n != 0 && (n & (n - 1)) == 0; }

}  // namespace

PythonHeap::StateBits::StateBits(const LayoutBits& field, std::uint32_t word, std::uint32_t value_if_absent)
    : absent(value_if_absent) {
    if (!field.present() || *field.byte < word || *field.byte >= word + 4) return;
    shift = (*field.byte - word) * 8U + field.bit;
    mask = (1U << field.width) - 1U;
}

PythonHeap::PythonHeap(const AddressSpace& memory, const PythonRuntime& runtime, const TypeTable& types)
    : memory_(memory),
      runtime_(runtime),
      types_(types),
      state_at_(layout().ascii.state_kind.byte.or_else(0) & ~3U),
      state_kind_(layout().ascii.state_kind, state_at_, 0),
      state_compact_(layout().ascii.state_compact, state_at_, 0),
      state_ascii_(layout().ascii.state_ascii, state_at_, 0),
      state_ready_(layout().ascii.state_ready, state_at_, 1) {
    std::vector<DictFacts> keys;
    keys.reserve(types.size());
    for (const TypeInfo& type : types) keys.push_back(read_cached_keys(type));
    cached_keys_ = std::move(keys);
    if (!is_python_2(layout().version) || runtime.interpreters.empty()) return;
    running_frames_ = frames_of_threads();
    constexpr std::int64_t narrow = 0xffff;  // sys.maxunicode of a build whose characters have two bytes
    if (c_long(dict_value(runtime.interpreters.front().sysdict, "maxunicode")) == narrow) wide_ = 2;
}

std::vector<Address> PythonHeap::frames_of_threads() const {
    constexpr std::size_t most = 1 << 20;
    std::vector<Address> frames;
    for (const PythonInterpreter& interpreter : runtime_.interpreters)
        for (const Address thread : interpreter.threads) {
            Address frame = pointer(thread + *layout().thread_state.frame);
            for (; !frame.is_null() && frames.size() < most; frame = pointer(frame + *layout().frame.f_back))
                frames.push_back(frame);
        }
    std::sort(frames.begin(), frames.end());
    return frames;
}

DictFacts PythonHeap::read_cached_keys(const TypeInfo& type) const {
    const auto& field = layout().heap_type.ht_cached_keys;
    const Address keys = type.heap_type && field.present() ? pointer(type.address + *field) : Address();
    return keys.is_null() ? DictFacts{} : dict_keys(keys).value_or(DictFacts{});
}

bool PythonHeap::read_unicode(Address str, std::span<const std::byte> there, UnicodeFacts& facts) const {
    const Layout& l = layout();
    if (!l.ascii.length.present()) return read_old_text(str, facts);
    const AddressSpace::Window fields(memory_, str, there);
    const auto length = fields.read<std::int64_t>(*l.ascii.length);
    if (!length || *length < 0) return false;
    facts.length = static_cast<std::uint64_t>(*length);
    const auto word = fields.read<std::uint32_t>(state_at_);
    if (!word) return false;
    facts.kind = static_cast<std::uint8_t>(state_kind_.of(*word));
    facts.compact = state_compact_.of(*word) != 0;
    facts.ascii = state_ascii_.of(*word) != 0;
    const bool ready = state_ready_.of(*word) != 0;
    if (facts.kind == 3 || facts.kind > 4) return false;
    if (facts.ascii && facts.kind != 1) return false;
    if (facts.compact) {
        if (facts.kind == 0) return false;
        facts.data = str + (facts.ascii ? *l.ascii.size : *l.compact_unicode.size);
    } else {
        facts.data = fields.pointer(*l.unicode.data);
    }
    if (facts.length > (std::uint64_t{1} << 48)) return false;
    if (!facts.compact || !facts.ascii) {
        const Address utf8 = fields.pointer(*l.compact_unicode.utf8);
        if (!utf8.is_null() && utf8 != facts.data) {
            facts.utf8 = utf8;
            facts.utf8_length = fields.read<std::uint64_t>(*l.compact_unicode.utf8_length).value_or(0);
        }
    }
    if (l.ascii.wstr.present()) {
        const Address wstr = fields.pointer(*l.ascii.wstr);
        if (!wstr.is_null() && (!ready || wstr != facts.data)) {
            facts.wstr = wstr;
            facts.wstr_length = facts.compact && facts.ascii
                                    ? facts.length
                                    : fields.read<std::uint64_t>(*l.compact_unicode.wstr_length).value_or(0);
        }
    }
    if (facts.kind == 0) {  // a legacy string that is not ready: it has only the wchar_t copy
        facts.data = Address();
        facts.length = 0;
        facts.kind = 4;
        return !facts.wstr.is_null();
    }
    return !facts.data.is_null() || facts.length == 0;
}

/// 2.7 (stringobject.h, unicodeobject.h): a str has its bytes behind its header, a unicode has its characters in a
/// block of their own.
bool PythonHeap::read_old_text(Address object, UnicodeFacts& facts) const {
    const Layout& l = layout();
    constexpr std::int64_t longest = std::int64_t{1} << 48;
    facts.bytes = has_flag_of(object, 27);
    if (!facts.bytes && !has_flag_of(object, 28)) return false;
    const auto length =
        memory_.read<std::int64_t>(object + *(facts.bytes ? l.var_object.ob_size : l.unicode.length));
    if (!length || *length < 0 || *length > longest) return false;
    facts.length = static_cast<std::uint64_t>(*length);
    facts.compact = facts.bytes;
    facts.kind = facts.bytes ? 1 : wide_;
    facts.data = facts.bytes ? object + *l.bytes.ob_sval : pointer(object + *l.unicode.str);
    return !facts.data.is_null() || facts.length == 0;
}

std::optional<std::string> PythonHeap::unicode_text(Address str, std::size_t limit) const {
    const auto facts = unicode(str);
    if (!facts) return std::nullopt;
    const std::uint64_t count = std::min<std::uint64_t>(facts->length, limit);
    std::string out;
    if (count == 0) return out;
    const std::size_t size = static_cast<std::size_t>(count) * facts->kind;
    std::string copy;
    auto bytes = memory_.view(facts->data, size);
    if (bytes.empty()) {
        copy.resize(size);
        if (!memory_.read_bytes(facts->data, copy.data(), size)) return std::nullopt;
        bytes = std::as_bytes(std::span(copy));
    }
    if (facts->bytes) {
        out.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        if (is_utf8(out)) return out;
        out.clear();
    }
    for (std::uint64_t i = 0; i < count; ++i) {
        std::uint32_t c = 0;
        std::memcpy(&c, bytes.data() + i * facts->kind, facts->kind);
        if (wide_ == 2 && i + 1 < count && (c & 0xfc00U) == 0xd800) {  // two halves of one character
            std::uint16_t low = 0;
            std::memcpy(&low, bytes.data() + (i + 1) * facts->kind, sizeof low);
            if ((low & 0xfc00U) == 0xdc00) {
                c = 0x10000 + ((c & 0x3ffU) << 10 | (low & 0x3ffU));
                ++i;
            }
        }
        append_utf8(out, c);
    }
    return out;
}

bool PythonHeap::unicode_equals(Address str, std::string_view ascii) const {
    const auto facts = unicode(str);
    if (!facts || facts->length != ascii.size() || facts->kind != 1) return false;
    if (ascii.empty()) return true;
    const auto bytes = memory_.view(facts->data, ascii.size());
    return !bytes.empty() && std::memcmp(bytes.data(), ascii.data(), ascii.size()) == 0;
}

std::optional<DictFacts> PythonHeap::dict_keys(Address keys) const {
    const auto& l = layout().dict_keys;
    if (!l.dk_indices.present()) return std::nullopt;  // 2.7
    DictFacts facts;
    facts.keys = keys;
    const AddressSpace::Window fields(memory_, keys, *l.dk_indices);  // what precedes the indices
    std::uint64_t table_size = 0;
    std::uint64_t index_bytes = 0;
    if (l.dk_log2_size.present()) {
        const auto log2_size = fields.read<std::uint8_t>(*l.dk_log2_size);
        const auto log2_index = fields.read<std::uint8_t>(*l.dk_log2_index_bytes);
        const auto kind = fields.read<std::uint8_t>(*l.dk_kind);
        if (!log2_size || !log2_index || !kind || *log2_size > 48 || *log2_index > 56 || *kind > 2)
            return std::nullopt;
        table_size = std::uint64_t{1} << *log2_size;
        index_bytes = std::uint64_t{1} << *log2_index;
        facts.unicode_keys = *kind != 0;
        facts.entry_size = *kind == 0 ? 24 : 16;
    } else {
        const auto size = memory_.read<std::int64_t>(keys + *l.dk_size);
        if (!size || *size < 1 || *size > (std::int64_t{1} << 48) ||
            !power_of_two(static_cast<std::uint64_t>(*size)))
            return std::nullopt;
        table_size = static_cast<std::uint64_t>(*size);
        index_bytes = table_size * (table_size <= 0xff          ? 1
                                    : table_size <= 0xffff      ? 2
                                    : table_size <= 0xffffffffU ? 4
                                                                : 8);
        facts.entry_size = 24;
    }
    facts.capacity = (table_size << 1) / 3;
    const auto entry_count = fields.read<std::int64_t>(*l.dk_nentries);
    const auto refcount = fields.read<std::int64_t>(*l.dk_refcnt);
    if (!entry_count || !refcount || *entry_count < 0) return std::nullopt;
    if (static_cast<std::uint64_t>(*entry_count) > facts.capacity) return std::nullopt;
    facts.entry_count = static_cast<std::uint64_t>(*entry_count);
    facts.keys_refcount = *refcount;
    facts.entries = keys + *l.dk_indices + index_bytes;
    facts.keys_size = *l.dk_indices + index_bytes + facts.capacity * facts.entry_size;
    // All entries must be there: neither a length alone nor the last entry is enough, since that may lie in
    // another mapping.
    if (!readable(memory_, facts.entries, facts.entry_count * facts.entry_size)) return std::nullopt;
    if (l.dk_lookup.present()) facts.unicode_keys = keys_are_unicode(facts);
    return facts;
}

/// Up to 3.10 a table's lookup function tells whether a key that is not a str was ever looked up; if so,
/// traverse reports the keys.
bool PythonHeap::keys_are_unicode(const DictFacts& facts) const {
    if (!general_lookup_.is_null())
        return pointer(facts.keys + *layout().dict_keys.dk_lookup) != general_lookup_;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(facts.entry_count, 8); ++i) {
        const Address key = pointer(facts.entries + i * facts.entry_size + 8);
        if (!key.is_null() && !is_unicode(key)) return false;
    }
    return true;
}

/// 2.7 (dictobject.h): one table of hash, key and value, of 2**n entries, inside the dict while it has no more than
/// eight. What was deleted keeps a key without a value. traverse reports keys and values.
std::optional<DictFacts> PythonHeap::open_table(Address dict) const {
    const auto& l = layout().dict;
    constexpr std::int64_t largest = std::int64_t{1} << 40;
    const auto mask = memory_.read<std::int64_t>(dict + *l.ma_mask);
    const auto used = memory_.read<std::int64_t>(dict + *l.ma_used);
    if (!mask || !used || *mask < 0 || *mask > largest || *used < 0 || *used > *mask + 1) return std::nullopt;
    DictFacts facts;
    facts.keys = facts.entries = pointer(dict + *l.ma_table);
    facts.entry_count = facts.capacity = static_cast<std::uint64_t>(*mask) + 1;
    facts.used = static_cast<std::uint64_t>(*used);
    facts.keys_refcount = 1;
    const std::uint64_t bytes = facts.entry_count * facts.entry_size;
    if (facts.entries != dict + *l.ma_smalltable) facts.keys_size = bytes;
    if (!power_of_two(facts.entry_count) || !readable(memory_, facts.entries, bytes)) return std::nullopt;
    return facts;
}

std::optional<DictFacts> PythonHeap::dict(Address dict) const {
    const Layout& l = layout();
    if (!l.dict.ma_keys.present()) return open_table(dict);
    const Address keys = pointer(dict + *l.dict.ma_keys);
    auto facts = keys.is_null() ? std::nullopt : dict_keys(keys);
    if (!facts) return std::nullopt;
    facts->used = integer<std::uint64_t>(dict + *l.dict.ma_used);
    const Address values = pointer(dict + *l.dict.ma_values);
    if (!values.is_null()) {
        // Since 3.13 (pycore_dict.h) a header precedes the values; before, ma_values points at the first one.
        facts->values = l.dict_values.values.present() ? values + *l.dict_values.values : values;
        if (l.dict_values.embedded.present())
            facts->values_embedded = integer<std::uint8_t>(values + *l.dict_values.embedded) != 0;
        const std::uint64_t usable = integer<std::uint64_t>(keys + *l.dict_keys.dk_usable);
        // sys.getsizeof counts what the shared keys can take (3.11: dk_usable + dk_nentries), before that the
        // capacity.
        facts->values_size = 8 * (l.dict_keys.dk_log2_size.present()
                                      ? std::min(usable + facts->entry_count, facts->capacity + 1)
                                      : facts->capacity);
        facts->unicode_keys = true;
        if (!readable(memory_, facts->values, 8 * facts->entry_count)) return std::nullopt;
    }
    return facts;
}

Address PythonHeap::dict_value(Address dict_object, std::string_view key) const {
    Address found;
    visit_dict(dict_object, [&](Address k, Address v) {
        if (found.is_null() && unicode_equals(k, key)) found = v;
    });
    return found;
}

Address PythonHeap::static_type_state(Address type) const {
    const Layout& l = layout();
    const auto& managed = l.managed_static_type_state;
    if (!l.interpreter_state.types_builtins.present() || !managed.size.present() || !managed.type.present())
        return {};
    if (runtime_.interpreters.empty()) return {};
    const auto flags = integer<std::uint64_t>(type + *l.type.tp_flags);
    if (flags & (1U << 9)) return {};  // heap types keep their own
    // 3.12+ (typeobject.c): tp_subclasses of such a type holds its index plus one.
    const auto index = integer<std::uint64_t>(type + *l.type.tp_subclasses);
    if (index == 0 || index > 1000) return {};
    // A static type of an extension module has a state only where that module was imported (3.13,
    // _PyStaticType_InitForExtension), which the main interpreter need not be.
    for (const PythonInterpreter& interpreter : runtime_.interpreters)
        for (const LayoutOffset& table :
             {l.interpreter_state.types_builtins, l.interpreter_state.types_for_extensions}) {
            if (!table.present()) continue;
            const Address state = interpreter.address + *table + (index - 1) * *managed.size;
            if (pointer(state + *managed.type) == type) return state;
        }
    return {};
}

Address PythonHeap::type_dict(Address type) const {
    if (const Address state = static_type_state(type); !state.is_null()) {
        const Address dict = pointer(state + *layout().managed_static_type_state.tp_dict);
        if (!dict.is_null()) return dict;
    }
    return pointer(type + *layout().type.tp_dict);
}

ArrayItems PythonHeap::array_items(Address descriptor) const {
    const auto& fields = layout().array_descr;
    const auto size = memory_.read<std::int32_t>(descriptor + fields.itemsize.or_else(4));
    if (size)
        return {descriptor, integer<char>(descriptor + fields.typecode.or_else(0)),
                static_cast<std::uint8_t>(*size > 0 && *size <= 64 ? *size : 0)};
    for (const ArrayItems& learned : learned_array_items_)
        if (learned.descriptor == descriptor) return learned;
    return {descriptor};
}

}  // namespace heapsift
