#include "parsers/cpython/build/quirks.h"

namespace heapsift {

bool pickler_reports_memo(const PythonVersion& version) {
    const int first = version.minor == 11 ? 7 : version.minor == 12 ? 1 : 0;
    return version.minor >= 11 && version.micro >= first;
}

}  // namespace heapsift
