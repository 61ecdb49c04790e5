#include "analysis/growth/places.h"

#include "analysis/growth/usual_growth.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

namespace heapsift {
namespace {

constexpr std::size_t most_levels = 64;  // from a row up to its place
constexpr std::size_t most_parts = 8;

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
        match();
        believe(types);
        for (std::uint32_t i = 0; i < rows_.size(); ++i)
            if (rows_[i].grown.believed > 0) rows_[i].top = top_of(i);
    }

    PlacesFound find() {
        std::map<std::tuple<HeldRow::Kind, std::string, std::string>, std::vector<std::uint32_t>> by_place;
        for (std::uint32_t i = 0; i < rows_.size(); ++i) {
            if (rows_[i].top == HeldRow::none) continue;
            const HeldRow& top = rows_[rows_[i].top].grown.row;
            by_place[{top.kind, top.holder, top.place}].push_back(i);
        }
        PlacesFound found;
        for (const auto& [words, members] : by_place) found.places.push_back(place_of(members));
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
    void match() {
        std::map<std::tuple<std::string, std::string, std::string, HeldRow::Kind>, std::uint32_t> by_words;
        for (std::size_t core = 0; core < cores_.size(); ++core) {
            std::vector<std::uint32_t> becomes;
            for (const HeldRow& row : cores_[core].held) {
                const auto [at, added] =
                    by_words.try_emplace(std::tuple(row.type, row.holder, row.attribute, row.kind),
                                         static_cast<std::uint32_t>(rows_.size()));
                if (added) rows_.emplace_back().grown.amounts.at.resize(cores_.size());
                GrownRow& into = rows_[at->second].grown;
                into.amounts.at[core] = row.now;
                into.row = row;  // that of the newest core
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

    /// The row of the owners of most of what is new in row `i`, other than those in `seen`. Without `grown_only`
    /// it may be one that did not grow, of the same type.
    std::optional<std::uint32_t> owners_of(std::uint32_t i, const std::vector<std::uint32_t>& seen,
                                           bool grown_only) const {
        const MatchedRow& row = rows_[i];
        std::int64_t others = 0, most = 0;
        std::optional<std::uint32_t> best;
        std::int64_t in_seen = 0;
        for (const auto& [above, counts] : row.above) {
            const std::int64_t more =
                grown_only ? difference_of(counts) : static_cast<std::int64_t>(counts.back());
            if (more <= 0) continue;
            if (std::find(seen.begin(), seen.end(), above) != seen.end()) {
                in_seen += more;
                continue;
            }
            if (grown_only ? rows_[above].count() <= 0 : rows_[above].grown.row.type != row.grown.row.type) {
                others += more;
                continue;
            }
            if (more > most) {
                others += most;
                most = more;
                best = above;
            } else {
                others += more;
            }
        }
        // What hangs at a root, or at what did not grow, is not below another row.
        const std::int64_t direct = grown_only ? row.count() - in_seen - others - most : 0;
        if (grown_only && best && most < std::max<std::int64_t>(0, direct) + others) return std::nullopt;
        return best;
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

    bool is_steady(const std::vector<std::uint32_t>& members) const {
        std::vector<std::uint64_t> bytes(cores_.size());
        for (const std::uint32_t i : members)
            for (std::size_t core = 0; core < cores_.size(); ++core)
                bytes[core] += rows_[i].grown.amounts.at[core].bytes();
        return std::adjacent_find(bytes.begin(), bytes.end(), std::greater_equal<>()) == bytes.end();
    }

    GrownPlace place_of(const std::vector<std::uint32_t>& members) const {
        const HeldRow& top = rows_[rows_[members.front()].top].grown.row;
        GrownPlace place;
        place.kind = top.kind;
        place.holder = top.holder;
        place.place = top.place;
        place.usual = top.kind != HeldRow::Kind::garbage && is_usual_growth(top.holder, top.place);
        place.steady = is_steady(members);
        for (const std::uint32_t i : members) {
            const GrownRow& row = rows_[i].grown;
            place.before += row.amounts.at.front().bytes();
            place.after += row.amounts.at.back().bytes();
            place.growth += row.amounts.bytes_growth();
            place.believed += row.believed;
            place.appeared += row.row.appeared;
            place.stayed += row.row.stayed;
        }
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
            return std::tuple(-static_cast<std::int64_t>(row.steps), below[i], !row.container);
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
    bool is_below(std::uint32_t i, const std::vector<std::uint32_t>& units) const {
        const auto is_unit = [&](std::uint32_t row) {
            return std::find(units.begin(), units.end(), row) != units.end();
        };
        if (is_unit(i) || is_unit(rows_[i].top)) return true;
        const MatchedRow& unit = rows_[units.front()];
        if (unit.top != units.front()) return rows_[i].top == unit.top;  // a list of equals
        return unit.grown.row.container && rows_[i].grown.row.steps > unit.grown.row.steps;
    }

    void add_parts(const std::vector<std::uint32_t>& members, GrownPlace& place) const {
        const std::vector<std::uint32_t> units_at = unit_rows(members);
        std::map<std::string, GrownPlace::Part> by_type, beside_by_type;
        std::uint32_t largest = members.front();
        for (const std::uint32_t i : members) {
            const GrownRow& row = rows_[i].grown;
            if (row.believed > rows_[largest].grown.believed) largest = i;
            const bool beside = !units_at.empty() && !is_below(i, units_at);
            GrownPlace::Part& part = (beside ? beside_by_type : by_type)[row.row.type];
            part.type = row.row.type;
            part.beside = beside;
            part.container = row.row.container;
            part.akin = row.row.python_class;
            part.count += rows_[i].count();
            part.bytes += rows_[i].bytes();
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
        std::stable_sort(
            others.begin(), others.end(),
            [](const GrownPlace::Part& a, const GrownPlace::Part& b) { return a.bytes > b.bytes; });
        for (GrownPlace::Part& part : others)
            if (place.parts.size() < most_parts) place.parts.push_back(std::move(part));
    }

    const std::vector<Inventory>& cores_;
    std::vector<MatchedRow> rows_;
};

}  // namespace

PlacesFound grown_places(const std::vector<Inventory>& cores, const std::vector<GrownName>& types) {
    return PlaceFinder(cores, types).find();
}

}  // namespace heapsift
