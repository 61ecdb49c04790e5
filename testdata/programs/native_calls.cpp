// Native calls for native_calls.py: functions that call Python back, that are inlined, that wait in a signal's handler, that crash; and
// threads that Python does not know.

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// So that the library also loads where glibc is older than here: pthread_create moved to another library in 2.34.
__asm__(".symver pthread_create, pthread_create@GLIBC_2.2.5");

namespace depths {

volatile int sink;

struct Diver {
    __attribute__((noinline)) int down(int depth, int (*then)(int)) {
        if (depth > 0) {
            const int result = down(depth - 1, then);
            sink = result;
            return result + 1;
        }
        const int result = then(depth);
        sink = result;
        return result;
    }
};

__attribute__((noinline)) void wait_for_ever() {
    for (;;) {
        pause();
        sink = 1;
    }
}

inline __attribute__((always_inline)) void wait_inlined(int how) {
    sink = how;
    wait_for_ever();
    sink = 0;
}

inline __attribute__((always_inline)) void wait_inlined_twice(int how) {
    sink = how + 1;
    wait_inlined(how);
    sink = 2;
}

__attribute__((noinline)) void* run_alone(void* argument) {
    wait_inlined_twice(3);
    return argument;
}

__attribute__((noinline)) void on_signal(int) {
    wait_inlined(7);
    sink = 3;
}

__attribute__((noinline)) void* call_python(void* argument) {
    Diver diver;
    sink = diver.down(3, reinterpret_cast<int (*)(int)>(argument));
    return nullptr;
}

}  // namespace depths

extern "C" {

void start_alone() {
    pthread_t thread;
    pthread_create(&thread, nullptr, depths::run_alone, nullptr);
}

void start_caller(int (*then)(int)) {
    pthread_t thread;
    pthread_create(&thread, nullptr, depths::call_python, reinterpret_cast<void*>(then));
}

int call_back(int depth, int (*then)(int)) {
    depths::Diver diver;
    const int result = diver.down(depth, then);
    depths::sink = result;
    return result;
}

/// Waits in a signal's handler, which has a stack of its own.
__attribute__((noinline)) void wait_in_handler() {
    stack_t stack;
    memset(&stack, 0, sizeof stack);
    stack.ss_size = 1 << 16;
    stack.ss_sp = malloc(stack.ss_size);
    sigaltstack(&stack, nullptr);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = depths::on_signal;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR2, &action, nullptr);
    raise(SIGUSR2);
    depths::sink = 4;
}

__attribute__((noinline)) void write_to(int* where) {
    *where = 1;
    depths::sink = 5;
}

__attribute__((noinline)) void call_nothing(void (*function)()) {
    function();
    depths::sink = 6;
}
}
