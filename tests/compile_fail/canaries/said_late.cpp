// SPDX-License-Identifier: MIT
//
// Canary: a reason that comes behind the first lines must be found.

int main() {
#if defined(WRONG_said_late)  // expect: the reason
#error "something else"
#error "something else again"
#error "the reason"
#endif
}
