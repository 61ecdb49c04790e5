/* Two CPython runtimes in one process, each from a shared library of its own: what a program gets that embeds Python and loads a plug-in which embeds
   another. For each three words: the library, its home, and the text that it runs, whose `stand_still` is called when
   nothing is left of the text. Then it aborts. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

static void* function(void* library, const char* name) {
    void* found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return found;
}

static void start(const char* path, const char* home, const char* text) {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    wchar_t* wide = malloc(4096 * sizeof *wide); /* Python keeps it */
    if (!library || !wide) {
        fprintf(stderr, "%s\n", library ? "no memory" : dlerror());
        exit(1);
    }
    if (mbstowcs(wide, home, 4096) >= 4096) exit(1);
    ((void (*)(const wchar_t*))function(library, "Py_SetPythonHome"))(wide);
    ((void (*)(int))function(library, "Py_InitializeEx"))(0);
    if (((int (*)(const char*, void*))function(library, "PyRun_SimpleStringFlags"))(text, NULL) != 0) exit(1);
    void* module = ((void* (*)(const char*))function(library, "PyImport_AddModule"))("__main__");
    ((void* (*)(void*, const char*, const char*, ...))function(library, "PyObject_CallMethod"))(module, "stand_still", NULL);
    ((void* (*)(void))function(library, "PyEval_SaveThread"))();
}

int main(int count, char** words) {
    for (int i = 1; i + 2 < count; i += 3) start(words[i], words[i + 1], words[i + 2]);
    abort();
}
