/* A CPython in miniature: a few of its struct names with members at unusual places, so that a Layout read from here cannot be
 * right by chance or by a built-in table. */

typedef struct _object {
    long pad;
    void* ob_type;
    long ob_refcnt;
} PyObject;

typedef struct _typeobject {
    PyObject ob_base;
    long pad[5];
    unsigned long tp_flags;
} PyTypeObject;

typedef struct {
    PyObject ob_base;
    long ma_used;
    void* ma_keys;
} PyDictObject;

typedef struct {
    PyObject ob_base;
    int length;
    struct {
        unsigned interned : 2;
        unsigned kind : 3;
        unsigned char ready; /* a whole member where others have a bit field */
    } state;
} PyASCIIObject;

typedef struct {
    unsigned long _gc_next, _gc_prev;
} PyGC_Head;

typedef struct _is {
    long id;
    struct {
        void* head;
    } threads;
    void* modules; /* the old path; the new one, imports.modules, is not here */
} PyInterpreterState;

typedef struct pyruntimestate {
    int finalizing;
    struct {
        void *main, *head;
    } interpreters;
} _PyRuntimeState;

PyTypeObject miniature_type;
PyDictObject miniature_dict;
PyASCIIObject miniature_string;
PyGC_Head miniature_gc_head;
PyInterpreterState miniature_interpreter;
_PyRuntimeState miniature_runtime;
