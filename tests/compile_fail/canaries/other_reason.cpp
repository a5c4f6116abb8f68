// SPDX-License-Identifier: MIT
//
// Canary: a use that fails for another reason than the one given must be found.

int main() {
  // wrong: the reason that was meant
  // return unknown_name;
}
