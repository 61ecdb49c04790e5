#pragma once

// The few instructions of our own that run beside the dumped process' code.
//
// To start the emulator costs more than most objects' traverse. So one start runs a whole batch: a loop in the
// guest takes call after call, and the `visit` that it passes on appends what it is given. Where to append is
// kept in the register mm0, and the end of the room in mm1: compiled C uses neither, and a store to memory
// would cost the emulator more than all the rest of `visit`.

#include <array>
#include <cstdint>

namespace heapsift::guest_code {

// rdi, rsi: where to append, the end of the room. rbx: the calls, {function, object} each; r13: their end; r12:
// what is visited up to the end of each call goes there; r14: `visit`.
inline constexpr std::array<std::uint8_t, 48> batch = {
    0x48, 0x0f, 0x6e, 0xc7,  //  0        movq  mm0, rdi
    0x48, 0x0f, 0x6e, 0xce,  //  4        movq  mm1, rsi
    0x4c, 0x39, 0xeb,        //  8  next: cmp   rbx, r13
    0x73, 0x1f,              // 11        jae   done
    0x48, 0x8b, 0x7b, 0x08,  // 13        mov   rdi, [rbx + 8]
    0x4c, 0x89, 0xf6,        // 17        mov   rsi, r14
    0x31, 0xd2,              // 20        xor   edx, edx
    0xff, 0x13,              // 22        call  [rbx]
    0x48, 0x0f, 0x7e, 0xc0,  // 24        movq  rax, mm0
    0x49, 0x89, 0x04, 0x24,  // 28        mov   [r12], rax
    0x49, 0x83, 0xc4, 0x08,  // 32        add   r12, 8
    0x48, 0x83, 0xc3, 0x10,  // 36        add   rbx, 16
    0xeb, 0xde,              // 40        jmp   next
    0x90, 0x90,              // 42
    0xf4,                    // 44  done: hlt
    0x90, 0x90, 0x90};
inline constexpr std::uint64_t done_at = 44;

// int visit(PyObject* object, void*)
inline constexpr std::uint64_t visit_at = 64;
inline constexpr std::array<std::uint8_t, 30> visit = {0x48, 0x0f, 0x7e, 0xc0,  //  0        movq  rax, mm0
                                                       0x48, 0x0f, 0x7e, 0xc9,  //  4        movq  rcx, mm1
                                                       0x48, 0x39, 0xc8,        //  8        cmp   rax, rcx
                                                       0x73, 0x0e,              // 11        jae   full
                                                       0x48, 0x89, 0x38,        // 13        mov   [rax], rdi
                                                       0x48, 0x83, 0xc0, 0x08,  // 16        add   rax, 8
                                                       0x48, 0x0f, 0x6e, 0xc0,  // 20        movq  mm0, rax
                                                       0x31, 0xc0,              // 24        xor   eax, eax
                                                       0xc3,                    // 26        ret
                                                       0xf4,                    // 27  full: hlt
                                                       0x90, 0x90};
inline constexpr std::uint64_t full_at = visit_at + 27;

// Where a single call returns to.
inline constexpr std::uint64_t returned_at = 128;

}  // namespace heapsift::guest_code
