# SPDX-License-Identifier: MIT
"""Markdown to HTML as GitHub shows it, with the links of the site."""

import posixpath
import re
from urllib.parse import unquote

from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from .frame import Heading, WORDS, escape

ELSEWHERE = re.compile(r"^(?:https?:|mailto:)")
FORMATTER = HtmlFormatter(nowrap=True)
NAME = re.compile(r"^(?:handoff::)?(?P<name>[A-Za-z_]\w*(?:::~?\w+)*)(?:<[^<>]*>)?(?P<call>\(\))?$")
# A type's name amid the prose of a comment: two humps, or a call of a member.
IN_PROSE = re.compile(r"\b(?:[A-Z][a-z0-9]+){2,}(?:::\w+)?(?:\(\))?")
FILE = re.compile(r"\b(?:[\w-]+/)+[\w.-]*\.(?:hpp|cpp|h|md)\b")
SHORTEST_SUMMARY = 30
SENTENCE = re.compile(r"^(.+?[.!?\u3002])(?:\s|$)", re.DOTALL)


def slug(title):
    """The anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def unique(wanted, taken):
    """As GitHub counts them: x, x-1, x-2."""
    name, number = wanted, 0
    while name in taken:
        number += 1
        name = f"{wanted}-{number}"
    taken.add(name)
    return name


def coloured(code, language):
    """The HTML of code. A language that is not known is text."""
    try:
        lexer = get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return escape(code)
    return highlight(code, lexer, FORMATTER)


def code_box(code, language, lang="en"):
    """What scrolls can be reached by keyboard; the script takes the stop where nothing scrolls."""
    code = code.rstrip() + "\n"
    return (f'<pre class="code" role="group" aria-label="{WORDS[lang]["code"]}" tabindex="0">'
            f"<code>{coloured(code, language)}</code></pre>\n")


def first_sentence(text):
    match = SENTENCE.match(text)
    sentence = " ".join((match.group(1) if match else text).split())
    return sentence.removesuffix(":") + "." if sentence.endswith(":") else sentence


class Renderer:
    """Renders one text. `resolve(target, anchor)` gives the address of a file of the repository, or
    None where there is none; `names(name)` that of a public name, or of a file that is shown."""

    def __init__(self, folder, lang, resolve, names):
        self.folder, self.lang, self.resolve, self.names = folder, lang, resolve, names
        self.headings, self.texts, self.dead = [], [], []
        self.taken, self.tables = set(), {}
        self.cell, self.headless = "td", True  # of the table's row
        self.summary = ""
        self.prose_links = None  # own name: a page of the reference, whose prose has no backticks

    def render(self, text, shift=0):
        """`shift`: how many levels deeper its headings stand."""
        tokens = MarkdownIt("commonmark", {"html": True}).enable("table").enable(
            "strikethrough").parse(text)
        out = []
        for number, token in enumerate(tokens):
            out.append(self.block(tokens, number, token, shift))
        return "".join(out)

    def block(self, tokens, number, token, shift):
        kind = token.type
        if kind == "heading_open":
            return self.heading(tokens[number + 1], int(token.tag[1]) + shift)
        if kind == "heading_close":
            return f"</h{int(token.tag[1]) + shift}>\n"
        if kind == "inline":
            self.remember(token, tokens[number - 1].type == "paragraph_open")
            return self.inline(token, in_heading=tokens[number - 1].type == "heading_open")
        if kind in ("fence", "code_block"):
            language = token.info.strip().strip("{}.").split(" ")[0]
            self.add_words(token.content)
            return code_box(token.content, language, self.lang)
        if kind == "html_block":
            return self.raw(token.content)
        if kind in ("table_open", "table_close", "thead_open", "tbody_open", "tr_open", "th_open",
                    "th_close", "td_open", "td_close"):
            return self.table_part(tokens, number, token)
        if token.hidden:
            return ""
        return self.plain(token)

    def plain(self, token):
        if token.nesting == -1:
            return f"</{token.tag}>\n"
        if token.tag == "hr":
            return "<hr>\n"
        start = token.attrGet("start")
        return f"<{token.tag}{f' start={chr(34)}{start}{chr(34)}' if start else ''}>"

    def raw(self, text):
        """Comments are not shown; anything else in angle brackets is text."""
        return escape(re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL))

    def heading(self, inline, level):
        text = plain_text(inline)
        anchor = unique(slug(text), self.taken)
        self.headings.append(Heading(level, anchor, text))
        self.texts.append([text, anchor, []])
        return f'<h{level} id="{escape(anchor)}">'

    def remember(self, token, is_paragraph):
        words = plain_text(token)
        if not self.summary and is_paragraph and len(words) > SHORTEST_SUMMARY:
            self.summary = first_sentence(words)
        self.add_words(words)

    def add_words(self, words):
        if self.texts:
            self.texts[-1][2].append(words)

    def table_part(self, tokens, number, token):
        """First cells head their rows; the caption, for those who do not see it, is the heading."""
        kind = token.type
        if kind == "table_open":
            title = self.headings[-1].text if self.headings else ""
            count = self.tables[title] = self.tables.get(title, 0) + 1
            name = f"{WORDS[self.lang]['table']}: {title}" + (f" ({count})" if count > 1 else "")
            return (f'<div class="scroll" role="group" aria-label="{escape(name)}" tabindex="0">'
                    f'<table><caption class="unseen">{escape(name)}</caption>\n')
        if kind == "table_close":
            return "</table></div>\n"
        if kind in ("thead_open", "tbody_open", "tr_open"):
            return f"<{token.tag}>"
        first = tokens[number - 1].type == "tr_open"
        if kind in ("th_close", "td_close"):
            self.add_words("")
            return f"</{self.cell}>"
        empty = not tokens[number + 1].content.strip()
        if first:
            self.headless = True
        head = kind == "th_open" or self.headless
        self.headless = self.headless and empty
        self.cell = "th" if head and not empty else "td"
        scope = (' scope="col"' if kind == "th_open" else ' scope="row"') \
            if self.cell == "th" else ""
        right = ' class="number"' if "right" in (token.attrGet("style") or "") else ""
        return f"<{self.cell}{scope}{right}>"

    # Within a line.

    def inline(self, token, in_heading=False):
        out, depth = [], 0
        for child in token.children:
            if child.type == "link_open":
                depth += 1
                out.append(self.link(child))
            elif child.type == "link_close":
                depth -= 1
                out.append("</a>")
            elif child.type == "code_inline":
                out.append(self.code(child.content, linked=depth == 0 and not in_heading))
            elif child.type == "text":
                out.append(self.prose(child.content, linked=depth == 0 and not in_heading))
            elif child.type == "softbreak":
                out.append("\n")
            elif child.type == "hardbreak":
                out.append("<br>\n")
            elif child.type == "image":
                out.append(self.image(child))
            elif child.type == "html_inline":
                out.append(self.raw(child.content))
            else:
                out.append(f"<{'/' if child.nesting == -1 else ''}{child.tag}>")
        return "".join(out)

    def prose(self, text, linked):
        if self.prose_links is None or not linked:
            return escape(text)
        out, end = [], 0
        for match in re.finditer(f"{FILE.pattern}|{IN_PROSE.pattern}", text):
            name = match.group().removesuffix("()")
            address = None if name == self.prose_links else self.names(name)
            if address:
                out += [escape(text[end:match.start()]),
                        f'<a href="{escape(address)}">{escape(match.group())}</a>']
                end = match.end()
        return "".join(out) + escape(text[end:])

    def code(self, text, linked):
        match = NAME.match(text) if linked else None
        name = match.group("name") if match else text if linked and FILE.fullmatch(text) else None
        address = self.names(name) if name else None
        shown = f"<code>{escape(text)}</code>"
        return f'<a class="name" href="{escape(address)}">{shown}</a>' if address else shown

    def link(self, token):
        target = token.attrGet("href")
        if ELSEWHERE.match(target):
            return f'<a href="{escape(target)}" rel="noreferrer">'
        path, _, anchor = unquote(target).partition("#")
        if not path:
            return f'<a href="#{escape(anchor)}">'
        address = self.resolve(posixpath.normpath(posixpath.join(self.folder, path)), anchor)
        if address is None:
            self.dead.append(target)
            return "<a>"
        return f'<a href="{escape(address)}">'

    def image(self, token):
        target = token.attrGet("src")
        address = self.resolve(posixpath.normpath(posixpath.join(self.folder, target)), "")
        if address is None:
            self.dead.append(target)
        return f'<img src="{escape(address or "")}" alt="{escape(token.content)}">'


def plain_text(inline):
    return "".join(" " if child.type in ("softbreak", "hardbreak") else
                   "" if child.type in ("html_inline", "image") else child.content
                   for child in inline.children or [])
