#include "cli/render/array.h"

namespace heapsift {
namespace {

Json address_or_null(const std::optional<Address>& address) {
    return address ? address_json(*address) : Json(nullptr);
}

}  // namespace

void add_array(Datum& data, const ArrayRow& row) {
    const auto numbers = [](const std::optional<std::vector<std::int64_t>>& all) {
        return all ? Datum::list_of(*all, [](std::int64_t number) { return Datum(number); }) : Datum();
    };
    data["dtype"] = row.dtype;
    data["shape"] = numbers(row.shape);
    data["strides"] = numbers(row.strides);
    data["nbytes"] = row.nbytes;
    data["data"] = row.data;
    data["owns_data"] = row.owns_data;
    data["base"] = row.base;
    data["owner"] = row.owner;
}

void add_array(Json& json, const ArrayRow& row) {
    json["dtype"] = or_null(row.dtype);
    json["shape"] = or_null(row.shape);
    json["strides"] = or_null(row.strides);
    json["nbytes"] = or_null(row.nbytes);
    json["data"] = address_or_null(row.data);
    json["owns_data"] = or_null(row.owns_data);
    json["base"] = address_or_null(row.base);
    json["owner"] = address_or_null(row.owner);
}

}  // namespace heapsift
