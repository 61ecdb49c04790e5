// A suspect takes three lines: who keeps how much, why that is likely, and how to change it. The last of these is
// what the reader came for, so on a short screen causes go before fixes, and those of the first stay.

#include "cli/render/suspects.h"

#include "cli/render/arrays.h"
#include "cli/render/holder_words.h"
#include "cli/render/memory.h"
#include "cli/render/object.h"
#include "cli/render/places.h"

namespace heapsift {
namespace {

constexpr std::size_t always_whole = 1;
// TableRow::detail: of suspects from 1, of their fixes, and of their causes.
constexpr std::uint8_t first_fix = 80, first_cause = 160;

}  // namespace

Text cause_words(const CauseWords& words) {
    Text text;
    for (const CauseWords::Part& part : words.parts) switch (part.kind) {
            case CauseWords::Part::Kind::text:
                text += Text(part.text);
                break;
            case CauseWords::Part::Kind::count:
                text += Text(Count{part.number});
                break;
            case CauseWords::Part::Kind::bytes:
                text += Text(ByteCount{part.number});
                break;
        }
    return text;
}

namespace {

Text pinned_holder(const ArrayHolderRow& row) {
    const Text place = row.local.empty() ? says("held as {}", held_as_words(row))
                                         : says("in '{}' of {}", row.local, row.frame);
    return says("{}, {}", how_many(row.pinned_arrays, "small slice"), place);
}

/// "filled in submit(), shop.py:15; also used in Monitor.feed(), shop.py:4". "may be made in", of what several functions
/// could make.
Text code_words(const Suspect& suspect) {
    const auto from = [&](std::size_t first, std::size_t most) {
        return places_words(suspect.used_in, first, most, suspect.more_used_in);
    };
    if (!suspect.calls.empty()) return says("{} is called in {}", suspect.calls, from(0, most_places_shown));
    if (suspect.made_here) return "may be made in " + from(0, most_places_shown);
    const std::size_t filling = suspect.filled_in, all = suspect.used_in.size();
    if (filling == 0) return (suspect.set_in_first ? "set in " : "used in ") + from(0, most_places_shown);
    if (filling >= most_places_shown || filling == all) return "filled in " + from(0, most_places_shown);
    const std::vector<SourcePlace> fill(suspect.used_in.begin(),
                                        suspect.used_in.begin() + static_cast<std::ptrdiff_t>(filling));
    return says("filled in {}; also used in {}", places_words(fill, 0, most_places_shown, 0),
                from(filling, most_places_shown - filling));
}

/// "81.2 % of it hangs on the attributes c, ct, u and 6 more of app.Node, set in Model.forward(), app.py:37".
Text set_later_words(const AttributesSetLater& later) {
    constexpr std::size_t most_names = 3;
    const std::size_t count = later.attributes.size(), shown = count <= most_names + 1 ? count : most_names;
    Text names;
    for (std::size_t i = 0; i < shown; ++i)
        names += (i == 0 ? "" : i + 1 == count ? " and " : ", ") + later.attributes[i];
    if (shown < count) names += says(" and {} more", Count{count - shown});
    return says("{} of it hangs on the {} {} of {}, set in {}", Share{later.bytes, later.sampled},
                count == 1 ? "attribute" : "attributes", std::move(names), TypeName{later.of_class},
                places_words(later.set_in, 0, most_places_shown, later.more_set_in));
}

/// "the app.Catalog is also held by app.Service.current".
Text owner_words(const TopHolder& holder) {
    Text text = says("the {} is also held by ", TypeName{holder.owner_type});
    for (std::size_t i = 0; i < holder.owner_also_held_by.size(); ++i) {
        if (i > 0) text += " and ";
        text += Text(expression_of(holder.owner_also_held_by[i]));
    }
    return text;
}

/// The command that leads on; nothing where there is none.
Text next_command(const Suspect& suspect) {
    switch (suspect.kind) {
        case Suspect::Kind::pinned:
            return "arrays --pinned";
        case Suspect::Kind::garbage:
        case Suspect::Kind::garbage_list:
            return "cycles";
        case Suspect::Kind::native:
            return "native";
        case Suspect::Kind::free_memory:
            return "memory";
        case Suspect::Kind::holder:
            break;
    }
    const TopHolder& holder = *suspect.holder;
    if (!holder.object && holder.says_held && suspect.cause.kind == "suspended") return "threads";
    if (!holder.owner_also_held_by.empty())
        return says("why {} --paths {}", Target{expression_of(holder.owner), holder.owner_address},
                    std::to_string(1 + holder.owner_also_held_by.size()));
    if (holder.joint && !holder.joint->example.is_null()) return says("why {}", holder.joint->example);
    if (holder.object)
        return says("why {}", Target{expression_of(holder.expression), holder.object->address});
    if (holder.by_c_code) return says("why {}", holder.example);
    return holder.group_kind == GroupKind::held ? Text("refcounts") : Text("dominators");
}

/// Of what was never used.
Text untouched_words(std::uint64_t bytes) {
    return bytes == 0 ? Text() : says("{} more are reserved for it, and were never used", ByteCount{bytes});
}

Text share_of(std::uint64_t bytes, const OverviewResult& overview) {
    return bytes > overview.in_use_bytes ? Text() : Text(Share{bytes, overview.in_use_bytes, true});
}

/// `may_give_way`: on a short screen causes, then fixes, then whole suspects, the last one first; the first stays.
TableBlock suspects_table(const std::vector<Suspect>& suspects, const OverviewResult& overview,
                          bool may_give_way) {
    TableBlock table;
    table.columns = {right(about() + "retained"), right("share"),
                     left("What keeps it, the likely cause, and the fix", TextColumn::Fit::wrap)};
    table.columns.back().tree = true;
    table.level = 0;
    std::vector<TableRow> rows;
    for (std::size_t i = 0; i < suspects.size(); ++i) {
        SuspectWords words = words_of(suspects[i], overview);
        const auto number = static_cast<std::uint8_t>(std::min<std::size_t>(i, first_fix - 1));
        const auto detail = [&](std::uint8_t first) {
            return i < always_whole || !may_give_way ? std::uint8_t{0}
                                                     : static_cast<std::uint8_t>(first + number);
        };
        const auto add = [&](Text line, std::uint8_t when) {
            rows.push_back({.cells = {Text(), Text(), std::move(line)}, .depth = 1, .detail = when});
        };
        rows.push_back({.cells = {ByteCount{suspects[i].bytes}, share_of(suspects[i].bytes, overview),
                                  std::move(words.keeper).bold()},
                        .detail = detail(0)});
        for (Text& line : words.evidence) add(std::move(line), detail(first_cause));
        if (!words.fix.empty()) add(std::move(words.fix), detail(first_fix));
    }
    table.rows = rows_of(std::move(rows));
    return table;
}

}  // namespace

SuspectWords words_of(const Suspect& suspect, const OverviewResult& overview) {
    SuspectWords words;
    words.keeper = keeper_words(suspect, overview);
    const auto add = [&](Text line) {
        if (!line.empty()) words.evidence.push_back(std::move(line));
    };
    add(cause_words(suspect.cause.words));
    if (suspect.untouched >= suspect.bytes / 20) add(untouched_words(suspect.untouched));
    if (suspect.holder && !suspect.holder->owner_also_held_by.empty()) add(owner_words(*suspect.holder));
    if (suspect.set_later) add(set_later_words(*suspect.set_later));
    if (!suspect.used_in.empty()) add(code_words(suspect));
    if (const auto& calls = suspect.content_calls)
        add(says("{} is called in {}", calls->call, places_words(calls->called_in, 0, most_places_shown, 0)));
    if (!suspect.tied_in.empty()) add(says("the cycle may be tied in {}", ties_words(suspect.tied_in)));
    if (!suspect.cause.fix.empty()) words.fix = says("fix: {}", suspect.cause.fix);
    words.next = next_command(suspect);
    return words;
}

Text garbage_words(const OverviewResult& overview) {
    if (overview.garbage_type_count == 0) return Text(TypeName{overview.garbage_type_name}) + " objects";
    return how_many_of(overview.garbage_type_name, overview.garbage_type_count);
}

Text keeper_words(const Suspect& suspect, const OverviewResult& overview) {
    switch (suspect.kind) {
        case Suspect::Kind::pinned:
            return pinned_holder(*overview.pinned);
        case Suspect::Kind::garbage:
            if (overview.garbage_type == no_type) return "garbage: objects that nothing reaches";
            return says("garbage: {}, and what they keep; nothing reaches them", garbage_words(overview));
        case Suspect::Kind::garbage_list:
            return "gc.garbage";
        case Suspect::Kind::native:
            return culprit_words(*overview.culprit);
        case Suspect::Kind::free_memory:
            return "free memory";
        case Suspect::Kind::holder:
            break;
    }
    const TopHolder& holder = *suspect.holder;
    Text words;
    const Text content = content_words(holder);
    if (suspect.alike > 1 && !holder.local.empty()) {
        words = says("the local '{}' of {}, in {} threads", holder.local, holder.call, Count{suspect.alike});
        if (!content.empty()) words += ", each " + content;
    } else if (suspect.alike > 1 && !holder.thread_local_name.empty()) {
        PathExpression expression = holder.expression;
        expression.root = holder.thread_local_name;
        words = suspect.in_one_thread
                    ? says("{}, of {} of them", expression_of(expression), Count{suspect.alike})
                    : says("{}, in {} threads", expression_of(expression), Count{suspect.alike});
        if (!content.empty()) words += ", each " + content;
    } else {
        words = suspect.cause.keeper.empty() ? holder_words(holder) : Text(suspect.cause.keeper);
        if (!content.empty()) words += ", " + content;
        if (suspect.alike > 1 && suspect.cause.keeper.empty())
            words += says("; {} alike", Count{suspect.alike});
    }
    if (holder.group_kind == GroupKind::unreachable) words += " (garbage)";
    return words;
}

namespace {

Datum set_later_data(const AttributesSetLater& later) {
    return entries({{"class", later.of_class},
                    {"attributes",
                     Datum::list_of(later.attributes, [](const std::string& name) { return Datum(name); })},
                    {"share", static_cast<double>(later.bytes) / static_cast<double>(later.sampled)},
                    {"set_in", places_data(later.set_in)}});
}

Datum content_calls_data(const ContentCalls& calls) {
    return entries({{"call", calls.call}, {"called_in", places_data(calls.called_in)}});
}

}  // namespace

Datum suspects_data(const SuspectsResult& result, const OverviewResult& overview) {
    return Datum::list_of(result.suspects, [&](const Suspect& suspect) {
        const bool has_object = suspect.holder && suspect.holder->object;
        return entries(
            {{"kind", suspect.cause.kind},
             {"sentence", keeper_words(suspect, overview)},
             {"pattern", suspect.pattern},
             {"bytes", suspect.bytes},
             {"untouched", suspect.untouched},
             {"share", overview.in_use_bytes == 0
                           ? 0.0
                           : static_cast<double>(suspect.bytes) / static_cast<double>(overview.in_use_bytes)},
             {"alike", suspect.alike},
             {"object", has_object ? object_data(*suspect.holder->object) : Datum()},
             {"expression", suspect.holder ? or_null(expression_of(suspect.holder->expression)) : Datum()},
             {"also_held_by",
              Datum::list_of(
                  suspect.holder ? suspect.holder->owner_also_held_by : std::vector<PathExpression>(),
                  [](const PathExpression& one) { return Datum(expression_of(one)); })},
             {"cause", suspect.cause.words.empty() ? Datum() : Datum(cause_words(suspect.cause.words))},
             {"fix", or_null(suspect.cause.fix)},
             {"used_in", places_data(suspect.used_in)},
             {"filled_in", suspect.filled_in},
             {"calls", or_null(suspect.calls)},
             {"set_later", suspect.set_later ? set_later_data(*suspect.set_later) : Datum()},
             {"content_calls", suspect.content_calls ? content_calls_data(*suspect.content_calls) : Datum()},
             {"tied_in", ties_data(suspect.tied_in)},
             {"next", next_command(suspect)}});
    });
}

void say_suspects(const SuspectsResult& result, const OverviewResult& overview, Document& document,
                  bool may_give_way) {
    if (result.suspects.empty()) return;
    // The first screen says where memory is, also where nothing is wrong with it.
    const std::vector<Suspect> shown = may_give_way ? result.with_others() : result.suspects;
    document.say({suspects_table(shown, overview, may_give_way)});
    document.say(hint(next_command(shown.front())));
    const auto waits = [](const Suspect& suspect) { return suspect.cause.kind == "tasks"; };
    if (std::any_of(shown.begin(), shown.end(), waits))
        document.say(hint("tasks", "where they wait, and whether anything can end that"));
    Alternative others;
    if (result.total > result.suspects.size())
        others.blocks = {
            hint(std::string("suspects") + all_rows, says("all {} suspects", Count{result.total}))};
    if (may_give_way && result.total > 1)
        others.instead = {
            hint("suspects", says("all {}, with the cause and the fix of each", Count{result.total}))};
    document.say({std::move(others)});
}

Document render_suspects(const SuspectsResult& result, const OverviewResult& overview) {
    Document document{.command = "suspects"};
    document.data["suspects"] = suspects_data(result, overview);
    document.data["total"] =
        entries({{"suspects", result.total}, {"bytes", result.bytes}, {"in_use", overview.in_use_bytes}});
    if (result.suspects.empty()) {
        document.say(sentence("No suspect: nothing in this process keeps an unusual part of its memory."));
        document.say(hint("types", "what its objects are"));
        return document;
    }
    document.say(sentence(says("{} {} of the {} in use.",
                               how_many(result.total, "suspect explains", "suspects explain"),
                               ByteCount{result.bytes}, ByteCount{overview.in_use_bytes})
                              .bold()));
    document.say(gap());
    say_suspects(result, overview, document, false);
    return document;
}

}  // namespace heapsift
