// itertools' iterators. A tee's data is in a chain of blocks, which are objects too. (itertoolsmodule.c)

#include "parsers/cpython/objects/fields.h"
#include "parsers/cpython/objects/kinds.h"

#include <algorithm>

namespace heapsift {

namespace {

constexpr const char* chain_names[] = {"itertools.chain"};
constexpr const char* cycle_names[] = {"itertools.cycle"};
constexpr const char* groupby_names[] = {"itertools.groupby"};
constexpr const char* grouper_names[] = {"itertools._grouper"};
constexpr const char* islice_names[] = {"itertools.islice"};
constexpr const char* tee_names[] = {"itertools._tee"};
constexpr const char* accumulate_names[] = {"itertools.accumulate"};
constexpr const char* compress_names[] = {"itertools.compress"};
constexpr const char* dropwhile_names[] = {"itertools.dropwhile"};
constexpr const char* takewhile_names[] = {"itertools.takewhile"};
constexpr const char* starmap_names[] = {"itertools.starmap"};
constexpr const char* filterfalse_names[] = {"itertools.filterfalse"};
constexpr const char* zip_longest_names[] = {"itertools.zip_longest"};
constexpr const char* repeat_names[] = {"itertools.repeat"};
constexpr const char* count_names[] = {"itertools.count"};
constexpr const char* pairwise_names[] = {"itertools.pairwise"};
constexpr const char* batched_names[] = {"itertools.batched"};

constexpr ReferenceField<chain_layout> chain_fields[] = {{&chain_layout::source, ".<source>"},
                                                         {&chain_layout::active, ".<active>"}};
constexpr ReferenceField<cycle_layout> cycle_fields[] = {{&cycle_layout::it, ".<iterator>"},
                                                         {&cycle_layout::saved, ".<saved>"}};
constexpr ReferenceField<groupby_layout> groupby_fields[] = {
    {&groupby_layout::it, ".<iterator>"},
    {&groupby_layout::keyfunc, ".<key function>"},
    {&groupby_layout::tgtkey, ".<target key>"},
    {&groupby_layout::currkey, ".<current key>"},
    {&groupby_layout::currvalue, ".<current value>"}};
constexpr ReferenceField<grouper_layout> grouper_fields[] = {{&grouper_layout::parent, ".<parent>"},
                                                             {&grouper_layout::tgtkey, ".<target key>"}};
constexpr ReferenceField<islice_layout> islice_fields[] = {{&islice_layout::it, ".<iterator>"}};
constexpr ReferenceField<tee_layout> tee_fields[] = {{&tee_layout::dataobj, ".<data>"}};
constexpr ReferenceField<accumulate_layout> accumulate_fields[] = {
    {&accumulate_layout::binop, ".<function>"},
    {&accumulate_layout::it, ".<iterator>"},
    {&accumulate_layout::total, ".<total>"},
    {&accumulate_layout::initial, ".<initial>"}};
constexpr ReferenceField<compress_layout> compress_fields[] = {{&compress_layout::data, ".<data>"},
                                                               {&compress_layout::selectors, ".<selectors>"}};
constexpr ReferenceField<dropwhile_layout> dropwhile_fields[] = {{&dropwhile_layout::func, ".<function>"},
                                                                 {&dropwhile_layout::it, ".<iterator>"}};
constexpr ReferenceField<takewhile_layout> takewhile_fields[] = {{&takewhile_layout::func, ".<function>"},
                                                                 {&takewhile_layout::it, ".<iterator>"}};
constexpr ReferenceField<starmap_layout> starmap_fields[] = {{&starmap_layout::func, ".<function>"},
                                                             {&starmap_layout::it, ".<iterator>"}};
constexpr ReferenceField<filterfalse_layout> filterfalse_fields[] = {
    {&filterfalse_layout::func, ".<function>"}, {&filterfalse_layout::it, ".<iterator>"}};
constexpr ReferenceField<zip_longest_layout> zip_longest_fields[] = {
    {&zip_longest_layout::ittuple, ".<iterators>"},
    {&zip_longest_layout::result, ".<result>"},
    {&zip_longest_layout::fillvalue, ".<fill value>"}};
constexpr ReferenceField<repeat_layout> repeat_fields[] = {{&repeat_layout::element, ".<element>"}};
constexpr ReferenceField<count_layout> count_fields[] = {{&count_layout::long_cnt, ".<count>"},
                                                         {&count_layout::long_step, ".<step>"}};
constexpr ReferenceField<pairwise_layout> pairwise_fields[] = {{&pairwise_layout::it, ".<iterator>"},
                                                               {&pairwise_layout::old, ".<last item>"},
                                                               {&pairwise_layout::result, ".<result>"}};
constexpr ReferenceField<batched_layout> batched_fields[] = {{&batched_layout::it, ".<iterator>"}};

/// Only those items of a block that were already read.
void tee_data_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto& l = object.layout().tee_data;
    visit.named(object.pointer(l.it), ".<iterator>");
    const std::uint64_t room = (*l.size - *l.values) / 8;
    const std::uint64_t read =
        std::min<std::uint64_t>(std::max(object.integer<std::int32_t>(l.numread), 0), room);
    const Address items = object.at(*l.values);
    for (std::uint64_t i = 0; i < read; ++i)
        visit.indexed(object.heap().pointer(items + 8 * i), i, ReferenceKind::strong, ".<items>");
    visit.named(object.pointer(l.nextlink), ".<next>");
}

constexpr const char* tee_data_names[] = {"itertools._tee_dataobject"};

const ObjectKind kinds_of_itertools[] = {
    {.name = "tee data",
     .type_names = tee_data_names,
     .visit_references = tee_data_references,
     .struct_size = struct_size<&Layout::tee_data>},
    fields_kind<&Layout::chain, chain_fields>("chain", chain_names),
    fields_kind<&Layout::cycle, cycle_fields>("cycle", cycle_names),
    fields_kind<&Layout::groupby, groupby_fields>("groupby", groupby_names),
    fields_kind<&Layout::grouper, grouper_fields>("group", grouper_names),
    fields_kind<&Layout::islice, islice_fields>("islice", islice_names),
    fields_kind<&Layout::tee, tee_fields>("tee", tee_names),
    fields_kind<&Layout::accumulate, accumulate_fields>("accumulate", accumulate_names),
    fields_kind<&Layout::compress, compress_fields>("compress", compress_names),
    fields_kind<&Layout::dropwhile, dropwhile_fields>("dropwhile", dropwhile_names),
    fields_kind<&Layout::takewhile, takewhile_fields>("takewhile", takewhile_names),
    fields_kind<&Layout::starmap, starmap_fields>("starmap", starmap_names),
    fields_kind<&Layout::filterfalse, filterfalse_fields>("filterfalse", filterfalse_names),
    fields_kind<&Layout::zip_longest, zip_longest_fields>("zip_longest", zip_longest_names),
    fields_kind<&Layout::repeat, repeat_fields>("repeat", repeat_names),
    fields_kind<&Layout::count, count_fields>("count", count_names),
    fields_kind<&Layout::pairwise, pairwise_fields>("pairwise", pairwise_names),
    fields_kind<&Layout::batched, batched_fields>("batched", batched_names),
};

}  // namespace

std::span<const ObjectKind> itertools_kinds() { return kinds_of_itertools; }

}  // namespace heapsift
