#pragma once

// What questions found, kept from one command to the next.
//
// The problem: with all columns of a heap at hand (analysis/work.h, parsers/snapshot/kept_parts.h) a question
// still walks over them, and ten million objects take half a second. But people and programs ask the same few
// questions again and again, and what these find is small: twenty objects, and some sums.
//
// The idea: what a search found is kept, not what is printed of it. An answer here is numbers, ids of objects
// and types, and addresses. Names, values and expressions are read anew from the core, by the same code,
// whether the answer was kept or has just been found: so both read the same, nothing that the program stored
// is in the file, and --redact finds everything where it always is.
//
// A search that is to be kept gives a plain struct, with its fields described once:
//
//     template <class Self, class Part>
//     static void fields(Self& self, Part& part, const HeapReader& heap) {
//         part.number(self.total);
//         part.list(self.objects, [&](auto& object, auto& p) { kept_object(object, p, heap); });
//     }
//
// A member that is added to such a result later goes there too: what is not named is 0 in a warm answer.
//
// Everything that shapes it belongs into its question (KeptQuestion): the options, the limit, what was left
// out. The name of the part has a hash of that, and the part begins with the question itself, so that two
// with the same hash are not mixed up. (Whether text or JSON is printed, and --redact, must shape nothing but
// what is made of it.)
//
// Answers lie in a file of their own, beside the index, of the same format and for the same key
// (parsers/index/index_file.h). Why not in the index? It has places for 83 blobs, and columns take most of
// them; and whatever is added to a file makes all of it be checked again, which takes nothing for answers,
// and half a second for columns. Hundreds of different questions may be asked of one core: when the places
// are nearly used up, or the file has become too large, it begins anew with the answers of that run
// (`is_full`). So what is asked often comes back at its next turn. One answer has at most `most_rows` rows
// and `most_bytes` bytes: a list of all objects costs more to write down than to find.
//
// Nothing in it is believed: checksums, lengths, ids and types are checked as in an index (part.h). An answer
// that does not read is found anew.

#include "parsers/index/index_file.h"
#include "parsers/reading/heap_reader.h"

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace heapsift {

/// A question with all that shapes its answer.
class KeptQuestion {
public:
    /// `name`: at most 10 letters.
    explicit KeptQuestion(std::string name) : name_(std::move(name)), text_(name_) {}

    template <class T>
    requires std::integral<T> || std::is_enum_v<T> KeptQuestion& with(T value) {
        return with_number(static_cast<std::uint64_t>(value));
    }
    template <class T>
    KeptQuestion& with_all(const std::vector<T>& values) {
        with_number(values.size());
        for (const T& value : values) with_number(static_cast<std::uint64_t>(std::uint32_t{value}));
        return *this;
    }

    const std::string& text() const { return text_; }
    /// Its name as a part: "objects 0c3fa91b5d20".
    std::string part_name() const;

private:
    KeptQuestion& with_number(std::uint64_t value);

    std::string name_, text_;
};

class KeptAnswers {
public:
    static constexpr std::size_t most_rows = 20'000;
    static constexpr std::uint64_t most_bytes = 1 << 20;

    /// `file` may be null: then nothing is kept. It must live as long.
    explicit KeptAnswers(IndexFile* file = nullptr) : file_(file) {}

    /// The answer to `question`: what is kept, else what `find()` gives; that is noted, to be kept. `about`:
    /// the heap, or the graph, as the answer's `fields` takes it.
    template <class About, class Find>
    auto of(const KeptQuestion& question, const About& about, Find&& find) {
        using Answer = decltype(find());
        if (file_) {
            Answer kept;
            if (file_->read(question.part_name(), [&](PartReader& part) {
                    begin(question, part);
                    Answer::fields(kept, part, about);
                }))
                return kept;
        }
        Answer found = find();
        std::size_t rows = most_rows;
        std::uint64_t bytes = most_bytes;
        if constexpr (requires { Answer::most_kept_bytes; }) {  // an answer that sums up a whole heap
            rows = Answer::most_kept_rows;
            bytes = Answer::most_kept_bytes;
        }
        if (file_ && found.rows() <= rows) {
            PartWriter part(question.part_name());
            begin(question, part);
            Answer::fields(std::as_const(found), part, about);
            note(std::move(part), bytes);
        }
        return found;
    }

    /// What was found since this was asked for last.
    std::vector<PartWriter> take_found() { return std::exchange(found_, {}); }

    /// True if answers are not to be added to the file any more.
    static bool is_full(const IndexFile& file, std::size_t new_answers);

private:
    static void begin(const KeptQuestion& question, PartWriter& part) { part.text(question.text()); }
    static void begin(const KeptQuestion& question, PartReader& part);
    void note(PartWriter part, std::uint64_t most);

    IndexFile* file_;
    std::vector<PartWriter> found_;
};

/// As KeptAnswers::of; without `answers` it only finds.
template <class About, class Find>
auto kept_answer(KeptAnswers* answers, const KeptQuestion& question, const About& about, Find&& find) {
    return answers ? answers->of(question, about, std::forward<Find>(find)) : find();
}

/// The id of an object.
template <class Part>
void kept_object(FieldsOf<Part, ObjectId>& object, Part& part, const HeapReader& heap) {
    part.number(object);
    part.require(object < heap.snapshot().object_count(), "a number is no object's");
}
/// The same, or `no_object`.
template <class Part>
void kept_object_or_none(FieldsOf<Part, ObjectId>& object, Part& part, const HeapReader& heap) {
    part.number(object);
    part.require(object == no_object || object < heap.snapshot().object_count(), "a number is no object's");
}
/// The number of a type, or `no_type`.
template <class Part>
void kept_type(FieldsOf<Part, TypeId>& type, Part& part, const HeapReader& heap) {
    part.number(type);
    part.require(type == no_type || type < heap.snapshot().types.size(), "a number is no type's");
}
template <class Part>
void kept_object_list(FieldsOf<Part, std::vector<ObjectId>>& objects, Part& part, const HeapReader& heap) {
    part.list(objects, [&](auto& object, Part& p) { kept_object(object, p, heap); });
}

}  // namespace heapsift
