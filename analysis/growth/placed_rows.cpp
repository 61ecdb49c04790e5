#include "analysis/growth/placed_rows.h"

#include "analysis/graph/components.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace heapsift {
namespace {

constexpr std::size_t most_tops = 24;  // of one row; what is below others counts with the largest

using ByCore = std::vector<double>;

/// Objects and their bytes; not whole numbers where they are divided evenly.
struct Series {
    ByCore count, bytes;

    explicit Series(std::size_t cores) : count(cores), bytes(cores) {}
    Series& operator+=(const Series& more) {
        for (std::size_t core = 0; core < count.size(); ++core) {
            count[core] += more.count[core];
            bytes[core] += more.bytes[core];
        }
        return *this;
    }
    Series& operator-=(const Series& less) {
        for (std::size_t core = 0; core < count.size(); ++core) {
            count[core] = std::max(0.0, count[core] - less.count[core]);
            bytes[core] = std::max(0.0, bytes[core] - less.bytes[core]);
        }
        return *this;
    }
    double count_growth() const { return count.back() - count.front(); }
    double bytes_growth() const { return bytes.back() - bytes.front(); }
    bool empty() const {
        const auto none = [](double value) { return value < 0.5; };
        return std::all_of(count.begin(), count.end(), none) && std::all_of(bytes.begin(), bytes.end(), none);
    }
};

using SharesByTop = std::map<std::uint32_t, Series>;  // by matched row

/// Divides numbers by core as the objects of `shares` are: what was lost in a step was as much for each as there
/// was on average, and what was gained is the rest, by how many were gained. Where none were, as they are many.
class Division {
public:
    explicit Division(const SharesByTop& shares) : shares_(shares) {
        cores_ = shares.begin()->second.count.size();
        for (std::size_t core = 0; core < cores_; ++core) levels_.push_back(level(core));
    }

    /// By share, in the order of the map.
    std::vector<ByCore> of(const ByCore& whole) const {
        std::vector<ByCore> parts;
        for (const double weight : levels_[0]) {
            parts.emplace_back(cores_);
            parts.back()[0] = whole[0] * weight;
        }
        for (std::size_t core = 1; core < cores_; ++core) add_step(whole, core, parts);
        return parts;
    }

private:
    void add_step(const ByCore& whole, std::size_t core, std::vector<ByCore>& parts) const {
        const double change = whole[core] - whole[core - 1];
        double all = 0, gained = 0, lost = 0;
        for (const auto& [top, share] : shares_) {
            const double more = share.count[core] - share.count[core - 1];
            (more > 0 ? gained : lost) += std::abs(more);
            all += share.count[core - 1];
        }
        double each_lost = all > 0 ? whole[core - 1] / all : 0;
        double each_gained = gained > 0 ? std::max(0.0, (change + each_lost * lost) / gained) : 0;
        if (lost > 0) each_lost = (each_gained * gained - change) / lost;
        const bool by_level = (change > 0 ? gained : lost) == 0;
        std::size_t i = 0;
        for (const auto& [top, share] : shares_) {
            const double more = share.count[core] - share.count[core - 1];
            const double part =
                by_level ? change * levels_[core][i] : more * (more > 0 ? each_gained : each_lost);
            parts[i][core] = std::max(0.0, parts[i][core - 1] + part);
            ++i;
        }
    }

    ByCore level(std::size_t core) const {
        ByCore weights;
        for (const std::size_t at : {core, cores_ - 1, std::size_t{0}}) {
            weights.clear();
            for (const auto& [top, share] : shares_) weights.push_back(share.count[at]);
            const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
            if (sum <= 0) continue;
            for (double& weight : weights) weight /= sum;
            return weights;
        }
        std::fill(weights.begin(), weights.end(), 1.0 / static_cast<double>(weights.size()));
        return weights;
    }

    const SharesByTop& shares_;
    std::size_t cores_ = 0;
    std::vector<ByCore> levels_;  // by core, by share
};

class Sharing {
public:
    explicit Sharing(const std::vector<MatchedRow>& rows) : rows_(rows), shares_(rows.size()) {
        if (!rows.empty()) cores_ = rows.front().grown.amounts.at.size();
    }

    std::vector<PlacedRow> find() {
        for (const std::vector<std::uint32_t>& members : components()) share(members);
        for (std::uint32_t i = 0; i < rows_.size(); ++i) place(i);
        return std::move(placed_);
    }

private:
    struct OwnerGraph {
        std::vector<std::vector<std::uint32_t>> owners;
        std::size_t node_count() const { return owners.size(); }
        NodeRow targets(NodeId node) const { return NodeRow(std::span(owners[node])); }
    };

    /// The bytes of a bytearray are held by what C made and has no name for: a person knows what holds the owner.
    bool is_part_of(const HeldRow& row, const HeldRow& owner) const {
        return row.kind == HeldRow::Kind::object && row.place.empty() && owner.type == row.holder &&
               !owner.python_class;
    }

    bool follows(std::uint32_t i, std::uint32_t above) const {
        return rows_[above].count() > 0 || is_part_of(rows_[i].grown.row, rows_[above].grown.row);
    }

    /// Owners first. Rows that lead back to each other are one component.
    std::vector<std::vector<std::uint32_t>> components() const {
        OwnerGraph graph;
        graph.owners.resize(rows_.size());
        for (std::uint32_t i = 0; i < rows_.size(); ++i)
            for (const auto& [above, sums] : rows_[i].above)
                if (follows(i, above)) graph.owners[i].push_back(above);
        const Components found = strong_components(graph, [](NodeId) { return true; });
        std::vector<std::vector<std::uint32_t>> members(found.count);
        for (std::uint32_t i = 0; i < rows_.size(); ++i) members[found.of_node[NodeId(i)]].push_back(i);
        return members;
    }

    Series whole_of(std::uint32_t i) const {
        Series series(cores_);
        for (std::size_t core = 0; core < cores_; ++core) {
            const Amounts& amounts = rows_[i].grown.amounts.at[core];
            series.count[core] = static_cast<double>(amounts.count);
            series.bytes[core] = static_cast<double>(amounts.bytes());
        }
        return series;
    }

    /// Of `i`, what is owned from the row `above`. Blocks of C code are not counted by owner: as the memory is.
    Series owned_from(std::uint32_t i, const MatchedRow::Above& above) const {
        Series series(cores_);
        for (std::size_t core = 0; core < cores_; ++core) {
            const Amounts& all = rows_[i].grown.amounts.at[core];
            series.count[core] = static_cast<double>(above.count[core]);
            const auto memory = static_cast<double>(above.bytes[core]);
            series.bytes[core] = memory + (all.memory == 0 ? 0.0
                                                           : memory / static_cast<double>(all.memory) *
                                                                 static_cast<double>(all.native));
        }
        return series;
    }

    void add(SharesByTop& into, std::uint32_t top, const Series& more) const {
        if (!more.empty()) into.try_emplace(top, Series(cores_)).first->second += more;
    }

    void divide(const Series& whole, const SharesByTop& as, SharesByTop& into) const {
        if (as.size() == 1) return add(into, as.begin()->first, whole);
        const Division division(as);
        std::vector<ByCore> counts = division.of(whole.count), bytes = division.of(whole.bytes);
        std::size_t i = 0;
        for (const auto& [top, share] : as) {
            Series part(cores_);
            part.count = std::move(counts[i]);
            part.bytes = std::move(bytes[i]);
            add(into, top, part);
            ++i;
        }
    }

    void share(const std::vector<std::uint32_t>& members) {
        const auto inside = [&](std::uint32_t row) {
            return std::binary_search(members.begin(), members.end(), row);
        };
        SharesByTop found;
        bool recursive = false;
        for (const std::uint32_t i : members) {
            Series own = whole_of(i);
            for (const auto& [above, sums] : rows_[i].above) {
                if (!follows(i, above)) continue;
                const Series part = owned_from(i, sums);
                own -= part;
                if (inside(above))
                    recursive = true;
                else
                    divide(part, shares_[above], found);
            }
            add(found, i, own);
        }
        keep_few(found);
        if (!recursive) {
            if (found.empty()) found.emplace(members.front(), whole_of(members.front()));
            shares_[members.front()] = std::move(found);
            return;
        }
        // A list or a tree of equals goes where the first ones are that are new; or, if these were there before, the
        // first one's row.
        const bool entered = std::any_of(found.begin(), found.end(),
                                         [](const auto& share) { return share.second.count_growth() > 0; });
        if (!entered) {
            Series one(cores_);
            std::fill(one.count.begin(), one.count.end(), 1.0);
            found.clear();
            found.emplace(first_of(members), one);
        }
        for (const std::uint32_t i : members) {
            divide(whole_of(i), found, shares_[i]);
            if (shares_[i].empty()) shares_[i].emplace(found.begin()->first, whole_of(i));
        }
    }

    /// What holds those of them that others lead to, if it is of a type of theirs; else the largest of them.
    std::uint32_t first_of(const std::vector<std::uint32_t>& members) const {
        std::optional<std::uint32_t> best;
        std::uint64_t most = 0;
        for (const std::uint32_t i : members)
            for (const auto& [above, sums] : rows_[i].above) {
                if (std::binary_search(members.begin(), members.end(), above) || sums.count.back() <= most ||
                    rows_[above].grown.row.type != rows_[i].grown.row.type)
                    continue;
                best = above;
                most = sums.count.back();
            }
        if (best) return *best;
        return *std::max_element(members.begin(), members.end(), [&](std::uint32_t a, std::uint32_t b) {
            return rows_[a].grown.believed < rows_[b].grown.believed;
        });
    }

    static void keep_few(SharesByTop& shares) {
        if (shares.size() <= most_tops) return;
        std::vector<std::uint32_t> tops;
        for (const auto& [top, share] : shares) tops.push_back(top);
        std::stable_sort(tops.begin(), tops.end(), [&](std::uint32_t a, std::uint32_t b) {
            return shares.at(a).bytes_growth() > shares.at(b).bytes_growth();
        });
        for (std::size_t i = most_tops; i < tops.size(); ++i) {
            shares.at(tops.front()) += shares.at(tops[i]);
            shares.erase(tops[i]);
        }
    }

    static std::vector<std::int64_t> rounded(const ByCore& values) {
        std::vector<std::int64_t> whole;
        for (const double value : values) whole.push_back(std::llround(value));
        return whole;
    }

    PlacedRow made(std::uint32_t i, const Series& series) const {
        PlacedRow made;
        made.row = i;
        made.count = rounded(series.count);
        made.bytes = rounded(series.bytes);
        // What moved here was there before.
        for (std::vector<std::int64_t>* const numbers : {&made.count, &made.bytes}) {
            const std::int64_t growth = numbers->back() - numbers->front();
            const std::int64_t moved =
                growth <= 0 ? 0 : std::llround((1 - rows_[i].new_share) * static_cast<double>(growth));
            for (std::size_t core = 0; core + 1 < cores_; ++core) (*numbers)[core] += moved;
        }
        made.believed = std::clamp<std::int64_t>(made.bytes_growth(), 0, rows_[i].most_believed);
        return made;
    }

    void place(std::uint32_t i) {
        double gained = 0;
        for (const auto& [top, share] : shares_[i]) gained += std::max(0.0, share.count_growth());
        for (const auto& [top, share] : shares_[i]) {
            PlacedRow row = made(i, share);
            if (row.believed == 0) continue;
            const double part = gained > 0 ? std::max(0.0, share.count_growth()) / gained : 0;
            const HeldRow& words = rows_[i].grown.row;
            row.appeared =
                static_cast<std::uint64_t>(std::llround(part * static_cast<double>(words.appeared)));
            row.stayed = static_cast<std::uint64_t>(std::llround(part * static_cast<double>(words.stayed)));
            if (top == i) {
                const std::uint32_t at = placed_top(i);
                row.top = at;
                placed_[at] = std::move(row);
                continue;
            }
            row.top = placed_top(top);
            placed_.push_back(std::move(row));
        }
    }

    /// The row `top`, as it is at the top.
    std::uint32_t placed_top(std::uint32_t top) {
        const auto [at, added] = placed_tops_.try_emplace(top, static_cast<std::uint32_t>(placed_.size()));
        if (!added) return at->second;
        const auto own = shares_[top].find(top);
        placed_.push_back(made(top, own == shares_[top].end() ? whole_of(top) : own->second));
        placed_.back().top = at->second;
        placed_.back().believed = 0;  // until it is placed itself
        return at->second;
    }

    const std::vector<MatchedRow>& rows_;
    std::size_t cores_ = 0;
    std::vector<SharesByTop> shares_;                     // by row
    std::map<std::uint32_t, std::uint32_t> placed_tops_;  // by row: of the placed ones
    std::vector<PlacedRow> placed_;
};

}  // namespace

std::vector<PlacedRow> placed_rows(const std::vector<MatchedRow>& rows) { return Sharing(rows).find(); }

}  // namespace heapsift
