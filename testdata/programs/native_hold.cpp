// A library that keeps Python objects in memory of its own, in each of the ways that C++ libraries do.

#include <map>
#include <vector>

extern "C" void Py_IncRef(void* object);
extern "C" int usleep(unsigned microseconds);

namespace hold {

struct Entry {
    explicit Entry(void* kept) : object(kept) { Py_IncRef(kept); }
    virtual ~Entry() = default;
    void* object;
    double numbers[5] = {0.1, 0.2, 0.3, 0.4, 0.5};
};

std::vector<void*> registry;
std::map<int, Entry*> table;
void* single;
void* volatile lost;  // for a moment; or the compiler would leave out what is kept nowhere
bool stop;

}  // namespace hold

extern "C" {

void keep_in_vector(void* object) {
    Py_IncRef(object);
    hold::registry.push_back(object);
}
void keep_in_map(int key, void* object) { hold::table[key] = new hold::Entry(object); }
void keep_in_variable(void* object) {
    Py_IncRef(object);
    hold::single = object;
}
void* keep_for_owner(void* object) { return new hold::Entry(object); }
void* keep_marked(void* object) {
    auto* entry = new hold::Entry(object);
    entry->object = static_cast<char*>(object) + 1;
    return entry;
}
void keep_and_leak(void* object) {
    hold::lost = new hold::Entry(object);
    hold::lost = nullptr;
}
void keep_on_stack(void* object) {
    void* volatile here[2] = {object, nullptr};  // its reference was counted by who has the interpreter's lock
    while (!__atomic_load_n(&hold::stop, __ATOMIC_RELAXED)) usleep(100000);
    hold::single = here[0];
}
void lose_reference(void* object) { Py_IncRef(object); }
}
