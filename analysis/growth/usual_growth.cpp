#include "analysis/growth/usual_growth.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace heapsift {
namespace {

struct UsualPlace {
    std::string_view holder, place;  // an empty place: all of that holder
};

// Read in CPython 3.6 to 3.15, Lib/: each is filled by use and has a bound, or ends with the program's own files.
constexpr std::array usual_places = {
    UsualPlace{"linecache", "cache"},
    UsualPlace{"re", "_cache"},
    UsualPlace{"re", "_cache2"},
    UsualPlace{"_strptime", "_regex_cache"},
    UsualPlace{"encodings", "_cache"},
    UsualPlace{"sys", "path_importer_cache"},
    UsualPlace{"importlib._bootstrap_external.FileFinder", "_path_cache"},
    UsualPlace{"_frozen_importlib_external.FileFinder", "_path_cache"},
    UsualPlace{"zipimport", "_zip_directory_cache"},
    UsualPlace{"warnings", "onceregistry"},
    UsualPlace{"tracemalloc", ""},
};

}  // namespace

bool is_usual_growth(const std::string& holder, const std::string& place) {
    return std::any_of(usual_places.begin(), usual_places.end(), [&](const UsualPlace& usual) {
        return usual.holder == holder && (usual.place.empty() || usual.place == place);
    });
}

}  // namespace heapsift
