# SPDX-License-Identifier: MIT
"""Writes a copy of the library in which every logic mutant stands behind a number.

The compiler's syntax tree (libclang) says where statements and conditions are; the copy is the
text of the original with something put in before and after them. Nothing is taken out and no line
is added, so that messages name the lines of the original. docs/design/mutants.md has the operators,
the rules of what is not mutated, and what a mutant's name is made of.
"""

import collections
import hashlib
import re
import shutil
from dataclasses import dataclass, field
from multiprocessing import Pool
from pathlib import Path

import clang.cindex
from clang.cindex import BinaryOperator, CursorKind, TypeKind

ROOMS = ("core", "sync", "memory", "queue", "team", "pool", "event", "graph", "bus", "command",
         "file", "process", "trace", "probe")
LEFT_OUT = ("include/handoff/sync/backoff.hpp",)  # how long a pause is
# Its tests are jobs of Open MPI, and a build of mutants has none.
ROOM_LEFT_OUT = ("include/handoff/mpi/", "src/mpi/")
HOME = Path(__file__).resolve().parent
RANGE = 1000  # of numbers, a file
ON = "::handoff_mutants::on"
FLIP = "::handoff_mutants::flip"

FUNCTIONS = {
    CursorKind.FUNCTION_DECL,
    CursorKind.CXX_METHOD,
    CursorKind.CONSTRUCTOR,
    CursorKind.DESTRUCTOR,
    CursorKind.CONVERSION_FUNCTION,
    CursorKind.FUNCTION_TEMPLATE,
}
SCOPES = {
    CursorKind.NAMESPACE,
    CursorKind.CLASS_DECL,
    CursorKind.STRUCT_DECL,
    CursorKind.CLASS_TEMPLATE,
    CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION,
    CursorKind.FRIEND_DECL,
    CursorKind.LINKAGE_SPEC,
    CursorKind.UNEXPOSED_DECL,
}
# What the compiler evaluates, or does not evaluate at all.
NOT_RUN = {
    CursorKind.STATIC_ASSERT,
    CursorKind.CXX_UNARY_EXPR,  # sizeof, alignof, noexcept
    CursorKind.REQUIRES_EXPR,
    CursorKind.CONCEPT_SPECIALIZATION_EXPR,
    CursorKind.TYPE_REF,
    CursorKind.TEMPLATE_REF,
    CursorKind.PARM_DECL,
}
JUMPS = {CursorKind.BREAK_STMT, CursorKind.CONTINUE_STMT}
LITERALS = {
    CursorKind.CXX_BOOL_LITERAL_EXPR,
    CursorKind.CXX_NULL_PTR_LITERAL_EXPR,
    CursorKind.INTEGER_LITERAL,
}
LOGIC = {BinaryOperator.LAnd, BinaryOperator.LOr}
MOVED = {
    BinaryOperator.LT: ("<", "<="),
    BinaryOperator.LE: ("<=", "<"),
    BinaryOperator.GT: (">", ">="),
    BinaryOperator.GE: (">=", ">"),
}
INTEGERS = {
    TypeKind.CHAR_U, TypeKind.UCHAR, TypeKind.USHORT, TypeKind.UINT, TypeKind.ULONG,
    TypeKind.ULONGLONG, TypeKind.CHAR_S, TypeKind.SCHAR, TypeKind.SHORT, TypeKind.INT,
    TypeKind.LONG, TypeKind.LONGLONG,
}
# By their contracts these change no result (rule "hints").
HINT_NAMES = re.compile(r"pause|point|prefetch\w*")
HINTS = re.compile(
    rf"\s*(?:handoff::)?sync::(?:{HINT_NAMES.pattern})\s*\(|\s*HANDOFF_PROBE\b"
    r"|\s*(?:const\s+)?probe::\w+\b|\s*if \(probe::is_watched"
    r"|\s*backoff\.\w+\(\)")
CONSTEVAL = re.compile(rb"consteval\s+\w+\s+(\w+)\(")
# Calls that neither order anything nor do more than they say: cells, relaxed operations, values.
PLAIN_ACCESS = re.compile(r"\.(?:read|write)\(\)|(?:\.|->)(?:load|store|exchange|fetch_\w+)\b")
PLAIN_CALL = re.compile(
    r"\.(?:read|write)\(|(?:\.|->)load\((?:sync::)?order::relaxed"
    r"|(?:\.|->)(?:store|exchange|fetch_\w+)\((?=[^;]*\brelaxed\))(?![^;]*order::[^r])"
    r"|(?:std|detail)::(?:exchange|move|forward|min|max|size_t|uint\w+)(?:<[\w:]+>)?\("
    r"|(?:static|reinterpret)_cast<[^>]*>\(|std::u?int\w+\{|->size\(|\.size\(|sizeof\(")
ORDERED_CALL = re.compile(r"[\w>}]\s*\(")
MACRO = re.compile(rb"\b(?:[A-Z][A-Z0-9_]{2,}|io_uring_for_each_\w+)\s*\(")
NOTIFIES = re.compile(r"(?:notify|wake|unpark)(?:_|$)|unpark")
# In a text without comments and strings: what begins a function body, or a condition.
BODY = re.compile(rb"\)[^;{}=\[\]#]*\{")
# Files that have one, but no function to mutate. In others that is a fault.
NO_FUNCTION = {
    "include/handoff/core/executor.hpp",  # a concept
    "include/handoff/core/sender_words.hpp",  # compiled out where there are no senders
}
# `// equivalent(swap): why`, of the mutants of one line; `// equivalent(swap) all: why`, of the
# function it stands in.
EQUIVALENT = re.compile(rb"//\s*equivalent\(([a-z_ ]+)\)( all)?:[ ]*(\S[^\n]*)?")
COMMENT_OR_STRING = re.compile(
    rb'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


class Fault(Exception):
    """Why there are no mutants. A SystemExit in a process of a pool would only end that process,
    and the others would wait for it for ever."""


@dataclass
class Mutant:
    """One mutant; `name` says which one, in words."""
    number: int
    name: str
    operator: str
    room: str
    file: str
    function: str
    line: int
    text: str
    orders: bool  # its file has `// order:` comments
    equivalent: str = ""  # why it changes nothing, as the code says


@dataclass
class Edits:
    """What is put into one file: nothing of it is ever taken out."""
    before: list = field(default_factory=list)  # (offset, rank, creation, text)
    after: list = field(default_factory=list)

    def wrap(self, start, end, prefix, suffix, rank=1):
        self.before.append((start, rank, len(self.before), prefix))
        if suffix:
            self.after.append((end, len(self.after), suffix))

    def apply(self, data):
        """At one place: ends first, the inner ones before the outer; then beginnings, those of
        statements before those of the expressions in them."""
        at = [(offset, 0, -made, text) for offset, made, text in self.after]
        at += [(offset, rank, made, text) for offset, rank, made, text in self.before]
        at.sort(key=lambda edit: edit[:3])
        out, last = [], 0
        for offset, _, _, text in at:
            out.append(data[last:offset])
            out.append(text.encode())
            last = offset
        return b"".join(out) + data[last:]


def blanked(data):
    """The text with comments and strings made blank, of the same length."""
    return COMMENT_OR_STRING.sub(
        lambda found: re.sub(rb"[^\n]", b" ", found.group()), data)


def without_comments(text):
    kept = COMMENT_OR_STRING.sub(
        lambda found: b" " if found.group().startswith((b"//", b"/*")) else found.group(), text)
    return re.sub(rb"\s+", b" ", kept)


def changed_by(text):
    """The last names of what a plain statement writes to; None for what is not understood."""
    text = PLAIN_ACCESS.sub("", text)
    names = [re.match(r"[\s+\-*]*(?:[\w:]+(?:\.|->|::|\[\w*\]\.?))*(\w+)", text)]
    names += re.finditer(r"exchange\((?:[\w]+(?:\.|->))*(\w+),", text)
    return [found.group(1) if found else None for found in names]


def children(cursor):
    return list(cursor.get_children())


def stripped(cursor):
    """Without what the compiler puts around an expression and nobody wrote."""
    while cursor.kind == CursorKind.UNEXPOSED_EXPR:
        inner = children(cursor)
        if len(inner) != 1:
            break
        cursor = inner[0]
    return cursor


def is_statement_expression(cursor):
    return cursor.kind.is_expression() and cursor.kind != CursorKind.LAMBDA_EXPR


def every(cursor):
    """The cursor and all below it, but for what is not run."""
    yield cursor
    for child in cursor.get_children():
        if child.kind not in NOT_RUN:
            yield from every(child)


def has_call(cursor):
    return any(c.kind in (CursorKind.CALL_EXPR, CursorKind.CXX_NEW_EXPR,
                          CursorKind.CXX_DELETE_EXPR) for c in every(cursor))


def closing(bare, first):
    """Where the parenthesis ends that begins at `first`."""
    depth = 0
    for at in range(first, len(bare)):
        depth += {40: 1, 41: -1}.get(bare[at], 0)
        if depth == 0:
            return at
    return len(bare)


def short(file):
    """A file as the names of mutants have it."""
    return file.removeprefix("include/handoff/").removeprefix("src/")


def key_of(name):
    """What stays when a function moves: operator, hash and number. The rest is for people."""
    words = name.split()
    return f"{words[0]} {words[-1]}"


@dataclass
class Equivalent:
    """A comment that says of some operators that what they do at its line changes nothing."""
    line: int  # whose mutants it means; where it stands itself, if it means the whole function
    whole: bool
    operators: set
    why: str
    used: set = field(default_factory=set)

    def means(self, operator, line, function):
        return operator in self.operators and (
            self.line in function if self.whole else self.line == line)


def equivalents_of(data, bare):
    """A comment on a line of its own is about the next line with code."""
    code = bare.split(b"\n")
    found = []
    for comment in EQUIVALENT.finditer(data):
        line = data.count(b"\n", 0, comment.start())
        whole = comment.group(2) is not None
        while not whole and line < len(code) - 1 and not code[line].strip():
            line += 1
        found.append(Equivalent(line + 1, whole, set(comment.group(1).decode().split()),
                                (comment.group(3) or b"").decode()))
    return found


class Source:
    """One file of the library, its mutants and its edits."""

    def __init__(self, root, file):
        self.file = file  # below the root
        self.data = (root / file).read_bytes()
        self.bare = blanked(self.data)
        self.edits = Edits()
        self.mutants = []
        self.seen = set()
        parts = Path(file).parts
        self.room = parts[parts.index("handoff") + 1] if "handoff" in parts else parts[1]
        self.orders = b"// order:" in self.data
        self.consteval = {name.decode() for name in CONSTEVAL.findall(self.bare)}
        self.equivalents = equivalents_of(self.data, self.bare)
        self.macros = [(found.start(), closing(self.bare, found.end() - 1))
                       for found in MACRO.finditer(self.bare)]

    def in_macro(self, offset):
        return any(start <= offset < end for start, end in self.macros)

    def text(self, start, end):
        return self.data[start:end].decode()

    def line_of(self, offset):
        return self.data.count(b"\n", 0, offset) + 1

    def is_hint(self, statement):
        """By contract it changes no result; the room `sync` calls its own without its name."""
        return HINTS.match(("sync::" if self.room == "sync" else "") + statement) is not None


class Function:
    """The mutants of one function: gives them their names."""

    def __init__(self, source, cursor, body):
        self.source = source
        self.name = qualified_name(cursor)
        start, end = cursor.extent.start.offset, body.extent.end.offset
        text = without_comments(source.data[start:end])
        digest = hashlib.sha1(self.name.encode() + b"\n" + re.sub(rb"\s", b"", text))
        self.hash = digest.hexdigest()[:10]
        self.ordinals = {}
        self.lines = range(source.line_of(start), source.line_of(end) + 1)

    def equivalent(self, operator, line):
        """Why the code says that it changes nothing; empty if it does not say so."""
        for said in self.source.equivalents:
            if said.means(operator, line, self.lines):
                said.used.add(operator)
                return said.why
        return ""

    def add(self, operator, offset, text):
        """A new mutant; the number by which its place knows it."""
        source = self.source
        ordinal = self.ordinals[operator] = self.ordinals.get(operator, 0) + 1
        number, line = f"@{len(source.mutants)}@", source.line_of(offset)
        source.mutants.append(Mutant(
            number=0, name=f"{operator} {short(source.file)}:{self.name} {self.hash}.{ordinal}",
            operator=operator, room=source.room, file=source.file, function=self.name,
            line=line, text=re.sub(r"\s+", " ", text)[:120], orders=source.orders,
            equivalent=self.equivalent(operator, line)))
        return number


def qualified_name(cursor):
    names = []
    while cursor is not None and cursor.kind != CursorKind.TRANSLATION_UNIT:
        name = cursor.spelling
        if cursor.kind == CursorKind.NAMESPACE and (name in ("handoff", "detail", "abi_0", "sync")
                                                    or not name or "(" in name):
            name = ""
        if name:
            names.append(re.sub(r"\s+", "", name))
        cursor = cursor.semantic_parent
    return "::".join(reversed(names))


class Mutator:
    """Walks over one function and puts its mutants in."""

    def __init__(self, source, cursor, body):
        self.source = source
        self.cursor = cursor
        self.body = body
        self.function = Function(source, cursor, body)
        self.head = source.text(cursor.extent.start.offset, body.extent.start.offset)
        self.edits = source.edits

    def canaries(self):
        """Two at the function's beginning: one that nobody can miss, one that does nothing."""
        start = self.body.extent.start.offset
        for operator, done in (("canary_fatal", "__builtin_trap();"), ("canary_harmless", "")):
            number = self.function.add(operator, start, operator)
            self.edits.wrap(start + 1, start + 1, f" if ({ON}({number})) {{ {done} }}", "", rank=0)

    def run(self):
        if self.source.room == "sync" and HINT_NAMES.fullmatch(self.cursor.spelling):
            return
        if "consteval" in self.head:
            return  # the compiler's
        self.return_early()
        self.walk(self.body, None, self.returns_bool(self.cursor))

    @staticmethod
    def returns_bool(cursor):
        """None: a reference, which has no opposite."""
        result = cursor.result_type.get_canonical().kind
        if result in (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE):
            return None
        return result == TypeKind.BOOL

    # Where things are.

    def span(self, cursor):
        """The bytes of a cursor; None for what a macro wrote."""
        extent = cursor.extent
        start, end = extent.start.offset, extent.end.offset
        if extent.start.file is None or end <= start:
            return None
        return start, end

    def statement_span(self, cursor):
        """With the semicolon."""
        span = self.span(cursor)
        if span is None:
            return None
        found = re.compile(rb"\s*;").match(self.source.bare, span[1])
        return (span[0], found.end()) if found else None

    def parenthesis(self, start):
        """What stands in the first parenthesis from here on."""
        bare = self.source.bare
        first = bare.index(b"(", start)
        return first + 1, closing(bare, first)

    # Operators.

    def return_early(self):
        cursor, start = self.cursor, self.body.extent.start.offset
        statements = children(self.body)
        kind = cursor.result_type.get_canonical().kind
        procedure = kind == TypeKind.VOID or cursor.kind in (
            CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR)
        valued = kind in INTEGERS or kind in (TypeKind.BOOL, TypeKind.ENUM, TypeKind.POINTER)
        text = self.source.bare[start:self.body.extent.end.offset]
        statements = [s for s in statements if not self.only_declares(s)]
        if not statements or b"co_return" in text or b"co_await" in text:
            return
        if "[[noreturn]]" in self.head or not (procedure or valued):
            return
        only = stripped(statements[0]) if len(statements) == 1 else None
        if only is not None and (is_statement_expression(only)
                                 or only.kind == CursorKind.RETURN_STMT):
            return  # nothing is skipped but what another operator changes
        number = self.function.add("return_early", start, "{")
        done = "return;" if procedure else "return {};"
        self.edits.wrap(start + 1, start + 1, f" if ({ON}({number})) {done}", "")

    @staticmethod
    def only_declares(statement):
        """A `static_assert` or an alias: nothing that runs."""
        return statement.kind == CursorKind.DECL_STMT and not any(
            child.kind == CursorKind.VAR_DECL for child in children(statement))

    def delete(self, cursor, alone):
        """One statement; `alone`: all that a condition decides on, so that the negated condition
        leaves it out as well. A call that wakes somebody is dropped there too."""
        node = stripped(cursor)
        jump = node.kind in JUMPS or (node.kind == CursorKind.RETURN_STMT and
                                      not children(node))
        if not jump and not is_statement_expression(node):
            return
        span = self.statement_span(cursor)
        if span is None or self.source.is_hint(self.source.text(*span)):
            return
        if not jump and not self.has_effect(node):
            return
        called = self.called_by(node)
        if called in self.source.consteval:
            return
        operator = "drop_notify" if not jump and NOTIFIES.match(called) else "delete"
        if operator == "delete" and alone:
            return
        number = self.function.add(operator, span[0], self.source.text(*span))
        self.edits.wrap(*span, f"{{ if (!{ON}({number})) {{ ", " } }")

    @staticmethod
    def has_effect(node):
        """Not `(void)x`, and not what throws or leaves for good."""
        if node.kind in (CursorKind.CXX_THROW_EXPR,):
            return True
        return any(
            c.kind in (CursorKind.CALL_EXPR, CursorKind.CXX_NEW_EXPR, CursorKind.CXX_DELETE_EXPR,
                       CursorKind.COMPOUND_ASSIGNMENT_OPERATOR, CursorKind.UNARY_OPERATOR,
                       CursorKind.CXX_THROW_EXPR)
            or (c.kind == CursorKind.BINARY_OPERATOR and c.binary_operator == BinaryOperator.Assign)
            for c in every(node))

    def called_by(self, node):
        """The last name of what the statement calls; empty for what is no call."""
        span = self.span(node)
        called = re.sub(r"^\s*(?:\(void\)|static_cast<void>\()\s*", "", self.source.text(*span))
        found = re.match(r"[\w:.\->()\[\]]*?(\w+)(?:<[\w, ]*>)?\s*\(", called)
        return found.group(1) if found is not None else ""

    def swap(self, first, second):
        """Two expression statements, one right after the other."""
        one, two = stripped(first), stripped(second)
        if not (is_statement_expression(one) and is_statement_expression(two)):
            return
        if CursorKind.CXX_THROW_EXPR in (one.kind, two.kind):
            return  # the same as a deletion
        spans = self.statement_span(first), self.statement_span(second)
        if None in spans:
            return
        texts = [self.source.text(*span) for span in spans]
        if any(self.source.is_hint(text) for text in texts):
            return
        if texts[0] == texts[1] or not (self.has_effect(one) and self.has_effect(two)):
            return
        if self.commute(one, two, texts):
            return
        number = self.function.add("swap", spans[0][0], " ".join(texts))
        copy = re.sub(r"\s+", " ", without_comments(texts[1].encode()).decode())
        self.edits.wrap(spans[0][0], spans[0][0], f"{{ if ({ON}({number})) {{ {copy} }} }} ", "",
                        rank=1)
        self.guards.append((spans[1], number))

    @staticmethod
    def commute(one, two, texts):
        """By construction: nothing shared, or nothing promised."""
        plain = [not has_call(node) or ORDERED_CALL.search(PLAIN_CALL.sub("", text)) is None
                 for node, text in zip((one, two), texts)]
        changed = [changed_by(text) for text in texts]
        if all(plain):
            return not any(name is None or re.search(rf"\b{name}\b", other)
                           for names, other in zip(changed, reversed(texts)) for name in names)
        if any(plain):
            # Of local variables only, and none that the call names.
            text, call = texts if plain[0] else reversed(texts)
            return re.search(r"\w_\b|\.|->|\*|\[", text) is None and not (
                set(re.findall(r"\w+", text)) & set(re.findall(r"\w+", call)))
        return False

    def negate(self, start, end, whole=None):
        """Of what && and || join the operands are negated, each one, and not the whole."""
        if whole is not None and stripped(whole).kind == CursorKind.BINARY_OPERATOR and (
                stripped(whole).binary_operator in LOGIC):
            return
        text = self.source.text(start, end)
        number = self.function.add("negate", start, text)
        self.edits.wrap(start, end, f"{FLIP}({number}, static_cast<bool>(", "))", rank=3)

    def condition(self, cursor):
        """Of if, while, do and for: what stands in its parenthesis."""
        kind = cursor.kind
        parts = children(cursor)
        start = cursor.extent.start.offset
        if kind == CursorKind.DO_STMT:
            start = parts[0].extent.end.offset
        head = self.parenthesis(start)
        if kind == CursorKind.IF_STMT:
            between = self.source.bare[start + 2:head[0] - 1]
            if b"constexpr" in between:
                return
        bare = self.source.bare[head[0]:head[1]]
        if kind == CursorKind.FOR_STMT:
            semicolons = self.top_level(bare, b";")
            if len(semicolons) != 2:
                return
            head = head[0] + semicolons[0] + 1, head[0] + semicolons[1]
        elif (semicolons := self.top_level(bare, b";")):
            head = head[0] + semicolons[-1] + 1, head[1]
        text = self.source.text(*head)
        if not text.strip() or text.strip() in ("true", "false"):
            return
        head = head[0] + len(text) - len(text.lstrip()), head[0] + len(text.rstrip())
        variable = [c for c in parts if c.kind == CursorKind.VAR_DECL
                    and head[0] <= c.extent.start.offset < head[1]]
        if not variable:
            self.negate(*head, next((c for c in parts if c.kind.is_expression() and
                                     self.span(c) == head), None))
        elif kind == CursorKind.IF_STMT:
            number = self.function.add("negate", head[0], text)
            self.edits.wrap(head[0], head[1], "",
                            f"; {FLIP}({number}, static_cast<bool>({variable[0].spelling}))")

    @staticmethod
    def top_level(bare, sign):
        depth, found = 0, []
        for at, byte in enumerate(bare):
            depth += {40: 1, 41: -1, 123: 1, 125: -1, 91: 1, 93: -1}.get(byte, 0)
            if depth == 0 and byte == sign[0]:
                found.append(at)
        return found

    def operands(self, cursor):
        for operand in children(cursor):
            inner = stripped(operand)
            if inner.kind == CursorKind.BINARY_OPERATOR and inner.binary_operator in LOGIC:
                continue
            span = self.span(operand)
            if span is not None:
                self.negate(*span)

    def is_same_at_the_bound(self, cursor, parent):
        """`a < b ? a : b` and `a > b ? a - b : 0`: either arm where the two are equal."""
        if parent is None or parent.kind != CursorKind.CONDITIONAL_OPERATOR:
            return False

        def text(node):
            span = self.span(node)
            plain = self.source.text(*span) if span else ""
            return re.sub(r"^static_cast<[^()]*>\((.*)\)$", r"\1", plain)
        parts = children(parent)
        if stripped(parts[0]) != cursor:
            return False
        left, right = (text(part) for part in children(cursor))
        arms = {text(part) for part in parts[1:]}
        return arms in ({left, right}, {"0", f"{left} - {right}"}, {"0", f"{right} - {left}"})

    def move_bound(self, cursor, of_loop):
        parts = children(cursor)
        spans = [self.span(part) for part in parts]
        span = self.span(cursor)
        if len(parts) != 2 or None in spans or span is None:
            return
        if any(part.type.get_canonical().kind in (TypeKind.DOUBLE, TypeKind.FLOAT,
                                                  TypeKind.LONGDOUBLE) for part in parts):
            return
        sign, moved = MOVED[cursor.binary_operator]
        left, right = (without_comments(self.source.data[a:b]).decode() for a, b in spans)
        ways = [(f"({left}) {moved} ({right})", f"{left} {sign} {right} -> {moved}")]
        if of_loop:
            # One turn less where the other way is one more, and the other way round.
            less = {"<": f"({left}) + 1 < ({right})", ">": f"({left}) > ({right}) + 1",
                    "<=": f"({left}) <= ({right}) + 1", ">=": f"({left}) + 1 >= ({right})"}[sign]
            ways.append((less, f"{left} {sign} {right} -> {less}"))
        for code, text in ways:
            number = self.function.add("bound", span[0], text)
            self.edits.wrap(*span, f"({ON}({number}) ? ({code}) : (", "))", rank=3)

    def move_start(self, cursor):
        """Where a counting loop begins."""
        first = next((c for c in children(cursor) if c.kind == CursorKind.DECL_STMT), None)
        if first is None:
            return
        for variable in children(first):
            values = [c for c in children(variable) if c.kind.is_expression()]
            if variable.type.get_canonical().kind not in INTEGERS or not values:
                continue
            span = self.span(values[-1])
            if span is None:
                continue
            sign = "+" if stripped(values[-1]).kind == CursorKind.INTEGER_LITERAL else "-"
            number = self.function.add("bound", span[0], f"{self.source.text(*span)} {sign} 1")
            self.edits.wrap(*span, "(", f") {sign} static_cast<int>({ON}({number}))", rank=3)

    def empty_catch(self, cursor):
        body = children(cursor)[-1]
        if not children(body):
            return
        span = self.span(body)
        number = self.function.add("empty_catch", span[0], self.source.text(*span))
        self.edits.wrap(span[0] + 1, span[1] - 1, f" if (!{ON}({number})) {{", "} ")

    def negate_result(self, cursor, returns_bool):
        value = children(cursor)
        if len(value) != 1 or returns_bool is None:
            return
        inner = stripped(value[0])
        is_bool = value[0].type.get_canonical().kind == TypeKind.BOOL or returns_bool
        if not is_bool or inner.kind in LITERALS or inner.kind == CursorKind.INIT_LIST_EXPR:
            return
        span = self.span(value[0])
        if span is not None:
            self.negate(*span, value[0])

    # The walk.

    def block(self, cursor):
        """Swaps of a block, before what stands inside its statements."""
        statements = children(cursor)
        self.guards = []
        for first, second in zip(statements, statements[1:]):
            self.swap(first, second)
        for span, number in self.guards:
            self.edits.wrap(*span, f"{{ if (!{ON}({number})) {{ ", " } }", rank=2)

    def statements_of(self, cursor):
        """The children of a statement that are statements themselves."""
        kind, parts = cursor.kind, children(cursor)
        if self.source.in_macro(cursor.extent.start.offset):
            return []
        if kind == CursorKind.COMPOUND_STMT:
            return parts
        if kind == CursorKind.IF_STMT:
            head = self.parenthesis(cursor.extent.start.offset)
            return [c for c in parts if c.extent.start.offset >= head[1]]
        if kind in (CursorKind.WHILE_STMT, CursorKind.FOR_STMT, CursorKind.CXX_FOR_RANGE_STMT):
            return parts[-1:]
        if kind in (CursorKind.CASE_STMT, CursorKind.DEFAULT_STMT):
            return parts[-1:]
        if kind == CursorKind.DO_STMT:
            return parts[:1]
        return []

    def is_branch(self, cursor, parent):
        """What an `if` without `else` decides on, with or without braces."""
        node = parent if cursor.kind == CursorKind.COMPOUND_STMT else cursor
        return (node is not None and node.kind == CursorKind.IF_STMT
                and self.compile_time_condition(node) is None
                and len(self.statements_of(node)) == 1)

    def enter(self, cursor, parent, returns_bool):
        """The mutants of this cursor itself."""
        kind = cursor.kind
        if self.source.in_macro(cursor.extent.start.offset):
            return
        if kind == CursorKind.COMPOUND_STMT:
            self.block(cursor)
        elif kind in (CursorKind.IF_STMT, CursorKind.WHILE_STMT, CursorKind.DO_STMT,
                      CursorKind.FOR_STMT):
            self.condition(cursor)
            if kind == CursorKind.FOR_STMT:
                self.move_start(cursor)
        elif kind == CursorKind.CONDITIONAL_OPERATOR:
            span = self.span(children(cursor)[0])
            if span is not None:
                self.negate(*span, children(cursor)[0])
        elif kind == CursorKind.BINARY_OPERATOR:
            if cursor.binary_operator in LOGIC:
                self.operands(cursor)
            elif cursor.binary_operator in MOVED:
                loop = parent is not None and parent.kind in (CursorKind.FOR_STMT,
                                                              CursorKind.WHILE_STMT)
                if not self.is_same_at_the_bound(cursor, parent):
                    self.move_bound(cursor, loop)
        elif kind == CursorKind.RETURN_STMT:
            self.negate_result(cursor, returns_bool)
        elif kind == CursorKind.CXX_CATCH_STMT:
            self.empty_catch(cursor)

    def is_compile_time(self, cursor):
        if cursor.kind in NOT_RUN:
            return True
        if cursor.kind == CursorKind.VAR_DECL:
            start = cursor.extent.start.offset
            return b"constexpr" in self.source.bare[start:start + 40].split(b"=")[0]
        return False

    def walk(self, cursor, parent, returns_bool):
        if self.is_compile_time(cursor):
            return
        if cursor.kind in FUNCTIONS:  # of a class inside the function
            returns_bool = self.returns_bool(cursor)
        elif cursor.kind == CursorKind.LAMBDA_EXPR:
            returns_bool = False
        self.enter(cursor, parent, returns_bool)
        alone = self.is_branch(cursor, parent)
        statements = self.statements_of(cursor)
        for statement in statements:
            self.delete(statement, alone and len(statements) == 1)
        skipped = self.compile_time_condition(cursor)
        for child in cursor.get_children():
            if skipped is None or child.extent.start.offset >= skipped:
                self.walk(child, cursor, returns_bool)

    def compile_time_condition(self, cursor):
        """Of an `if constexpr`: where its condition ends."""
        if cursor.kind != CursorKind.IF_STMT:
            return None
        start = cursor.extent.start.offset
        head = self.parenthesis(start)
        return head[1] if b"constexpr" in self.source.bare[start:head[0]] else None


def functions_of(cursor, wanted):
    """Definitions with a body in the wanted files: (file, cursor, body)."""
    for child in cursor.get_children():
        where = child.location.file
        if where is None or where.name not in wanted:
            continue
        if child.kind in FUNCTIONS:
            parts = children(child)
            body = next((c for c in reversed(parts) if c.kind == CursorKind.COMPOUND_STMT), None)
            if body is not None and child.is_definition():
                yield where.name, child, body
        elif child.kind in SCOPES:
            yield from functions_of(child, wanted)


def mutate_unit(job):
    """Parses one unit and mutates the files that it answers for."""
    root, unit, text, files = job
    root = Path(root)
    index = clang.cindex.Index.create()
    arguments = ["-x", "c++", "-std=c++20", f"-I{root}/include", f"-I{root}/src/x", "-pthread",
                 "-DHANDOFF_HAS_URING"]
    unsaved = [(unit, text)] if text is not None else None
    parsed = index.parse(unit, arguments, unsaved_files=unsaved)
    errors = [str(d) for d in parsed.diagnostics if d.severity >= clang.cindex.Diagnostic.Error]
    if errors:
        raise Fault("the library does not parse:\n" + "\n".join(errors[:10]))
    sources = {str(root / file): Source(root, file) for file in files}
    for name, cursor, body in functions_of(parsed.cursor, sources):
        source = sources[name]
        if source.data[body.extent.start.offset:][:1] != b"{":
            continue  # the compiler gives a `= default` a body, which nobody wrote
        if cursor.extent.start.offset not in source.seen:
            mutator = Mutator(source, cursor, body)
            if not source.seen and source.file.endswith(".cpp"):
                mutator.canaries()
            source.seen.add(cursor.extent.start.offset)
            mutator.run()
    for source in sources.values():
        if not source.seen and BODY.search(source.bare) and source.file not in NO_FUNCTION:
            raise Fault(f"{source.file} seems to have a function, and none was found")
        for said in source.equivalents:
            if not said.why or said.operators != said.used:
                raise Fault(f"{source.file}:{said.line}: `equivalent` without a reason, or of no "
                            f"mutant: {' '.join(sorted(said.operators - said.used))}")
    return [(source.file, source.mutants, source.edits.apply(source.data))
            for source in sources.values()]


def is_of(file, parts):
    """Whether the path has one of the parts in it; without parts all are meant."""
    return not parts or any(part in file for part in parts)


def files_of(root, parts=()):
    """Headers and sources of the rooms, those whose path has one of the parts in it."""
    chosen = []
    for room in ROOMS:
        for folder in (root / "include/handoff" / room, root / "src" / room):
            chosen += sorted(folder.rglob("*.hpp")) + sorted(folder.rglob("*.cpp"))
    names = [str(path.relative_to(root)) for path in chosen]
    return [name for name in names if is_of(name, parts) and name not in LEFT_OUT]


def jobs_of(root, files):
    """A unit for each source, one for all public headers, one for the headers of a room in src."""
    units = collections.defaultdict(list)
    for file in files:
        if file.endswith(".hpp"):
            units["public" if file.startswith("include/") else file.split("/")[1]].append(file)
    jobs = [(str(root), str(root / f"src/{unit}_headers.cpp"), "".join(
        f'#include "{file.removeprefix("include/").removeprefix("src/")}"\n' for file in headers),
             headers) for unit, headers in units.items()]
    return jobs + [(str(root), str(root / file), None, [file])
                   for file in files if file.endswith(".cpp")]


def write_if_new(path, data):
    """Only what changed gets a new time, so that only that is built."""
    if path.exists() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def numbered(results, places):
    """Gives all mutants their numbers, and their texts with them: [Mutant], {file: bytes}.

    Each file has a range of its own, so that a change in one is no change in the others."""
    mutants, texts = [], {}
    for file, found, data in sorted(results, key=lambda result: result[0]):
        if len(found) >= RANGE:
            raise SystemExit(f"mutants: {file} has more than {RANGE} mutants, make RANGE larger")
        first = RANGE * (1 + places[file])
        for offset, mutant in enumerate(found):
            mutant.number = first + offset
        mutants += found
        texts[file] = re.sub(rb"@(\d+)@", lambda place, first=first: str(
            first + int(place.group(1))).encode(), data)
    return mutants, texts


def is_canary(mutant):
    return mutant.operator.startswith("canary")


def mutate(root, parts=(), processes=2):
    """The mutants of the files whose path has one of `parts` in it, and their mutated texts."""
    files = files_of(root, parts)
    try:
        with Pool(processes) as pool:
            results = pool.map(mutate_unit, jobs_of(root, files), chunksize=1)
    except Fault as fault:
        raise SystemExit(f"mutants: {fault}") from None
    places = {file: place for place, file in enumerate(files_of(root, ()))}
    mutants, texts = numbered([result for unit in results for result in unit], places)
    names = [mutant.name for mutant in mutants]
    if len(set(names)) != len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise SystemExit(f"mutants: two of one name: {twice[:5]}")
    return mutants, texts


def write_tree(root, tree, texts):
    """A copy of the project with the mutated texts in it; tests and the rest are links."""
    tree.mkdir(parents=True, exist_ok=True)
    for name in ("CMakeLists.txt", "cmake", "explore", "tests", "compat", "examples"):
        link = tree / name
        if (root / name).exists() and not link.is_symlink():
            link.symlink_to(root / name)
    present = set()
    for folder in ("include", "src"):
        for path in sorted((root / folder).rglob("*")):
            if path.is_file():
                file = str(path.relative_to(root))
                present.add(file)
                data = texts.get(file, path.read_bytes())
                if file == "src/core/status.cpp":
                    data += (HOME / "mutant.inc").read_bytes()
                write_if_new(tree / file, data)
        for path in sorted((tree / folder).rglob("*")):
            if path.is_file() and str(path.relative_to(tree)) not in present:
                path.unlink()
    write_if_new(tree / "mutant.hpp", (HOME / "mutant.hpp").read_bytes())
