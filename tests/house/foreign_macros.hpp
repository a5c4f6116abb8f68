// SPDX-License-Identifier: MIT
//
// Names that common headers define as macros, as they define them, but without the headers: our own
// must compile behind them and before them (foreign_macros_test.py).
//
// Not here, as the standard library has functions of these names: min, max, index.
#pragma once

// <X11/Xlib.h>, <X11/X.h>
#define Above 0
#define AllTemporary 0L
#define AllocAll 1
#define Always 2
#define AnyKey 0L
#define AutoRepeatModeOn 1
#define BadAccess 10
#define BadAlloc 11
#define BadValue 2
#define Below 1
#define Bool int
#define Button1 1
#define ClientMessage 33
#define Complex 0
#define ControlMask (1 << 2)
#define Convex 2
#define CoordModeOrigin 0
#define CreateNotify 16
#define CurrentTime 0L
#define CursorShape 0
#define DestroyAll 0
#define DestroyNotify 17
#define DirectColor 5
#define DoRed (1 << 0)
#define Expose 12
#define False 0
#define FocusIn 9
#define FocusOut 10
#define GenericEvent 35
#define GrayScale 1
#define InputOnly 2
#define KeyPress 2
#define KeyRelease 3
#define MapNotify 19
#define MappingBusy 1
#define MotionNotify 6
#define None 0L
#define NoSymbol 0L
#define NotUseful 0
#define Opposite 4
#define ParentRelative 1L
#define PropertyNotify 28
#define ReplayKeyboard 5
#define ScreenSaverActive 1
#define SelectionClear 29
#define StaticColor 2
#define Status int
#define Success 0
#define True 1
#define TrueColor 4
#define Unsorted 0
#define VisibilityNotify 15
#define WhenMapped 1
#define YSorted 1

// <windows.h>, <rpcndr.h>
#define CALLBACK __stdcall
#define CONST const
#define DELETE (0x00010000L)
#define DOMAIN 1
#define ERROR 0
#define FALSE 0
#define FAR
#define IN
#define INFINITE 0xFFFFFFFF
#define NEAR
#define NO_ERROR 0L
#define OPTIONAL
#define OUT
#define OVERFLOW 3
#define STRICT 1
#define TRUE 1
#define UNDERFLOW 4
#define VOID void
#define CreateEvent CreateEventW
#define CreateFile CreateFileW
#define CreateMutex CreateMutexW
#define CreateProcess CreateProcessW
#define CreateSemaphore CreateSemaphoreW
#define DeleteFile DeleteFileW
#define DispatchMessage DispatchMessageW
#define FindText FindTextW
#define GetClassName GetClassNameW
#define GetCurrentTime() GetTickCount()
#define GetFreeSpace(w) (0x100000L)
#define GetJob GetJobW
#define GetMessage GetMessageW
#define GetObject GetObjectW
#define LoadLibrary LoadLibraryW
#define PostMessage PostMessageW
#define ReplaceFile ReplaceFileW
#define ReportEvent ReportEventW
#define SendMessage SendMessageW
#define Yield()
#define cdecl
#define far
#define hyper __int64
#define interface struct
#define near
#define pascal
#define small char

// <QObject>, without QT_NO_KEYWORDS
#define emit
#define foreach Q_FOREACH
#define forever for (;;)
#define signals public
#define slots

// <curses.h>, <term.h>
#define ERR (-1)
#define OK (0)
#define addch(c) waddch(stdscr, (c))
#define attron(a) wattron(stdscr, (a))
#define bell CUR Strings[1]
#define border(a, b) wborder(stdscr, a, b)
#define buttons CUR Numbers[32]
#define columns CUR Numbers[0]
#define getch() wgetch(stdscr)
#define inch() winch(stdscr)
#define instr(s) winstr(stdscr, (s))
#define lines CUR Numbers[2]
#define newline CUR Strings[103]
#define reset_1string CUR Strings[126]
#define scroll(w) wscrl((w), 1)
#define tab CUR Strings[134]
#define timeout(t) wtimeout(stdscr, (t))

// <sys/sysmacros.h>, <sys/param.h>, <sys/dir.h>, <linux/keyboard.h>
#define K(t, v) (((t) << 8) | (v))
#define clrbit(a, i) ((a)[(i) / 8] &= ~(1 << ((i) % 8)))
#define direct dirent
#define howmany(x, y) (((x) + ((y) - 1)) / (y))
#define isset(a, i) ((a)[(i) / 8] & (1 << ((i) % 8)))
#define major(dev) gnu_dev_major(dev)
#define makedev(maj, min) gnu_dev_makedev(maj, min)
#define minor(dev) gnu_dev_minor(dev)
#define powerof2(x) ((((x) - 1) & (x)) == 0)
#define roundup(x, y) ((((x) + ((y) - 1)) / (y)) * (y))
#define setbit(a, i) ((a)[(i) / 8] |= 1 << ((i) % 8))

// What compilers define without -std, <complex.h>, <tgmath.h>, the kernel's and others' idioms
#define I _Complex_I
#define complex _Complex
#define imaginary _Imaginary
#define likely(x) __builtin_expect(!!(x), 1)
#define linux 1
#define unix 1
#define unlikely(x) __builtin_expect(!!(x), 0)
