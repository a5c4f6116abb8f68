// SPDX-License-Identifier: MIT
// So many bytes that no one executes (docs/adr/0011). Linked first, they move the code of a program
// by as much: linkers put sections of this name in front of all other code.
asm(".pushsection .text.unlikely, \"ax\"\n"
    ".skip " HANDOFF_PADDING
    ", 0xCC\n"
    ".popsection\n");
