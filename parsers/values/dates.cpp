// Dates and times, as their repr() writes them.
//
// A date has four bytes, a datetime ten: the year in two, most significant first, then month, day, hour, minute,
// second, and the microsecond in three (datetime.h of 3.9 to 3.13; the same in all). They follow the byte
// `hastzinfo`, which the layouts have; after them comes `fold`. A timedelta has three ints after its hash.
// Every field is compared with what it can be, so that a torn object has no value instead of a wrong one.

#include "parsers/values/families.h"
#include "parsers/values/parts.h"

#include <fmt/format.h>

#include <array>

namespace heapsift {

namespace {

constexpr std::uint64_t hash_size = 8;
constexpr std::int32_t most_days = 999999999, seconds_a_day = 86400, microseconds_a_second = 1000000;

/// The name with its module for the types themselves, without it for derived classes, as tp_name has it.
std::string date_name(const Describing& of) {
    const TypeInfo& type = of.object.type();
    return type.python_class ? short_name(type.name) : type.name;
}

struct Moment {
    unsigned year = 1, month = 1, day = 1, hour = 0, minute = 0, second = 0, microsecond = 0, fold = 0;

    bool reads() const {
        return year >= 1 && year <= 9999 && month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour < 24 &&
               minute < 60 && second < 60 && microsecond < microseconds_a_second && fold <= 1;
    }
};

unsigned year_of(const std::uint8_t* bytes) { return static_cast<unsigned>(bytes[0] << 8 | bytes[1]); }

void read_time(const std::uint8_t* bytes, Moment& moment) {
    moment.hour = bytes[0];
    moment.minute = bytes[1];
    moment.second = bytes[2];
    moment.microsecond = static_cast<unsigned>(bytes[3] << 16 | bytes[4] << 8 | bytes[5]);
    moment.fold = bytes[6];
}

template <std::size_t Size>
std::optional<std::array<std::uint8_t, Size>> bytes_after_flag(const Describing& of, LayoutOffset flag) {
    std::array<std::uint8_t, Size> bytes{};
    if (!flag.present() || !of.heap().memory().read_bytes(of.object.at(*flag + 1), bytes.data(), Size))
        return std::nullopt;
    return bytes;
}

ShortValue date(const Describing& of) {
    const auto bytes = bytes_after_flag<4>(of, of.object.layout().datetime.hastzinfo);
    if (!bytes) return {};
    const Moment moment{.year = year_of(bytes->data()), .month = (*bytes)[2], .day = (*bytes)[3]};
    if (!moment.reads()) return {};
    return whole_literal_value(
        fmt::format("{}({}, {}, {})", date_name(of), moment.year, moment.month, moment.day));
}

/// ", fold=1, tzinfo=…)".
ShortValue with_zone(const Describing& of, std::string text, unsigned fold, LayoutOffset flag,
                     LayoutOffset zone) {
    if (fold != 0) text += ", fold=1";
    ValueText value(of, std::move(text));
    if (of.object.integer<std::uint8_t>(flag) != 0) value.add(", tzinfo=").part(of.object.pointer(zone));
    return std::move(value).literal();
}

std::string seconds_words(const Moment& moment) {
    std::string text;
    if (moment.second != 0 || moment.microsecond != 0) text += fmt::format(", {}", moment.second);
    if (moment.microsecond != 0) text += fmt::format(", {}", moment.microsecond);
    return text;
}

std::optional<Moment> datetime_of(const Describing& of) {
    const auto bytes = bytes_after_flag<11>(of, of.object.layout().datetime.hastzinfo);
    if (!bytes) return std::nullopt;
    Moment moment{.year = year_of(bytes->data()), .month = (*bytes)[2], .day = (*bytes)[3]};
    read_time(bytes->data() + 4, moment);
    return moment.reads() ? std::optional(moment) : std::nullopt;
}

ShortValue datetime(const Describing& of) {
    const auto moment = datetime_of(of);
    if (!moment) return {};
    const auto& l = of.object.layout().datetime;
    return with_zone(of,
                     fmt::format("{}({}, {}, {}, {}, {}{}", date_name(of), moment->year, moment->month,
                                 moment->day, moment->hour, moment->minute, seconds_words(*moment)),
                     moment->fold, l.hastzinfo, l.tzinfo);
}

/// A pandas Timestamp is a datetime, and writes itself in ISO's form.
ShortValue timestamp(const Describing& of) {
    const auto moment = datetime_of(of);
    if (!moment) return {};
    std::string text = fmt::format("Timestamp('{:04}-{:02}-{:02} {:02}:{:02}:{:02}", moment->year,
                                   moment->month, moment->day, moment->hour, moment->minute, moment->second);
    if (moment->microsecond != 0) text += fmt::format(".{:06}", moment->microsecond);
    const auto& l = of.object.layout().datetime;
    ValueText value(of, text + "'");
    if (of.object.integer<std::uint8_t>(l.hastzinfo) != 0)
        value.add(", tz=").part(of.object.pointer(l.tzinfo));
    return std::move(value).literal();
}

ShortValue time_of_day(const Describing& of) {
    const auto& l = of.object.layout().time_of_day;
    const auto bytes = bytes_after_flag<7>(of, l.hastzinfo);
    if (!bytes) return {};
    Moment moment;
    read_time(bytes->data(), moment);
    if (!moment.reads()) return {};
    return with_zone(
        of, fmt::format("{}({}, {}{}", date_name(of), moment.hour, moment.minute, seconds_words(moment)),
        moment.fold, l.hastzinfo, l.tzinfo);
}

struct Duration {
    std::int32_t days = 0, seconds = 0, microseconds = 0;
};

std::optional<Duration> duration_of(const ObjectReader& object) {
    const std::uint64_t first = *object.layout().object.size + hash_size;
    const auto field = [&](std::uint64_t i) {
        return object.heap().memory().read<std::int32_t>(object.at(first + 4 * i));
    };
    const auto days = field(0), seconds = field(1), microseconds = field(2);
    if (!days || !seconds || !microseconds || *days < -most_days || *days > most_days || *seconds < 0 ||
        *seconds >= seconds_a_day || *microseconds < 0 || *microseconds >= microseconds_a_second)
        return std::nullopt;
    return Duration{*days, *seconds, *microseconds};
}

ShortValue timedelta(const Describing& of) {
    const auto duration = duration_of(of.object);
    if (!duration) return {};
    std::string fields;
    const auto add = [&](const char* name, std::int32_t value) {
        if (value != 0) fields += fmt::format("{}{}={}", fields.empty() ? "" : ", ", name, value);
    };
    add("days", duration->days);
    add("seconds", duration->seconds);
    add("microseconds", duration->microseconds);
    return whole_literal_value(fmt::format("{}({})", date_name(of), fields.empty() ? "0" : fields));
}

ShortValue timezone(const Describing& of) {
    const auto& l = of.object.layout().timezone;
    const auto offset = object_at(of.heap(), of.object.pointer(l.offset));
    if (!offset || offset->type().name != "datetime.timedelta") return {};
    const auto duration = duration_of(*offset);
    const Address name = of.object.pointer(l.name);
    if (!duration) return {};
    // Of offset 0 without a name there is one object only, datetime.timezone.utc.
    if (name.is_null() && duration->days == 0 && duration->seconds == 0 && duration->microseconds == 0)
        return whole_literal_value("datetime.timezone.utc");
    ValueText value(of, "datetime.timezone(");
    value.part(offset->address());
    if (!name.is_null()) value.add(", ").part(name);
    return std::move(value).literal();
}

ShortValue zone(const Describing& of) {
    const auto key = str_value(of.heap(), of.object.pointer(of.object.layout().zone_info.key));
    if (!key) return {};
    return whole_literal_value("zoneinfo.ZoneInfo(key=" + quoted_str(*key) + ")");
}

constexpr ValueRow date_rows[] = {{"datetime.date", date},
                                  {"datetime.datetime", datetime},
                                  {"datetime.time", time_of_day},
                                  {"datetime.timedelta", timedelta},
                                  {"datetime.timezone", timezone},
                                  {"zoneinfo.ZoneInfo", zone},
                                  {"pandas._libs.tslibs.timestamps.Timestamp", timestamp, false},
                                  {"pandas._libs.tslibs.timestamps._Timestamp", timestamp}};

}  // namespace

std::span<const ValueRow> date_values() { return date_rows; }

}  // namespace heapsift
