#include "parsers/cpython/build/instance_dict.h"

// Debian took gh-130327 into its 3.13.5, from 3.13.5-2+deb13u3 on; these are the builds of deb13u5.

#include <algorithm>
#include <iterator>

namespace heapsift {

bool instance_reports_dict(const PythonVersion& version, std::string_view build_id) {
    constexpr std::string_view changed_builds[] = {"7e8d5f6d0cd6cd1e9bff2a775c11d398cecca758",
                                                   "c13b4ca20f9e375d2f7357bfbb4b0ed260f111ea"};
    if (version.minor == 14) return version.micro >= 4;
    if (version.minor != 13 || version.micro >= 13) return true;
    return std::find(std::begin(changed_builds), std::end(changed_builds), build_id) !=
           std::end(changed_builds);
}

}  // namespace heapsift
