#include "cli/render/array.h"

namespace heapsift {
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

}  // namespace heapsift
