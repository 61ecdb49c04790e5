// A program asks some twenty passes for an answer, each for several threads. Starting threads anew for each would
// cost milliseconds on a machine with many processors; so they stay, and wait for the next offer.
//
// An offer is a function on somebody's stack. It hangs in a list while its owner works on it himself; a thread that
// is free takes the first one that wants more helpers. The owner then withdraws it, and waits for those who are
// still at it. He never waits for somebody to come: with all threads busy, with none (in a child after fork, where
// only one thread goes on), or with offers inside offers, each owner can finish alone.
//
// The threads are never joined. They are given nothing that is destroyed: the list is made once and stays, and at
// the end of the process they wait for it to change.

#include "parsers/base/helper_threads.h"

#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>

namespace heapsift {
namespace {

struct Offer {
    const std::function<void()>* help;
    std::size_t wanted;
    std::size_t at_it = 0;
    std::condition_variable left;
};

struct Offers {
    std::mutex mutex;
    std::condition_variable made;
    std::list<Offer*> all;  // those that want helpers
    std::size_t threads = 0;
};

Offers& offers() {
    static Offers& all = *new Offers;
    return all;
}

[[noreturn]] void wait_for_offers() {
    Offers& list = offers();
    std::unique_lock lock(list.mutex);
    for (;;) {
        list.made.wait(lock, [&] { return !list.all.empty(); });
        Offer& offer = *list.all.front();
        if (--offer.wanted == 0) list.all.pop_front();
        ++offer.at_it;
        lock.unlock();
        (*offer.help)();
        lock.lock();
        if (--offer.at_it == 0) offer.left.notify_one();
    }
}

/// With the list locked: at least `count` threads, if the system gives them.
void start_helpers(Offers& list, std::size_t count) {
    try {
        for (; list.threads < count; ++list.threads) std::thread(wait_for_offers).detach();
    } catch (const std::system_error&) {
    }
}

}  // namespace

void with_helpers(std::size_t most, const std::function<void()>& help) {
    if (most == 0) return help();
    Offers& list = offers();
    Offer offer{&help, most, 0, {}};
    {
        const std::lock_guard lock(list.mutex);
        start_helpers(list, most);
        list.all.push_back(&offer);
    }
    if (most == 1)
        list.made.notify_one();
    else
        list.made.notify_all();
    help();
    std::unique_lock lock(list.mutex);
    list.all.remove(&offer);
    offer.left.wait(lock, [&] { return offer.at_it == 0; });
}

}  // namespace heapsift
