# SPDX-License-Identifier: MIT
"""The reference: a page a public header, of doxygen's XML and the head comments; a page a room, and
one with all names."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field

import reference  # tools/reference

from .frame import Heading, Page, escape, relative
from .signatures import signature
from .sources import address_of
from .texts import Renderer, code_box, first_sentence, unique

ROOMS = {  # in the order of the site; a room that is not here comes last
    "team": "Thread teams: an index range, divided among threads.",
    "pool": "Thread pools: tasks, futures, groups, timers, coroutines.",
    "queue": "Channels and bounded rings.",
    "event": "Callback lists, dispatchers and event queues.",
    "bus": "Typed messages: buses, workers, broadcasts, active objects.",
    "command": "Command buckets: recorded by threads, sorted, dispatched.",
    "file": "File operations, logs and copies of trees.",
    "process": "Teams and pools of processes, shared memory, programs.",
    "trace": "What a program did, recorded while it ran.",
    "memory": "Arenas, and the memory of frames.",
    "core": "What the rooms share: Status, Tally, Future, Until, loops.",
    "sync": "What threads sleep on and wake by.",
}


@dataclass
class Member:
    element: ElementTree.Element
    name: str  # with its owner, without handoff::
    anchor: str
    line: int
    plain: bool = False  # C++ itself says all about it

    @property
    def kind(self):
        return self.element.get("kind")


@dataclass
class Type:
    """A class, struct, union or concept; or, without an element, what stands in no type."""

    name: str
    kind: str
    line: int
    anchor: str = ""
    element: ElementTree.Element = None
    members: list = field(default_factory=list)


@dataclass
class Entry:
    """A public name, for the search and the list of all names."""

    name: str
    kind: str
    address: str  # in the site
    summary: str


def bare(name):
    """Without namespace and template arguments: CallbackList::append."""
    name = re.sub(r"<.*?>+(?=::|$)| *<.*>", "", name.removeprefix("handoff::"))
    return name.strip()


def page_of_header(header):
    """handoff/pool/thread_pool.hpp -> reference/pool/thread_pool.html."""
    inner = header.removeprefix("handoff/")
    stem, _, suffix = inner.rpartition(".")
    return f"reference/{stem}{'-h' if suffix == 'h' else ''}.html"


def anchor_of(name):
    name = name.replace("::", ".").replace("~", "-")
    return re.sub(r"[^\w.-]+", lambda match: "-" + "-".join(
        str(ord(c)) for c in match.group() if c != " "), name).rstrip("-") or "name"


class Reference:
    """All that is public, and where its description stands."""

    def __init__(self, root, xml):
        self.root = root
        self.headers = {}  # handoff/x/y.hpp -> [Type], the nameless one first
        self.places = {}  # doxygen's id -> address in the site
        self.entries = []
        self.by_name = {}
        self.anchors = {}
        self.heads = {}
        for path in reference.public_headers(root):
            header = path.relative_to(root / "include").as_posix()
            self.headers[header] = [Type("", "", 0)]
            self.anchors[header] = set()
            self.heads[header] = reference.head_comment(path.read_text().splitlines())[0]
        for path in sorted(xml.glob("*.xml")):
            compound = ElementTree.parse(path).getroot().find("compounddef")
            if compound is not None:
                self.take(compound)
        for types in self.headers.values():
            types[1:] = sorted(types[1:], key=lambda one: one.line)
            for one in types:
                one.members.sort(key=lambda member: member.line)

    def take(self, compound):
        kind, whole = compound.get("kind"), compound.findtext("compoundname", "")
        if "detail" in whole.split("::") or compound.get("prot") == "private":
            return
        header = reference.place_of(compound)
        if kind in ("class", "struct", "union", "concept") and header in self.headers:
            name = bare(whole)
            one = Type(name, kind, line_of(compound), element=compound,
                       anchor=unique(anchor_of(name), self.anchors[header]))
            self.headers[header].append(one)
            self.place(compound.get("id"), header, one.anchor, name, kind, described(compound))
            self.take_members(compound, name + "::", one)
        elif kind == "namespace" or (kind == "file" and header.endswith(".h")):
            prefix = bare(whole) + "::" if kind == "namespace" and whole != "handoff" else ""
            self.take_members(compound, prefix, None)

    def take_members(self, compound, prefix, owner):
        for element in reference.members_of(compound):
            header = reference.place_of(element)
            if (element.get("prot") != "public" or element.get("kind") == "friend"
                    or header not in self.headers):
                continue
            name = prefix + element.findtext("name", "")
            member = Member(element, name, unique(anchor_of(name), self.anchors[header]),
                            line_of(element))
            (owner or self.headers[header][0]).members.append(member)
            self.place(element.get("id"), header, member.anchor, name, element.get("kind"),
                       described(element))
            for value in element.findall("enumvalue"):
                inner = f"{name}::{value.findtext('name')}"
                self.place(value.get("id"), header,
                           unique(anchor_of(inner), self.anchors[header]), inner, "enumerator",
                           described(value))

    def place(self, identity, header, anchor, name, kind, summary):
        address = f"{page_of_header(header)}#{anchor}"
        if identity in self.places or name.split("::")[-1].startswith("@"):
            return
        self.places[identity] = address
        self.entries.append(Entry(name, kind, address, summary))
        self.by_name.setdefault(name, address)

    def find(self, name):
        """The address of a name as texts write it, or None: types and what belongs to them."""
        name = name.removeprefix("handoff::")
        return self.by_name.get(name) if len(name) > 3 else None


def line_of(element):
    location = element.find("location")
    return int(location.get("line", "0")) if location is not None else 0


def described(element):
    words = [" ".join("".join(part.itertext()).split())
             for part in (element.find("briefdescription"), element.find("detaileddescription"))
             if part is not None]
    return first_sentence(" ".join(word for word in words if word))


# Descriptions: doxygen's XML to HTML.

INLINE = {"bold": "strong", "emphasis": "em", "computeroutput": "code", "subscript": "sub",
          "superscript": "sup"}
BLOCKS = {"itemizedlist": "ul", "orderedlist": "ol", "listitem": "li", "blockquote": "blockquote"}
CHARACTERS = {"sp": " ", "ndash": "-", "mdash": "-", "nonbreakablespace": " ", "linebreak": "\n",
              "lsquo": "'", "rsquo": "'", "ldquo": '"', "rdquo": '"'}


class Description:
    """The HTML of descriptions on one page."""

    def __init__(self, page, places):
        self.page, self.places = page, places

    def html(self, element):
        if element is None:
            return ""
        return "".join(self.one(child) for child in element)

    def inner(self, element):
        out = [escape(element.text or "")]
        for child in element:
            out += [self.one(child), escape(child.tail or "")]
        return "".join(out)

    def one(self, element):
        tag = element.tag
        if tag == "para":
            return self.paragraph(element)
        if tag in INLINE:
            return f"<{INLINE[tag]}>{self.inner(element)}</{INLINE[tag]}>"
        if tag in BLOCKS:
            return f"<{BLOCKS[tag]}>{self.inner(element).strip()}</{BLOCKS[tag]}>\n"
        if tag == "ref":
            return self.reference(element)
        if tag == "ulink":
            return f'<a href="{escape(element.get("url"))}">{self.inner(element)}</a>'
        if tag == "programlisting":
            lines = ["".join(text_with_spaces(line)) for line in element.iter("codeline")]
            return code_box("\n".join(lines) + "\n", "cpp")
        if tag == "verbatim":
            return code_box(element.text or "", "text")
        return escape(CHARACTERS[tag]) if tag in CHARACTERS else self.inner(element)

    def paragraph(self, element):
        """What is no text of a line closes the paragraph."""
        out, line = [], [escape(element.text or "")]

        def end():
            text = "".join(line).strip()
            if text:
                out.append(f"<p>{text}</p>\n")
            line.clear()

        for child in element:
            if child.tag in BLOCKS or child.tag in ("programlisting", "verbatim", "para"):
                end()
                out.append(self.one(child))
            else:
                line.append(self.one(child))
            line.append(escape(child.tail or ""))
        end()
        return "".join(out)

    def reference(self, element):
        address = self.places.get(element.get("refid"))
        if address is None or address.split("#")[0] == self.page.path:
            return self.inner(element)
        return f'<a href="{escape(relative(self.page, address))}">{self.inner(element)}</a>'


def text_with_spaces(element):
    yield element.text or ""
    for child in element:
        if child.tag == "sp":
            yield " "
        else:
            yield from text_with_spaces(child)
        yield child.tail or ""


# Pages.


def header_page(world, header, names):
    """One page: what the head comment says, then each type with its members. `names(page, name)`
    gives the address of a name or file, or None."""
    room = header.split("/")[1] if header.count("/") > 1 else ""
    types = world.headers[header]
    stem = header.rpartition("/")[2].rpartition(".")[0]
    heads = [one.name for one in types[1:] if one.name.lower().split("::")[-1]
             in (stem.replace("_", ""), "basic" + stem.replace("_", ""))]
    title = heads[0] if heads else header.removeprefix("handoff/")
    page = Page(path=page_of_header(header), title=title, section="reference",
                source=f"include/{header}", short=heads[0] if heads else stem + ".hpp")
    head = Renderer("", "en", lambda *_: None, lambda name: names(page, name))
    head.prose_links = title
    lead = head.render("\n".join(reference.as_markdown(world.heads[header])))
    page.summary = head.summary or first_sentence(" ".join(world.heads[header]))
    source = relative(page, address_of(f"include/{header}"))
    out = [f"<h1>{escape(title)}</h1>\n",
           f'<p class="where"><code>#include &lt;{escape(header)}&gt;</code> '
           f'<a href="{source}">source</a>'
           + (f' <a href="{relative(page, f"reference/{room}.html")}">{room}/</a>' if room else "")
           + "</p>\n", lead]
    page.texts.append([title, "", [" ".join(world.heads[header])]])
    writer = Description(page, world.places)
    for one in [*types[1:], types[0]]:
        out.append(type_part(writer, one))
    page.body = "".join(out)
    return page


def type_part(writer, one):
    """A type and its members; what stands in no type, each below a heading of its own."""
    out, level = [], 2
    if one.name:
        out.append(heading(writer.page, 2, one.anchor, one.name))
        out.append(signature(one.element, one.name, writer))
        out.append(description(writer, one.element))
        level = 3
    for group in groups(one.members):
        out.append(group_part(writer, group, level, one.name))
    return "".join(out)


def heading(page, level, anchor, text):
    page.headings.append(Heading(level, anchor, text))
    return f'<h{level} id="{escape(anchor)}">{escape(text)}</h{level}>\n'


def description(writer, element):
    """Doxygen cuts off the first sentence; it goes on in the same paragraph here."""
    brief = writer.html(element.find("briefdescription"))
    rest = writer.html(element.find("detaileddescription"))
    if brief.endswith("</p>\n") and rest.startswith("<p>"):
        return f"{brief[:-len('</p>') - 1]} {rest[len('<p>'):]}"
    return brief + rest


def groups(members):
    """Neighbours with one name, or that share a description, stand together; so does what C++
    itself says all about, and none of it borrows a description from what stands above."""
    out = []
    for member in members:
        if member.element.findtext("name", "").startswith("@"):
            continue
        own = (member.name.split("::")[-2:-1] or [""])[0]
        member.plain = reference.speaks_for_itself(member.element, own)
        if member.plain:
            for part in ("briefdescription", "detaileddescription"):
                member.element.find(part).clear()
        said = described(member.element)
        before = out[-1][-1] if out else None
        if before is not None and member.kind == before.kind and member.kind != "enum" \
                and member.plain == before.plain and (
                    member.plain or member.name == before.name
                    or (said and said == described(before.element))):
            out[-1].append(member)
        else:
            out.append([member])
    return out


def group_part(writer, group, level, owner):
    names = list(dict.fromkeys(member.name.removeprefix(owner + "::") if owner else member.name
                               for member in group))
    out = [heading(writer.page, level, group[0].anchor, ", ".join(names))]
    for number, member in enumerate(group):
        anchor = f' id="{escape(member.anchor)}"' if number else ""
        out.append(signature(member.element, member.name.split("::")[-1], writer, anchor))
        following = group[number + 1] if number + 1 < len(group) else None
        if following is None or described(following.element) != described(member.element):
            out.append(description(writer, member.element))
        out.append(values_part(writer, member))
    return "".join(out)


def values_part(writer, member):
    values = member.element.findall("enumvalue")
    if not values:
        return ""
    items = []
    for value in values:
        address = writer.places.get(value.get("id"), "#")
        items.append(f'<dt id="{escape(address.split("#")[1])}"><code>'
                     f"{escape(value.findtext('name', ''))}</code></dt><dd>"
                     f"{description(writer, value)}</dd>")
    return f"<dl>{''.join(items)}</dl>\n"


def room_of(header):
    return header.split("/")[1] if header.count("/") > 1 else ""


def rooms(world):
    found = {room_of(header) for header in world.headers} - {""}
    order = list(ROOMS)
    return sorted(found, key=lambda room: (order.index(room) if room in ROOMS else len(order),
                                           room))


def list_of_headers(page, pages):
    items = "".join(f'<dt><a href="{escape(relative(page, one.path))}">{escape(one.title)}</a></dt>'
                    f"<dd>{escape(one.summary)}</dd>" for one in pages)
    return f'<dl class="list">{items}</dl>\n'


def overview_pages(world, pages):
    """The first page of the reference, a page a room, and all names."""
    by_room = {}
    for header, page in zip(world.headers, pages):
        by_room.setdefault(room_of(header), []).append(page)
    first = Page(path="reference/index.html", title="Reference", section="reference",
                 source="include/handoff", summary="Every public header, by room.")
    names = names_page(world)
    out = ["<h1>Reference</h1>\n<p>Each public header has a page: what its types are for and what "
           "they promise, then each of their members. The search finds every name; so does the "
           f'list of <a href="{relative(first, names.path)}">all names</a>.</p>\n']
    made = [first, names]
    for room in rooms(world):
        page = Page(path=f"reference/{room}.html", title=f"{room}/", section="reference",
                    source=f"include/handoff/{room}", summary=ROOMS.get(room, ""))
        listed = sorted(by_room[room], key=lambda one: one.title.lower())
        page.body = (f"<h1>{room}/</h1>\n<p>{escape(page.summary)}</p>\n"
                     + list_of_headers(page, listed))
        page.texts.append([page.title, "", [page.summary]])
        made.append(page)
        out.append(heading(first, 2, room, f"{room}/"))
        out.append(f"<p>{escape(page.summary)}</p>\n" + list_of_headers(first, listed))
    out.append(heading(first, 2, "all", "All rooms"))
    out.append(list_of_headers(first, by_room[""]))
    first.body = "".join(out)
    return made


def names_page(world):
    """Also for those without a script: every name, in the order of the alphabet."""
    page = Page(path="reference/names.html", title="All names", section="reference",
                source="include/handoff", summary="Every public name, from A to Z.")
    names = {}
    for entry in world.entries:
        names.setdefault(entry.name, entry)
    letters = {}
    for name, entry in sorted(names.items(), key=lambda one: one[0].lower()):
        letters.setdefault(name[0].upper(), []).append(entry)
    out = [f"<h1>All names</h1>\n<p>{len(names)} public names, less <code>handoff::</code>.</p>\n"]
    for letter, entries in letters.items():
        out.append(heading(page, 2, f"letter-{letter}", letter))
        items = "".join(f'<li><a href="{escape(relative(page, entry.address))}">'
                        f"{escape(entry.name)}</a></li>" for entry in entries)
        out.append(f'<ul class="names">{items}</ul>\n')
    page.body = "".join(out)
    return page
