// SPDX-License-Identifier: MIT
//
// Canary: a source that does not compile without its wrong use either must be found.

int main() {
  unknown_name();
  // wrong: unknown_name
  // unknown_name();
}
