#include "analysis/growth/places.h"

#include "analysis/growth/usual_growth.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace heapsift {
namespace {

constexpr std::size_t most_levels = 64;  // from a row up to its place
constexpr std::size_t most_parts = 8;
constexpr std::size_t fewest_made_up = 16, fewest_alike = 3;  // names
constexpr std::uint64_t most_under_made_up = 4;               // objects
constexpr std::int64_t parts_of_most_alike = 8;

constexpr std::string_view any_name = "*", instance_dict = "__dict__";

/// A row in each core, and where its owners are.
struct MatchedRow {
    GrownRow grown;
    std::map<std::uint32_t, std::vector<std::uint64_t>> above;  // by matched row: objects, by core
    std::uint32_t top = HeldRow::none;                          // the row at the top of its growth
    std::int64_t count() const { return grown.amounts.count_growth(); }
    std::int64_t bytes() const { return grown.amounts.bytes_growth(); }
    bool grew() const { return grown.believed > 0 || count() > 0; }
};

/// "app" of "app.models.Session".
std::string package_of(const std::string& type) { return type.substr(0, type.find('.')); }

std::int64_t difference_of(const std::vector<std::uint64_t>& at) {
    return AmountsByCore::difference(at.front(), at.back());
}

class PlaceFinder {
public:
    PlaceFinder(const std::vector<Inventory>& cores, const std::vector<GrownName>& types) : cores_(cores) {
        find_made_up_names();
        match();
        believe(types);
        for (std::uint32_t i = 0; i < rows_.size(); ++i)
            if (rows_[i].grown.believed > 0) rows_[i].top = top_of(i);
    }

    PlacesFound find() {
        PlacesByWords places;
        for (std::uint32_t i = 0; i < rows_.size(); ++i) {
            if (rows_[i].top == HeldRow::none) continue;
            const HeldRow& top = rows_[rows_[i].top].grown.row;
            Gathered& place = places[{top.kind, top.holder, top.place}];
            if (place.members.empty()) {
                const auto made_up = made_up_.find({top.kind, top.holder});
                if (top.place == any_name && made_up != made_up_.end())
                    place.names = made_up->second;
                else
                    place.names = {top.place};
            }
            place.members.push_back(i);
        }
        PlacesFound found;
        fold_names(places);
        for (auto& [words, place] : places) {
            found.places.push_back(place_of(place.members));
            GrownPlace& made = found.places.back();
            std::tie(made.kind, made.holder, made.place) = words;
            if (place.names.size() < 2) continue;
            std::sort(place.names.begin(), place.names.end());
            made.names = std::move(place.names);
            made.place = any_name;
        }
        std::stable_sort(found.places.begin(), found.places.end(),
                         [](const GrownPlace& a, const GrownPlace& b) {
                             return std::tuple(!a.usual, a.steady, a.believed) >
                                    std::tuple(!b.usual, b.steady, b.believed);
                         });
        for (MatchedRow& row : rows_)
            if (row.count() != 0 || row.bytes() != 0) found.held.push_back(std::move(row.grown));
        std::stable_sort(found.held.begin(), found.held.end(), [](const GrownRow& a, const GrownRow& b) {
            return std::pair(a.amounts.bytes_growth(), a.amounts.count_growth()) >
                   std::pair(b.amounts.bytes_growth(), b.amounts.count_growth());
        });
        return found;
    }

private:
    using Words = std::tuple<HeldRow::Kind, std::string, std::string>;  // kind, holder, name

    /// The rows of a place, and its names: several where these grew as one.
    struct Gathered {
        std::vector<std::string> names;
        std::vector<std::uint32_t> members;
    };
    using PlacesByWords = std::map<Words, Gathered>;

    /// A program may make up a name for each thing that it keeps: setattr(cache, key, value), globals()[key]. Those of
    /// one holder that are new in the last core, with a few objects each, become one name.
    void find_made_up_names() {
        struct Objects {
            std::uint64_t first = 0, last = 0;
        };
        std::map<Words, Objects> names;
        for (const Inventory& core : cores_)
            for (const HeldRow& row : core.held) {
                if (row.place.empty() || row.place == instance_dict || !has_names(row.kind) || row.steps != 1)
                    continue;
                Objects& objects = names[{row.kind, row.holder, row.place}];
                if (&core == &cores_.front()) objects.first += row.now.count;
                if (&core == &cores_.back()) objects.last += row.now.count;
            }
        for (auto begin = names.begin(); begin != names.end();) {
            const auto& [kind, holder, first] = begin->first;
            std::vector<std::string> made_up;
            auto end = begin;
            for (; end != names.end() && std::get<0>(end->first) == kind && std::get<1>(end->first) == holder;
                 ++end)
                if (end->second.first == 0 && end->second.last <= most_under_made_up)
                    made_up.push_back(std::get<2>(end->first));
            if (made_up.size() >= fewest_made_up)
                made_up_.emplace(std::pair(kind, holder), std::move(made_up));
            begin = end;
        }
    }

    static bool has_names(HeldRow::Kind kind) {
        return kind == HeldRow::Kind::object || kind == HeldRow::Kind::root;
    }

    /// With "*" for a name that the program made up.
    HeldRow with_folded_name(HeldRow row) const {
        const auto at = made_up_.find({row.kind, row.holder});
        if (at == made_up_.end() || !std::binary_search(at->second.begin(), at->second.end(), row.place) ||
            !row.attribute.starts_with(row.place))
            return row;
        row.attribute.replace(0, row.place.size(), any_name);
        row.place = any_name;
        return row;
    }

    /// What a program adds to each object of a class, under several names, is one growth: nine arrays on each node of a
    /// tree.
    void fold_names(PlacesByWords& places) const {
        for (auto begin = places.begin(); begin != places.end();) {
            const auto [kind, holder, name] = begin->first;
            std::map<std::string, std::vector<PlacesByWords::iterator>> by_type;
            auto end = begin;
            for (;
                 end != places.end() && std::get<0>(end->first) == kind && std::get<1>(end->first) == holder;
                 ++end) {
                const std::vector<std::uint32_t> units = unit_rows(end->second.members);
                if (units.empty() || rows_[units.front()].grown.row.steps != 1) continue;
                by_type[rows_[units.front()].grown.row.type].push_back(end);
            }
            if (kind == HeldRow::Kind::object)
                for (auto& [type, alike] : by_type) join(places, of_like_growth(std::move(alike)));
            if (kind == HeldRow::Kind::object) join_instance_dicts(places, holder);
            begin = end;
        }
    }

    /// An object that gets its first attributes may get a dict for them: the dicts grow since the attributes do.
    void join_instance_dicts(PlacesByWords& places, const std::string& holder) const {
        const auto dicts = places.find({HeldRow::Kind::object, holder, std::string(instance_dict)});
        if (dicts == places.end()) return;
        auto largest = places.end();
        std::int64_t most = 0;
        for (auto at = places.lower_bound({HeldRow::Kind::object, holder, std::string()});
             at != places.end() && std::get<1>(at->first) == holder &&
             std::get<0>(at->first) == HeldRow::Kind::object;
             ++at) {
            std::int64_t bytes = 0;
            for (const std::uint32_t i : at->second.members) bytes += rows_[i].grown.believed;
            if (at == dicts || bytes <= most) continue;
            largest = at;
            most = bytes;
        }
        if (largest == places.end()) return;
        largest->second.members.insert(largest->second.members.end(), dicts->second.members.begin(),
                                       dicts->second.members.end());
        places.erase(dicts);
    }

    /// Those that grew by at least a fraction of the one that grew most; none if they are few.
    std::vector<PlacesByWords::iterator> of_like_growth(std::vector<PlacesByWords::iterator> alike) const {
        std::int64_t most = 0;
        for (const auto& one : alike) most = std::max(most, objects_at_top(one->second));
        std::erase_if(
            alike, [&](const auto& one) { return objects_at_top(one->second) * parts_of_most_alike < most; });
        if (alike.size() < fewest_alike) alike.clear();
        return alike;
    }

    std::int64_t objects_at_top(const Gathered& place) const {
        std::int64_t objects = 0;
        for (const std::uint32_t i : place.members)
            if (rows_[i].top == i) objects += rows_[i].count();
        return objects;
    }

    /// Makes the first of them the place of all.
    static void join(PlacesByWords& places, const std::vector<PlacesByWords::iterator>& alike) {
        for (std::size_t i = 1; i < alike.size(); ++i) {
            Gathered &into = alike.front()->second, &from = alike[i]->second;
            into.names.insert(into.names.end(), from.names.begin(), from.names.end());
            into.members.insert(into.members.end(), from.members.begin(), from.members.end());
            places.erase(alike[i]);
        }
    }

    void match() {
        std::map<std::tuple<std::string, std::string, std::string, HeldRow::Kind>, std::uint32_t> by_words;
        for (std::size_t core = 0; core < cores_.size(); ++core) {
            std::vector<std::uint32_t> becomes;
            for (const HeldRow& as_read : cores_[core].held) {
                HeldRow row = with_folded_name(as_read);
                const auto [at, added] =
                    by_words.try_emplace(std::tuple(row.type, row.holder, row.attribute, row.kind),
                                         static_cast<std::uint32_t>(rows_.size()));
                if (added) rows_.emplace_back().grown.amounts.at.resize(cores_.size());
                GrownRow& into = rows_[at->second].grown;
                if (into.amounts.at[core].count > 0) {  // of another name that was made up
                    row.appeared += into.row.appeared;
                    row.appeared_bytes += into.row.appeared_bytes;
                    row.stayed += into.row.stayed;
                    row.stayed_bytes += into.row.stayed_bytes;
                }
                into.amounts.at[core] += row.now;
                into.row = std::move(row);  // that of the newest core
                into.row.above.clear();
                becomes.push_back(at->second);
            }
            for (std::size_t i = 0; i < becomes.size(); ++i)
                for (const HeldRow::Above& above : cores_[core].held[i].above) {
                    if (above.row >= becomes.size()) continue;
                    auto& counts = rows_[becomes[i]].above[becomes[above.row]];
                    counts.resize(cores_.size());
                    counts[core] += above.count;
                }
        }
    }

    /// Of a row's growth no more than its type's.
    void believe(const std::vector<GrownName>& types) {
        std::unordered_map<std::string, std::pair<std::int64_t, std::int64_t>> net;  // bytes, count
        for (const GrownName& type : types)
            net[type.name] = {type.amounts.bytes_growth(), type.amounts.count_growth()};
        for (MatchedRow& row : rows_) {
            const auto at = net.find(row.grown.row.type);
            if (at == net.end()) continue;
            row.grown.believed =
                std::clamp<std::int64_t>(row.bytes(), 0, std::max<std::int64_t>(0, at->second.first));
        }
    }

    /// The row of the owners of most of what is new in row `i`, other than those in `seen`. Owners of one type that one
    /// holder has under several names count together, and the row of most of them stands for all. Without
    /// `grown_only` it may be one that did not grow, of the same type.
    std::optional<std::uint32_t> owners_of(std::uint32_t i, const std::vector<std::uint32_t>& seen,
                                           bool grown_only) const {
        struct Owners {
            std::int64_t all = 0, most = 0;
            std::uint32_t best = HeldRow::none;
        };
        const MatchedRow& row = rows_[i];
        std::map<std::tuple<std::string_view, std::string_view, HeldRow::Kind>, Owners> alike;
        std::int64_t in_seen = 0, sum = 0;
        for (const auto& [above, counts] : row.above) {
            const std::int64_t more =
                grown_only ? difference_of(counts) : static_cast<std::int64_t>(counts.back());
            if (more <= 0) continue;
            if (std::find(seen.begin(), seen.end(), above) != seen.end()) {
                in_seen += more;
                continue;
            }
            sum += more;
            const HeldRow& owner = rows_[above].grown.row;
            if (grown_only ? rows_[above].count() <= 0 : owner.type != row.grown.row.type) continue;
            Owners& owners = alike[{owner.type, owner.holder, owner.kind}];
            owners.all += more;
            if (more <= owners.most) continue;
            owners.most = more;
            owners.best = above;
        }
        const auto best = std::max_element(alike.begin(), alike.end(), [](const auto& a, const auto& b) {
            return a.second.all < b.second.all;
        });
        if (best == alike.end()) return std::nullopt;
        // What hangs at a root, or at what did not grow, is not below another row.
        const std::int64_t direct = grown_only ? row.count() - in_seen - sum : 0;
        const std::int64_t others = sum - best->second.all;
        if (grown_only && best->second.all < std::max<std::int64_t>(0, direct) + others) return std::nullopt;
        return best->second.best;
    }

    /// The row of the owners, where these are made by C and have no name for it: the bytes of a bytearray. A person
    /// knows what holds the owner.
    std::optional<std::uint32_t> owner_without_words(std::uint32_t i,
                                                     const std::vector<std::uint32_t>& seen) const {
        const HeldRow& row = rows_[i].grown.row;
        if (row.kind != HeldRow::Kind::object || !row.place.empty()) return std::nullopt;
        std::optional<std::uint32_t> best;
        std::uint64_t most = 0;
        for (const auto& [above, counts] : rows_[i].above) {
            const HeldRow& owner = rows_[above].grown.row;
            const bool unnamed = owner.type == row.holder && !owner.python_class;
            if (!unnamed || counts.back() <= most || std::find(seen.begin(), seen.end(), above) != seen.end())
                continue;
            most = counts.back();
            best = above;
        }
        return best;
    }

    std::uint32_t top_of(std::uint32_t i) const {
        std::vector<std::uint32_t> seen{i};
        while (seen.size() < most_levels) {
            auto above = owners_of(seen.back(), seen, true);
            // A list or a tree of equals, whose first one was there before: it is held by what holds that.
            const auto self = rows_[seen.back()].above.find(seen.back());
            const bool recursive = seen.size() > 1 || self != rows_[seen.back()].above.end();
            if (!above && recursive) above = owners_of(seen.back(), seen, false);
            if (!above) above = owner_without_words(seen.back(), seen);
            if (!above) break;
            seen.push_back(*above);
        }
        return seen.back();
    }

    GrownPlace place_of(const std::vector<std::uint32_t>& members) const {
        const HeldRow& top = rows_[rows_[members.front()].top].grown.row;
        GrownPlace place;
        place.kind = top.kind;
        place.holder = top.holder;
        place.place = top.place;
        place.usual = top.kind != HeldRow::Kind::garbage && is_usual_growth(top.holder, top.place);
        place.bytes.resize(cores_.size());
        for (const std::uint32_t i : members) {
            const GrownRow& row = rows_[i].grown;
            for (std::size_t core = 0; core < cores_.size(); ++core)
                place.bytes[core] += row.amounts.at[core].bytes();
            place.growth += row.amounts.bytes_growth();
            place.believed += row.believed;
            place.appeared += row.row.appeared;
            place.stayed += row.row.stayed;
        }
        place.steady = std::adjacent_find(place.bytes.begin(), place.bytes.end(), std::greater_equal<>()) ==
                       place.bytes.end();
        add_parts(members, place);
        return place;
    }

    /// The rows whose objects are the units. Of those at the top that have more objects, the fewest steps from the
    /// holder, the type of most bytes below them. Where what is at the top did not grow (the first one of a
    /// list of equals), the others of its type; else what most bytes are.
    std::vector<std::uint32_t> unit_rows(const std::vector<std::uint32_t>& members) const {
        std::map<std::uint32_t, std::int64_t> below;
        for (const std::uint32_t i : members) below[rows_[i].top] += rows_[i].grown.believed;
        std::optional<std::uint32_t> best;
        const auto rank = [&](std::uint32_t i) {
            const HeldRow& row = rows_[i].grown.row;
            return std::tuple(row.place != instance_dict, -static_cast<std::int64_t>(row.steps), below[i],
                              !row.container);
        };
        for (const auto& [i, bytes] : below)
            if (rows_[i].count() > 0 && (!best || rank(i) > rank(*best))) best = i;
        const HeldRow& top = rows_[rows_[members.front()].top].grown.row;
        const auto equal_rank = [&](std::uint32_t i) {
            return std::pair(rows_[i].grown.row.type == top.type, rows_[i].grown.believed);
        };
        if (!best)
            for (const std::uint32_t i : members)
                if (rows_[i].count() > 0 && (!best || equal_rank(i) > equal_rank(*best))) best = i;
        if (!best) return {};
        std::vector<std::uint32_t> units{*best};
        for (const auto& [i, bytes] : below) {
            const HeldRow &one = rows_[i].grown.row, &first = rows_[*best].grown.row;
            if (i != *best && rows_[i].count() > 0 && one.steps == first.steps && one.type == first.type)
                units.push_back(i);
        }
        return units;
    }

    /// Whether row `i` is one of the units, or hangs below them: by its owners, or in plain containers that they are.
    bool is_below(std::uint32_t i, const std::vector<std::uint32_t>& units,
                  const std::unordered_set<std::uint32_t>& are_units) const {
        if (are_units.contains(i) || are_units.contains(rows_[i].top)) return true;
        const MatchedRow& unit = rows_[units.front()];
        if (unit.top != units.front()) return rows_[i].top == unit.top;  // a list of equals
        return unit.grown.row.container && rows_[i].grown.row.steps > unit.grown.row.steps;
    }

    void add_parts(const std::vector<std::uint32_t>& members, GrownPlace& place) const {
        const std::vector<std::uint32_t> units_at = unit_rows(members);
        const std::unordered_set<std::uint32_t> are_units(units_at.begin(), units_at.end());
        std::map<std::string, GrownPlace::Part> by_type, beside_by_type;
        std::uint32_t largest = members.front();
        for (const std::uint32_t i : members) {
            const GrownRow& row = rows_[i].grown;
            if (row.believed > rows_[largest].grown.believed) largest = i;
            const bool beside = !units_at.empty() && !is_below(i, units_at, are_units);
            GrownPlace::Part& part = (beside ? beside_by_type : by_type)[row.row.type];
            part.type = row.row.type;
            part.beside = beside;
            part.container = row.row.container;
            part.akin = row.row.python_class;
            part.count += rows_[i].count();
            part.bytes += rows_[i].bytes();
            if (row.row.place != instance_dict) part.told_bytes += rows_[i].bytes();
        }
        // Larger ones: what is at the top, if it is there in all cores.
        const std::uint32_t top = rows_[members.front()].top;
        if (units_at.empty() && !rows_[top].grown.row.container) largest = top;
        const HeldRow& shown = rows_[units_at.empty() ? largest : units_at.front()].grown.row;
        place.expression = shown.expression;
        place.example = shown.example;
        GrownPlace::Part first = by_type[shown.type];
        first.type = shown.type;
        first.each = 1;
        if (!units_at.empty()) {
            first.count = first.bytes = 0;
            for (const std::uint32_t i : units_at) {
                first.count += rows_[i].count();
                first.bytes += rows_[i].bytes();
            }
            place.units = static_cast<std::uint64_t>(first.count);
            by_type[shown.type].count -= first.count;
            by_type[shown.type].bytes -= first.bytes;
            place.parts.push_back(std::move(first));
        } else {
            place.parts.push_back(std::move(first));
            by_type.erase(shown.type);
        }
        std::vector<GrownPlace::Part> others;
        const auto take = [&](std::map<std::string, GrownPlace::Part>& parts) {
            for (auto& [type, part] : parts) {
                if (part.count <= 0 && part.bytes <= 0) continue;
                part.akin = part.akin && package_of(part.type) == package_of(shown.type);
                const auto units = static_cast<std::int64_t>(place.units);
                if (!part.beside && units > 0 && part.count > 0 && part.count % units == 0)
                    part.each = static_cast<std::uint64_t>(part.count / units);
                others.push_back(std::move(part));
            }
        };
        take(by_type);
        take(beside_by_type);
        // What most bytes are; then the classes that belong to the units, however small, then the rest.
        std::stable_sort(
            others.begin(), others.end(),
            [](const GrownPlace::Part& a, const GrownPlace::Part& b) { return a.bytes > b.bytes; });
        if (!others.empty())
            std::stable_partition(others.begin() + 1, others.end(),
                                  [](const GrownPlace::Part& part) { return part.akin; });
        for (GrownPlace::Part& part : others)
            if (place.parts.size() < most_parts) place.parts.push_back(std::move(part));
    }

    const std::vector<Inventory>& cores_;
    std::map<std::pair<HeldRow::Kind, std::string>, std::vector<std::string>> made_up_;  // names, sorted
    std::vector<MatchedRow> rows_;
};

}  // namespace

PlacesFound grown_places(const std::vector<Inventory>& cores, const std::vector<GrownName>& types) {
    return PlaceFinder(cores, types).find();
}

}  // namespace heapsift
