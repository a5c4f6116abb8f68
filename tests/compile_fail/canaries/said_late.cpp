// SPDX-License-Identifier: MIT
//
// Canary: a reason that comes behind the first lines must be found.

int main() {
// wrong: the reason
// #error "something else"
// #error "something else again"
// #error "the reason"
}
