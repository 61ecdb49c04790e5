// Only in a static program: functions of the C library that would load shared libraries.
//
// LLVM asks for a user's home (of a path that begins with ~), sqlite3 for extensions, libdw for debuginfod: glibc
// answers by loading libnss_*.so or the library, of whatever version this machine has, into a program that was linked
// with another. heapsift asks none of these questions. So they have the answers of a machine without such a
// user or library. The linker puts these functions in their place (CMakeLists.txt: --wrap).

#ifdef HEAPSIFT_STATIC

#include <pwd.h>

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

}  // extern "C"

#endif
