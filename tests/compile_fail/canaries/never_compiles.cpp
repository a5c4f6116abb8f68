// SPDX-License-Identifier: MIT
//
// Canary: a source that does not compile without its wrong use either must be found.

int main() {
  unknown_name();
#if defined(WRONG_too)  // expect: unknown_name
  unknown_name();
#endif
}
