// Dates, times and zones. A time without a zone ends before the zone's field. Of these types only ZoneInfo
// (since 3.12) takes part in collection; subclasses of all of them do. (_datetimemodule.c, _zoneinfo.c)

#include "parsers/cpython/objects/kinds.h"
#include "parsers/cpython/objects/versioned_fields.h"

#include <algorithm>

namespace heapsift {

namespace {

template <auto Struct>
void time_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto& l = object.layout().*Struct;
    if (object.integer<std::uint8_t>(l.hastzinfo) != 0)
        visit.named(object.pointer(l.tzinfo), ".tzinfo", ReferenceKind::hidden);
}

void timezone_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().timezone.offset), ".<offset>", ReferenceKind::hidden);
    visit.named(object.pointer(object.layout().timezone.name), ".<name>", ReferenceKind::hidden);
}

void time_type_references(const ObjectReader& object, Address ttinfo, ReferenceVisitor& visit) {
    const auto& l = object.layout().zone_ttinfo;
    visit.named(object.heap().pointer(ttinfo + *l.utcoff), ".<offset>", ReferenceKind::hidden);
    visit.named(object.heap().pointer(ttinfo + *l.dstoff), ".<daylight saving>", ReferenceKind::hidden);
    visit.named(object.heap().pointer(ttinfo + *l.tzname), ".<name>", ReferenceKind::hidden);
}

constexpr std::uint64_t most_time_types = 256;  // a file has a byte for their number

void zone_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const Layout& l = object.layout();
    visit.named(object.pointer(l.zone_info.key), ".key", reported_since(object, 12));
    visit.named(object.pointer(l.zone_info.file_repr), ".<file>", ReferenceKind::hidden);
    const Address types = object.pointer(l.zone_info.ttinfos);
    const auto count = std::min(object.integer<std::uint64_t>(l.zone_info.ttinfo_count), most_time_types);
    for (std::uint64_t i = 0; !types.is_null() && i < count; ++i)
        time_type_references(object, types + i * *l.zone_ttinfo.size, visit);
    time_type_references(object, object.at(*l.zone_info.after_standard), visit);
    if (object.integer<std::uint8_t>(l.zone_info.after_standard_only) == 0)
        time_type_references(object, object.at(*l.zone_info.after_daylight), visit);
}

constexpr const char* datetime_names[] = {"datetime.datetime"};
constexpr const char* time_names[] = {"datetime.time"};
constexpr const char* timezone_names[] = {"datetime.timezone"};
constexpr const char* plain_names[] = {"datetime.date", "datetime.timedelta", "datetime.tzinfo"};
constexpr const char* zone_names[] = {"zoneinfo.ZoneInfo"};

const ObjectKind kinds_of_datetime[] = {
    {.name = "date", .type_names = plain_names},
    {.name = "datetime",
     .type_names = datetime_names,
     .visit_references = time_references<&Layout::datetime>},
    {.name = "time", .type_names = time_names, .visit_references = time_references<&Layout::time_of_day>},
    {.name = "timezone",
     .type_names = timezone_names,
     .visit_references = timezone_references,
     .struct_size = struct_size<&Layout::timezone>},
    {.name = "ZoneInfo",
     .type_names = zone_names,
     .visit_references = zone_references,
     .struct_size = struct_size<&Layout::zone_info>},
};

}  // namespace

std::span<const ObjectKind> datetime_kinds() { return kinds_of_datetime; }

}  // namespace heapsift
