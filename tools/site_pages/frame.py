# SPDX-License-Identifier: MIT
"""What a page is, and what stands around its text on each of them."""

import html
import posixpath
from dataclasses import dataclass, field

# What the frame says, by language. The keys of the sections are those of SECTIONS.
WORDS = {
    "en": {
        "skip": "Skip to the text", "sections": "Sections", "search": "Search",
        "hint": "Search (press /)", "here": "On this page", "pages": "Pages",
        "start": "Start", "guides": "Guides", "choosing": "Choosing", "reference": "Reference",
        "design": "Design", "decisions": "Decisions", "other": "\u4e2d\u6587",
        "made": "Made of {} by <code>tools/site</code>; this site loads nothing from elsewhere.",
        "code": "Code", "table": "Table",
    },
    "zh-Hans": {
        "skip": "\u8df3\u5230\u6b63\u6587", "sections": "\u680f\u76ee",
        "search": "\u641c\u7d22", "hint": "\u641c\u7d22\uff08\u6309 /\uff09",
        "here": "\u672c\u9875\u5185\u5bb9", "pages": "\u9875\u9762",
        "start": "\u5f00\u59cb", "guides": "\u6307\u5357", "choosing": "\u9009\u62e9",
        "reference": "\u53c2\u8003", "design": "\u8bbe\u8ba1", "decisions": "\u51b3\u7b56",
        "other": "English",
        "made": "\u7531 <code>tools/site</code> \u4ece {} \u751f\u6210\uff1b"
                "\u672c\u7ad9\u4e0d\u4ece\u522b\u5904\u52a0\u8f7d\u4efb\u4f55\u4e1c\u897f\u3002",
        "code": "\u4ee3\u7801", "table": "\u8868\u683c",
    },
}
SECTIONS = ("start", "guides", "choosing", "reference", "design", "decisions")
OTHER = {"en": "zh-Hans", "zh-Hans": "en"}
HEADINGS_LISTED = 3  # a page with fewer needs no list of them


@dataclass
class Heading:
    level: int
    anchor: str
    text: str  # without markup


@dataclass
class Page:
    """One page of the site; `body` is the HTML of its <main>."""

    path: str  # in the site
    title: str
    section: str  # of SECTIONS
    body: str = ""
    lang: str = "en"
    source: str = ""  # the file that it is made of, in the repository
    summary: str = ""  # a sentence
    short: str = ""  # in lists of pages
    headings: list = field(default_factory=list)
    texts: list = field(default_factory=list)  # (heading, anchor, words), for the search

    def label(self):
        return self.short or self.title


def escape(text):
    return html.escape(text, quote=True)


def relative(page, target):
    """The address of a path of the site, as seen from a page."""
    path, _, anchor = target.partition("#")
    if path == page.path and anchor:
        return "#" + anchor
    address = posixpath.relpath(path, posixpath.dirname(page.path) or ".")
    return address + ("#" + anchor if anchor else "")


@dataclass
class Navigation:
    """Where the sections begin and which pages each has, in each language."""

    first: dict  # lang -> section -> path
    pages: dict  # lang -> section -> [(depth, path, label, lang of the label)]
    pairs: dict  # path -> path of the same text in the other language


def section_links(page, navigation):
    words = WORDS[page.lang]
    out = []
    for section in SECTIONS:
        path = navigation.first[page.lang].get(section) or navigation.first["en"][section]
        current = ' aria-current="true"' if section == page.section else ""
        out.append(f'<li><a href="{escape(relative(page, path))}"{current}>'
                   f"{words[section]}</a></li>")
    return "".join(out)


def page_links(page, navigation):
    """The pages of the section, as a list that folds on a narrow screen."""
    entries = navigation.pages[page.lang].get(page.section, [])
    items = []
    for depth, path, label, lang in entries:
        current = ' aria-current="page"' if path == page.path else ""
        spoken = f' lang="{lang}"' if lang != page.lang else ""
        items.append(f'<li class="deep{depth}"><a href="{escape(relative(page, path))}"{current}'
                     f"{spoken}>{escape(label)}</a></li>")
    title = f"{WORDS[page.lang][page.section]}: {WORDS[page.lang]['pages']}"
    return folding("pages", title, "".join(items))


def folding(name, title, items):
    return (f'<nav class="{name}" aria-label="{escape(title)}"><details><summary>{escape(title)}'
            f"</summary><ul>{items}</ul></details></nav>\n")


def heading_links(page):
    listed = [heading for heading in page.headings if heading.level in (2, 3)]
    if len(listed) < HEADINGS_LISTED:
        return ""
    items = "".join(f'<li class="deep{heading.level - 2}"><a href="#{escape(heading.anchor)}">'
                    f"{escape(heading.text)}</a></li>" for heading in listed)
    return folding("here", WORDS[page.lang]["here"], items)


def whole(page, navigation):
    """The page as it is written to its file."""
    words = WORDS[page.lang]
    other = navigation.pairs.get(page.path) or navigation.first[OTHER[page.lang]]["start"]
    root = relative(page, "index.html")[:-len("index.html")]
    home = navigation.first[page.lang]["start"]
    name = "handoff" if page.title == "handoff" else f"{page.title} - handoff"
    made = words["made"].format(f"<code>{escape(page.source)}</code>" if page.source
                                else "the repository")
    links = heading_links(page)
    return f"""<!DOCTYPE html>
<html lang="{page.lang}" data-root="{root}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="{escape(page.summary)}">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{root}site.css">
<script src="{root}site.js" defer></script>
<title>{escape(name)}</title>
</head>
<body>
<a class="skip" href="#site-text">{words["skip"]}</a>
<header>
<a class="home" href="{escape(relative(page, home))}">handoff</a>
<nav class="sections" aria-label="{words["sections"]}">
<ul>{section_links(page, navigation)}</ul>
</nav>
<form class="search" role="search" hidden>
<label for="site-search">{words["search"]}</label>
<input id="site-search" type="search" autocomplete="off" spellcheck="false"
 placeholder="{words["hint"]}" aria-controls="site-found">
<div id="site-found" hidden></div>
</form>
<a class="other" href="{escape(relative(page, other))}" lang="{OTHER[page.lang]}"
 hreflang="{OTHER[page.lang]}">{words["other"]}</a>
</header>
{page_links(page, navigation)}<main id="site-text" tabindex="-1"{"" if links else ' class="alone"'}>
{links}<article>
{page.body}</article>
</main>
<footer><p>{made}</p></footer>
</body>
</html>
"""
