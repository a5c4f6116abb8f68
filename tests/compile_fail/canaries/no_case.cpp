// SPDX-License-Identifier: MIT
//
// Canary: a source without any wrong use must be found.

int main() {}
