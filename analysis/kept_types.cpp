#include "analysis/kept_types.h"

#include <utility>

namespace heapsift {
namespace {

/// As it is kept: the names of types are in the core, and the largest objects are read anew.
struct KeptTypes {
    TypesResult result;

    std::size_t rows() const { return result.types.size(); }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapReader& heap) {
        auto& result = self.result;
        part.list(result.types, [&](auto& row, Part& p) {
            for (auto* number : {&row.count, &row.size, &row.memory, &row.array_data, &row.native})
                p.number(*number);
            p.number(row.address);
            bool computed = row.retained.has_value();
            std::uint64_t retained = row.retained.value_or(0);
            p.number(computed);
            p.number(retained);
            kept_object(row.largest.id, p, heap);
            if constexpr (Part::reading) {
                const TypeTable& types = heap.snapshot().types;
                const TypeId type = row.address.is_null() ? no_type : types.find(row.address);
                p.require(row.address.is_null() || type != no_type, "a type is not there");
                row.name = type_name(types, type);
                row.retained = computed ? std::optional(retained) : std::nullopt;
            }
        });
        for (auto* number : {&result.total_types, &result.total_count, &result.total_size,
                             &result.total_memory, &result.total_array_data, &result.shown_memory,
                             &result.uncertain_sizes, &result.damaged_objects, &result.anonymous_objects})
            part.number(*number);
        named_counts(result.uncertain_types, part);
        named_counts(result.python_sizeof_types, part);
        part.number(result.retained_computed);
    }

private:
    template <class Rows, class Part>
    static void named_counts(Rows& rows, Part& part) {
        part.list(rows, [](auto& row, Part& p) {
            p.text(row.first);
            p.number(row.second);
        });
    }
};

}  // namespace

TypesResult kept_types(KeptAnswers* answers, const HeapReader& heap, SortKey sort, std::size_t limit,
                       const std::function<TypesResult()>& find) {
    const auto question = KeptQuestion("types").with(sort).with(limit);
    KeptTypes kept = kept_answer(answers, question, heap, [&] { return KeptTypes{find()}; });
    // Read when all of it is known to be right.
    for (TypeRow& row : kept.result.types) row.largest = object_row(heap, row.largest.id);
    return std::move(kept.result);
}

}  // namespace heapsift
