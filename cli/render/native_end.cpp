#include "cli/render/native_end.h"

#include "cli/render/object.h"

namespace heapsift {

Text end_words(const NativeEnd& end) {
    if (end.object) return typed_value(*end.object);
    if (!end.is_block) return end.words;
    Text text = says("a block of {}", ByteCount{end.bytes});
    if (!end.words.empty()) text += says(", {}", TypeName{end.words});
    return text;
}

Datum end_data(const NativeEnd& end) {
    return entries({{"address", end.address.is_null() ? Datum() : Datum(end.address)},
                    {"object", end.object ? object_data(*end.object) : Datum()},
                    {"bytes", end.is_block ? Datum(end.bytes) : Datum()},
                    {"words", or_null(end.words)}});
}

Text held_by_words(const NativeHolder& holder) {
    if (holder.way.size() < 2) return {};
    const NativeEnd& last = holder.way.back();
    const std::uint64_t between = holder.way.size() - 2 + holder.left_out;
    Text text;
    if (between == 1 && holder.left_out == 0)
        text = says("held by {}, ", end_words(holder.way[1]));
    else if (between > 0)
        text = says("held through {}, ", how_many(between, "more block", "more blocks"));
    if (last.leaked) return text + "leaked";
    text += says("{} {}", between > 0 ? "from" : "held by", end_words(last));
    if (last.object) text += says(" {}", last.address);
    return text;
}

std::optional<Datum> holder_data(const NativeHolder& holder) {
    if (holder.way.empty() || (holder.way.size() == 1 && holder.way.front().words.empty()))
        return std::nullopt;
    return entries({{"marked", holder.marked},
                    {"way", Datum::list_of(holder.way, end_data)},
                    {"blocks_left_out", holder.left_out}});
}

}  // namespace heapsift
