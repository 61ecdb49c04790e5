// Regular expressions, json, csv, the codecs of East Asia, the tokenizer, syntax trees and symbol tables.
// (_sre.c, _json.c, _csv.c, _struct.c, multibytecodec.c, Python-tokenize.c, symtable.c, Python-ast.c)

#include "parsers/cpython/objects/kinds.h"
#include "parsers/cpython/objects/versioned_fields.h"

#include <algorithm>

namespace heapsift {

namespace {

void scanner_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto& l = object.layout().sre_scanner;
    visit.named(object.pointer(l.pattern), ".pattern", reported_since(object, 10));
    visit.named(object.pointer(l.string), ".<string>", ReferenceKind::hidden);
    if (!object.pointer(l.buffer_start).is_null())
        visit.named(object.pointer(l.buffer), ".<buffer>", ReferenceKind::hidden);
}

/// Pairs of a group's number and the literal after it.
void template_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto& l = object.layout().sre_template;
    visit.named(object.pointer(l.literal), ".<literal>");
    if (!l.items.present()) return;
    const Address items = object.at(*l.items);
    const std::uint64_t words =
        object.readable_items(items, std::clamp<std::int64_t>(object.var_size(), 0, 1 << 30) * 2);
    for (std::uint64_t i = 1; i < words; i += 2)
        visit.indexed(object.heap().pointer(items + 8 * i), i / 2, ReferenceKind::strong, ".<items>");
}

/// How a codec treats errors: a number for each of the three common ways, else a str.
void visit_errors(const ObjectReader& object, LayoutOffset field, ReferenceVisitor& visit) {
    if (const Address errors = object.pointer(field); errors.value > 3) visit.named(errors, ".errors");
}

void codec_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().multibyte_codec.module), ".<module>");
}

void encoder_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit_errors(object, object.layout().multibyte_encoder.errors, visit);
    visit.named(object.pointer(object.layout().multibyte_encoder.pending), ".<pending>",
                ReferenceKind::hidden);
}

void decoder_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit_errors(object, object.layout().multibyte_decoder.errors, visit);
}

void stream_reader_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit_errors(object, object.layout().multibyte_reader.errors, visit);
    visit.named(object.pointer(object.layout().multibyte_reader.stream), ".stream");
}

void stream_writer_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit_errors(object, object.layout().multibyte_writer.errors, visit);
    visit.named(object.pointer(object.layout().multibyte_writer.stream), ".stream");
    visit.named(object.pointer(object.layout().multibyte_writer.pending), ".<pending>",
                ReferenceKind::hidden);
}

bool no_class(const Layout&) { return false; }

void tokenizer_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const Layout& l = object.layout();
    visit.named(object.pointer(l.tokenizer_iterator.last_line), ".<last line>", ReferenceKind::hidden);
    const Address state = object.pointer(l.tokenizer_iterator.tok);
    if (state.is_null()) return;
    auto of_state = [&](LayoutOffset field, FieldName name) {
        if (field.present()) visit.named(object.heap().pointer(state + *field), name, ReferenceKind::hidden);
    };
    of_state(l.tokenizer_state.filename, ".<file name>");
    of_state(l.tokenizer_state.readline, ".<readline>");
    of_state(l.tokenizer_state.decoding_readline, ".<decoding readline>");
    of_state(l.tokenizer_state.decoding_buffer, ".<decoding buffer>");
}

constexpr const char* scanner_names[] = {"_sre.SRE_Scanner"};
constexpr const char* template_names[] = {"_sre.SRE_Template"};
constexpr const char* codec_names[] = {"_multibytecodec.MultibyteCodec", "MultibyteCodec"};
constexpr const char* encoder_names[] = {"_multibytecodec.MultibyteIncrementalEncoder",
                                         "MultibyteIncrementalEncoder"};
constexpr const char* decoder_names[] = {"_multibytecodec.MultibyteIncrementalDecoder",
                                         "MultibyteIncrementalDecoder"};
constexpr const char* stream_reader_names[] = {"_multibytecodec.MultibyteStreamReader",
                                               "MultibyteStreamReader"};
constexpr const char* stream_writer_names[] = {"_multibytecodec.MultibyteStreamWriter",
                                               "MultibyteStreamWriter"};
constexpr const char* tokenizer_names[] = {"_tokenize.TokenizerIter"};
constexpr const char* ucd_names[] = {"unicodedata.UCD"};

constexpr const char* pattern_names[] = {"re.Pattern", "_sre.SRE_Pattern"};
constexpr const char* match_names[] = {"re.Match", "_sre.SRE_Match"};
constexpr const char* json_scanner_names[] = {"_json.Scanner"};
constexpr const char* json_encoder_names[] = {"_json.Encoder"};
constexpr const char* csv_dialect_names[] = {"_csv.Dialect"};
constexpr const char* csv_reader_names[] = {"_csv.reader"};
constexpr const char* csv_writer_names[] = {"_csv.writer"};
constexpr const char* unpack_iterator_names[] = {"_struct.unpack_iterator", "unpack_iterator"};
constexpr const char* symtable_entry_names[] = {"symtable entry"};
constexpr const char* ast_names[] = {"ast.AST", "_ast.AST"};

constexpr VersionedField<pattern_layout> pattern_fields[] = {
    {&pattern_layout::groupindex, ".groupindex", 10},
    {&pattern_layout::indexgroup, ".<names of groups>", 10},
    {&pattern_layout::pattern, ".pattern", 10}};
constexpr VersionedField<match_layout> match_fields[] = {{&match_layout::string, ".string", 10},
                                                         {&match_layout::regs, ".regs", 10},
                                                         {&match_layout::pattern, ".re", 10}};
constexpr VersionedField<json_scanner_layout> json_scanner_fields[] = {
    {&json_scanner_layout::encoding, ".encoding"},
    {&json_scanner_layout::object_hook, ".object_hook"},
    {&json_scanner_layout::object_pairs_hook, ".object_pairs_hook"},
    {&json_scanner_layout::array_hook, ".array_hook"},
    {&json_scanner_layout::parse_float, ".parse_float"},
    {&json_scanner_layout::parse_int, ".parse_int"},
    {&json_scanner_layout::parse_constant, ".parse_constant"},
    {&json_scanner_layout::memo, ".<memo>", 9}};
constexpr VersionedField<json_encoder_layout> json_encoder_fields[] = {
    {&json_encoder_layout::markers, ".markers"},
    {&json_encoder_layout::defaultfn, ".default"},
    {&json_encoder_layout::encoder, ".encoder"},
    {&json_encoder_layout::indent, ".indent"},
    {&json_encoder_layout::key_separator, ".key_separator"},
    {&json_encoder_layout::item_separator, ".item_separator"}};

/// Up to 3.6 flags are objects.
void json_scanner_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit_versioned_fields<&Layout::json_scanner, json_scanner_fields>(object, visit);
    if (json_flags_are_objects(object.layout()))
        visit.named(object.pointer(object.layout().json_scanner.strict), ".strict");
}

void json_encoder_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit_versioned_fields<&Layout::json_encoder, json_encoder_fields>(object, visit);
    if (!json_flags_are_objects(object.layout())) return;
    visit.named(object.pointer(object.layout().json_encoder.sort_keys), ".sort_keys");
    visit.named(object.pointer(object.layout().json_encoder.skipkeys), ".skipkeys");
}

constexpr VersionedField<csv_dialect_layout> csv_dialect_fields[] = {
    {&csv_dialect_layout::lineterminator, ".lineterminator", 10}};
constexpr VersionedField<csv_reader_layout> csv_reader_fields[] = {
    {&csv_reader_layout::dialect, ".dialect"},
    {&csv_reader_layout::input_iter, ".<input>"},
    {&csv_reader_layout::fields, ".<fields>"}};
constexpr VersionedField<csv_writer_layout> csv_writer_fields[] = {
    {&csv_writer_layout::dialect, ".dialect"},
    {&csv_writer_layout::write, ".<write>"},
    {&csv_writer_layout::error_obj, ".<error>"}};
constexpr VersionedField<unpack_iterator_layout> unpack_iterator_fields[] = {
    {&unpack_iterator_layout::so, ".<Struct>"}, {&unpack_iterator_layout::buffer, ".<buffer>"}};
constexpr VersionedField<symtable_entry_layout> symtable_entry_fields[] = {
    {&symtable_entry_layout::id, ".id", never},
    {&symtable_entry_layout::symbols, ".symbols", never},
    {&symtable_entry_layout::name, ".name", never},
    {&symtable_entry_layout::varnames, ".varnames", never},
    {&symtable_entry_layout::children, ".children", never},
    {&symtable_entry_layout::directives, ".<directives>", never},
    {&symtable_entry_layout::mangled_names, ".<mangled names>", never}};
constexpr VersionedField<ast_layout> ast_fields[] = {{&ast_layout::dict, ".__dict__"}};

const ObjectKind kinds_of_text_modules[] = {
    {.name = "SRE_Scanner",
     .type_names = scanner_names,
     .visit_references = scanner_references,
     .struct_size = struct_size<&Layout::sre_scanner>},
    {.name = "SRE_Template",
     .type_names = template_names,
     .visit_references = template_references,
     .struct_size = struct_size<&Layout::sre_template>},
    {.name = "codec",
     .type_names = codec_names,
     .visit_references = codec_references,
     .struct_size = struct_size<&Layout::multibyte_codec>},
    {.name = "incremental encoder",
     .type_names = encoder_names,
     .visit_references = encoder_references,
     .struct_size = struct_size<&Layout::multibyte_encoder>,
     .reports_class = no_class},
    {.name = "incremental decoder",
     .type_names = decoder_names,
     .visit_references = decoder_references,
     .struct_size = struct_size<&Layout::multibyte_decoder>,
     .reports_class = no_class},
    {.name = "stream reader",
     .type_names = stream_reader_names,
     .visit_references = stream_reader_references,
     .struct_size = struct_size<&Layout::multibyte_reader>,
     .reports_class = no_class},
    {.name = "stream writer",
     .type_names = stream_writer_names,
     .visit_references = stream_writer_references,
     .struct_size = struct_size<&Layout::multibyte_writer>,
     .reports_class = no_class},
    {.name = "tokenizer",
     .type_names = tokenizer_names,
     .visit_references = tokenizer_references,
     .struct_size = struct_size<&Layout::tokenizer_iterator>},
    {.name = "UCD", .type_names = ucd_names},
    versioned_kind<&Layout::pattern, pattern_fields>("re.Pattern", pattern_names),
    versioned_kind<&Layout::match, match_fields>("re.Match", match_names),
    {.name = "JSON scanner",
     .type_names = json_scanner_names,
     .visit_references = json_scanner_references,
     .struct_size = struct_size<&Layout::json_scanner>},
    {.name = "JSON encoder",
     .type_names = json_encoder_names,
     .visit_references = json_encoder_references,
     .struct_size = struct_size<&Layout::json_encoder>},
    versioned_kind<&Layout::csv_dialect, csv_dialect_fields>("CSV dialect", csv_dialect_names),
    versioned_kind<&Layout::csv_reader, csv_reader_fields>("CSV reader", csv_reader_names),
    versioned_kind<&Layout::csv_writer, csv_writer_fields>("CSV writer", csv_writer_names),
    versioned_kind<&Layout::unpack_iterator, unpack_iterator_fields>("unpack_iterator",
                                                                     unpack_iterator_names),
    versioned_kind<&Layout::symtable_entry, symtable_entry_fields>("symtable entry", symtable_entry_names),
    versioned_kind<&Layout::ast, ast_fields>("ast.AST", ast_names),
};

}  // namespace

std::span<const ObjectKind> text_module_kinds() { return kinds_of_text_modules; }

}  // namespace heapsift
