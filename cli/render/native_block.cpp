// One block of C code: a heading, some lines of facts, and two lists.

#include "cli/render/native_block.h"

#include "cli/render/native_end.h"
#include "cli/render/object.h"
#include "cli/render/source_line.h"

namespace heapsift {
namespace {

const char* name_of(Credit credit) {
    switch (credit) {
        case Credit::sure:
            return "sure";
        case Credit::likely:
            return "likely";
        case Credit::perhaps:
            return "perhaps";
        case Credit::chance:
            return "chance";
        case Credit::other:
            return "other";
        case Credit::nothing:
            return "nothing";
    }
    return "";
}

/// How certain its owner is.
Text credit_words(Credit credit) {
    switch (credit) {
        case Credit::sure:
            return "fields that are pointers in all blocks of their kind lead here from Python's objects";
        case Credit::likely:
            return "likely: fields that are often pointers lead here from Python's objects";
        case Credit::perhaps:
            return "perhaps: single words lead here from Python's objects";
        case Credit::chance:
            return "perhaps: words into the middle of blocks, or ints, lead here from Python's objects; a "
                   "number may "
                   "look like one";
        case Credit::other:
            return "no Python object leads here";
        case Credit::nothing:
            return "no word of the memory that may be a pointer leads here";
    }
    return "";
}

Text owner_words(const NativeBlock& block) {
    if (block.owner) {
        Text text = says("the {} at {}", TypeName{block.owner->type}, block.owner->address);
        if (const Expression expression = expression_of(block.expression); !expression.empty())
            text += says(": {}", expression);
        return text + says(", which retains {}", ByteCount{block.owner->retained.value_or(0)});
    }
    if (block.credit == Credit::nothing) return "none: it leaked, as far as words tell";
    return block.shared ? Text("several: no object alone keeps it") : says("none; {}", block.group);
}

void say_ends(const char* heading, const std::vector<NativeEnd>& ends, std::uint64_t total,
              Document& document) {
    document.say(gap());
    document.say(line(says("{} {}", heading, Count{total})));
    TableBlock table;
    table.columns = {left(""), left("", TextColumn::Fit::end)};
    std::vector<TableRow> rows;
    for (const NativeEnd& end : ends)
        rows.push_back(
            {.cells = cells_of(end.address.is_null() ? Text() : Text(end.address), end_words(end))});
    table.rows = rows_of(std::move(rows));
    if (ends.size() < total) table.rest = TableRest{.rows = total, .all = Text("-n 0")};
    document.say({std::move(table)});
}

}  // namespace

Document render_native_block(const NativeBlock& block, const std::string& command) {
    Document document{.command = command, .certain = false};
    document.data =
        entries({{"address", block.address},
                 {"native", true},
                 {"bytes", block.bytes},
                 {"class", or_null(block.of_class)},
                 {"content", or_null(block.content)},
                 {"credit", name_of(block.credit)},
                 {"allocated_at", block.allocated_at.empty() ? Datum() : calls_data(block.allocated_at)},
                 {"retained", block.retained},
                 {"owner", block.owner ? object_data(*block.owner) : Datum()},
                 {"group", or_null(block.group)},
                 {"beginnings", Datum::list_of(block.beginnings, end_data)},
                 {"referrers", Datum::list_of(block.referrers, end_data)},
                 {"referents", Datum::list_of(block.referents, end_data)},
                 {"total", entries({{"beginnings", block.total_beginnings},
                                    {"referrers", block.total_referrers},
                                    {"referents", block.total_referents}})}});
    Text heading = says("a block of {} of C code", ByteCount{block.bytes}).bold();
    if (!block.of_class.empty()) heading += says("  {}", TypeName{block.of_class});
    document.say(line(std::move(heading)));
    std::vector<TableRow> rows;
    const auto add = [&](const char* name, Text words) {
        rows.push_back({.cells = {name, std::move(words)}});
    };
    add("address", block.inside == 0 ? Text(block.address)
                                     : says("{}; what was asked for lies {} bytes behind it", block.address,
                                            Count{block.inside}));
    if (!block.content.empty()) add("content", block.content);
    if (!block.allocated_at.empty()) add("allocated at", allocated_words(block.allocated_at));
    add("retains", ByteCount{block.retained});
    add("owner", owner_words(block));
    if (block.owner || block.credit < Credit::other) add("known by", credit_words(block.credit));
    TableBlock table;
    table.columns = {left(""), left("", TextColumn::Fit::wrap)};
    table.rows = rows_of(std::move(rows));
    document.say({std::move(table)});
    if (block.total_beginnings > 0)
        say_ends("reached, through blocks, from", block.beginnings, block.total_beginnings, document);
    say_ends("referred to by", block.referrers, block.total_referrers, document);
    say_ends("leads to", block.referents, block.total_referents, document);
    document.say(block.owner ? hint(says("why {}", block.owner->address), "what keeps its owner alive")
                             : hint("native", "all blocks of C code"));
    return document;
}

}  // namespace heapsift
