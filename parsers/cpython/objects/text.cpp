// str, bytes, bytearray: characters in the object or in a separate buffer. (unicodeobject.h, bytesobject.h,
// bytearrayobject.h) The str of 2.7 is read as bytes, its unicode as a str.

#include "parsers/cpython/build/quirks.h"
#include "parsers/cpython/build/refcount.h"
#include "parsers/cpython/objects/kinds.h"
#include "parsers/cpython/quoted_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {

namespace {

std::uint64_t str_size(const ObjectReader& object) {
    const Layout& l = object.layout();
    const auto& facts = object.unicode();
    if (!facts) return basic_size(object);
    std::uint64_t size = 0;
    if (facts->compact) {
        size = (facts->ascii ? *l.ascii.size : *l.compact_unicode.size) + (facts->length + 1) * facts->kind;
    } else {
        size = *l.unicode.size;
        if (!facts->data.is_null()) size += (facts->length + 1) * facts->kind;
    }
    if (!facts->wstr.is_null()) size += (facts->wstr_length + 1) * 4;
    if (!facts->utf8.is_null()) size += facts->utf8_length + 1;
    return size;
}

std::uint64_t str_body(const ObjectReader& object) {
    const auto& facts = object.unicode();
    if (!facts || !facts->compact) return object.type().basicsize;
    return (facts->ascii ? *object.layout().ascii.size : *object.layout().compact_unicode.size) +
           (facts->length + 1) * facts->kind;
}

void str_buffers(const ObjectReader& object, BufferVisitor& visit) {
    const auto& facts = object.unicode();
    if (!facts) return;
    if (!facts->compact && !facts->data.is_null())
        visit.visit(facts->data, (facts->length + 1) * facts->kind, false);
    if (!facts->utf8.is_null()) visit.visit(facts->utf8, facts->utf8_length + 1, false);
    if (!facts->wstr.is_null()) visit.visit(facts->wstr, (facts->wstr_length + 1) * 4, false);
}

/// Whether it is a str that is still being written, such as io.StringIO's: its room was made, it has one
/// owner, nobody asked for its hash, and after what was written there may be anything.
bool is_being_written(const ObjectReader& object, std::byte first) {
    return count_of(object.heap(), object.address()) == 1 &&
           object.integer<std::int64_t>(object.layout().ascii.hash) == -1 &&
           std::to_integer<unsigned>(first) < 0x80 && first != std::byte{0};
}

/// The characters end with a NUL, and a str marked ASCII contains nothing else: unlikely to be a coincidence.
bool str_plausible(const ObjectReader& object) {
    const auto& facts = object.unicode();
    if (!facts) return false;
    if (facts->data.is_null()) return true;
    const AddressSpace& memory = object.heap().memory();
    std::uint32_t last = 1;
    if (!memory.read_bytes(facts->data + facts->length * facts->kind, &last, facts->kind)) return false;
    const std::uint32_t mask = facts->kind == 4 ? 0xffffffffU : (1U << (8 * facts->kind)) - 1;
    if ((last & mask) != 0) return false;
    if (facts->ascii && facts->length > 0) {
        const auto bytes =
            memory.view(facts->data, static_cast<std::size_t>(std::min<std::uint64_t>(facts->length, 64)));
        for (const std::byte b : bytes)
            if (std::to_integer<unsigned>(b) >= 0x80) return is_being_written(object, bytes[0]);
    }
    return true;
}

ShortValue str_describe(const ObjectReader& object, std::size_t limit) {
    const auto& facts = object.unicode();
    const auto text = object.heap().unicode_text(object.address(), limit);
    if (!facts || !text) return {};
    const bool cut = facts->length > limit;
    return {.kind = ShortValue::Kind::literal,
            .text = quoted_text(*text, cut, text_prefix(object.layout())),
            .length = facts->length,
            .cut = cut};
}

std::string bytes_text(const ObjectReader& object, Address data, std::uint64_t length, std::size_t limit) {
    const AddressSpace& memory = object.heap().memory();
    const std::string prefix(bytes_prefix(object.layout()));
    std::string raw(static_cast<std::size_t>(std::min<std::uint64_t>(length, limit)), '\0');
    if (!raw.empty() && !memory.read_bytes(data, raw.data(), raw.size())) return prefix + "'?'";
    const char quote = raw.find('\'') != std::string::npos && raw.find('"') == std::string::npos ? '"' : '\'';
    std::string escaped;
    for (const char c : raw) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\\' || c == quote) {
            escaped += '\\';
            escaped += c;
        } else if (c == '\n')
            escaped += "\\n";
        else if (c == '\r')
            escaped += "\\r";
        else if (c == '\t')
            escaped += "\\t";
        else if (byte < 0x20 || byte >= 0x7f)
            escaped += fmt::format("\\x{:02x}", byte);
        else
            escaped += c;
    }
    return prefix + quote + escaped + (length > limit ? "…" : "") + quote;
}

/// Asked only in 2.7, where str has a __sizeof__, which leaves out what a subclass adds.
std::uint64_t bytes_size(const ObjectReader& object) {
    constexpr std::int64_t longest = std::int64_t{1} << 56;
    return *object.layout().bytes.ob_sval + 1 +
           static_cast<std::uint64_t>(std::clamp<std::int64_t>(object.var_size(), 0, longest));
}

bool bytes_plausible(const ObjectReader& object) {
    const std::int64_t length = object.var_size();
    if (length < 0 || length > (std::int64_t{1} << 46)) return false;
    const auto last = object.heap().memory().read<std::uint8_t>(
        object.at(*object.layout().bytes.ob_sval + static_cast<std::uint64_t>(length)));
    return last && *last == 0;
}

ShortValue bytes_describe(const ObjectReader& object, std::size_t limit) {
    const auto length = static_cast<std::uint64_t>(std::max<std::int64_t>(object.var_size(), 0));
    return {ShortValue::Kind::literal,
            bytes_text(object, object.at(*object.layout().bytes.ob_sval), length, limit), length,
            length > limit};
}

/// Since 3.15 the bytes are those of a bytes object, which nobody else has.
std::uint64_t bytearray_size(const ObjectReader& object) {
    const auto& l = object.layout();
    const std::uint64_t size = object.type().basicsize + object.integer<std::uint64_t>(l.bytearray.ob_alloc);
    const Address bytes = object.pointer(l.bytearray.ob_bytes_object);
    return size + (bytes.is_null() || object.integer<std::uint64_t>(l.bytearray.ob_alloc) == 0
                       ? 0
                       : *l.bytes.ob_sval + 1);
}

void bytearray_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().bytearray.ob_bytes_object), ".<bytes>", ReferenceKind::hidden);
}

void bytearray_buffers(const ObjectReader& object, BufferVisitor& visit) {
    if (object.layout().bytearray.ob_bytes_object.present()) return;
    const Address bytes = object.pointer(object.layout().bytearray.ob_bytes);
    if (!bytes.is_null())
        visit.visit(bytes, object.integer<std::uint64_t>(object.layout().bytearray.ob_alloc), false);
}

bool bytearray_reads(const ObjectReader& object) {
    const std::int64_t length = object.var_size();
    const auto allocated = object.integer<std::int64_t>(object.layout().bytearray.ob_alloc);
    return length >= 0 && length <= allocated && allocated <= (std::int64_t{1} << 48);
}

ShortValue bytearray_describe(const ObjectReader& object, std::size_t limit) {
    const auto length = static_cast<std::uint64_t>(std::max<std::int64_t>(object.var_size(), 0));
    const auto& l = object.layout().bytearray;
    const Address start = object.pointer(l.ob_start.present() ? l.ob_start : l.ob_bytes);
    return {ShortValue::Kind::literal, "bytearray(" + bytes_text(object, start, length, limit) + ")", length,
            length > limit};
}

/// What encode() returned is kept (unicodeobject.c of 2.7, _PyUnicode_AsDefaultEncodedString).
void old_unicode_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().unicode.defenc), ".<encoded>", ReferenceKind::hidden);
}

constexpr const char* str_names[] = {"str"};
constexpr const char* old_unicode_names[] = {"unicode of 2.7"};
constexpr const char* bytes_names[] = {"bytes"};
constexpr const char* bytearray_names[] = {"bytearray"};

}  // namespace

const ObjectKind str_kind = {.name = "str",
                             .type_names = str_names,
                             .size = str_size,
                             .body_size = str_body,
                             .visit_buffers = str_buffers,
                             .describe = str_describe,
                             .plausible = str_plausible};
const ObjectKind old_unicode_kind = {.name = "unicode",
                                     .type_names = old_unicode_names,
                                     .size = str_size,
                                     .body_size = str_body,
                                     .visit_buffers = str_buffers,
                                     .visit_references = old_unicode_references,
                                     .describe = str_describe,
                                     .plausible = str_plausible,
                                     .buffers_of_data = true};
const ObjectKind bytes_kind = {.name = "bytes",
                               .type_names = bytes_names,
                               .size = bytes_size,
                               .body_size = basic_size,
                               .describe = bytes_describe,
                               .plausible = bytes_plausible};
const ObjectKind bytearray_kind = {.name = "bytearray",
                                   .type_names = bytearray_names,
                                   .size = bytearray_size,
                                   .visit_buffers = bytearray_buffers,
                                   .visit_references = bytearray_references,
                                   .describe = bytearray_describe,
                                   .reads = bytearray_reads,
                                   .size_counts_others = true,  // since 3.15
                                   .buffers_of_data = true};

}  // namespace heapsift
