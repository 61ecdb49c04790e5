// Files of the io module, on disk and in memory, with their bases, buffers and wrappers. Since 3.12 their
// types are heap types, and report what they did not report before. What a StringIO has not yet joined is in
// a list or in a writer. (_io/*.c)

#include "parsers/cpython/build/refcount.h"
#include "parsers/cpython/objects/kinds.h"
#include "parsers/cpython/objects/versioned_fields.h"

#include <algorithm>

namespace heapsift {

namespace {

/// 2.7: what was written is in a plain block, of this size; else 0.
std::uint64_t plain_room(const ObjectReader& object) {
    if (object.pointer(object.layout().bytes_io.buf).is_null()) return 0;
    return std::min(object.integer<std::uint64_t>(object.layout().bytes_io.buf_size), std::uint64_t{1} << 48);
}

std::uint64_t bytes_io_size(const ObjectReader& object) {
    std::uint64_t size = object.type().basicsize;
    if (object.layout().bytes_io.buf_size.present()) return size + plain_room(object);
    const Address buffer = object.pointer(object.layout().bytes_io.buf);
    // Counted only if nobody else shares the bytes object (_io/bytesio.c, bytesio_sizeof).
    if (!buffer.is_null() && count_of(object.heap(), buffer) == 1)
        size += *object.layout().bytes.ob_sval + 1 +
                static_cast<std::uint64_t>(std::max<std::int64_t>(object.heap().var_size(buffer), 0));
    return size;
}

void bytes_io_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().bytes_io.dict), ".__dict__");
    if (object.layout().bytes_io.buf_size.present()) return;
    visit.named(object.pointer(object.layout().bytes_io.buf), ".<buffer>", reported_since(object, 12));
}

void bytes_io_buffers(const ObjectReader& object, BufferVisitor& visit) {
    const std::uint64_t room = object.layout().bytes_io.buf_size.present() ? plain_room(object) : 0;
    if (room > 0) visit.visit(object.pointer(object.layout().bytes_io.buf), room, false);
}

std::uint64_t buffered_size(const ObjectReader& object) {
    const auto& l = object.layout().buffered;
    std::uint64_t size = object.type().basicsize;
    if (!object.pointer(l.buffer).is_null()) size += object.integer<std::uint64_t>(l.buffer_size);
    return size;
}

void buffered_buffers(const ObjectReader& object, BufferVisitor& visit) {
    const auto& l = object.layout().buffered;
    if (const Address buffer = object.pointer(l.buffer); !buffer.is_null())
        visit.visit(buffer, object.integer<std::uint64_t>(l.buffer_size), false);
}

void buffered_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().buffered.raw), ".raw");
    visit.named(object.pointer(object.layout().buffered.dict), ".__dict__");
}

constexpr const char* bytes_io_names[] = {"_io.BytesIO"};
constexpr const char* buffered_names[] = {"_io.BufferedReader", "_io.BufferedWriter", "_io.BufferedRandom"};

constexpr const char* io_base_names[] = {"_io._IOBase", "_io._RawIOBase", "_io._BufferedIOBase",
                                         "_io._TextIOBase"};
constexpr const char* file_io_names[] = {"_io.FileIO"};
constexpr const char* string_io_names[] = {"_io.StringIO"};
constexpr const char* buffered_pair_names[] = {"_io.BufferedRWPair"};
constexpr const char* text_io_names[] = {"_io.TextIOWrapper"};
constexpr const char* newline_decoder_names[] = {"_io.IncrementalNewlineDecoder"};
constexpr const char* bytes_io_buffer_names[] = {"_io._BytesIOBuffer"};

constexpr VersionedField<io_base_layout> io_base_fields[] = {{&io_base_layout::dict, ".__dict__"}};
constexpr VersionedField<file_io_layout> file_io_fields[] = {{&file_io_layout::dict, ".__dict__"}};
constexpr VersionedField<string_io_layout> string_io_fields[] = {
    {&string_io_layout::dict, ".__dict__"},
    {&string_io_layout::readnl, ".<newline>", 12},
    {&string_io_layout::writenl, ".<newline written>", 12},
    {&string_io_layout::decoder, ".<decoder>", 12},
    {&string_io_layout::accumulated, ".<accumulated>", never},
    {&string_io_layout::small, ".<accumulated pieces>", never}};
/// Since 3.14 the writer is a block of its own, whose first word is the text so far. (_PyUnicodeWriter)
void string_io_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit_versioned_fields<&Layout::string_io, string_io_fields>(object, visit);
    const auto& l = object.layout().string_io;
    if (l.accumulated.present() || !l.writer.present()) return;
    if (const Address writer = object.pointer(l.writer); !writer.is_null())
        visit.named(object.heap().pointer(writer), ".<accumulated>", ReferenceKind::hidden);
}

constexpr VersionedField<buffered_pair_layout> buffered_pair_fields[] = {
    {&buffered_pair_layout::dict, ".__dict__"},
    {&buffered_pair_layout::reader, ".<reader>", 12},
    {&buffered_pair_layout::writer, ".<writer>", 12}};
constexpr VersionedField<text_io_layout> text_io_fields[] = {
    {&text_io_layout::buffer, ".buffer"},
    {&text_io_layout::encoding, ".encoding"},
    {&text_io_layout::encoder, ".<encoder>"},
    {&text_io_layout::decoder, ".<decoder>"},
    {&text_io_layout::readnl, ".<newline>"},
    {&text_io_layout::decoded_chars, ".<decoded characters>"},
    {&text_io_layout::pending_bytes, ".<pending bytes>"},
    {&text_io_layout::snapshot, ".<snapshot>"},
    {&text_io_layout::errors, ".errors"},
    {&text_io_layout::raw, ".<raw>"},
    {&text_io_layout::dict, ".__dict__"}};
constexpr VersionedField<newline_decoder_layout> newline_decoder_fields[] = {
    {&newline_decoder_layout::decoder, ".<decoder>", 12}, {&newline_decoder_layout::errors, ".errors", 12}};
constexpr VersionedField<bytes_io_buffer_layout> bytes_io_buffer_fields[] = {
    {&bytes_io_buffer_layout::source, ".<BytesIO>"}};

const ObjectKind kinds_of_io[] = {
    {.name = "BytesIO",
     .type_names = bytes_io_names,
     .size = bytes_io_size,
     .visit_buffers = bytes_io_buffers,
     .visit_references = bytes_io_references,
     .struct_size = struct_size<&Layout::bytes_io>,
     .size_counts_others = true},
    {.name = "buffered file",
     .type_names = buffered_names,
     .size = buffered_size,
     .visit_buffers = buffered_buffers,
     .visit_references = buffered_references,
     .struct_size = struct_size<&Layout::buffered>},
    versioned_kind<&Layout::io_base, io_base_fields>("file base", io_base_names),
    versioned_kind<&Layout::file_io, file_io_fields>("FileIO", file_io_names),
    {.name = "StringIO",
     .type_names = string_io_names,
     .visit_references = string_io_references,
     .struct_size = struct_size<&Layout::string_io>},
    versioned_kind<&Layout::buffered_pair, buffered_pair_fields>("BufferedRWPair", buffered_pair_names),
    versioned_kind<&Layout::text_io, text_io_fields>("TextIOWrapper", text_io_names),
    versioned_kind<&Layout::newline_decoder, newline_decoder_fields>("IncrementalNewlineDecoder",
                                                                     newline_decoder_names),
    versioned_kind<&Layout::bytes_io_buffer, bytes_io_buffer_fields>("buffer of a BytesIO",
                                                                     bytes_io_buffer_names),
};

}  // namespace

std::span<const ObjectKind> io_kinds() { return kinds_of_io; }

}  // namespace heapsift
