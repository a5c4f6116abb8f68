// SPDX-License-Identifier: MIT
//
// Code of others in the same program, compiled with exceptions.
#include <stdexcept>

[[noreturn]] void throw_something();
void throw_something() { throw std::runtime_error("planned"); }
