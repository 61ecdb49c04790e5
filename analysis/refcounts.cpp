// If an object counts references that come from no object, running frame or field of the interpreter, then C
// code holds it, or nobody does: a reference was taken and never given back. Words in C code's memory that
// point at it say which; but a leaked reference may coincide with a word that was left there, so such a word
// is a hint.
//
// C code also keeps a str or bytes for its characters alone, and points at these: NumPy's docstrings, names
// of types. Such a word in a module's data counts as one of the references.
//
// Types of extension modules have structs of C libraries inside, and the library points at these: libev's list of
// timers at the ev_timer in each of gevent's. A word in use that points into the part of an object that C code alone
// knows counts as one of the references as well.
//
// If all words of memory and registers that contain the object's address are references that were found, or were
// left in memory that is free now, nothing else can hold it: the other references leaked, whatever module took
// them. (Except for what is in memory that was not saved.) An address with a tag in its lowest three bits counts
// as well: torch marks the pointers that own a tensor, mypyc those to large ints.
//
// A static object starts with one reference, which belongs to nobody but the program that contains it.
//
// Immortal objects do not count; 3.11, which has none yet, gives the objects of its own program 999,999,999
// references. If more references are found than counted, one of those found does not hold the object: a
// borrowed pointer, or a guess.

#include "analysis/refcounts.h"

#include "parsers/cpython/python_heap.h"
#include "parsers/cpython/type_flags.h"
#include "parsers/elf/word_sweep.h"
#include "parsers/snapshot/reference_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace heapsift {
namespace {

constexpr std::int64_t as_good_as_immortal = 900'000'000;
constexpr std::uint64_t tag_mask = 7;

/// Calls `visit(address, word)` with each aligned word of saved, writable memory.
template <class Visit>
void visit_words(const AddressSpace& memory, Visit&& visit) {
    for (const SweepPiece& piece : pieces_to_sweep(memory)) {
        const std::uint64_t misaligned = (piece.segment->start + piece.from).value % 8;
        for (std::uint64_t at = piece.from + (misaligned == 0 ? 0 : 8 - misaligned); at + 8 <= piece.to;
             at += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, piece.segment->data + at, 8);
            visit(piece.segment->start + at, word);
        }
    }
}

bool of_c_code(const NativeReference& native) {
    return native.place != NativePlace::frame && native.place != NativePlace::interpreter;
}

struct WordOfCCode {
    Address word;
    ObjectId target = no_object;
    bool marked = false;  // not among the references: the address has a tag
};

/// By word, those that are marked last.
std::vector<WordOfCCode> words_of_c_code(const HeapReader& heap) {
    const auto natives = heap.snapshot().references->natives();
    std::vector<WordOfCCode> words;
    for (const NativeReference& native : natives)
        if (of_c_code(native)) words.push_back({native.word, native.target, false});
    if (!heap.snapshot().native_graph.there()) return words;
    for (const NativeGraph::Held& held : heap.snapshot().native_graph->held()) {
        const auto known = std::lower_bound(natives.begin(), natives.end(), held.word,
                                            [](const NativeReference& a, Address b) { return a.word < b; });
        if (known == natives.end() || known->word != held.word)
            words.push_back({held.word, held.object, true});
    }
    return words;
}

/// The module whose image contains the address; null if none does.
const Module* module_of(const CoreFile& core, Address address) {
    for (const Module& module : core.modules())
        if (address >= module.start && address < module.image_end) return &module;
    return nullptr;
}

/// What the counts of all objects tell; kept. The objects and types of `result` have no words yet: they are
/// in `excess`, `deficit`, and RefcountType::type.
struct ComparedCounts {
    struct Found {
        ObjectId object = no_object;
        std::int64_t excess = 0;
        std::int64_t accounted = 0;
        std::uint32_t words = 0;
        std::int64_t leaked = 0;
    };
    struct TextWord {  // points at the characters of an object, or at a struct of C code inside it
        ObjectId object = no_object;
        Address word;
    };

    RefcountsResult result;
    std::vector<Found> excess, deficit;  // cut to the limit
    std::vector<TextWord> text_words;    // of the objects in `excess`, by object

    std::size_t rows() const { return excess.size() + deficit.size() + text_words.size(); }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapReader& heap) {
        auto& result = self.result;
        for (auto* types : {&result.types, &result.deficit_types})
            part.list(*types, [&](auto& row, Part& p) {
                kept_type(row.type, p, heap);
                p.number(row.objects);
                p.number(row.excess);
                p.number(row.explained);
                p.number(row.leaked);
            });
        for (auto* number :
             {&result.objects, &result.excess, &result.explained, &result.leaked, &result.deficit_objects,
              &result.deficit, &result.deficit_explained, &result.checked, &result.balanced, &result.immortal,
              &result.counted, &result.accounted})
            part.number(*number);
        part.number(result.guesses);
        for (auto* found : {&self.excess, &self.deficit})
            part.list(*found, [&](auto& row, Part& p) {
                kept_object(row.object, p, heap);
                p.number(row.excess);
                p.number(row.accounted);
                p.number(row.words);
                p.number(row.leaked);
            });
        part.list(self.text_words, [&](auto& row, Part& p) {
            kept_object(row.object, p, heap);
            p.number(row.word);
        });
        for (std::size_t i = 1; i < self.text_words.size(); ++i)
            part.require(self.text_words[i - 1].object <= self.text_words[i].object,
                         "the words are not in order");
    }
};

class RefcountsFinder {
public:
    RefcountsFinder(const HeapReader& heap, const RefcountsQuery& query)
        : heap_(heap),
          query_(query),
          graph_(*heap.snapshot().references),
          wanted_(heap.snapshot().types.size(), query.types.empty()) {
        for (const TypeId type : query.types) wanted_[type] = true;
        by_target_ = words_of_c_code(heap);
        std::stable_sort(by_target_.begin(), by_target_.end(),
                         [](const auto& a, const auto& b) { return a.target < b.target; });
    }

    ComparedCounts find() {
        for (ObjectId object{0}; object < columns().object_count(); ++object)
            if (const TypeId type = columns().type_of(object); type < wanted_.size() && wanted_[type])
                check(object, type);
        find_text_holders();
        find_holders_of_structs();
        find_leaked();
        explain_deficits();
        result_.guesses = graph_.guesses().allowed > 0;
        sort_types(result_.types);
        sort_types(result_.deficit_types);
        choose(excess_);
        choose(deficit_);
        ComparedCounts compared{std::move(result_), std::move(excess_), std::move(deficit_), {}};
        for (const Found& found : compared.excess) {
            const auto [first, last] = text_words_.equal_range(found.object);
            for (auto it = first; it != last; ++it) compared.text_words.push_back({it->first, it->second});
        }
        std::stable_sort(compared.text_words.begin(), compared.text_words.end(),
                         [](const auto& a, const auto& b) { return a.object < b.object; });
        return compared;
    }

private:
    using Found = ComparedCounts::Found;

    std::uint32_t words_to(ObjectId object) const {
        const auto [first, last] =
            std::equal_range(by_target_.begin(), by_target_.end(), object, [](const auto& a, const auto& b) {
                if constexpr (std::is_same_v<std::decay_t<decltype(a)>, ObjectId>)
                    return a < b.target;
                else
                    return a.target < b;
            });
        return static_cast<std::uint32_t>(last - first);
    }

    /// Of them, those that are not among the references.
    std::uint32_t marked_words_to(ObjectId object) const {
        const auto first = std::lower_bound(by_target_.begin(), by_target_.end(), object,
                                            [](const WordOfCCode& a, ObjectId b) { return a.target < b; });
        std::uint32_t count = 0;
        for (auto at = first; at != by_target_.end() && at->target == object; ++at) count += at->marked;
        return count;
    }

    const Module* module_of(Address address) const { return heapsift::module_of(heap_.core(), address); }

    /// Objects come by id.
    void check(ObjectId object, TypeId type) {
        const CollectorFacts facts = heap_.collector_facts(object);
        if (facts.immortal || facts.refcount >= as_good_as_immortal) {
            ++result_.immortal;
            return;
        }
        ++result_.checked;
        while (next_word_ < by_target_.size() && by_target_[next_word_].target < object) ++next_word_;
        const bool has_words = next_word_ < by_target_.size() && by_target_[next_word_].target == object;
        std::uint32_t words = has_words ? words_to(object) : 0;
        const std::uint32_t unmarked = words == 0 ? 0 : words - marked_words_to(object);  // most have none
        const std::int64_t accounted = static_cast<std::int64_t>(graph_.found(object)) - unmarked;
        const std::int64_t excess = facts.refcount - accounted;
        if (excess > words && module_of(columns().address_of(object))) ++words;
        result_.counted += static_cast<std::uint64_t>(std::max<std::int64_t>(facts.refcount, 0));
        result_.accounted += static_cast<std::uint64_t>(accounted);
        if (excess == 0) {
            ++result_.balanced;
            return;
        }
        RefcountType& row = row_of(type, excess > 0);
        ++row.objects;
        row.excess += excess;
        if (excess > 0) {
            row.explained += words;
            ++result_.objects;
            result_.excess += static_cast<std::uint64_t>(excess);
            result_.explained += words;
            excess_.push_back({object, excess, accounted, words});
        } else {
            ++result_.deficit_objects;
            result_.deficit += static_cast<std::uint64_t>(-excess);
            deficit_.push_back({object, excess, accounted, words});
        }
    }

    /// The first of the characters that C code would point at; null for other objects.
    static Address characters(const PythonHeap& python, Address object, const TypeInfo& type) {
        if (type.flags & bytes_subclass_flag) return object + python.layout().bytes.ob_sval.or_else(32);
        if (!(type.flags & str_subclass_flag)) return {};
        const auto text = python.unicode(object);
        return !text ? Address() : text->utf8.is_null() ? text->data : text->utf8;
    }

    void find_text_holders() {
        const PythonHeap& python = heap_.python_heap();
        std::unordered_map<std::uint64_t, std::size_t> by_characters;
        std::vector<std::uint64_t> wanted;
        for (std::size_t i = 0; i < excess_.size(); ++i) {
            const Found& found = excess_[i];
            if (found.excess <= found.words) continue;
            const Address text =
                characters(python, columns().address_of(found.object), columns().type_info(found.object));
            if (text.is_null()) continue;
            by_characters.emplace(text.value, i);
            wanted.push_back(text.value);
        }
        if (wanted.empty()) return;
        std::vector<AddressRange> others;  // everything that belongs to no module
        Address from;
        for (const Module& module : heap_.core().modules()) {
            if (module.start > from) others.push_back({from, module.start});
            from = std::max(from, module.image_end);
        }
        others.push_back({from, Address(~std::uint64_t{0})});
        sweep_words(heap_.core().memory(), AddressSet(std::move(wanted)), others,
                    [&](Address at, std::uint64_t word) {
                        const auto held = by_characters.find(word);
                        if (held == by_characters.end()) return;
                        Found& found = excess_[held->second];
                        if (found.excess <= found.words) return;
                        add_word_into(found, at);
                    });
    }

    /// Words elsewhere that point into what C code alone knows of an object.
    void find_holders_of_structs() {
        struct Body {
            std::uint64_t from, to;
            std::size_t found;
        };
        constexpr std::uint64_t behind_header = 16, longest = 1 << 16, page = 4096, page_bits = 1 << 20;
        std::vector<Body> bodies;
        std::vector<bool> pages(page_bits);
        for (std::size_t i = 0; i < excess_.size(); ++i) {
            const TypeInfo& type = columns().type_info(excess_[i].object);
            const std::uint64_t at = columns().address_of(excess_[i].object).value;
            const std::uint64_t size = std::min(type.guess_end, longest);
            if (!type.guessed || size <= behind_header || excess_[i].excess <= excess_[i].words) continue;
            bodies.push_back({at + behind_header, at + size, i});
            for (std::uint64_t p = (at + behind_header) / page; p <= (at + size - 1) / page; ++p)
                pages[p % page_bits] = true;
        }
        if (bodies.empty()) return;
        std::sort(bodies.begin(), bodies.end(), [](const Body& a, const Body& b) { return a.from < b.from; });
        const std::uint64_t lowest = bodies.front().from, highest = bodies.back().to;
        visit_words(heap_.core().memory(), [&](Address at, std::uint64_t word) {
            if (word < lowest || word >= highest || !pages[word / page % page_bits]) return;
            auto body = std::upper_bound(bodies.begin(), bodies.end(), word,
                                         [](std::uint64_t w, const Body& b) { return w < b.from; });
            if (body == bodies.begin() || word >= (--body)->to) return;
            Found& found = excess_[body->found];
            const bool own = at.value >= body->from && at.value < body->to;
            if (own || word % 8 != 0 || found.excess <= found.words || !heap_.handed_out(at)) return;
            add_word_into(found, at);
        });
    }

    /// A word that points at something inside an object holds it.
    void add_word_into(Found& found, Address word) {
        ++found.words;
        ++row_of(columns().type_of(found.object), true).explained;
        ++result_.explained;
        text_words_.emplace(found.object, word);
    }

    /// Finds the excess references for which no word is left over. Leaves out static objects: compiled words
    /// may refer to them.
    void find_leaked() {
        std::unordered_map<std::uint64_t, std::size_t> open;
        std::vector<std::uint64_t> addresses;
        for (std::size_t i = 0; i < excess_.size(); ++i) {
            const Address address = columns().address_of(excess_[i].object);
            if (excess_[i].excess <= excess_[i].words || module_of(address)) continue;
            open.emplace(address.value, i);
            addresses.push_back(address.value);
        }
        if (open.empty() || heap_.core().extent().cut()) return;
        std::vector<std::int64_t> words(excess_.size(), 0), tagged(excess_.size(), 0);
        const auto look_at = [&](std::uint64_t word) {
            const auto found = open.find(word & ~tag_mask);
            if (found != open.end()) ++((word & tag_mask) == 0 ? words : tagged)[found->second];
        };
        const AddressSet set(std::move(addresses));
        visit_words(heap_.core().memory(), [&](Address at, std::uint64_t word) {
            if (set.contains(word & ~tag_mask) && heap_.handed_out(at)) look_at(word);
        });
        for (const CoreThread& thread : heap_.core().threads())
            for (const std::uint64_t word : thread.registers) look_at(word);
        for (const auto& [address, i] : open) {
            Found& found = excess_[i];
            const std::int64_t all = words[i] + tagged[i];
            if (all < found.accounted) continue;  // some of its references are not such words
            const auto to_text = static_cast<std::int64_t>(text_words_.count(found.object));
            const std::int64_t left_over =
                std::max<std::int64_t>(0, all - found.accounted - (found.words - to_text));
            found.leaked = std::max<std::int64_t>(0, found.excess - found.words - left_over);
            result_.leaked += static_cast<std::uint64_t>(found.leaked);
            row_of(columns().type_of(found.object), true).leaked += static_cast<std::uint64_t>(found.leaked);
        }
    }

    /// What static objects refer to as compiled is not counted: deep-frozen code, its constants, bases of
    /// static types.
    void explain_deficits() {
        if (deficit_.empty()) return;
        std::unordered_map<ObjectId, std::uint64_t> borrowed;
        for (const Found& found : deficit_) borrowed[found.object] = 0;
        for (ObjectId source{0}; source < columns().object_count(); ++source) {
            const auto targets = graph_.targets(source);
            if (targets.empty() || !module_of(columns().address_of(source))) continue;
            for (const ObjectId target : targets)
                if (const auto row = borrowed.find(target); row != borrowed.end()) ++row->second;
        }
        for (const Found& found : deficit_) {
            const std::uint64_t explained =
                std::min(static_cast<std::uint64_t>(-found.excess), borrowed[found.object]);
            result_.deficit_explained += explained;
            row_of(columns().type_of(found.object), false).explained += explained;
        }
    }

    RefcountType& row_of(TypeId type, bool in_excess) {
        auto& rows = in_excess ? result_.types : result_.deficit_types;
        const auto [it, is_new] =
            (in_excess ? type_rows_ : deficit_type_rows_).try_emplace(type, rows.size());
        if (is_new) rows.push_back({.name = type_name(columns().types, type), .type = type});
        return rows[it->second];
    }

    static void sort_types(std::vector<RefcountType>& rows) {
        const auto key = [](const RefcountType& row) {
            const std::int64_t open = std::abs(row.excess) - static_cast<std::int64_t>(row.explained);
            return std::tuple(-open, -std::abs(row.excess));
        };
        std::sort(rows.begin(), rows.end(), [&](const RefcountType& a, const RefcountType& b) {
            return key(a) != key(b) ? key(a) < key(b) : std::tie(a.name, a.type) < std::tie(b.name, b.type);
        });
    }

    void choose(std::vector<Found>& found) const {
        const auto less = [](const Found& a, const Found& b) {
            const std::int64_t a_open = std::abs(a.excess) - a.words, b_open = std::abs(b.excess) - b.words;
            if (a_open != b_open) return a_open > b_open;
            return a.excess != b.excess ? std::abs(a.excess) > std::abs(b.excess) : a.object < b.object;
        };
        const std::size_t shown = query_.limit == 0 ? found.size() : std::min(query_.limit, found.size());
        std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(shown), found.end(),
                          less);
        found.resize(shown);
    }

    const HeapSnapshot& columns() const { return heap_.snapshot(); }

    const HeapReader& heap_;
    const RefcountsQuery& query_;
    const ReferenceGraph& graph_;
    std::vector<bool> wanted_;  // by TypeId
    std::vector<WordOfCCode> by_target_;
    std::size_t next_word_ = 0;  // the first of them to what is checked next, or to something behind it
    std::unordered_map<TypeId, std::size_t> type_rows_, deficit_type_rows_;
    std::vector<Found> excess_, deficit_;
    std::multimap<ObjectId, Address> text_words_;
    RefcountsResult result_;
};

}  // namespace

namespace {

/// The place of a word that points at characters, or at a struct.
std::string word_place(const CoreFile& core, Address word, std::string_view what) {
    const Module* module = module_of(core, word);
    if (!module) return fmt::format("<memory of C code, {}>", what);
    const std::string file = module->path.substr(module->path.rfind('/') + 1);
    const auto symbol = core.symbol_at(*module, word);
    return symbol ? fmt::format("<{} {}+{:#x}, {}>", file, symbol->name, symbol->offset, what)
                  : fmt::format("<{}+{:#x}, {}>", file, word - module->start, what);
}

RefcountRow row_of(const HeapReader& heap, const ComparedCounts::Found& found) {
    RefcountRow row;
    row.object = object_row(heap, found.object);
    row.accounted = found.accounted;
    row.excess = found.excess;
    row.leaked = found.leaked;
    return row;
}

/// Names the words that hold the objects of `rows`.
void name_holders(const HeapReader& heap, const std::vector<ComparedCounts::TextWord>& text_words,
                  std::vector<RefcountRow>& rows, const KeptQuestion& question, KeptAnswers* answers) {
    std::unordered_map<std::uint64_t, RefcountRow*> by_address;
    for (RefcountRow& row : rows) by_address.emplace(row.object.address.value, &row);
    std::unordered_set<std::uint64_t> word_of_c_code;
    for (const WordOfCCode& word : words_of_c_code(heap)) word_of_c_code.insert(word.word.value);
    std::vector<Address> words;
    heap.visit_native_references([&](const Reference& reference) {
        if (!word_of_c_code.contains(reference.word.value)) return;
        const auto row = by_address.find(reference.target.value);
        if (row == by_address.end()) return;
        row->second->holders.push_back({reference.word, notation(reference.step), {}});
        words.push_back(reference.word);
    });
    for (const auto& text : text_words) words.push_back(text.word);
    NativeHolderFinder holders(heap);
    holders.find_ways_to(words, question, answers);
    for (RefcountRow& row : rows)
        for (RefcountHolder& holder : row.holders) holder.by = holders.of(holder.word);
    for (RefcountRow& row : rows) {
        const auto [first, last] = std::equal_range(
            text_words.begin(), text_words.end(), ComparedCounts::TextWord{row.object.id, {}},
            [](const auto& a, const auto& b) { return a.object < b.object; });
        const std::uint64_t flags = heap.snapshot().type_info(row.object.id).flags;
        const bool is_text = (flags & (str_subclass_flag | bytes_subclass_flag)) != 0;
        for (auto text = first; text != last; ++text)
            row.holders.push_back(
                {text->word,
                 word_place(heap.core(), text->word, is_text ? "to its characters" : "to a struct in it"),
                 module_of(heap.core(), text->word) ? decltype(RefcountHolder::by){}
                                                    : holders.of(text->word)});
        const Module* module = module_of(heap.core(), row.object.address);
        if (!module || row.excess <= static_cast<std::int64_t>(row.holders.size())) continue;
        row.holders.push_back({row.object.address,
                               "<static, of " + module->path.substr(module->path.rfind('/') + 1) + ">",
                               {}});
    }
}

}  // namespace

RefcountsResult refcounts(const HeapReader& heap, const RefcountsQuery& query,
                          const ProgressCallback& progress, KeptAnswers* answers) {
    if (progress) progress("comparing counts", 0);
    const auto shaped = [&](KeptQuestion question) {
        return question.with_all(query.types)
            .with(query.limit)
            .with(std::uint32_t{heap.snapshot().native_graph.there()});
    };
    ComparedCounts compared = kept_answer(answers, shaped(KeptQuestion("refcounts")), heap,
                                          [&] { return RefcountsFinder(heap, query).find(); });
    RefcountsResult result = std::move(compared.result);
    for (auto* types : {&result.types, &result.deficit_types})
        for (RefcountType& row : *types) row.name = type_name(heap.snapshot().types, row.type);
    for (const auto& found : compared.excess) result.rows.push_back(row_of(heap, found));
    for (const auto& found : compared.deficit) result.deficits.push_back(row_of(heap, found));
    name_holders(heap, compared.text_words, result.rows, shaped(KeptQuestion("refways")), answers);
    return result;
}

}  // namespace heapsift
