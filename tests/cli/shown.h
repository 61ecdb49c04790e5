#pragma once

#include "cli/answer.h"

#include <string>
#include <vector>

namespace heapsift::test {

/// A page on which nothing is shortened, and its redactor.
struct Shown {
    Redactor redactor;
    Page page;
    explicit Shown(bool redact = false) : redactor(redact) { page.redactor = &redactor; }
};

inline std::vector<Json> rows_of(const Answer& answer) {
    std::vector<Json> rows;
    answer.rows([&](const Json& row) { rows.push_back(row); });
    return rows;
}

}  // namespace heapsift::test
