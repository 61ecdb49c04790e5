// The first screen: whose core this is, one sentence, where the memory is, the largest types.
//
// On a terminal it fits the screen, so that the sentence does not scroll away: first the table of types is
// cut, then it is left to its own command, then the small rows of memory are merged into one.

#include "cli/render/overview.h"

#include "cli/render/arrays.h"
#include "cli/render/holder_words.h"
#include "cli/render/memory.h"
#include "cli/render/object.h"
#include "cli/render/process.h"
#include "cli/render/suspects.h"
#include "cli/render/types.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::size_t fewest_types = 3;

Masthead masthead(const OverviewResult& result, const OverviewCore& core) {
    const CoreExtent& extent = core.extent;
    Text in_use = says("{} in use", ByteCount{result.in_use_bytes});
    if (result.reserved_bytes >= result.in_use_bytes / 20)
        in_use += says(extent.cut() ? " (+ {} reserved or missing)" : " (+ {} reserved, never touched)",
                       ByteCount{result.reserved_bytes});
    Masthead head;
    head.name = core.file_name;
    head.process = ProcessCall{core.process.name, core.process.arguments};
    head.facts = says("{}, x86-64, pid {}, {}, {}", core.python, std::to_string(core.process.pid),
                      how_many(core.threads, "thread"), how_it_ended(core.process));
    head.state = extent.cut() ? says("{}, cut: {} of it are missing; numbers are at least what is shown",
                                     in_use, ByteCount{extent.cut_bytes})
                              : says("{}, complete", in_use);
    if (core.modules_missing > 0) {
        head.state += says(". Program files not found here: {} of {}", Count{core.modules_missing},
                           Count{core.module_count});
        head.where = says("({})", CommandLine{"doctor"});
    }
    return head;
}

Block memory_table(const OverviewResult& result) {
    TableBlock table;
    table.columns = {left("Where the memory is"), right(ByteCount{result.in_use_bytes}), right(""),
                     left("", TextColumn::Fit::end)};
    table.columns.front().tree = true;
    table.level = 0;
    table.folded = "the rest";
    std::vector<TableRow> rows;
    for (const MemoryRow& row : result.memory)
        if (row.bytes > 0 && row.use == MemoryUse::in_use)
            rows.push_back(
                {.cells = {row.name, ByteCount{row.bytes}, Share{row.bytes, result.in_use_bytes, true},
                           Bar{row.bytes, result.in_use_bytes, colour_of(row.kind)}},
                 .depth = 1,
                 .small = row.bytes < result.in_use_bytes / 100});
    table.rows = rows_of(std::move(rows));
    return {std::move(table)};
}

/// "1.0 MiB of it (25 %)". Blocks that were handed out and never touched are more than what is in use.
Text part_of_it(const OverviewResult& result, std::uint64_t bytes, const char* of_it) {
    if (bytes > result.in_use_bytes) return says("{}{}, not all of it in use,", at_least(), ByteCount{bytes});
    return says("{}{}{} ({})", at_least(), ByteCount{bytes}, of_it, Share{bytes, result.in_use_bytes});
}

/// A sentence more where what it has is not Python's.
Text native_sentence(const TopHolder& holder) {
    const std::uint64_t native = holder.object ? holder.object->native.value_or(0) : 0;
    if (native == 0 || native < holder.retained / 2) return {};
    if (native >= holder.retained - holder.retained / 20)
        return " Nearly all of that is in blocks of C code.";
    return says(" {} of that is in blocks of C code.", ByteCount{native});
}

Text holder_sentence(const OverviewResult& result) {
    const TopHolder& holder = result.holders.front();
    const Text content = content_words(holder);  // none of a group
    if (holder.group_kind == GroupKind::unreachable) {
        Text what;
        if (result.garbage_type != no_type)
            what = says(": {}, and what they keep", garbage_words(result));
        else if (!content.empty())
            what = says(": {}", content);
        else if (!result.garbage_remark.empty())
            what = says(" ({})", result.garbage_remark);
        // The holder is what its largest part is; all of it is freed at once.
        return says("{} is garbage that nothing reaches{}.",
                    part_of_it(result, std::max(holder.in_use(), result.garbage_memory), " of it"),
                    std::move(what));
    }
    if (holder.says_held)
        return says("{} is {}{}{}.", part_of_it(result, holder.in_use(), " of it"), holder_words(holder),
                    content.empty() ? "" : ": ", content) +
               native_sentence(holder);
    return says("{}{}{}{} {} {} alive.", holder_words(holder),
                content.empty()    ? ""
                : holder.alike > 1 ? ", each "
                                   : ", ",
                content, content.empty() ? "" : ",", holder.joint ? "keep" : "keeps",
                part_of_it(result, holder.in_use(), "")) +
           native_sentence(holder);
}

Text pinned_words(const OverviewResult& result) {
    const ArrayHolderRow& row = *result.pinned;
    const Text place = row.local.empty() ? says("held as {}", held_as_words(row))
                                         : says("in '{}' of {}", row.local, row.frame);
    return says("{} is array data that nothing can reach any more: {} ({}) {} {} alive, {}.",
                part_of_it(result, row.unseen_bytes(), ""), how_many(row.pinned_arrays, "slice"),
                ByteCount{row.pinned_visible}, row.pinned_arrays == 1 ? "keeps" : "keep",
                how_many(row.pinned_owners, "whole array"), place);
}

Block next_of_holders(const TopHolder& first) {
    if (first.object)
        return hint(says("why {}", Target{expression_of(first.expression), first.object->address}));
    if (first.by_c_code) return hint(says("why {}", first.example), "how C code has one of them");
    return hint("dominators", first.group_kind == GroupKind::unreachable
                                  ? "the garbage is below: unreachable"
                                  : "what is held together, and by what");
}

constexpr std::size_t most_bounded_told = 2;

/// With why those of `bounded` cannot grow.
void say_holders(const OverviewResult& result, const std::vector<Suspect>& bounded, Document& document) {
    if (result.holders.empty()) return;
    TableBlock table;
    table.columns = {right("retained"), right("share"), left("What holds most", TextColumn::Fit::middle),
                     left("", TextColumn::Fit::end)};
    std::vector<TableRow> rows;
    for (const TopHolder& holder : result.holders) {
        Text content = content_words(holder);
        if (holder.group_kind == GroupKind::unreachable) content += " (garbage)";
        rows.push_back({.cells = {ByteCount{holder.in_use()},
                                  holder.in_use() > result.in_use_bytes
                                      ? Text()
                                      : Text(Share{holder.in_use(), result.in_use_bytes, true}),
                                  holder_words(holder), std::move(content)}});
    }
    table.rows = rows_of(std::move(rows));
    document.say({std::move(table)});
    for (std::size_t i = 0; i < std::min(most_bounded_told, bounded.size()); ++i)
        document.say(
            sentence(says("{}: {}.", holder_words(*bounded[i].holder), cause_words(bounded[i].cause.words))));
    document.say(next_of_holders(result.holders.front()));
    document.say(gap());
}

/// Printed only if there is much of it.
void say_garbage(const OverviewResult& result, Document& document) {
    const auto why = [](const std::string& remark) {
        return remark.empty() ? Text() : says(" ({})", remark);
    };
    std::vector<Text> sentences;
    if (result.garbage_is_much)
        sentences.push_back(says("{} is garbage that was not freed{}.",
                                 part_of_it(result, result.garbage_memory, ""), why(result.garbage_remark)));
    if (result.garbage_list_is_much)
        sentences.push_back(says("Only gc.garbage keeps {} alive{}.",
                                 part_of_it(result, result.garbage_list_memory, ""),
                                 why(result.garbage_list_remark)));
    if (sentences.empty()) return;
    document.say(sentence(joined(std::move(sentences), " ")));
    document.say(hint("cycles", "what it is"));
    document.say(gap());
}

void say_pinned(const OverviewResult& result, Document& document) {
    if (!result.pinned) return;
    document.say(line(result.pinned_tensor ? "fix: store copies, not slices: data[i].clone()"
                                           : "fix: store copies, not slices: data[i].copy()"));
    document.say(hint("arrays --pinned", result.pinned_owners == result.pinned->pinned_owners
                                             ? Text("which slices keep what")
                                             : says("all {} owners, {}", Count{result.pinned_owners},
                                                    ByteCount{result.pinned_bytes})));
    document.say(gap());
}

/// `with_hint`: nothing above says what to type next.
void say_types(const std::shared_ptr<const TypesResult>& types, bool with_hint, Document& document) {
    if (types->types.empty()) {
        document.say(gap());
        document.say(line("No Python objects could be found in it."));
        return;
    }
    Block table = types_table(types, SortKey::memory);
    std::get<TableBlock>(table.content).fewest = fewest_types;
    Alternative part;
    part.blocks = {gap(), std::move(table)};
    if (with_hint) {
        const ObjectRow& largest = types->types.front().largest;
        part.blocks.push_back(
            hint(says("show {}", largest.address), says("the largest {}", TypeName{largest.type})));
    }
    if (with_hint) part.instead = {hint("types", "what the Python objects are")};
    document.say({std::move(part)});
}

Datum top_holder_data(const TopHolder& holder) {
    Datum holders = Datum::list();
    if (holder.joint) {
        const JointHolders& joint = *holder.joint;
        for (std::size_t i = 0; i < joint.holders.size(); ++i)
            holders.push_back(entries({{"address", joint.holders[i].address},
                                       {"type", joint.holders[i].type},
                                       {"expression", expression_of(joint.expressions[i])}}));
        for (const std::string& group : joint.groups) holders.push_back(entries({{"group", group}}));
    }
    return entries(
        {{"retained", holder.retained},
         {"untouched", holder.untouched},
         {"group", holder.group},
         {"object", holder.object ? object_data(*holder.object) : Datum()},
         {"expression", or_null(expression_of(holder.expression))},
         {"frame", or_null(holder.frame)},
         {"alike", holder.alike},
         {"words", holder_words(holder)},
         {"content", entries({{"type", or_null(holder.content_type)}, {"count", holder.content_count}})},
         {"holders", std::move(holders)}});
}

Datum memory_data(const OverviewResult& result, const OverviewCore& core) {
    const auto category = [](const MemoryRow& row) {
        return entries({{"name", row.name}, {"bytes", row.bytes}});
    };
    return entries({{"mapped", result.mapped_bytes},
                    {"in_use", result.in_use_bytes},
                    {"reserved", result.reserved_bytes},
                    {"in_core", core.extent.in_core_bytes},
                    {"categories", Datum::list_of(result.memory, category)}});
}

}  // namespace

Text headline_words(const OverviewResult& result) {
    const OverviewHeadline& headline = result.headline;
    if (headline.bytes == 0) return "Nothing is known of its memory.";
    const Text share =
        says("{}{} of its memory ({} of {})", at_least(), Share{headline.bytes, result.in_use_bytes},
             ByteCount{headline.bytes}, ByteCount{result.in_use_bytes});
    const TypeName type{headline.type ? headline.type->name : ""};
    const std::uint64_t count = headline.type ? headline.type->count : 0;
    switch (headline.kind) {
        case OverviewHeadline::Kind::pinned:
            return pinned_words(result);
        case OverviewHeadline::Kind::holder:
            return holder_sentence(result);
        case OverviewHeadline::Kind::array_data:
            return says("{} is array data, {}in {} {}.", share, headline.all_in_type ? "" : "most of it ",
                        Count{count}, type);
        case OverviewHeadline::Kind::objects:
            return says("{} belongs to {} {}.", share, how_many(count, "object of type", "objects of type"),
                        type);
        case OverviewHeadline::Kind::other_memory:
            break;
    }
    if (result.culprit && headline.region != free_row)
        return says("{} is {}: {} in {}.{}", share, headline.region,
                    culprit_part(*result.culprit, headline.bytes), culprit_words(*result.culprit),
                    result.python_is_small ? " Python's side is small." : "");
    if (headline.region == free_row && 2 * result.sparse_bytes >= headline.bytes)
        return says(
            "{} is free: the program freed it, and Python cannot give it back, since a few objects keep each "
            "of its {} open.",
            share, how_many(result.sparse_arenas, "arena"));
    if (headline.region == free_row)
        return says(
            "{} is free: the program gave it back, and Python and malloc keep it for the next request.",
            share);
    return says("{} is {}; no type of Python object has much of it.", share, headline.region);
}

namespace {

/// Of a first suspect that is several holders, that has a name where the largest holder is what several have together,
/// or that has most of the largest type.
Text first_sentence(const OverviewResult& result, const SuspectsResult& suspects) {
    using Kind = OverviewHeadline::Kind;
    if (suspects.suspects.empty()) return headline_words(result);
    const Suspect& first = suspects.suspects.front();
    const OverviewHeadline& headline = result.headline;
    const bool is_known = !first.cause.keeper.empty();
    const bool names_it = headline.kind == Kind::holder && first.holder &&
                          (is_known || (result.holders.front().joint && !first.holder->joint)) &&
                          10 * first.bytes >= 9 * result.holders.front().in_use();
    const bool says_more =
        headline.kind == Kind::holder
            ? names_it || (first.alike > 1 && first.bytes > result.holders.front().in_use())
            : (headline.kind == Kind::objects || headline.kind == Kind::array_data) &&
                  2 * first.bytes >= headline.bytes;
    if (first.kind != Suspect::Kind::holder || !says_more || (first.holder->says_held && !is_known))
        return headline_words(result);
    const Text keeper = keeper_words(first, result);
    return says("{}{} {} {} alive.", keeper, content_words(*first.holder).empty() ? "" : ",",
                first.alike > 1 || (first.holder->joint && first.cause.keeper.empty()) ? "keep" : "keeps",
                part_of_it(result, first.bytes, ""));
}

}  // namespace

Block overview_masthead(const OverviewResult& result, const OverviewCore& core) {
    return {masthead(result, core)};
}

Text overview_sentence(const OverviewResult& result, const SuspectsResult& suspects) {
    return first_sentence(result, suspects);
}

Block overview_memory(const OverviewResult& result) { return memory_table(result); }

Document render_overview(OverviewResult overview, const OverviewCore& core, const SuspectsResult& suspects) {
    const auto result = kept(std::move(overview));
    const std::shared_ptr<const TypesResult> types(result, &result->types);
    Document document{.command = "overview"};
    Datum& data = document.data;
    data["process"] = process_data(core.process, core.threads);
    data["program"] = program_data(core.facts);
    data["headline"] = first_sentence(*result, suspects);
    data["memory"] = memory_data(*result, core);
    data["types"] =
        entries({{"types", Datum::list_of(types->types, type_data)}, {"total", types_total_data(*types)}});
    data["holders"] = Datum::list_of(result->holders, top_holder_data);
    data["garbage"] = result->garbage_memory;
    data["suspects"] = suspects_data(suspects, *result);
    data["signature"] = core.signature;
    document.say({masthead(*result, core)});
    document.say(gap());
    document.say(sentence(first_sentence(*result, suspects).bold()));
    document.say(gap());
    const bool says_free =
        !suspects.suspects.empty() && suspects.suspects.front().kind == Suspect::Kind::free_memory;
    if (result->headline.kind == OverviewHeadline::Kind::other_memory && result->headline.bytes > 0 &&
        !says_free) {
        document.say(result->headline.region == c_code_row
                         ? hint("native", "its classes and sizes, and what holds them")
                         : hint("memory", "what it is, and what keeps it"));
        document.say(gap());
    }
    if (suspects.suspects.empty()) {
        say_pinned(*result, document);
        say_holders(*result, suspects.bounded, document);
    } else {
        say_suspects(suspects, *result, document);
        document.say(gap());
    }
    const auto is_told = [&](Suspect::Kind kind) {
        return std::any_of(suspects.suspects.begin(), suspects.suspects.end(),
                           [&](const Suspect& suspect) { return suspect.kind == kind; });
    };
    if (result->dropped_frames > 0 && !is_told(Suspect::Kind::pinned)) {
        document.say(
            hint("arrays --pinned",
                 how_many(result->dropped_frames, "dropped DataFrame is still in memory, kept by slices",
                          "dropped DataFrames are still in memory, kept by slices")));
        document.say(gap());
    }
    if (!is_told(Suspect::Kind::garbage) && !is_told(Suspect::Kind::garbage_list))
        say_garbage(*result, document);
    if (suspects.suspects.empty()) {
        document.say(memory_table(*result));
    } else {  // they say where most of it is
        Alternative memory;
        memory.blocks = {memory_table(*result)};
        if (!says_free) memory.instead = {hint("memory", "where the rest of it is")};
        document.say({std::move(memory)});
    }
    say_types(types, suspects.suspects.empty(), document);
    return document;
}

}  // namespace heapsift
