// Types whose code does harm where nobody meant it to be run: each has two references, and a tp_traverse and getters that are in order
// until `begin_harm` was called. The process never runs them afterwards; who runs them on its core does.
//
// It uses neither libc nor a header of CPython, so that it loads with every version: what it needs is of the stable ABI (Include/object.h,
// Include/typeslots.h).

typedef int (*visitproc)(void* object, void* arg);
typedef struct {
    long refcount;
    void* type;
    void *one, *two;
    long state;
} Body;
typedef struct {
    int slot;
    void* function;
} Slot;
typedef struct {
    const char* name;
    int size, item_size;
    unsigned flags;
    Slot* slots;
} Spec;
typedef struct {
    const char* name;
    void *get, *set;
    const char* text;
    void* closure;
} Getter;
enum { tp_traverse = 71, tp_getset = 73, has_gc = 1 << 14 };

void* PyType_FromSpec(Spec* spec);
void Py_IncRef(void* object);

static volatile int harm;
static volatile unsigned char data[4096];
static const char* volatile victim;  // a file

void begin_harm(const char* path) {
    victim = path;
    harm = 1;
}

void fill(Body* body, void* one, void* two) {
    Py_IncRef(one);
    Py_IncRef(two);
    body->one = one;
    body->two = two;
}

static int visit_all(Body* body, visitproc visit, void* arg) {
    if (visit(body->type, arg)) return 1;
    if (body->one && visit(body->one, arg)) return 1;
    return body->two ? visit(body->two, arg) : 0;
}

static void* given(void* object) {
    Py_IncRef(object);
    return object;
}

static long call_system(long number, long a, long b, long c) {
    long result;
    register long fourth __asm__("r10") = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
}

static void harmless(Body* body) { (void)body; }

static void loop(Body* body) {
    for (;;) ++body->state;
}

static void jump(Body* body) {
    (void)body;
    data[0] = 0xcc;
    ((void (*)(void))data)();
}

static void jump_nowhere(Body* body) { ((void (*)(void))(body->state | 0x10))(); }

// Into itself, its neighbours, its type, the library, the stack; then wherever there is memory, page by page.
static void write_everywhere(Body* body) {
    long here;
    for (long i = -512; i < 512; ++i) ((volatile long*)body)[i] = 0x4141414141414141;
    for (long i = 0; i < 512; ++i) data[i] = 0x41;
    for (long i = 0; i < 512; ++i) (&here)[i] = 0x41;
    for (unsigned long at = 0x10000; at < 0x7ffffffff000; at += 0x1000) *(volatile long*)at = 0x41;
}

// unlink, open and truncate the file; kill; exit_group.
static void call(Body* body) {
    call_system(87, (long)victim, 0, 0);
    call_system(2, (long)victim, 01001, 0);
    call_system(62, call_system(39, 0, 0, 0), 9, 0);
    call_system(62, -1, 0, 0);
    call_system(231, 99, 0, 0);
    body->state = call_system(57, 0, 0, 0);  // fork
    for (;;) call_system(34, 0, 0, 0);       // pause
}

static int recurse_to(Body* body, volatile long* above) {
    volatile long room[512];
    room[0] = *above + 1;
    return harm ? recurse_to(body, room) + (int)room[0] : 0;
}

static void recurse(Body* body) {
    volatile long from = 0;
    body->state = recurse_to(body, &from);
}

#define OF_A_TYPE(name)                                                                                 \
    static int name##_traverse(Body* body, visitproc visit, void* arg) {                                \
        if (harm) name(body);                                                                           \
        return visit_all(body, visit, arg);                                                             \
    }                                                                                                   \
    static void* name##_one(Body* body, void* closure) {                                                \
        (void)closure;                                                                                  \
        if (harm) name(body);                                                                           \
        return given(body->one);                                                                        \
    }                                                                                                   \
    static void* name##_two(Body* body, void* closure) {                                                \
        (void)closure;                                                                                  \
        if (harm) name(body);                                                                           \
        return given(body->two);                                                                        \
    }                                                                                                   \
    static Getter name##_getters[] = {                                                                  \
        {"one", name##_one, 0, 0, 0}, {"two", name##_two, 0, 0, 0}, {0, 0, 0, 0, 0}};                   \
    static Slot name##_slots[] = {{tp_traverse, name##_traverse}, {tp_getset, name##_getters}, {0, 0}}; \
    static Spec name##_spec = {"harm." #name, sizeof(Body), 0, has_gc, name##_slots};

OF_A_TYPE(harmless)
OF_A_TYPE(loop)
OF_A_TYPE(jump)
OF_A_TYPE(jump_nowhere)
OF_A_TYPE(write_everywhere)
OF_A_TYPE(call)
OF_A_TYPE(recurse)

static Spec* const specs[] = {&harmless_spec,         &loop_spec, &jump_spec,   &jump_nowhere_spec,
                              &write_everywhere_spec, &call_spec, &recurse_spec};

int type_count(void) { return sizeof specs / sizeof specs[0]; }
void* type_at(int index) { return PyType_FromSpec(specs[index]); }
