#include "cli/report/layout.h"

#include <algorithm>
#include <limits>

namespace heapsift {
namespace {

constexpr double border = 1;  // between an area and its children

double share_of_area(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

struct Rows {
    double row, least;
    std::size_t levels;
    std::vector<PlacedArea>& placed;

    void place(const AreaNode& area, double x, double width, std::size_t depth) const {
        placed.push_back({&area, x, static_cast<double>(depth) * row, width, row, depth});
        if (depth + 1 >= levels) return;
        for (const AreaNode& child : area.below) {
            const double part = width * share_of_area(child.bytes, area.bytes);
            if (part >= least) place(child, x, part, depth + 1);
            x += part;
        }
    }
};

struct Room {
    double x, y, width, height;
};

class Squares {
public:
    Squares(double heading, std::size_t levels, double least, std::vector<PlacedArea>& placed)
        : heading_(heading), levels_(levels), least_(least), placed_(placed) {}

    void place(const AreaNode& area, const Room& at, std::size_t depth) {
        placed_.push_back({&area, at.x, at.y, at.width, at.height, depth});
        if (depth + 1 >= levels_ || area.below.empty()) return;
        Room inside{at.x + border, at.y + border, at.width - 2 * border, at.height - 2 * border};
        if (inside.height >= 2 * heading_) {
            inside.y += heading_;
            inside.height -= heading_;
        } else {
            placed_.back().covered = true;
        }
        if (inside.width >= least_ && inside.height >= least_) place_children(area, inside, depth + 1);
    }

private:
    void place_children(const AreaNode& area, Room room, std::size_t depth) {
        // What the children lack of the whole is their parent's own: it stays free, behind the last of them.
        const double scale =
            room.width * room.height / static_cast<double>(std::max<std::uint64_t>(area.bytes, 1));
        std::size_t first = 0;
        while (first < area.below.size()) {
            const double side = std::min(room.width, room.height);
            double sum = 0, worst = std::numeric_limits<double>::infinity();
            std::size_t end = first;
            for (; end < area.below.size(); ++end) {
                const double more = static_cast<double>(area.below[end].bytes) * scale;
                const double ratio = worst_ratio(area, first, end + 1, sum + more, side, scale);
                if (ratio > worst) break;
                worst = ratio;
                sum += more;
            }
            const double depth_of_row = side > 0 ? sum / side : 0;
            if (end == first || depth_of_row < least_) return;  // the rows behind it are no thicker
            place_row(area, first, end, room, sum, depth_of_row, depth);
            first = end;
        }
    }

    static double worst_ratio(const AreaNode& area, std::size_t first, std::size_t end, double sum,
                              double side, double scale) {
        const double largest = static_cast<double>(area.below[first].bytes) * scale,
                     smallest = static_cast<double>(area.below[end - 1].bytes) * scale;
        if (smallest <= 0 || sum <= 0 || side <= 0) return std::numeric_limits<double>::infinity();
        return std::max(side * side * largest / (sum * sum), sum * sum / (side * side * smallest));
    }

    void place_row(const AreaNode& area, std::size_t first, std::size_t end, Room& room, double sum,
                   double thick, std::size_t depth) {
        const bool upright = room.width >= room.height;  // a column at the left
        double at = upright ? room.y : room.x;
        const double along = upright ? room.height : room.width;
        std::uint64_t bytes = 0;
        for (std::size_t i = first; i < end; ++i) bytes += area.below[i].bytes;
        for (std::size_t i = first; i < end && sum > 0; ++i) {
            const double part = along * share_of_area(area.below[i].bytes, bytes);
            const Room own = upright ? Room{room.x, at, thick, part} : Room{at, room.y, part, thick};
            if (own.width >= least_ && own.height >= least_) place(area.below[i], own, depth);
            at += part;
        }
        if (upright) {
            room.x += thick;
            room.width = std::max(0.0, room.width - thick);
        } else {
            room.y += thick;
            room.height = std::max(0.0, room.height - thick);
        }
    }

    double heading_;
    std::size_t levels_;
    double least_;
    std::vector<PlacedArea>& placed_;
};

}  // namespace

std::vector<PlacedArea> icicle(const AreaNode& top, double width, double row, std::size_t levels,
                               double least) {
    std::vector<PlacedArea> placed;
    Rows{row, least, levels, placed}.place(top, 0, width, 0);
    return placed;
}

std::vector<PlacedArea> treemap(const AreaNode& top, double width, double height, double heading,
                                std::size_t levels, double least) {
    std::vector<PlacedArea> placed;
    Squares(heading, levels, least, placed).place(top, {0, 0, width, height}, 0);
    return placed;
}

}  // namespace heapsift
