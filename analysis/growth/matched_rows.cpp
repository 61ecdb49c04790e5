#include "analysis/growth/matched_rows.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace heapsift {
namespace {

constexpr std::size_t fewest_made_up =
    4;  // names: attributes; and of a module or a call, which has its own anyway:
constexpr std::size_t fewest_made_up_of_root = 12;
constexpr std::uint64_t most_under_made_up = 4;  // objects

constexpr std::string_view dict_of_instance = "__dict__";

bool has_names(HeldRow::Kind kind) { return kind == HeldRow::Kind::object || kind == HeldRow::Kind::root; }

}  // namespace

MatchedRows::MatchedRows(const std::vector<Inventory>& cores, const std::vector<GrownName>& types) {
    find_made_up_names(cores);
    match(cores);
    believe(cores, types);
}

const std::vector<std::string>* MatchedRows::made_up(HeldRow::Kind kind, const std::string& holder) const {
    const auto at = made_up_.find({kind, holder});
    return at == made_up_.end() ? nullptr : &at->second;
}

/// A program may make up a name for each thing that it keeps: setattr(cache, key, value), globals()[key]. Those of
/// one holder that are new in the last core, with a few objects each, become one name.
void MatchedRows::find_made_up_names(const std::vector<Inventory>& cores) {
    struct Objects {
        std::uint64_t first = 0, last = 0;
    };
    std::map<std::tuple<HeldRow::Kind, std::string, std::string>, Objects> names;  // kind, holder, name
    for (const Inventory& core : cores)
        for (const HeldRow& row : core.held) {
            if (row.place.empty() || row.place == dict_of_instance || !has_names(row.kind) || row.steps != 1)
                continue;
            Objects& objects = names[{row.kind, row.holder, row.place}];
            if (&core == &cores.front()) objects.first += row.now.count;
            if (&core == &cores.back()) objects.last += row.now.count;
        }
    for (auto begin = names.begin(); begin != names.end();) {
        const auto& [kind, holder, first] = begin->first;
        std::vector<std::string> made_up;
        auto end = begin;
        for (; end != names.end() && std::get<0>(end->first) == kind && std::get<1>(end->first) == holder;
             ++end)
            if (end->second.first == 0 && end->second.last <= most_under_made_up)
                made_up.push_back(std::get<2>(end->first));
        if (made_up.size() >= (kind == HeldRow::Kind::root ? fewest_made_up_of_root : fewest_made_up))
            made_up_.emplace(std::pair(kind, holder), std::move(made_up));
        begin = end;
    }
}

HeldRow MatchedRows::with_folded_name(HeldRow row) const {
    const std::vector<std::string>* names = made_up(row.kind, row.holder);
    if (!names || !std::binary_search(names->begin(), names->end(), row.place) ||
        !row.attribute.starts_with(row.place))
        return row;
    row.attribute.replace(0, row.place.size(), any_name);
    row.place = any_name;
    return row;
}

void MatchedRows::match(const std::vector<Inventory>& cores) {
    std::map<std::tuple<std::string, std::string, std::string, HeldRow::Kind, std::uint32_t>, std::uint32_t>
        by_words;
    for (std::size_t core = 0; core < cores.size(); ++core) {
        std::vector<std::uint32_t> becomes;
        for (const HeldRow& as_read : cores[core].held) {
            HeldRow row = with_folded_name(as_read);
            if (row.within != HeldRow::none)
                row.within = row.within < becomes.size() ? becomes[row.within] : HeldRow::none;
            const auto [at, added] =
                by_words.try_emplace(std::tuple(row.type, row.holder, row.attribute, row.kind, row.within),
                                     static_cast<std::uint32_t>(rows.size()));
            if (added) rows.emplace_back().grown.amounts.at.resize(cores.size());
            GrownRow& into = rows[at->second].grown;
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
            for (const HeldRow::Above& above : cores[core].held[i].above) {
                if (above.row >= becomes.size()) continue;
                MatchedRow::Above& sums = rows[becomes[i]].above[becomes[above.row]];
                sums.count.resize(cores.size());
                sums.bytes.resize(cores.size());
                sums.count[core] += above.count;
                sums.bytes[core] += above.bytes;
            }
    }
}

/// Where no object is known from before, of a row's growth no more than its type's.
void MatchedRows::believe_by_type(const std::vector<GrownName>& types) {
    std::unordered_map<std::string_view, std::int64_t> net, gained;
    for (const GrownName& type : types) net[type.name] = type.amounts.bytes_growth();
    for (MatchedRow& row : rows) {
        const std::int64_t growth = std::max<std::int64_t>(0, row.bytes());
        const auto at = net.find(row.grown.row.type);
        row.most_believed = at == net.end() ? 0 : std::max<std::int64_t>(0, at->second);
        row.grown.believed = std::min(growth, row.most_believed);
        gained[row.grown.row.type] += growth;
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const MatchedRow& row = rows[i];
        const auto at = net.find(row.grown.row.type);
        const std::int64_t all = gained[row.grown.row.type];
        if (at == net.end() || all == 0) continue;
        const std::int64_t of_type = all - std::max<std::int64_t>(0, std::min(all, at->second));
        const double part =
            static_cast<double>(std::max<std::int64_t>(0, row.bytes())) / static_cast<double>(all);
        add_moved(i, static_cast<std::int64_t>(static_cast<double>(of_type) * part));
    }
}

void MatchedRows::add_moved(std::size_t row, std::int64_t bytes) {
    moved += bytes;
    if (bytes <= most_moved_bytes_) return;
    most_moved_bytes_ = bytes;
    most_moved = row;
}

/// Where they are, what is new in a row that grew is its growth. If a type grew by more than that (a queue was emptied into
/// an archive, and filled again), the rest goes to where objects moved.
void MatchedRows::believe_new_objects() {
    struct OfType {
        std::int64_t net = 0, fresh = 0, moved = 0;  // objects
    };
    std::unordered_map<std::string_view, OfType> types;
    const auto fresh_of = [](const MatchedRow& row) {
        const auto fresh = static_cast<std::int64_t>(row.grown.row.appeared + row.grown.row.stayed);
        return std::clamp<std::int64_t>(row.count(), 0, fresh);
    };
    for (const MatchedRow& row : rows) {
        OfType& of = types[row.grown.row.type];
        of.net += row.count();
        of.fresh += fresh_of(row);
        of.moved += std::max<std::int64_t>(0, row.count()) - fresh_of(row);
    }
    for (MatchedRow& row : rows) {
        const std::int64_t growth = std::max<std::int64_t>(0, row.bytes());
        row.most_believed = row.grown.believed = growth;
        if (row.count() <= 0) continue;
        const OfType& of = types[row.grown.row.type];
        const double count = static_cast<double>(row.count()), fresh = static_cast<double>(fresh_of(row));
        const double unexplained = static_cast<double>(std::max<std::int64_t>(0, of.net - of.fresh));
        const double more =
            of.moved == 0 ? 0 : (count - fresh) * std::min(1.0, unexplained / static_cast<double>(of.moved));
        const double share = (fresh + more) / count;
        row.most_believed = row.grown.believed =
            static_cast<std::int64_t>(static_cast<double>(growth) * share);
        if (more == 0) row.new_share = share;
        add_moved(static_cast<std::size_t>(&row - rows.data()), growth - row.grown.believed);
    }
}

void MatchedRows::believe(const std::vector<Inventory>& cores, const std::vector<GrownName>& types) {
    const bool known = cores.size() <= 3 && std::all_of(cores.begin() + 1, cores.end(),
                                                        [](const Inventory& core) { return core.compared; });
    known ? believe_new_objects() : believe_by_type(types);
}

}  // namespace heapsift
