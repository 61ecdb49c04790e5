// One object: a heading, some lines of facts, and the two lists of references.

#include "cli/render/show.h"

#include "cli/render/edges.h"
#include "cli/render/object.h"
#include "cli/render/source_line.h"

namespace heapsift {
namespace {

Text sizes_words(const ObjectFacts& facts) {
    Text text = at_least() + says("{} with what it alone owns", ByteCount{facts.memory});
    if (facts.array_data > 0) text += says(", {} of that array data", ByteCount{facts.array_data});
    text += says(" (sys.getsizeof: {}{})", ByteCount{facts.size},
                 facts.size_is_certain ? "" : ", if it measures itself as its base type does");
    if (facts.block_size > 0) text += says("; allocated in a block of {}", ByteCount{facts.block_size});
    if (facts.memory == 0 && facts.block_size == 0) text += "; not allocated: part of a module's data";
    return text;
}

// "3: all of them are listed below", and what a difference of the two counts means.
Text references_words(const ShowResult& result) {
    const ObjectFacts& facts = result.object.facts;
    const Text found = says("{} found", SignedCount{result.referrers.owned});
    if (facts.immortal) return "immortal: not counted; " + found;
    if (facts.refcount == result.referrers.owned)
        return how_many(static_cast<std::uint64_t>(facts.refcount), "reference") + ", all found";
    const Text count = says("{} counted, {}", SignedCount{facts.refcount}, found);
    if (facts.refcount < result.referrers.owned)
        return count + ": more than Python counted, so one of those found is not held";
    return says("{}; {} held by running code, by native code{}", count,
                SignedCount{facts.refcount - result.referrers.owned},
                result.referrers.guesses ? ", or by the guesses below" : ", or leaked");
}

// What deleting it would free, and what holds it.
Text retained_words(const ShowResult& result) {
    if (!result.holder_computed) return "not computed; add --retained";
    Text bytes = ByteCount{result.object.retained.value_or(0)};
    if (const std::uint64_t native = result.object.native.value_or(0); native > 0)
        bytes += says(", {} of it in blocks of C code", ByteCount{native});
    switch (result.object.state.value_or(ObjectState::reachable)) {
        case ObjectState::held:
            return bytes + "; what holds it is not in this core: native code, or a leaked reference";
        case ObjectState::waiting:
            return bytes + "; garbage: it waits for the collector";
        case ObjectState::uncollectable:
            return bytes + "; garbage that the collector found and did not free";
        case ObjectState::invisible:
            return bytes + "; garbage that is never freed: the collector cannot see what holds it";
        case ObjectState::reachable:
            break;
    }
    if (!result.dominator) return bytes + "; held in: " + result.group;
    Text text =
        bytes + says("; held by the {} at {}", TypeName{result.dominator->type}, result.dominator->address);
    if (const Value value = value_of(*result.dominator); !value.empty()) text += says(" ({})", value);
    return text + ", in: " + result.group;
}

Value secret(const std::string& text) {
    return Value{.value = {.kind = ShortValue::Kind::literal, .text = text, .length = text.size()}};
}

// What a type of a library holds outside Python.
Text library_words(const LibraryFacts& facts) {
    const auto from = [&](Text words) {
        if (!facts.file.empty()) words += says(" of {}", FilePath{facts.file});
        return words;
    };
    switch (facts.kind) {
        case LibraryFacts::Kind::bytes_io:
            return says("{} in a buffer of {}", ByteCount{facts.bytes}, ByteCount{facts.allocated});
        case LibraryFacts::Kind::mapping:
            if (facts.file.empty()) return says("{} of memory without a file", ByteCount{facts.bytes});
            return from(ByteCount{facts.bytes});
        case LibraryFacts::Kind::image:
            return says("{} x {} pixels, mode {}: {}", SignedCount{facts.width}, SignedCount{facts.height},
                        facts.mode, ByteCount{facts.bytes});
        case LibraryFacts::Kind::database:
            if (facts.in_memory && facts.bytes > 0)
                return says("a database without a named file: {}", ByteCount{facts.bytes});
            if (facts.in_memory) return "a database without a named file";
            return says("database {}", FilePath{facts.file});
        case LibraryFacts::Kind::document:
            return from(facts.tag.empty() ? Text("an empty document")
                                          : says("document with root {}", secret(facts.tag)));
        case LibraryFacts::Kind::element:
            return from(says("element {}", secret(facts.tag)));
    }
    return "";
}

Datum library_data(const LibraryFacts& facts) {
    Datum data = entries({{"bytes", facts.bytes > 0 ? Datum(facts.bytes) : Datum()},
                          {"file", facts.file.empty() ? Datum() : Datum(FilePath{facts.file})}});
    if (facts.kind == LibraryFacts::Kind::bytes_io) data["allocated"] = facts.allocated;
    if (facts.kind == LibraryFacts::Kind::image) {
        data["mode"] = facts.mode;
        data["width"] = facts.width;
        data["height"] = facts.height;
    }
    if (!facts.tag.empty()) data["tag"] = secret(facts.tag);
    return data;
}

Block facts_table(const ShowResult& result) {
    const ObjectFacts& facts = result.object.facts;
    std::vector<TableRow> rows;
    const auto add = [&](const char* name, Text words) {
        rows.push_back({.cells = {name, std::move(words)}});
    };
    add("address", result.object.address);
    add("bytes", sizes_words(facts));
    if (result.library) add("holds", library_words(*result.library));
    if (!result.allocated_at.empty()) add("allocated at", allocated_words(result.allocated_at));
    add("retains", retained_words(result));
    add("references", references_words(result));
    add("collector", facts.gc_tracked ? "tracked" : "not tracked");
    add("found", result.found_by);
    if (facts.not_saved > 0)
        add("note", says("{} of its data were not saved in the core; they are counted by their size",
                         ByteCount{facts.not_saved}));
    if (facts.damaged)
        add("note",
            "it does not read: its lengths or its count cannot be true; only what can be there is counted");
    // What a library's object says of itself is read from its fields.
    if (!facts.references_exact)
        add("note", result.library || !value_of(result.object).empty()
                        ? "which objects it refers to is guessed; what it holds is read from its fields"
                        : "what it refers to is guessed: no way is known to read this type");
    TableBlock table;
    table.columns = {left(""), left("", TextColumn::Fit::wrap)};
    table.rows = rows_of(std::move(rows));
    return {std::move(table)};
}

}  // namespace

Document render_show(ShowResult result, AllEdges all_referents, AllEdges all_referrers) {
    Document document{.command = "show"};
    Datum& data = document.data;
    data = object_data(result.object);
    data["block_size"] = result.object.facts.block_size;
    data["retained_size"] = result.holder_computed ? Datum(result.retained_size) : Datum();
    data["group"] = result.holder_computed ? Datum(result.group) : Datum();
    data["accounted"] = result.referrers.owned;
    data["found"] = result.found_by;
    data["allocated_at"] = result.allocated_at.empty() ? Datum() : calls_data(result.allocated_at);
    data["library"] = result.library ? library_data(*result.library) : Datum();
    const ShownEdges referents = shown_edges(std::move(result.referents), std::move(all_referents));
    const ShownEdges referrers = shown_edges(std::move(result.referrers), std::move(all_referrers));
    data["referents"] = edges_data(referents);
    data["referrers"] = edges_data(referrers);
    data["dominator"] = result.dominator ? object_data(*result.dominator) : Datum();
    data["total"] = entries({{"referents", referents.list->total}, {"referrers", referrers.list->total}});
    Text heading = Text(TypeName{result.object.type}).bold();
    if (const Value value = value_of(result.object); !value.empty())
        heading += "  " + Text(value).giving_way();
    document.say(line(std::move(heading)));
    document.say(facts_table(result));
    say_referents(referents, document);
    say_referrers(referrers, document);
    document.say(hint(says("why {}", result.object.address), "the path that keeps it alive"));
    return document;
}

}  // namespace heapsift
