#include "cli/query/query_tables.h"

#include "cli/query/object_tables.h"
#include "cli/query/query_functions.h"
#include "cli/query/row_tables.h"

namespace heapsift {

void add_query_tables(SqlQuery& query, QueryHeap& heap) {
    query.add(meta_table(heap));
    query.add(type_table(heap));
    query.add(object_table(heap));
    query.add(reference_table(heap));
    query.add(root_table(heap));
    query.add(array_table(heap));
    query.add(string_table(heap));
    query.add(holder_table(heap));
    query.add(native_table(heap));
    query.add(thread_table(heap));
    query.add(frame_table(heap));
    query.add(task_table(heap));
    query.add(region_table(heap));
    query.execute(query_views);
    add_query_functions(query, heap);
}

}  // namespace heapsift
