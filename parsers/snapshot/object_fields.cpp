// A library's object points to what it works on as well as to what it owns: zlib's stream to the input that comes
// next, a parser to the character it has read. Such a word stays when the memory is given back, and then leads into
// whatever was put there; now and then to the start of it, which looks like ownership. The same field of the other
// instances tells: they, too, lead into the middle of blocks, or to free memory, where a field that owns leads to
// the start of a block in each of them.

#include "parsers/snapshot/object_fields.h"

namespace heapsift {

void ObjectFields::count(TypeId type, Field field, bool to_block) {
    if (field == none) return;
    if (of_types_.size() <= type) of_types_.resize(static_cast<std::size_t>(type) + 1);
    std::vector<Counts>& fields = of_types_[type];
    if (fields.empty()) fields.resize(most_fields);
    ++(to_block ? fields[field].to_blocks : fields[field].elsewhere);
}

bool ObjectFields::is_place(TypeId type, Field field) const {
    if (field == none || of_types_.size() <= type || of_types_[type].empty()) return false;
    const Counts& counts = of_types_[type][field];
    return counts.elsewhere > counts.to_blocks;
}

}  // namespace heapsift
