#pragma once

// What is said of who holds much in a program: the causes, by the rules of analysis/suspects.
//
//     ProgramHeap program;
//     const Address rows = program.list(payloads(program, 20));
//     program.module("app", "/srv/app/app.py", {{"ROWS", rows}});
//     const Suspected suspected(program);
//     CHECK(suspected.kind_of(rows) == "module-container");

#include "analysis/suspects/suspect.h"
#include "tests/program/program_heap.h"

namespace heapsift::test {

/// Objects of `bytes` bytes that nobody else has: each rule's example holds some of them.
inline constexpr int payload_bytes = 4000;
Address payload(ProgramHeap& program, int bytes = payload_bytes);
std::vector<Address> payloads(ProgramHeap& program, int count, int bytes = payload_bytes);

// --- objects that rules know

Address bound_method(ProgramHeap& program, Address self, Address function);
Address partial(ProgramHeap& program, Address function, Address argument);
/// At most 64 items.
Address deque(ProgramHeap& program, const std::vector<Address>& items);
Address weak_reference(ProgramHeap& program, Address to);
/// A class made by C code that derives from BaseException.
Address exception_type(ProgramHeap& program, const std::string& name);
/// One that was raised at line 12 of the innermost of these frame objects, the outermost first; without frames it
/// was never raised.
Address exception(ProgramHeap& program, Address type, const std::vector<Address>& args,
                  const std::vector<Address>& frames);

/// A greenlet (2.0 or later, Python 3.13) of that type that waits in the function `name`, where it has these locals.
Address waiting_greenlet(ProgramHeap& program, Address type, const std::string& name,
                         const ProgramHeap::Named& locals);

// --- what is said

/// "a cache of 20 entries, 4000 bytes".
std::string sentence(const CauseWords& words);

/// The causes of a program's holders.
class Suspected {
public:
    explicit Suspected(ProgramHeap& program);

    /// Of the largest holder that is this object, or hangs on it; fails the test if none does.
    const Cause& of(Address object) const;
    std::string kind_of(Address object) const { return of(object).kind; }
    std::string words_of(Address object) const { return sentence(of(object).words); }
    std::string fix_of(Address object) const { return of(object).fix; }
    /// Of what several objects hold together.
    const Cause& joint() const;
    /// "4096 bytes": what `object` retains, in the words of a sentence.
    std::string size_of(Address object) const;

    Analysed analysed;

private:
    std::vector<TopHolder> holders_;
    std::vector<Cause> causes_;  // of each
};

}  // namespace heapsift::test
