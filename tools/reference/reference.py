#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes docs/reference, the reference of the public headers, by doxygen.

  tools/reference/reference.py                    into build/reference/html
  tools/reference/reference.py --output FOLDER    into FOLDER/html
  tools/reference/reference.py --check            only says which public names lack a description

The headers keep plain comments. A copy of them is made in which a comment above a declaration is
one that doxygen takes, a head comment is that of the first type behind it, and neighbours without
an empty line between them share what stands above the first. The guides go in as pages, so each
name in them leads to its description.
"""

import argparse
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = Path(__file__).resolve().parent / "Doxyfile"
COMMENT = re.compile(r"^( *)//(?!/) ?(.*)$")
TRAILING = re.compile(r"^(.*?[;,{}\w)])( +)// (.*)$")
NAMESPACES = re.compile(r"^namespace handoff \{ inline namespace HANDOFF_ABI \{(.*)$")
CLOSED = re.compile(r"^\}(\}+)  // namespace handoff::HANDOFF_ABI(.*)$")
ACCESS = re.compile(r"^ *(?:public|protected|private):$")
TYPE = re.compile(r"^(?:template <.*> )?(?:class|struct|enum class|union) (?:\[\[.*?\]\] )?"
                  r"(?:alignas\(.*?\) )?(\w+)(.*)$")
SAID_BY_CPP = ("operator=", "operator==", "operator!=", "begin", "end", "value_type",
               "difference_type", "await_ready", "await_suspend", "await_resume", "connect",
               "get_env", "query", "completion_signatures", "get_completion_signatures",
               "scheduler_concept", "sender_concept", "operation_state_concept")
SCOPE = re.compile(r"^ (?:template <.*> ?)?(?:requires.* )?(?:inline )?"
                   r"(?:namespace|class|struct|enum|union|extern)\b[^()]*(?:\(.*\)[^()]*)?\{$")
DECLARATION_ENDS = (";", "}", ":", "{", "};")


def public_headers(root):
    """Those that a user may include: ROOM/X.hpp, ROOM/X.h and the one for all rooms."""
    folder = root / "include" / "handoff"
    return sorted(path for path in [*folder.rglob("*.hpp"), *folder.rglob("*.h")]
                  if not {"detail", "internal"}.intersection(path.parts)
                  and path.name != "config.hpp")


def head_comment(lines):
    """(the lines of the comment at the top, less the licence; the number of lines it takes)."""
    text, end = [], 0
    for number, line in enumerate(lines):
        match = COMMENT.match(line)
        if not match:
            break
        end = number + 1
        if "SPDX-License-Identifier" not in line:
            text.append(match.group(2))
    while text and not text[0].strip():
        text.pop(0)
    return text, end


def as_markdown(text):
    """A head comment's examples become code, its `Word:` paragraphs items of a list."""
    out, code = [], False
    for line in text:
        is_code = line.startswith("  ") and (code or not out or not out[-1].strip())
        if is_code and not code:
            out.append("~~~{.cpp}")
        if code and not is_code and line.strip():
            out.append("~~~")
            out.append("")
        if is_code or (code and not line.strip()):
            code = True
            out.append(line[2:] if is_code else "")
            continue
        code = False
        if any(out) and re.match(r"^(?:- )?[A-Z][\w', -]{1,40}: ", line):
            line = "- **" + re.sub(r"^- ", "", line).replace(": ", ":** ", 1)
        out.append(line)
    if code:
        out.append("~~~")
    return out


def documented(block):
    """Comment lines in the form that doxygen takes."""
    return [f"/// {line}".rstrip() for line in block]


def type_begun(lines, number):
    """The name of the type whose declaration begins at this line of no indent, or None."""
    for line in lines[number:number + 4]:
        kind = TYPE.match(line)
        if kind:
            return kind.group(1)
        if not line.startswith(("template <", "  requires", "requires", " ")):
            return None
    return None


def types_of_head(lines, stem):
    """The types that the head comment speaks of: what is named like the file, else the first."""
    named = stem.replace("_", "")
    types = [name for number, line in enumerate(lines) if line and not line.startswith(" ")
             for name in [type_begun(lines, number)] if name]
    alike = {name for name in types if name.lower() == named}
    return alike or set(types[:1])


def converted(text, stem):
    """The header as doxygen is to see it."""
    lines = text.splitlines()
    head, end = head_comment(lines)
    types = types_of_head(lines[end:], stem)
    out, block, last, statement, body = [], [], [], "", None
    for number, line in enumerate(lines[end:], end):
        stripped = line.strip()
        indent = line[:len(line) - len(line.lstrip())]
        if body is not None:  # a function's; what stands in it is not for the reference
            out.append(line)
            if stripped.startswith("}") and indent == body:
                body, block = None, []
            continue
        comment = COMMENT.match(line)
        if comment and not stripped.startswith("// ---"):
            block.append(comment.group(2))
            continue
        if is_constraint(out, indent):
            continue
        if not stripped:
            block, last = [], []
        elif starts_declaration(out, stripped):
            last = block or last
            shown = last
            if not indent and type_begun(lines, number) in types:
                shown = as_markdown(head) + ([""] + last if last else [])
            out += [indent + text for text in documented(shown)]
            statement, block, opener = "", [], indent
        statement += " " + stripped
        if without_comment(stripped).endswith("{") and not SCOPE.search(statement) \
                and " concept " not in statement:
            body = opener
        out.append(as_doxygen_sees(line))
    return "/// @file\n" + "\n".join(out) + "\n"


def is_constraint(out, indent):
    """Of a template, in lines of its own. Doxygen (1.9) loses the description behind one."""
    template = out[-1] if out else ""
    begins = len(template) - len(template.lstrip())
    return (template.strip().startswith("template <") and template.endswith(">")
            and len(indent) > begins)


def without_comment(text):
    return text.split("//")[0].rstrip()


def as_doxygen_sees(line):
    """Its comment belongs to what stands before it; the ABI namespace is not there."""
    closed = CLOSED.match(line)
    if closed:
        return closed.group(1)
    opened = NAMESPACES.match(line)
    if opened:
        return "namespace handoff {" + opened.group(1)
    trailing = TRAILING.match(line)
    if trailing and "NOLINT" not in line and not trailing.group(3).startswith("namespace "):
        return f"{trailing.group(1)}{trailing.group(2)}///< {trailing.group(3)}"
    return line


def starts_declaration(out, stripped):
    """Whether a line begins a declaration: what stands before it has ended."""
    if stripped.startswith(("#", "}", "{", ":", "&&", "||", "requires", "?", ".")):
        return False
    if ACCESS.match(stripped):
        return False
    for before in reversed(out):
        text = before.split("//")[0].strip()
        if not text:
            continue
        if text.startswith("#"):
            return True
        return text.endswith(DECLARATION_ENDS) or (text.endswith(",") and "enum" in before)
    return True


def copy_headers(root, folder):
    shutil.rmtree(folder, ignore_errors=True)
    for path in public_headers(root):
        copy = folder / path.relative_to(root / "include")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(converted(path.read_text(), path.stem))


def run_doxygen(root, output):
    headers = output / "headers"
    copy_headers(root, headers)
    shutil.rmtree(output / "xml", ignore_errors=True)
    pages = [*sorted((root / "docs" / "guide").glob("*.md")), root / "README.md"]
    settings = SETTINGS.read_text() + "\n".join([
        f'OUTPUT_DIRECTORY = "{output}"',
        f'STRIP_FROM_PATH = "{headers}" "{root}"',
        "INPUT = " + " ".join(f'"{path}"' for path in [headers, *pages]),
        f'USE_MDFILE_AS_MAINPAGE = "{root / "README.md"}"',
        ""])
    done = subprocess.run(["doxygen", "-"], input=settings, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise SystemExit(f"reference: doxygen failed:\n{done.stderr}")


@dataclass
class Name:
    """A public name, and whether something is said of it."""

    kind: str
    name: str
    place: str
    described: bool


def text_of(element):
    return "" if element is None else "".join(element.itertext()).strip()


def is_described(element):
    return bool(text_of(element.find("briefdescription"))
                or text_of(element.find("detaileddescription")))


def speaks_for_itself(member, owner):
    """What C++ itself says all about: constructors that copy, move or make an empty one,
    destructors, assignments, comparisons, iterators, what senders and awaitables consist of, and
    what is deleted."""
    name = text_of(member.find("name"))
    arguments = text_of(member.find("argsstring"))
    if name == owner and owner != "Iterator":
        empty_or_same = rf"\((?:(?:const )?{owner}(?:<.*?>)? ?&.*|std::nullptr_t)?\)"
        return re.match(empty_or_same, arguments) is not None
    return (name.startswith("~") or name in SAID_BY_CPP or owner == "Iterator"
            or arguments.endswith("=delete"))


def members_of(compound):
    """Its members, less those that are the body, out of the class, of a declaration in it: doxygen
    (1.9) takes some of these for overloads."""
    declared = {call_of(member) for member in compound.iter("memberdef")
                if is_described(member) and not has_body(member)}
    for member in compound.iter("memberdef"):
        if is_described(member) or not has_body(member) or call_of(member) not in declared:
            yield member


def call_of(member):
    return text_of(member.find("name")), text_of(member.find("argsstring"))


def has_body(member):
    return member.find("location[@bodyfile]") is not None


def has_names(compound):
    """What C has lies in no namespace, but in a file."""
    kind = compound.get("kind")
    is_c = kind == "file" and place_of(compound).endswith(".h")
    return is_c or kind in ("class", "struct", "namespace")


def names_in(folder):
    """All public names of doxygen's XML."""
    for path in sorted(folder.glob("*.xml")):
        compound = ElementTree.parse(path).getroot().find("compounddef")
        if compound is None or not has_names(compound):
            continue
        whole = text_of(compound.find("compoundname"))
        if "detail" in whole.split("::") or compound.get("prot") == "private":
            continue
        if compound.get("kind") not in ("namespace", "file"):
            yield Name(compound.get("kind"), whole, place_of(compound), is_described(compound))
        owner = re.sub(r"<.*", "", whole).split("::")[-1]
        for member in members_of(compound):
            if member.get("prot") != "public" or member.get("kind") == "friend":
                continue
            name = text_of(member.find("name"))
            if not name or name.startswith("@") or speaks_for_itself(member, owner):
                continue
            yield Name(member.get("kind"), f"{whole}::{name}", place_of(member),
                       is_described(member))
            for value in member.findall("enumvalue"):
                yield Name("enumerator", f"{whole}::{name}::{text_of(value.find('name'))}",
                           place_of(member), is_described(value))


def place_of(element):
    location = element.find("location")
    return "" if location is None else location.get("file", "")


def undescribed(root, output):
    run_doxygen(root, output)
    names = list(names_in(output / "xml"))
    return names, [name for name in names if not name.described]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "reference")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    names, missing = undescribed(ROOT, arguments.output.resolve())
    for name in missing:
        print(f"{name.place}: {name.kind} {name.name} has no description: say what it is, its "
              "unit, range and errors, in a comment above it")
    print(f"{len(names)} public names, {len(missing)} without a description"
          + ("" if arguments.check else f"; {arguments.output / 'html' / 'index.html'}"))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
