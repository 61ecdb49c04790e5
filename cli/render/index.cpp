#include "cli/render/index.h"

namespace heapsift {
namespace {

Datum index_data(const IndexThere& index) {
    return entries({{"path", FilePath{index.path}},
                    {"bytes", index.bytes},
                    {"parts", Datum::list_of(index.parts,
                                             [](const IndexFile::PartSize& part) {
                                                 return entries({{"name", part.name}, {"bytes", part.bytes}});
                                             })},
                    {"unpacked", index.unpacked ? entries({{"path", FilePath{index.unpacked->path}},
                                                           {"bytes", index.unpacked->bytes}})
                                                : Datum()},
                    {"answers", entries({{"count", index.answers}, {"bytes", index.answer_bytes}})},
                    {"all_bytes", index.all.bytes},
                    {"all_count", index.all.count},
                    {"all_unpacked", index.all.unpacked},
                    {"limit", index.limit}});
}

/// "3 indexes have 1.2 GiB of at most 20.0 GiB; the oldest goes first."
Text size_words(const IndexThere& index) {
    if (index.all.unpacked > 0)
        return says("{} and {} have {} of at most {}; the oldest goes first.",
                    how_many(index.all.count, "index", "indexes"),
                    how_many(index.all.unpacked, "unpacked core", "unpacked cores"),
                    ByteCount{index.all.bytes}, ByteCount{index.limit});
    return says("{} {} of at most {}; the oldest goes first.",
                how_many(index.all.count, "index has", "indexes have"), ByteCount{index.all.bytes},
                ByteCount{index.limit});
}

Text unpacked_words(const IndexThere::Unpacked& copy) {
    return says("The core is kept unpacked: {}: {}", ByteCount{copy.bytes}, FilePath{copy.path});
}

}  // namespace

Document render_index(const IndexThere& index) {
    Document document{.command = "index"};
    document.data = index_data(index);
    document.say(
        sentence(says("The index of this core has {}: {}", ByteCount{index.bytes}, FilePath{index.path})));
    if (index.unpacked) document.say(sentence(unpacked_words(*index.unpacked)));
    document.say(sentence(says("Later questions begin with it. {}", size_words(index))));
    return document;
}

void add_index(const std::optional<IndexThere>& index, Document& document) {
    document.data["index"] = index ? index_data(*index) : Datum();
    if (!index) return;
    document.say(line(Text("Index").bold()));
    document.say(sentence(says("{}: {}", ByteCount{index->bytes}, FilePath{index->path}), {}, 1));
    if (index->unpacked) document.say(sentence(unpacked_words(*index->unpacked), {}, 1));
    document.say(sentence(size_words(*index), {}, 1));
    document.say(gap());
}

}  // namespace heapsift
