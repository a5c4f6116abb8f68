// SPDX-License-Identifier: MIT
//
// Canary: a use that is marked as wrong and compiles must be found.

int main() {
  // wrong: anything
  // return 0;
}
