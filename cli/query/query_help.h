#pragma once

// A dozen questions in SQL, for help.

#include <vector>

namespace heapsift {

struct QueryExample {
    const char* question;
    const char* sql;  // in lines
};
const std::vector<QueryExample>& query_examples();

}  // namespace heapsift
