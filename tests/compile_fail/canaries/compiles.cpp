// SPDX-License-Identifier: MIT
//
// Canary: a use that is marked as wrong and compiles must be found.

int main() {
#if defined(WRONG_that_is_right)  // expect: anything
  return 0;
#endif
}
