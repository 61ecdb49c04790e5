#include "cli/report/fleet.h"

#include <xxhash.h>

#include <algorithm>
#include <utility>

namespace heapsift {
namespace {

constexpr const char* other_names = "others";
constexpr std::size_t fewest_places = 1 << 10;

/// Moves a key's bits about: those of a hash that is no good still differ in their last ones.
std::uint64_t mixed_key(std::uint64_t key) {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
    constexpr unsigned half = 32;
    return (key ^ key >> half) * golden;
}

}  // namespace

FleetNames::Place& FleetNames::place_of(std::string_view text, std::uint32_t hash) {
    const std::size_t mask = places_.size() - 1;
    std::size_t at = hash & mask;
    while (places_[at].number != 0 && (places_[at].hash != hash || texts_[places_[at].number - 1] != text))
        at = (at + 1) & mask;
    return places_[at];
}

void FleetNames::widen() {
    std::vector<Place> old(std::max(fewest_places, places_.size() * 2));
    old.swap(places_);
    const std::size_t mask = places_.size() - 1;
    for (const Place& one : old) {
        if (one.number == 0) continue;
        std::size_t at = one.hash & mask;
        while (places_[at].number != 0) at = (at + 1) & mask;
        places_[at] = one;
    }
}

std::uint32_t FleetNames::number_of(std::string_view text) {
    const auto hash = static_cast<std::uint32_t>(XXH3_64bits(text.data(), text.size()));
    if ((texts_.size() + 1) * 2 > places_.size()) widen();
    Place& place = place_of(text, hash);
    if (place.number != 0) return place.number - 1;
    if (texts_.size() >= most_ && text != other_names) return number_of(other_names);
    texts_.emplace_back(text);
    place = {hash, static_cast<std::uint32_t>(texts_.size())};
    return place.number - 1;
}

void FleetCounts::widen() {
    constexpr std::size_t fewest = 4;
    std::vector<Entry> old(std::max(fewest, places_.size() * 2));
    old.swap(places_);
    for (const Entry& one : old)
        if (one.count > 0) places_[place_of(one.number)] = one;
}

std::size_t FleetKeys::place_of(std::uint64_t key) const {
    const std::size_t mask = places_.size() - 1;
    std::size_t at = mixed_key(key) >> 20 & mask;
    while (places_[at] != 0 && places_[at] != key) at = (at + 1) & mask;
    return at;
}

bool FleetKeys::has(std::uint64_t key) const { return !places_.empty() && places_[place_of(key)] == key; }

bool FleetKeys::insert(std::uint64_t key) {
    if (places_.empty()) places_.resize(fewest_places);
    const std::size_t at = place_of(key);
    if (places_[at] == key) return false;
    places_[at] = key;
    if (++count_ * 4 <= places_.size() * 3) return true;
    std::vector<std::uint64_t> old(places_.size() * 2);
    old.swap(places_);
    for (const std::uint64_t one : old)
        if (one != 0) places_[place_of(one)] = one;
    return true;
}

void FleetCause::add_hour(std::int64_t hour, std::uint32_t count) {
    first_hour = hours.empty() ? hour : std::min(first_hour, hour);
    last_hour = hours.empty() ? hour : std::max(last_hour, hour);
    hours.add(static_cast<std::uint32_t>(hour), count);
}

std::uint64_t FleetCause::dated() const {
    std::uint64_t sum = 0;
    hours.each([&](std::uint32_t, std::uint32_t count) { sum += count; });
    return sum;
}

// A cause that is new has to find room, or a release that fails would be missed: of those with the fewest cores, half of
// all, the rest is made.
void Fleet::join_rare_causes() {
    std::vector<std::uint64_t> counts;
    for (const auto& [signature, cause] : causes_)
        if (!cause.is_rest()) counts.push_back(cause.cores);
    const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2);
    std::nth_element(counts.begin(), middle, counts.end());
    const std::uint64_t rare = *middle;
    std::size_t to_go = counts.size() / 2;
    FleetCause rest = std::move(causes_[FleetCause::other_signatures]);
    causes_.erase(FleetCause::other_signatures);
    rest.signature = FleetCause::other_signatures;
    const auto add_counts = [](FleetCounts& to, const FleetCounts& from) {
        from.each([&](std::uint32_t number, std::uint32_t count) { to.add(number, count); });
    };
    for (auto at = causes_.begin(); at != causes_.end() && to_go > 0;) {
        const FleetCause& cause = at->second;
        if (cause.cores > rare) {
            ++at;
            continue;
        }
        rest.cores += cause.cores;
        rest.in_part += cause.in_part;
        cause.hours.each([&](std::uint32_t hour, std::uint32_t count) { rest.add_hour(hour, count); });
        add_counts(rest.hosts, cause.hosts);
        add_counts(rest.interpreters, cause.interpreters);
        add_counts(rest.packages, cause.packages);
        add_counts(rest.signals, cause.signals);
        rest.measured += cause.measured;
        rest.most_in_use = std::max(rest.most_in_use, cause.most_in_use);
        rest.sum_in_use += cause.sum_in_use;
        if (rest.example.path.empty()) rest.example = cause.example;
        at = causes_.erase(at);
        --to_go;
    }
    causes_[FleetCause::other_signatures] = std::move(rest);
}

FleetCause& Fleet::cause_of(const FleetLine& line) {
    static const std::string none = "no signature";
    const std::string& signature = line.signature.empty() ? none : line.signature;
    const auto known = causes_.find(signature);
    if (known != causes_.end()) return known->second;
    if (causes_.size() >= most_causes) join_rare_causes();
    FleetCause& cause = causes_[signature];
    cause.signature = signature;
    cause.kind = line.kind;
    return cause;
}

Fleet::Rank Fleet::rank_of(const FleetLine& line) {
    if (!line.is_failure()) return Rank::answer;
    return line.identity.empty() ? Rank::unnamed_failure : Rank::failure;
}

std::uint64_t Fleet::place() const {
    constexpr unsigned bits_of_line = 40;
    return std::uint64_t{files_} << bits_of_line | line_of_file_;
}

/// Whether it is the line of its core, as far as is known.
bool Fleet::counts(const FleetLine& line) {
    const std::uint64_t key = line.key();
    const Rank rank = rank_of(line);
    if (!line.identity.empty()) named_paths_.insert(line.path_key());
    if (rank == Rank::unnamed_failure && repeats_.told_elsewhere.has(key)) return false;
    if (const auto decided = repeats_.line_that_counts.find(key); decided != repeats_.line_that_counts.end())
        return decided->second == place();
    if (seen_.insert(key)) {
        if (rank != Rank::answer) failing_.emplace(key, rank);
        return true;
    }
    const auto failing = failing_.find(key);
    const Rank first = failing == failing_.end() ? Rank::answer : failing->second;
    Winner& winner = repeated_keys_.try_emplace(key, Winner{0, first}).first->second;
    if (rank >= winner.rank) winner = {place(), rank};
    return false;
}

std::optional<FleetRepeats> Fleet::repeats() const {
    FleetRepeats found = repeats_;
    for (const auto& [key, winner] : repeated_keys_)
        if (winner.place != 0) found.line_that_counts.emplace(key, winner.place);
    for (const auto& [key, rank] : failing_)
        if (rank == Rank::unnamed_failure && named_paths_.has(key)) found.told_elsewhere.insert(key);
    if (found.line_that_counts.size() == repeats_.line_that_counts.size() &&
        found.told_elsewhere.count() == repeats_.told_elsewhere.count())
        return std::nullopt;
    return found;
}

void Fleet::add(const FleetLine& line) {
    ++lines_;
    ++line_of_file_;
    if (!counts(line)) {
        ++repeated_;
        return;
    }
    if (!line.error_code.empty()) return add_failure(line.error_code, line.path, line.error_message);
    if (line.exit == 1) return add_failure("no-answer", line.path, line.error_message);
    ++analysed_;
    FleetCause& cause = cause_of(line);
    ++cause.cores;
    const bool whole = line.exit == 0;
    if (!whole) {
        ++cause.in_part;
        ++in_part_;
    }
    if (line.hour)
        cause.add_hour(*line.hour);
    else
        ++undated_;
    cause.hosts.add(hosts_.number_of(line.host));
    unnamed_host_ = unnamed_host_ || line.host.empty();
    cause.interpreters.add(interpreters_.number_of(line.interpreter));
    if (!line.signal.empty()) cause.signals.add(signals_.number_of(line.signal));
    versions_.clear();
    for (const auto& [name, version] : line.packages) {
        const std::uint32_t package = package_names_.number_of(name);
        version_text_.assign(name).append(" ").append(version);
        const std::uint32_t number = packages_.number_of(version_text_);
        if (number == package_of_.size()) package_of_.push_back(package);
        if (package == cores_of_package_.size()) cores_of_package_.push_back(0);
        if (number == cores_of_version_.size()) cores_of_version_.push_back(0);
        cause.packages.fetch(number);
        versions_.push_back(number);
        ++cores_of_package_[package];
        ++cores_of_version_[number];
    }
    for (const std::uint32_t number : versions_) cause.packages.add(number);
    if (line.in_use) {
        ++cause.measured;
        cause.most_in_use = std::max(cause.most_in_use, *line.in_use);
        cause.sum_in_use += static_cast<double>(*line.in_use);
    }
    const std::uint64_t size = line.in_use.value_or(0);
    FleetExample& example = cause.example;
    if (cause.cores == 1 || std::pair(whole, size) > std::pair(example.whole, example.in_use))
        example = {line.path, line.headline, line.cause, line.fix, size, whole, files_ == 0 ? 0 : files_ - 1};
}

void Fleet::add_failure(const std::string& code, const std::string& path, const std::string& message) {
    ++failed_;
    const bool known = failures_.count(code) > 0 || failures_.size() < most_codes;
    FleetFailure& failure = failures_[known ? code : other_names];
    if (failure.cores++ == 0) failure = {1, path, message};
}

std::vector<const FleetCause*> Fleet::causes() const {
    std::vector<const FleetCause*> found;
    for (const auto& [signature, cause] : causes_) found.push_back(&cause);
    std::sort(found.begin(), found.end(), [](const FleetCause* a, const FleetCause* b) {
        if (a->is_rest() != b->is_rest()) return b->is_rest();
        return a->cores != b->cores ? a->cores > b->cores : a->signature < b->signature;
    });
    return found;
}

}  // namespace heapsift
