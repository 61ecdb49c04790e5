// A block of C code is alive if something can still find it: a word of a variable, of a stack, of an object, of
// another block that is alive. Nothing marks the words that are pointers; how much speaks for each is told by its
// field and by its value (pointer_fields.cpp), and where there is a better way than one by a doubtful word, the
// better way counts: first what objects reach by fields that are pointers, then what they reach with less certain
// ones, step by step; then what can be reached from variables, from other memory, from stacks by any word that may
// be a pointer at all. So a block that is called leaked is one that no word leads to, and few blocks that leaked are
// missed; but of two places that may hold a block, the right one is not always told.
//
// In the graph a word counts if the way by it is as good as the best way to the block: a doubtful one that leads
// into what somebody else surely owns takes nothing from him. Nor does a variable or a stack that leads to what
// objects reach: most of these words are stale, or caches that do not own. What two owners surely reach is shared.
//
// Some objects are held by C code alone: a word of a block explains the count that nothing else does. torch keeps
// the Python side of a tensor so, with its own mark on the pointer (1 is added), when Python has dropped it. Such an
// object owns what it does for whoever owns that block, and its words wait until the block is reached; or a pair
// that refer to each other would be an owner of everything below them.
//
// Text of a few bytes that was written over a pointer leaves an address near by, which leads into a large block
// sooner or later. Such words count if four lead into the same large block: who owns a block has such a word, or the
// block's start to free it with. (Which memory is not looked at: native_words.cpp; which words are numbers:
// low_numbers.cpp. In the order of trust, as tried on eight real cores with other thresholds: plain words alone gave
// owners from a third to all of what is theirs.)
//
// Not found: pointers that a program hides (xor'ed with something, or compressed to 32 bits).

#include "parsers/snapshot/native_blocks.h"

#include "parsers/memory/block_numbers.h"
#include "parsers/snapshot/block_rows.h"
#include "parsers/snapshot/blocks_in_pieces.h"
#include "parsers/snapshot/counted_blocks.h"
#include "parsers/snapshot/held_objects.h"
#include "parsers/snapshot/lock_blocks.h"
#include "parsers/snapshot/low_numbers.h"
#include "parsers/snapshot/native_graph_builder.h"
#include "parsers/snapshot/native_handles.h"
#include "parsers/snapshot/native_words.h"
#include "parsers/snapshot/object_fields.h"
#include "parsers/snapshot/object_words.h"
#include "parsers/snapshot/pointer_fields.h"
#include "parsers/snapshot/sqlite_connections.h"
#include "parsers/snapshot/wrapped_blocks.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

namespace heapsift {
namespace {

constexpr std::uint64_t large_block = 1 << 16;
constexpr std::uint8_t enough_into_one = 4;  // and no more are remembered for a block

class NativeSearch {
public:
    NativeSearch(const CoreFile& core, const ObjectAccess& access, const FoundObjects& objects,
                 const OwnedPlaces& places, const ReferenceGraph& references,
                 const ProgressCallback& progress)
        : core_(core),
          access_(access),
          objects_(objects),
          references_(references),
          places_(places),
          progress_(progress),
          words_(core, access, objects, places),
          heaps_(access.allocations().malloc_heaps()),
          numbers_(heaps_, words_.python_tables(), access.allocations().added_blocks()),
          fields_(core),
          counted_(core, access, objects, numbers_),
          locks_(access),
          reached_(numbers_.size(), not_reached),
          credits_(numbers_.size(), static_cast<std::uint8_t>(Credit::nothing)),
          beliefs_(numbers_.size(), static_cast<std::uint8_t>(Belief::none)),
          doubts_(numbers_.size()),
          held_(access, objects, references) {}

    NativeMemory find(bool with_graph) {
        report(0);
        leave_out_owned();
        held_.find([this](Address word) -> std::optional<std::uint32_t> {
            const auto block = numbers_.find(word);
            if (!block || reached_[block->number] == owned) return std::nullopt;
            return block->number;
        });
        learn_fields();
        counted_.find(words_, fields_, [&](std::uint64_t word) { return target_of(word); });
        report(0.3);
        from_objects();
        report(0.5);
        from_python_tables();
        words_.visit_modules([&](std::span<const std::byte> bytes, Address at) {
            look_at(WordsOf::module, bytes, at, [&](Address word) {
                return label({ReachedFrom::modules, no_type, word});
            });
        });
        report(0.6);
        const std::uint32_t mappings = label({ReachedFrom::mappings, no_type, Address()});
        words_.visit_mappings([&](std::span<const std::byte> bytes, Address at) {
            look_at(WordsOf::other, bytes, at, [&](Address) { return mappings; });
        });
        report(0.7);
        from_stacks();
        settle_doubts();
        open_what_is_left();
        from_numbers();
        NativeMemory result;
        result.blocks = block_rows(core_, numbers_, reached_, ways_);
        report(0.8);
        if (with_graph) result.graph = graph();
        return result;
    }

private:
    using Way = WayToBlocks;
    static constexpr std::uint32_t owned = owned_block;

    void report(double done) const {
        if (progress_) progress_("native blocks", done);
    }

    /// As RegionFiller does: a block is an object's if a range of an object begins with it.
    void leave_out_owned() {
        ways_.push_back({});
        for (const AddressRange& range : places_.ranges()) {
            // One range may be of several objects whose blocks touch.
            for (Address at = range.start; at < range.end;) {
                const auto block = numbers_.find(at);
                if (!block) {
                    at = at + 16;
                    if (!heaps_.heap_at(at)) break;
                    continue;
                }
                reached_[block->number] = owned;
                // In malloc's heaps the next one's header lies between.
                at = block->start + block->bytes + (block->number < numbers_.first_apart() ? 8 : 0);
            }
        }
    }

    std::uint32_t label(const Way& way) {
        ways_.push_back(way);
        return static_cast<std::uint32_t>(ways_.size() - 1);
    }

    /// The block that a word leads to, unless it is an object's.
    std::optional<BlockNumbers::Block> target_of(std::uint64_t word) const {
        return target_by(numbers_, word);
    }
    template <class Blocks>
    std::optional<BlockNumbers::Block> target_by(Blocks& blocks, std::uint64_t word) const {
        std::optional<BlockNumbers::Block> block = blocks.find(Address(word));
        if (block && reached_[block->number] == owned) block.reset();
        return block;
    }

    /// The block that a word of `bytes` leads to.
    template <class Blocks>
    std::optional<BlockNumbers::Block> block_of(Blocks& blocks, WordsOf of, std::span<const std::byte> bytes,
                                                std::size_t index, std::uint64_t word) const {
        std::optional<BlockNumbers::Block> block = blocks.find(Address(word));
        if (block && is_no_address(core_.memory(), of, bytes, index, word)) block.reset();
        return block;
    }

    /// Of the word behind the block's start; 0 behind the marks that Python's debug hooks put there.
    std::uint64_t offset_of(Address word, const BlockNumbers::Block& block) const {
        const std::uint64_t offset = word - block.start;
        const bool is_marked = (offset == 16 || offset == 32) && access_.allocations().debug_hooks() &&
                               access_.allocations().block_starting_at(word);
        return is_marked ? 0 : offset;
    }

    std::span<const std::byte> bytes_of(const BlockNumbers::Block& block) const {
        return core_.memory().view(block.start, block.bytes);
    }

    /// The objects that a block holds, once it is reached.
    void open_held(std::uint32_t number, std::uint32_t label, Credit credit) {
        for (const HeldObjects::Held& held : held_.of_block(number))
            if (HeldObjects::Waits* const waits = held_.waiting(held.object); waits && !waits->opened) {
                waits->opened = true;
                waits->credit = credit;
                open(held.object, label, credit);
            }
    }

    void open(ObjectId object, std::uint32_t label, Credit credit) {
        auto word = std::lower_bound(of_objects_.begin(), of_objects_.end(), object,
                                     [](const ObjectWord& a, ObjectId b) { return a.object < b; });
        for (; word != of_objects_.end() && word->object == object; ++word) {
            if (word->belief == Belief::none) continue;
            const auto target = numbers_.find(word->to);
            if (!target || reached_[target->number] != not_reached) continue;
            if (credit >= Credit::chance || credit_of(word->belief) <= credit)
                take(*target, label, credit);
            else
                defer(*target, label, word->belief);
        }
    }

    /// Objects whose blocks nothing reaches but they themselves: as if they were anybody's.
    void open_what_is_left() {
        for (HeldObjects::Waits& waits : held_.waits()) {
            if (waits.opened) continue;
            waits.opened = true;
            waits.credit = Credit::chance;
            held_.let_go(waits.object);
            open(waits.object, label_of(waits.object), Credit::chance);
            follow(Credit::chance);
        }
    }

    void learn_fields() {
        numbers_.visit([&](const BlockNumbers::Block& block) {
            if (reached_[block.number] != owned) fields_.count(block, bytes_of(block));
        });
        numbers_.visit([&](const BlockNumbers::Block& block) {
            if (reached_[block.number] == owned) return;
            const auto bytes = bytes_of(block);
            fields_.learn(block, bytes, [&](std::uint64_t word) { return target_of(word); });
            held_.look_at(block.number, block.start, bytes);
        });
        fields_.finish();
        held_.finish(numbers_.size());
    }

    /// Words from which a way begins that is no object's. The first of `bytes` lies at `at`.
    template <class Label>
    void look_at(WordsOf of, std::span<const std::byte> bytes, Address at, Label&& label_of) {
        visit_words(bytes, [&](std::size_t i, std::uint64_t word) {
            if (block_of(numbers_, of, bytes, i, word))
                begin_at(at + 8 * i, word, [&] { return label_of(at + 8 * i); });
        });
    }

    template <class Label>
    void begin_at(Address at, std::uint64_t word, Label&& label_of) {
        const auto block = numbers_.find(Address(word));
        if (!block || reached_[block->number] != not_reached) return;
        const std::uint64_t offset = offset_of(Address(word), *block);
        const Belief belief = fields_.belief(word, *block, offset);
        if (counted_.belief(at, block->number, offset, belief) != Belief::none) {
            enter(*block, label_of());
            follow(Credit::other);
        } else if (remembers(*block, offset)) {
            doubtful_.push_back({*block, label_of(), true});
        }
    }

    void enter(const BlockNumbers::Block& block, std::uint32_t label) {
        entries_.push_back({block.number, label});
        take(block, label, Credit::other);
    }

    /// Whether a word that is not believed is to be kept in mind.
    bool remembers(const BlockNumbers::Block& block, std::uint64_t offset) {
        if (block.bytes < large_block || offset % 8 != 0 || doubts_[block.number] == enough_into_one ||
            counted_.knows(block.number))
            return false;
        ++doubts_[block.number];
        return true;
    }

    void take(const BlockNumbers::Block& block, std::uint32_t label, Credit credit) {
        reached_[block.number] = label;
        credits_[block.number] = static_cast<std::uint8_t>(credit);
        waiting_.push_back({block, label});
    }

    /// The blocks that wait, and all that they lead to by words that are worth so much credit. Those that are
    /// worth less wait for their turn.
    void follow(Credit credit) {
        while (!waiting_.empty()) {
            const Waiting next = waiting_.back();
            waiting_.pop_back();
            open_held(next.block.number, next.label, credit);
            if (leads_nowhere(next.label)) continue;
            const auto bytes = bytes_of(next.block);
            const PointerFields::Fields fields =
                fields_.fields_of(next.block, bytes, [&](std::uint64_t word) { return target_of(word); });
            fields_.visit_leading(next.block, bytes, [&](std::size_t i, std::uint64_t word) {
                const auto target = block_of(numbers_, WordsOf::block, bytes, i, word);
                if (!target || reached_[target->number] != not_reached) return;
                const std::uint64_t offset = offset_of(Address(word), *target);
                const Belief belief = counted_.belief(next.block, i, target->number, offset,
                                                      fields_.belief(fields, i, word, *target, offset));
                if (belief == Belief::none) {
                    if (remembers(*target, offset)) doubtful_.push_back({*target, next.label, false});
                } else if (credit >= Credit::chance || credit_of(belief) <= credit) {
                    take(*target, next.label, credit);
                } else {
                    defer(*target, next.label, belief);
                }
            });
        }
    }

    bool leads_nowhere(std::uint32_t label) const {
        return label != not_reached && locks_.holds_no_pointers(ways_[label].type);
    }

    static Credit credit_of(Belief belief) { return static_cast<Credit>(belief); }
    static_assert(static_cast<int>(Credit::sure) == static_cast<int>(Belief::field) &&
                  static_cast<int>(Credit::likely) == static_cast<int>(Belief::union_) &&
                  static_cast<int>(Credit::perhaps) == static_cast<int>(Belief::alone) &&
                  static_cast<int>(Credit::chance) == static_cast<int>(Belief::anywhere));

    /// One word of each belief is enough for a block, and one that is better.
    void defer(const BlockNumbers::Block& target, std::uint32_t label, Belief belief) {
        std::uint8_t& best = beliefs_[target.number];
        if (best <= static_cast<std::uint8_t>(belief)) return;
        best = static_cast<std::uint8_t>(belief);
        deferred_[static_cast<std::size_t>(belief)].push_back({target, label});
    }

    /// Believes the doubtful words of large blocks to which enough lead, until there are no more.
    void settle_doubts() {
        for (bool more = true; more;) {
            more = false;
            const std::vector<Doubtful> words = std::move(doubtful_);
            doubtful_.clear();
            for (const Doubtful& word : words) {
                if (reached_[word.block.number] != not_reached) continue;
                if (doubts_[word.block.number] < enough_into_one) {
                    doubtful_.push_back(word);
                    continue;
                }
                more = true;
                const bool of_object = ways_[word.label].from == ReachedFrom::objects;
                if (word.begins)
                    enter(word.block, word.label);
                else
                    take(word.block, word.label, of_object ? Credit::chance : Credit::other);
                follow(of_object ? Credit::chance : Credit::other);
            }
        }
    }

    std::uint32_t label_of(ObjectId object) {
        const TypeId id = objects_.types[object];
        if (labels_of_types_.empty()) labels_of_types_.assign(access_.heap().types().size(), not_reached);
        std::uint32_t& of_type = labels_of_types_[id];
        if (of_type == not_reached) of_type = label({ReachedFrom::objects, id, Address()});
        return of_type;
    }

    void find_words_of_objects() {
        constexpr std::uint64_t near = 64;  // bytes that a library's header may have
        ObjectFields of_types;
        visit_words_of_objects(core_, objects_, words_, numbers_, heaps_, [&](const WordOfObject& word) {
            const auto& [object, at, to, target] = word;
            const ObjectFields::Field field = ObjectFields::at(at - objects_.addresses[object]);
            of_types.count(objects_.types[object], field, target && to - target->start <= near);
            if (!target || reached_[target->number] == owned) return;
            const std::uint64_t offset = offset_of(to, *target);
            const Belief belief =
                counted_.belief(at, target->number, offset, fields_.belief(to.value, *target, offset));
            if (belief == Belief::none && !remembers(*target, offset)) return;
            of_objects_.push_back({object, belief, field, to});
            if (belief != Belief::none) wrapped_.add(to, objects_.addresses[object]);
        });
        wrapped_.finish();
        for (ObjectWord& word : of_objects_)
            if (word.belief == Belief::field && of_types.is_place(objects_.types[word.object], word.field))
                word.belief = Belief::alone;
    }

    void from_objects() {
        find_words_of_objects();
        for (ObjectWord& word : of_objects_) {
            const auto target = target_of(word.to.value);
            if (!target || held_.waiting(word.object)) continue;
            if (word.belief == Belief::field) {
                if (reached_[target->number] == not_reached)
                    take(*target, label_of(word.object), Credit::sure);
            } else if (word.belief == Belief::none) {
                doubtful_.push_back({*target, label_of(word.object), false});
            } else {
                defer(*target, label_of(word.object), word.belief);
            }
        }
        NativeHandles handles;
        for (const Credit credit : {Credit::sure, Credit::likely, Credit::perhaps, Credit::chance}) {
            for (const Waiting& next : deferred_[static_cast<std::size_t>(credit)])
                if (reached_[next.block.number] == not_reached) take(next.block, next.label, credit);
            deferred_[static_cast<std::size_t>(credit)] = {};
            follow(credit);
            if (credit != Credit::sure) continue;
            ints_ = words_.numbers([&](Address value) { return unreached_at(value).has_value(); });
            handles = find_native_handles(access_, objects_, references_, ints_);
            from_handles(std::move(handles.fields), Belief::field);
        }
        from_handles(std::move(handles.alone), Belief::anywhere);
        of_objects_.insert(of_objects_.end(), of_handles_.begin(), of_handles_.end());
        std::ranges::stable_sort(of_objects_, {}, &ObjectWord::object);
    }

    /// The block that begins there, if nothing was found to lead to it.
    std::optional<BlockNumbers::Block> unreached_at(Address start) const {
        auto block = numbers_.find(start);
        if (block && (block->start != start || reached_[block->number] != not_reached)) block.reset();
        return block;
    }

    void from_handles(std::vector<NativeHandle> handles, Belief belief) {
        std::erase_if(handles, [&](const NativeHandle& handle) { return !unreached_at(handle.block); });
        for (const NativeHandle& handle : handles) {
            of_handles_.push_back({handle.instance, belief, ObjectFields::none, handle.block});
            if (const auto block = unreached_at(handle.block)) {
                take(*block, label_of(handle.instance), credit_of(belief));
                follow(credit_of(belief));
            }
        }
    }

    /// Python's own blocks that no object leads to.
    void from_python_tables() {
        const std::uint32_t tables = label({ReachedFrom::python_tables, no_type, Address()});
        numbers_.visit_others([&](const BlockNumbers::Block& block) {
            if (reached_[block.number] != not_reached) return;
            enter(block, tables);
            follow(Credit::other);
        });
        from_dead_objects(tables);
    }

    /// Objects that the interpreter keeps for reuse: 3.10 has 200 frames in a list (frameobject.c), and those beyond 512
    /// bytes are malloc's. Types of extensions have no such lists that are known: a block of theirs was not freed. What
    /// the words of a dead object were is over.
    void from_dead_objects(std::uint32_t tables) {
        numbers_.visit([&](const BlockNumbers::Block& block) {
            if (reached_[block.number] != not_reached) return;
            const TypeId type = access_.dead_object_type(block.start, block.bytes);
            if (type == no_type || access_.heap().types()[type].known == KnownType::other) return;
            entries_.push_back({block.number, tables});
            reached_[block.number] = tables;
            credits_[block.number] = static_cast<std::uint8_t>(Credit::other);
        });
    }

    void from_stacks() {
        const std::uint32_t all = label({ReachedFrom::stacks, no_type, Address()});
        words_.visit_stacks([&](std::span<const std::byte> bytes, Address at) {
            look_at(WordsOf::other, bytes, at, [&](Address) { return all; });
        });
        for (const CoreThread& thread : core_.threads())
            for (const std::uint64_t word : thread.registers) begin_at(Address(), word, [&] { return all; });
    }

    void from_numbers() {
        const std::uint32_t numbers = label({ReachedFrom::numbers, no_type, Address()});
        for (const NativeWords::Number& one : ints_)
            if (const auto block = unreached_at(one.value)) {
                enter(*block, numbers);
                follow(Credit::other);
            }
    }

    // --- the graph
    /// Whether a way by a word of something with so much credit is as good as the best way to the target.
    bool counts(Credit source, Belief belief, const BlockNumbers::Block& target, std::uint64_t offset) const {
        const auto best = static_cast<Credit>(credits_[target.number]);
        if (belief == Belief::none &&
            (doubts_[target.number] < enough_into_one || target.bytes < large_block || offset % 8 != 0))
            return false;
        if (best >= Credit::other) return source == best;
        const Credit way = belief == Belief::none ? Credit::chance : credit_of(belief);
        return std::max(source, way) <= best;
    }

    NativeGraph graph() {
        NativeGraphBuilder made(objects_.addresses.size());
        std::vector<BlockId> ids(numbers_.size(), no_block);
        std::uint32_t count = 0;
        const auto begin_run = [&](const BlockNumbers::Block& block) {
            if (block.number == numbers_.first_apart()) made.begin_run();
            if (block.number == numbers_.first_other()) {
                if (numbers_.first_other() == numbers_.first_apart()) return;
                made.begin_run();
            }
        };
        numbers_.visit([&](const BlockNumbers::Block& block) {
            begin_run(block);
            if (reached_[block.number] == owned) return;
            ids[block.number] = BlockId(count++);
            made.add_block(block.start, block.bytes, static_cast<Credit>(credits_[block.number]));
        });
        add_words(made, ids);
        for (const ObjectWord& word : of_objects_) {
            const auto target = numbers_.find(word.to);
            const HeldObjects::Waits* const waits = held_.waiting(word.object);
            const Credit source = waits ? waits->credit : Credit::sure;
            if (target && counts(source, word.belief, *target, offset_of(word.to, *target)))
                made.add_owned(word.object, ids[target->number]);
        }
        for (const HeldObjects::Held& held : held_.all())
            made.add_held(ids[held.number], held.object, held.word);
        for (const auto& [number, label] : entries_)
            made.add_entry(ids[number], ways_[label].from, ways_[label].word);
        return made.finish();
    }

    void add_words(NativeGraphBuilder& made, const std::vector<BlockId>& ids) const {
        struct Rows {
            std::optional<BlockNumbers::Lookup> blocks;
            std::vector<BlockId> targets;
            std::vector<std::size_t> ends;
        };
        const std::vector<std::uint32_t> connections = sqlite_connections(core_, numbers_, of_objects_);
        const auto find_row = [&](const BlockNumbers::Block& block, Rows& rows) {
            if (leads_nowhere(reached_[block.number])) return;
            if (!rows.blocks) rows.blocks.emplace(numbers_);
            const auto bytes = bytes_of(block);
            const auto source = static_cast<Credit>(credits_[block.number]);
            const PointerFields::Fields fields = fields_.fields_of(
                block, bytes, [&](std::uint64_t word) { return target_by(*rows.blocks, word); });
            const auto begin = static_cast<std::ptrdiff_t>(rows.targets.size());
            fields_.visit_leading(block, bytes, [&](std::size_t i, std::uint64_t word) {
                const auto target = block_of(*rows.blocks, WordsOf::block, bytes, i, word);
                if (!target || reached_[target->number] == owned || target->number == block.number) return;
                if (std::binary_search(connections.begin(), connections.end(), target->number)) return;
                const std::uint64_t offset = offset_of(Address(word), *target);
                const Belief belief = counted_.belief(block, i, target->number, offset,
                                                      fields_.belief(fields, i, word, *target, offset));
                if (counts(source, belief, *target, offset) && !wrapped_.is_entry(bytes, i, Address(word)))
                    rows.targets.push_back(ids[target->number]);
            });
            std::sort(rows.targets.begin() + begin, rows.targets.end());
            rows.targets.erase(std::unique(rows.targets.begin() + begin, rows.targets.end()),
                               rows.targets.end());
        };
        blocks_in_pieces<Rows>(
            numbers_, [&](const BlockNumbers::Block& block) { return reached_[block.number] != owned; },
            [&](const BlockNumbers::Block& block, Rows& rows) {
                find_row(block, rows);
                rows.ends.push_back(rows.targets.size());
            },
            [&](Rows& rows) {
                std::size_t at = 0;
                for (const std::size_t end : rows.ends)
                    for (made.begin_words(); at < end; ++at) made.add_word(rows.targets[at]);
                rows.targets.clear();
                rows.ends.clear();
            });
    }

    const CoreFile& core_;
    const ObjectAccess& access_;
    const FoundObjects& objects_;
    const ReferenceGraph& references_;
    const OwnedPlaces& places_;
    const ProgressCallback& progress_;
    NativeWords words_;
    const MallocHeaps& heaps_;
    BlockNumbers numbers_;
    PointerFields fields_;
    CountedBlocks counted_;
    LockBlocks locks_;
    std::vector<std::uint32_t> reached_;           // by block number: an index into ways_
    std::vector<std::uint8_t> credits_, beliefs_;  // by block number: the way to it, and the best that waits
    std::vector<std::uint8_t> doubts_;             // by block number: how many words of doubt lead to it
    std::vector<Way> ways_;
    struct Waiting {
        BlockNumbers::Block block;
        std::uint32_t label;
    };
    std::vector<Waiting> waiting_;
    std::array<std::vector<Waiting>, 4> deferred_;  // by belief
    struct Doubtful {
        BlockNumbers::Block block;
        std::uint32_t label;
        bool begins;  // a way begins with it
    };
    std::vector<Doubtful> doubtful_;
    std::vector<ObjectWord> of_objects_, of_handles_;
    std::vector<NativeWords::Number> ints_;  // values: starts of blocks to which nothing leads surely
    HeldObjects held_;
    WrappedBlocks wrapped_;
    std::vector<std::uint32_t> labels_of_types_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> entries_;  // blocks and labels
};

}  // namespace

NativeMemory find_native_blocks(const CoreFile& core, const ObjectAccess& access, const FoundObjects& objects,
                                const OwnedPlaces& places, const ReferenceGraph& references, bool with_graph,
                                const ProgressCallback& progress) {
    return NativeSearch(core, access, objects, places, references, progress).find(with_graph);
}

}  // namespace heapsift
