#pragma once

// Many cores, from the lines of batches: what each cause has, and each host.
//
// Lines are taken one by one and forgotten. What stays is a number for each hour, host, interpreter and version of a
// package that a cause was seen with, the texts of these, an example of each cause, and 16 to 32 bytes for each core, by
// which one that was told of twice counts once. A million lines of thirty causes on a thousand hosts take 60 MB in all;
// lines that were made to take most, with a cause, a host and a package of their own each, 2.5 KB each for the first
// hundred thousand, since there is an end to causes and to names.
//
// A core may have several lines: what failed is asked again, with more time or elsewhere, and files are put together. Of
// these one counts: the last that was answered, else the last. Which that is is known at the end. So the first one is
// counted, and where another one should have been, the lines are read again, with what is known then (FleetRepeats).
// A failure may have no identity, since the core was not read: then it is that of the core that its path leads to.

#include "cli/report/fleet_line.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heapsift {

/// Numbers for texts, from 0 on in order of appearance. What comes after `most` is all one text, "others".
class FleetNames {
public:
    explicit FleetNames(std::size_t most) : most_(most) {}
    std::uint32_t number_of(std::string_view text);
    const std::string& text(std::uint32_t number) const { return texts_[number]; }
    std::size_t count() const { return texts_.size(); }

private:
    struct Place {
        std::uint32_t hash = 0, number = 0;  // `number`: of the text, and one; 0: nothing is there
    };
    Place& place_of(std::string_view text, std::uint32_t hash);
    void widen();

    std::size_t most_;
    std::vector<Place> places_;
    std::deque<std::string> texts_;
};

/// 64-bit keys, none of them 0: 8 to 16 bytes each.
class FleetKeys {
public:
    /// Whether it is new.
    bool insert(std::uint64_t key);
    bool has(std::uint64_t key) const;
    std::size_t count() const { return count_; }

private:
    std::size_t place_of(std::uint64_t key) const;
    std::vector<std::uint64_t> places_;
    std::size_t count_ = 0;
};

/// Counts by numbers of FleetNames, in one piece: a line adds to some twenty of its cause, and each of them is a look
/// into memory that was not used for long. 10 to 22 bytes each.
class FleetCounts {
public:
    struct Entry {
        std::uint32_t number = 0, count = 0;
    };

    void add(std::uint32_t number, std::uint32_t count = 1) {
        if (places_.empty() || (used_ + 1) * 4 > places_.size() * 3) widen();
        Entry& entry = places_[place_of(number)];
        used_ += entry.count == 0;
        entry = {number, entry.count + count};
    }
    /// For `add` to come, where several are.
    void fetch(std::uint32_t number) const {
        if (!places_.empty()) __builtin_prefetch(&places_[first_place_of(number)]);
    }
    /// 0 if it was never added to.
    std::uint32_t of(std::uint32_t number) const {
        return places_.empty() ? 0 : places_[place_of(number)].count;
    }
    std::size_t size() const { return used_; }
    bool empty() const { return used_ == 0; }
    /// In no order.
    template <typename Visit>
    void each(Visit visit) const {
        for (const Entry& entry : places_)
            if (entry.count > 0) visit(entry.number, entry.count);
    }

private:
    std::size_t first_place_of(std::uint32_t number) const {
        constexpr std::uint32_t golden = 0x9e3779b9, half = 16;
        const std::uint32_t mixed = number * golden;
        return (mixed ^ mixed >> half) & (places_.size() - 1);
    }
    std::size_t place_of(std::uint32_t number) const {
        std::size_t at = first_place_of(number);
        while (places_[at].count != 0 && places_[at].number != number) at = (at + 1) & (places_.size() - 1);
        return at;
    }
    void widen();

    std::vector<Entry> places_;  // a power of two
    std::size_t used_ = 0;
};

struct FleetExample {
    std::string path = {}, headline = {}, cause = {}, fix = {};
    std::uint64_t in_use = 0;
    bool whole = false;    // it was answered in full
    std::size_t file = 0;  // of the lines, in the order in which files were begun
};

struct FleetCause {
    std::string signature = {}, kind = {};
    std::uint64_t cores = 0, in_part = 0;        // `in_part`: of a cut or damaged core
    FleetCounts hours = {};                      // by hours since 1970
    std::int64_t first_hour = 0, last_hour = 0;  // if `hours` has any
    FleetCounts hosts = {}, interpreters = {}, packages = {}, signals = {};
    std::uint64_t measured = 0;  // cores with a size
    std::uint64_t most_in_use = 0;
    double sum_in_use = 0;
    FleetExample example = {};  // a core that was answered in full before others, then the largest

    void add_hour(std::int64_t hour, std::uint32_t count = 1);
    std::uint64_t dated() const;
    /// What rare causes are told as together, where there are too many: no cause.
    bool is_rest() const { return signature == other_signatures; }
    static constexpr const char* other_signatures = "other signatures";
};

struct FleetFailure {
    std::uint64_t cores = 0;
    std::string path = {}, message = {};  // of the first
};

/// Cores of which not the first line counts.
struct FleetRepeats {
    std::unordered_map<std::uint64_t, std::uint64_t> line_that_counts;  // by key; Fleet::place
    FleetKeys told_elsewhere;  // keys of paths: failures without an identity that count nothing
};

class Fleet {
public:
    static constexpr std::size_t most_causes = 10'000, most_names = 100'000, most_codes = 1000;

    Fleet() = default;
    explicit Fleet(FleetRepeats repeats) : repeats_(std::move(repeats)) {}

    /// Lines that follow are of another file.
    void begin_file() {
        ++files_;
        line_of_file_ = 0;
    }
    void add(const FleetLine& line);
    void skip_unended() { ++skipped_.unended; }
    void skip_no_json() { ++skipped_.no_json; }
    void skip_other_schema() { ++skipped_.other_schema; }
    void skip_too_long() { ++skipped_.too_long; }
    void note_damaged_file() { ++skipped_.damaged_files; }
    /// After the last line: nothing if what was counted is right; else what a Fleet must be made with that is given the
    /// same lines again, in the same order. Lines that have come to the end of a file meanwhile do no harm.
    std::optional<FleetRepeats> repeats() const;

    struct Skipped {
        std::uint64_t unended = 0, no_json = 0, other_schema = 0, too_long = 0, damaged_files = 0;
        std::uint64_t lines() const { return unended + no_json + other_schema + too_long; }
    };

    /// The most frequent first; then by signature. Those that were rare when there were too many are one, the last.
    std::vector<const FleetCause*> causes() const;
    const std::map<std::string, FleetFailure>& failures() const { return failures_; }
    const FleetNames& hosts() const { return hosts_; }
    std::size_t known_hosts() const { return hosts_.count() - (unnamed_host_ ? 1 : 0); }
    const FleetNames& interpreters() const { return interpreters_; }
    const FleetNames& signals() const { return signals_; }
    /// "shop 2.4.0", and the package of each by its number.
    const FleetNames& packages() const { return packages_; }
    std::uint32_t package_of(std::uint32_t version) const { return package_of_[version]; }
    std::uint64_t cores_of_package(std::uint32_t package) const { return cores_of_package_[package]; }
    std::uint64_t cores_of_version(std::uint32_t version) const { return cores_of_version_[version]; }
    const FleetNames& package_names() const { return package_names_; }

    std::size_t files() const { return files_; }
    std::uint64_t lines() const { return lines_; }  // that were a batch's
    std::uint64_t cores() const { return analysed_ + failed_; }
    std::uint64_t analysed() const { return analysed_; }
    std::uint64_t in_part() const { return in_part_; }
    std::uint64_t failed() const { return failed_; }
    std::uint64_t undated() const { return undated_; }    // of those analysed
    std::uint64_t repeated() const { return repeated_; }  // lines about a core that another one told of
    const Skipped& skipped() const { return skipped_; }

private:
    /// Of the lines of one core that with the highest rank counts, of several the last.
    enum class Rank : std::uint8_t { unnamed_failure, failure, answer };
    struct Winner {
        std::uint64_t place = 0;  // 0: the first one
        Rank rank = Rank::answer;
    };
    static Rank rank_of(const FleetLine& line);
    /// Of a line: that of its file in the upper bits.
    std::uint64_t place() const;
    bool counts(const FleetLine& line);

    void add_failure(const std::string& code, const std::string& path, const std::string& message);
    FleetCause& cause_of(const FleetLine& line);
    void join_rare_causes();

    std::unordered_map<std::string, FleetCause> causes_;
    std::map<std::string, FleetFailure> failures_;
    FleetNames hosts_{most_names}, interpreters_{most_codes}, signals_{most_codes}, packages_{most_names},
        package_names_{most_names};
    std::vector<std::uint32_t> package_of_;
    std::vector<std::uint64_t> cores_of_package_, cores_of_version_;  // by their numbers
    std::string version_text_;                                        // of the package that is added
    std::vector<std::uint32_t> versions_;                             // of the line that is added
    FleetRepeats repeats_;                                            // that were known before
    FleetKeys seen_, named_paths_;                     // keys; of paths of lines with an identity
    std::unordered_map<std::uint64_t, Rank> failing_;  // of those seen, whose first line is no answer
    std::unordered_map<std::uint64_t, Winner> repeated_keys_;
    std::uint64_t line_of_file_ = 0;
    Skipped skipped_;
    std::size_t files_ = 0;
    bool unnamed_host_ = false;
    std::uint64_t lines_ = 0, analysed_ = 0, in_part_ = 0, failed_ = 0, undated_ = 0, repeated_ = 0;
};

}  // namespace heapsift
