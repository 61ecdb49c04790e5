#include "analysis/growth/places.h"

#include "analysis/growth/placed_rows.h"
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

constexpr std::size_t most_parts = 8;
constexpr std::size_t fewest_alike = 3;  // names; two, if they are equal
constexpr std::int64_t parts_of_most_alike = 8;

constexpr std::string_view instance_dict = "__dict__";

/// "app" of "app.models.Session".
std::string package_of(const std::string& type) { return type.substr(0, type.find('.')); }

class PlaceFinder {
public:
    explicit PlaceFinder(MatchedRows& matched) : matched_(matched), rows_(placed_rows(matched.rows)) {}

    PlacesFound find() {
        PlacesByWords places;
        for (std::uint32_t i = 0; i < rows_.size(); ++i) {
            if (rows_[i].believed == 0) continue;
            const HeldRow& top = words(rows_[i].top);
            Gathered& place = places[{top.kind, top.holder, top.place}];
            if (place.members.empty()) {
                const std::vector<std::string>* made_up = matched_.made_up(top.kind, top.holder);
                place.names =
                    made_up && top.place == MatchedRows::any_name ? *made_up : std::vector{top.place};
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
            made.place = MatchedRows::any_name;
        }
        std::stable_sort(found.places.begin(), found.places.end(),
                         [](const GrownPlace& a, const GrownPlace& b) {
                             return std::tuple(!a.usual, a.steady, a.believed) >
                                    std::tuple(!b.usual, b.steady, b.believed);
                         });
        found.moved = matched_.moved;
        if (found.moved > 0) found.moved_to = matched_.rows[moved_with(matched_.most_moved)].grown;
        found.held = rows_by_words();
        std::stable_sort(found.held.begin(), found.held.end(), [](const GrownRow& a, const GrownRow& b) {
            return std::pair(a.amounts.bytes_growth(), a.amounts.count_growth()) >
                   std::pair(b.amounts.bytes_growth(), b.amounts.count_growth());
        });
        return found;
    }

private:
    /// Of a row that moved, the one that it is within and that took it along.
    std::size_t moved_with(std::size_t row) const {
        for (std::size_t level = 0; level < matched_.rows.size(); ++level) {
            const std::uint32_t within = matched_.rows[row].grown.row.within;
            if (within == HeldRow::none || matched_.rows[within].count() <= 0) break;
            row = within;
        }
        return row;
    }

    /// What changed, whatever it is within; with the path of the part that grew most.
    std::vector<GrownRow> rows_by_words() {
        std::vector<GrownRow> merged;
        std::map<std::tuple<std::string, std::string, std::string, HeldRow::Kind>, std::size_t> by_words;
        std::vector<std::int64_t> most;
        for (MatchedRow& one : matched_.rows) {
            const HeldRow& row = one.grown.row;
            const auto [at, added] = by_words.try_emplace(
                std::tuple(row.type, row.holder, row.attribute, row.kind), merged.size());
            if (added) {
                most.push_back(one.bytes());
                merged.push_back(std::move(one.grown));
                continue;
            }
            GrownRow& into = merged[at->second];
            for (std::size_t core = 0; core < into.amounts.at.size(); ++core)
                into.amounts.at[core] += one.grown.amounts.at[core];
            into.believed += one.grown.believed;
            into.row.appeared += row.appeared;
            into.row.appeared_bytes += row.appeared_bytes;
            into.row.stayed += row.stayed;
            into.row.stayed_bytes += row.stayed_bytes;
            if (one.bytes() <= most[at->second]) continue;
            most[at->second] = one.bytes();
            into.row.expression = row.expression;
            into.row.example = row.example;
        }
        std::erase_if(merged, [](const GrownRow& row) {
            return row.amounts.count_growth() == 0 && row.amounts.bytes_growth() == 0;
        });
        return merged;
    }

    const HeldRow& words(std::uint32_t i) const { return matched_.rows[rows_[i].row].grown.row; }

    using Words = std::tuple<HeldRow::Kind, std::string, std::string>;  // kind, holder, name

    /// The rows of a place, and its names: several where these grew as one.
    struct Gathered {
        std::vector<std::string> names;
        std::vector<std::uint32_t> members;
    };
    using PlacesByWords = std::map<Words, Gathered>;

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
                if (units.empty() || words(units.front()).steps != 1) continue;
                by_type[words(units.front()).type].push_back(end);
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
            for (const std::uint32_t i : at->second.members) bytes += rows_[i].believed;
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
        if (alike.size() == 2 && objects_at_top(alike[0]->second) == objects_at_top(alike[1]->second))
            return alike;
        if (alike.size() < fewest_alike) alike.clear();
        return alike;
    }

    std::int64_t objects_at_top(const Gathered& place) const {
        std::int64_t objects = 0;
        for (const std::uint32_t i : place.members)
            if (rows_[i].top == i) objects += rows_[i].count_growth();
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

    GrownPlace place_of(const std::vector<std::uint32_t>& members) const {
        const HeldRow& top = words(rows_[members.front()].top);
        GrownPlace place;
        place.kind = top.kind;
        place.holder = top.holder;
        place.place = top.place;
        place.usual = top.kind != HeldRow::Kind::garbage && is_usual_growth(top.holder, top.place);
        place.bytes.resize(rows_[members.front()].bytes.size());
        for (const std::uint32_t i : members) {
            const PlacedRow& row = rows_[i];
            for (std::size_t core = 0; core < row.bytes.size(); ++core)
                place.bytes[core] += static_cast<std::uint64_t>(row.bytes[core]);
            place.growth += row.bytes_growth();
            place.believed += row.believed;
            place.appeared += row.appeared;
            place.stayed += row.stayed;
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
        for (const std::uint32_t i : members) below[rows_[i].top] += rows_[i].believed;
        std::optional<std::uint32_t> best;
        const auto rank = [&](std::uint32_t i) {
            const HeldRow& row = words(i);
            return std::tuple(row.place != instance_dict, -static_cast<std::int64_t>(row.steps), below[i],
                              !row.container);
        };
        for (const auto& [i, bytes] : below)
            if (rows_[i].count_growth() > 0 && (!best || rank(i) > rank(*best))) best = i;
        const HeldRow& top = words(rows_[members.front()].top);
        const auto equal_rank = [&](std::uint32_t i) {
            return std::pair(words(i).type == top.type, rows_[i].believed);
        };
        if (!best) {
            for (const std::uint32_t i : members)
                if (rows_[i].count_growth() > 0 && (!best || equal_rank(i) > equal_rank(*best))) best = i;
            if (!best) return {};
            // A list or a tree of equals: all of them, by whatever attribute they hang.
            std::vector<std::uint32_t> equals{*best};
            for (const std::uint32_t i : members)
                if (i != *best && rows_[i].count_growth() > 0 && words(i).type == words(*best).type)
                    equals.push_back(i);
            return equals;
        }
        std::vector<std::uint32_t> units{*best};
        for (const auto& [i, bytes] : below) {
            const HeldRow &one = words(i), &first = words(*best);
            if (i != *best && rows_[i].count_growth() > 0 && one.steps == first.steps &&
                one.type == first.type)
                units.push_back(i);
        }
        return units;
    }

    /// Whether row `i` is one of the units, or hangs below them: by its owners, or in plain containers that they are.
    bool is_below(std::uint32_t i, const std::vector<std::uint32_t>& units,
                  const std::unordered_set<std::uint32_t>& are_units) const {
        if (are_units.contains(i) || are_units.contains(rows_[i].top)) return true;
        const PlacedRow& unit = rows_[units.front()];
        if (unit.top != units.front()) return true;  // a list of equals
        return words(units.front()).container && words(i).steps > words(units.front()).steps;
    }

    void add_parts(const std::vector<std::uint32_t>& members, GrownPlace& place) const {
        const std::vector<std::uint32_t> units_at = unit_rows(members);
        const std::unordered_set<std::uint32_t> are_units(units_at.begin(), units_at.end());
        std::map<std::string, GrownPlace::Part> by_type, beside_by_type;
        std::uint32_t largest = members.front();
        for (const std::uint32_t i : members) {
            const HeldRow& row = words(i);
            if (rows_[i].believed > rows_[largest].believed) largest = i;
            const bool beside = !units_at.empty() && !is_below(i, units_at, are_units);
            GrownPlace::Part& part = (beside ? beside_by_type : by_type)[row.type];
            part.type = row.type;
            part.beside = beside;
            part.container = row.container;
            part.akin = row.python_class;
            part.count += rows_[i].count_growth();
            part.bytes += rows_[i].bytes_growth();
            if (row.place != instance_dict) part.told_bytes += rows_[i].bytes_growth();
        }
        // Larger ones: what is at the top, if it is there in all cores.
        const std::uint32_t top = rows_[members.front()].top;
        if (units_at.empty() && !words(top).container) largest = top;
        const HeldRow& shown = words(units_at.empty() ? largest : units_at.front());
        place.expression = shown.expression;
        place.example = shown.example;
        GrownPlace::Part first = by_type[shown.type];
        first.type = shown.type;
        first.each = 1;
        if (!units_at.empty()) {
            first.count = first.bytes = 0;
            for (const std::uint32_t i : units_at) {
                first.count += rows_[i].count_growth();
                first.bytes += rows_[i].bytes_growth();
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

    MatchedRows& matched_;
    const std::vector<PlacedRow> rows_;
};

}  // namespace

PlacesFound grown_places(const std::vector<Inventory>& cores, const std::vector<GrownName>& types) {
    MatchedRows matched(cores, types);
    return PlaceFinder(matched).find();
}

}  // namespace heapsift
