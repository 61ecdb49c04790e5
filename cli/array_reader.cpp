#include "cli/array_reader.h"

#include "analysis/arrays.h"

#include <functional>

namespace heapsift {

ArraysRows rows_of_arrays(const std::shared_ptr<Question>& question,
                          const std::shared_ptr<const ArraysResult>& result) {
    const auto array = [=](std::size_t i) { return shown_array(question->heap(), *result, i); };
    const auto owner = [=](std::size_t i) { return array_owner_row(question->heap(), *result, i); };
    ArraysRows rows;
    rows.arrays = [=](const std::function<void(const ShownArray&)>& visit) {
        for (std::size_t i = 0; i < result->arrays.size(); ++i) visit(array(i));
    };
    rows.owners = [=](const std::function<void(const ArrayOwnerRow&)>& visit) {
        for (std::size_t i = 0; i < result->owners.size(); ++i) visit(owner(i));
    };
    rows.first_array = [=] { return array(0); };
    rows.first_owner = [=] { return owner(0); };
    return rows;
}

}  // namespace heapsift
