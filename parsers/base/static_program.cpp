// Only in a static program: functions of the C library that would load shared libraries; and functions that a static
// library lacks.
//
// LLVM asks for a user's home (of a path that begins with ~), sqlite3 for extensions, libdw for debuginfod: glibc
// answers by loading libnss_*.so or the library, of whatever version this machine has, into a program that was linked
// with another. heapsift asks none of these questions. So they have the answers of a machine without such a
// user or library. The linker puts these functions in their place (CMakeLists.txt: --wrap).
//
// libdw.a of elfutils 0.192 (Debian 13) calls its project's search trees, lib/eu-search.c, and does not have them:
// they are tsearch(3)'s, under a lock. A tree begins with its root; what follows belongs to libdw, and stays zero. Where
// libdw.a has them, these are the ones that are taken.

#ifdef HEAPSIFT_STATIC

#include <pwd.h>
#include <search.h>

#include <mutex>

namespace {

struct SearchTree {
    void* root;
};

using Compare = int (*)(const void*, const void*);
using FreeNode = void (*)(void*);

std::recursive_mutex& search_trees() {  // freeing a node may look into another tree
    static std::recursive_mutex all;
    return all;
}

}  // namespace

extern "C" {

int __wrap_getpwnam_r(const char*, passwd*, char*, size_t, passwd** found) {
    *found = nullptr;
    return 0;
}

int __wrap_getpwuid_r(uid_t, passwd*, char*, size_t, passwd** found) {
    *found = nullptr;
    return 0;
}

void* __wrap_dlopen(const char*, int) { return nullptr; }
void* __wrap_dlsym(void*, const char*) { return nullptr; }
int __wrap_dlclose(void*) { return -1; }
char* __wrap_dlerror() {
    static char reason[] = "a static program loads no libraries";
    return reason;
}

void* eu_tsearch(const void* key, SearchTree* tree, Compare compare) {
    const std::lock_guard lock(search_trees());
    return ::tsearch(key, &tree->root, compare);
}

void* eu_tfind(const void* key, SearchTree* tree, Compare compare) {
    const std::lock_guard lock(search_trees());
    return ::tfind(key, &tree->root, compare);
}

void* eu_tdelete(const void* key, SearchTree* tree, Compare compare) {
    const std::lock_guard lock(search_trees());
    return ::tdelete(key, &tree->root, compare);
}

void eu_tdestroy(SearchTree* tree, FreeNode free_node) {
    const std::lock_guard lock(search_trees());
    ::tdestroy(tree->root, free_node);
    tree->root = nullptr;
}

void eu_search_tree_init(SearchTree* tree) { tree->root = nullptr; }
void eu_search_tree_fini(SearchTree* tree, FreeNode free_node) { eu_tdestroy(tree, free_node); }

}  // extern "C"

#endif
