#pragma once

// What paths have in common.

#include <string>
#include <string_view>
#include <utility>

namespace heapsift {

/// Whether two paths, or literals of paths, differ in nothing but folders that name a release, by a number, a date, a version
/// or a hash: /srv/app/20260101/app.py.
bool is_same_or_another_release(std::string_view a, std::string_view b);

/// The last parts of two paths, as few as tell them apart ("a/core", "b/core"); the whole of both if nothing does.
std::pair<std::string, std::string> names_apart(const std::string& a, const std::string& b);

}  // namespace heapsift
