#include "cli/report/fleet_line.h"

#include "cli/batch_lines.h"
#include "cli/json.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <chrono>

namespace heapsift {
namespace {

constexpr std::size_t most_of_name = 200, most_of_signature = 600, most_of_path = 4096,
                      most_of_sentence = 1000;
constexpr std::size_t most_packages = 200;
constexpr std::size_t deepest_key = 3;  // suspects[0].kind

std::string kept_text(const std::string& text, std::size_t most) {
    if (text.size() <= most) return text;
    std::size_t end = most;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
        --end;  // not within a character
    return fmt::format("{}… #{:016x}", std::string_view(text).substr(0, end),
                       XXH3_64bits(text.data(), text.size()));
}

/// The tokens of a line. Keys are kept down to `deepest_key`; what lies deeper is only read over.
class FleetLineReader : public nlohmann::json_sax<Json> {
public:
    explicit FleetLineReader(FleetLine& line) : line_(line) {}

    bool null() override { return value(); }
    bool boolean(bool) override { return value(); }
    bool number_integer(std::int64_t number) override {
        if (is("exit")) line_.exit = number;
        return value();
    }
    bool number_unsigned(std::uint64_t number) override {
        if (is("exit")) line_.exit = static_cast<std::int64_t>(std::min<std::uint64_t>(number, 255));
        if (is("in_use")) line_.in_use = number;
        return value();
    }
    bool number_float(double, const std::string&) override { return value(); }
    bool binary(Json::binary_t&) override { return value(); }
    bool string(std::string& text) override {
        take(text);
        return value();
    }
    bool start_object(std::size_t) override { return open(false); }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override { return open(true); }
    bool end_array() override { return close(); }
    bool key(std::string& name) override {
        if (depth_ < 1 || depth_ > deepest_key) return true;
        std::string& key = levels_[depth_ - 1].key;
        if (name.size() <= most_of_name)
            key.assign(name);
        else
            key = kept_text(name, most_of_name);
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
        return false;
    }

    bool is_object() const { return is_object_; }
    const std::string& schema() const { return schema_; }
    const std::string& started() const { return started_; }
    const std::string& stored() const { return stored_; }

private:
    struct Level {
        bool array = false;
        std::size_t item = 0;
        std::string key = {};
    };

    bool open(bool array) {
        if (depth_ == 0) is_object_ = !array;
        if (depth_ < deepest_key) {
            levels_[depth_].array = array;
            levels_[depth_].item = 0;
            levels_[depth_].key.clear();
        }
        ++depth_;
        return true;
    }
    bool close() {
        --depth_;
        return value();
    }
    /// A value has ended.
    bool value() {
        if (depth_ >= 1 && depth_ <= deepest_key && levels_[depth_ - 1].array) ++levels_[depth_ - 1].item;
        return true;
    }

    bool is(std::string_view name) const { return depth_ == 1 && is_object_ && levels_[0].key == name; }
    bool in(std::string_view name, std::string_view below) const {
        return depth_ == 2 && !levels_[1].array && levels_[0].key == name && levels_[1].key == below;
    }

    void take(const std::string& text) {
        const auto keep = [&](std::string& of, std::size_t most) { of = kept_text(text, most); };
        if (!is_object_) return;
        if (depth_ == 1) return take_column(text);
        if (depth_ == 2 && !levels_[1].array && levels_[0].key == "packages") {
            if (line_.packages.size() < most_packages)
                line_.packages.emplace_back(levels_[1].key, kept_text(text, most_of_name));
            return;
        }
        if (in("error", "code")) return keep(line_.error_code, most_of_name);
        if (in("error", "message")) return keep(line_.error_message, most_of_sentence);
        if (depth_ != deepest_key || levels_[0].key != "suspects" || !levels_[1].array ||
            levels_[1].item != 0)
            return;
        if (levels_[2].key == "kind") keep(line_.kind, most_of_name);
        if (levels_[2].key == "cause") keep(line_.cause, most_of_sentence);
        if (levels_[2].key == "fix") keep(line_.fix, most_of_sentence);
    }

    void take_column(const std::string& text) {
        const std::string& name = levels_[0].key;
        const auto keep = [&](std::string& of, std::size_t most) { of = kept_text(text, most); };
        if (name == "schema") keep(schema_, most_of_name);
        if (name == "path") keep(line_.path, most_of_path);
        if (name == "identity") keep(line_.identity, most_of_name);
        if (name == "signature") keep(line_.signature, most_of_signature);
        if (name == "host") keep(line_.host, most_of_name);
        if (name == "interpreter") keep(line_.interpreter, most_of_name);
        if (name == "signal") keep(line_.signal, most_of_name);
        if (name == "headline") keep(line_.headline, most_of_sentence);
        if (name == "started") keep(started_, most_of_name);
        if (name == "stored") keep(stored_, most_of_name);
    }

    FleetLine& line_;
    std::array<Level, deepest_key> levels_;
    std::size_t depth_ = 0;
    bool is_object_ = false;
    std::string schema_, started_, stored_;
};

}  // namespace

std::uint64_t FleetLine::path_key() const {
    const std::uint64_t hash = XXH3_64bits_withSeed(path.data(), path.size(), 1);
    return hash == 0 ? 1 : hash;
}

std::uint64_t FleetLine::key() const {
    if (identity.empty()) return path_key();
    const std::uint64_t hash = XXH3_64bits(identity.data(), identity.size());
    return hash == 0 ? 1 : hash;
}

std::optional<std::int64_t> hour_of(std::string_view utc) {
    constexpr std::size_t shortest = 13;  // 2026-11-28T02
    if (utc.size() < shortest || utc[4] != '-' || utc[7] != '-' || (utc[10] != 'T' && utc[10] != ' '))
        return {};
    const auto number = [&](std::size_t at, std::size_t digits) {
        int value = 0;
        for (const char c : utc.substr(at, digits)) {
            if (c < '0' || c > '9') return -1;
            value = 10 * value + (c - '0');
        }
        return value;
    };
    constexpr int first_year = 2000, last_year = 2100;
    const int year = number(0, 4), month = number(5, 2), day = number(8, 2), hour = number(11, 2);
    if (year < first_year || year > last_year || month < 1 || day < 1 || hour < 0 || hour > 23) return {};
    const std::chrono::year_month_day date{std::chrono::year(year),
                                           std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    if (!date.ok()) return {};
    return std::int64_t{24} * std::chrono::sys_days(date).time_since_epoch().count() + hour;
}

FleetLineState read_fleet_line(std::string_view text, FleetLine& line) {
    std::vector<std::pair<std::string, std::string>> packages = std::move(line.packages);
    packages.clear();
    line = {};
    line.packages = std::move(packages);  // their room is used again
    FleetLineReader reader(line);
    if (!Json::sax_parse(text.begin(), text.end(), &reader)) return FleetLineState::no_json;
    if (!reader.is_object() || reader.schema() != batch_schema) return FleetLineState::other_schema;
    line.hour = hour_of(reader.stored());
    if (!line.hour) line.hour = hour_of(reader.started());
    return FleetLineState::read;
}

}  // namespace heapsift
