# SPDX-License-Identifier: MIT
"""Which pages the site has, how they are called and ordered, and what the search looks through."""

import posixpath

from .frame import Navigation, Page, escape, relative
from .reference_pages import (header_page, list_of_headers, overview_pages, page_of_header,
                              room_of, rooms)
from .sources import address_of, example_summary, source_page
from .texts import Renderer

# The texts of each section, in order. What is not named follows by name: a new guide needs no line.
TEXTS = {
    "start": ("README.md", "docs/guide/glossary.md", "lab/README.md", "HACKING.md",
              "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"),
    "guides": ("docs/guide/pools.md", "docs/guide/loops.md", "docs/guide/events.md",
               "docs/guide/messages.md", "docs/guide/commands.md", "docs/guide/files.md",
               "docs/guide/processes.md", "docs/guide/tuning.md", "docs/guide/shutdown.md",
               "docs/guide/from-thread-pools.md", "docs/guide/from-eventpp.md", "docs/guide/*.md"),
    "choosing": ("docs/guide/try.md", "docs/guide/ladder.md", "docs/guide/replay.md",
                 "docs/methodology.md"),
    "design": ("docs/design/*.md",),
    "decisions": ("docs/adr/README.md", "docs/adr/*.md"),
}
CHINESE = {"start": ("README.zh.md",), "guides": ("docs/zh/guide.md",)}
PLACES = {"README.md": "index.html", "README.zh.md": "index.zh.html",
          "docs/adr/README.md": "docs/adr/index.html"}
PAIRS = (("README.md", "README.zh.md"),)
SHORT = {"README.md": "Overview", "README.zh.md": "\u6982\u89c8", "lab/README.md": "The lab",
         "docs/adr/README.md": "All decisions"}
OVERVIEWS = {  # of sections whose first page no text is
    "guides": ("docs/guide/index.html", "Guides",
               "What to use when, and what it promises: a guide for each part of the library."),
    "choosing": ("docs/choosing.html", "Choosing",
                 "Which way of handing over suits your work, and how that is measured."),
    "design": ("docs/design/index.html", "Design",
               "How the parts work: protocols, invariants, and why they hold."),
}
SHOWN = ("docs/", "examples/", "include/")  # a path in code or a comment that becomes a link
PICTURES = (".svg", ".png", ".jpg", ".webp")


def place_of_text(path):
    if path in PLACES:
        return PLACES[path]
    return posixpath.splitext(path)[0] + ".html"


def texts_of(root, patterns, taken):
    """The files in order, each once in the whole site."""
    for pattern in patterns:
        for path in sorted(root.glob(pattern)):
            name = path.relative_to(root).as_posix()
            if name not in taken:
                taken.add(name)
                yield name


class Site:
    def __init__(self, root, world):
        self.root, self.world = root, world
        self.texts = self.plan()  # path -> (section, lang)
        self.sources, self.pictures, self.dead = {}, {}, []
        self.made = []
        self.navigation = Navigation({}, {}, {})

    def plan(self):
        found, taken = {}, set()
        named = {path for patterns in TEXTS.values() for path in patterns if "*" not in path}
        for section, patterns in TEXTS.items():
            others = taken | (named - set(patterns))
            for path in texts_of(self.root, patterns, others):
                found[path] = (section, "en")
                taken.add(path)
        for section, patterns in CHINESE.items():
            for path in texts_of(self.root, patterns, taken):
                found[path] = (section, "zh-Hans")
        return found

    def pages(self):
        """All pages. Texts come first: what they link to is shown as well."""
        texts = [self.text_page(path, *place) for path, place in self.texts.items()]
        headers = [header_page(self.world, header, self.named) for header in self.world.headers]
        for header in self.world.headers:
            self.sources[f"include/{header}"] = True
        examples = [self.examples_page()]
        overviews = [self.overview(section, texts, examples) for section in OVERVIEWS]
        self.made = [*texts, *examples, *overviews,
                     *overview_pages(self.world, headers), *headers]
        self.made += [source_page(self.root, path) for path in sorted(self.sources)]
        self.navigate(texts, examples, dict(zip(self.world.headers, headers)))
        return self.made

    def resolve(self, page, target, anchor):
        """The address of a file of the repository: its page, its picture, its code."""
        tail = f"#{anchor}" if anchor else ""
        if target in self.texts:
            return relative(page, place_of_text(target) + tail)
        if target.startswith("include/handoff/") and target[8:] in self.world.headers:
            return relative(page, page_of_header(target[8:]) + tail)
        path = self.root / target
        if not path.is_file() or self.root not in path.resolve().parents:
            return None
        if path.suffix in PICTURES:
            self.pictures[target] = True
            return relative(page, target)
        self.sources[target] = True
        return relative(page, address_of(target) + tail)

    def named(self, page, name):
        """The address of a public name, or of a header or text, as texts write them; or None."""
        if "/" not in name:
            address = self.world.find(name)
            return relative(page, address) if address else None
        name = name if name.startswith(SHOWN) else f"include/handoff/{name}"
        return self.resolve(page, name, "")

    def text_page(self, path, section, lang):
        page = Page(path=place_of_text(path), title="", section=section, lang=lang, source=path)

        renderer = Renderer(posixpath.dirname(path), lang,
                            lambda target, anchor: self.resolve(page, target, anchor),
                            lambda name: self.named(page, name))
        page.body = renderer.render((self.root / path).read_text())
        page.headings, page.texts = renderer.headings, renderer.texts
        page.summary = renderer.summary
        page.title = renderer.headings[0].text if renderer.headings else path
        page.short = SHORT.get(path) or page.title.split(": ")[0]
        self.dead += [f"{path}: {target}: no such file" for target in renderer.dead]
        return page

    def examples_page(self):
        page = Page(path="examples/index.html", title="Examples", section="guides",
                    source="examples", summary="Whole programs, each built and run by the tests.")
        items = []
        for path in sorted(self.root.glob("examples/*.cpp")):
            name = path.relative_to(self.root).as_posix()
            said = example_summary(path.read_text().split("\n\n")[0])
            items.append(f'<dt><a href="{escape(self.resolve(page, name, ""))}">{escape(path.name)}'
                         f"</a></dt><dd>{escape(said)}</dd>")
        page.body = (f"<h1>Examples</h1>\n<p>{page.summary}</p>\n"
                     f'<dl class="list">{"".join(items)}</dl>\n')
        return page

    def overview(self, section, texts, examples):
        path, title, summary = OVERVIEWS[section]
        page = Page(path=path, title=title, section=section, summary=summary, source="docs")
        listed = [one for one in [*texts, *examples] if one.section == section
                  and one.lang == "en"]
        page.body = (f"<h1>{title}</h1>\n<p>{escape(summary)}</p>\n"
                     + list_of_headers(page, listed))
        return page

    # What stands beside the text.

    def navigate(self, texts, examples, headers):
        navigation = self.navigation
        for lang in ("en", "zh-Hans"):
            navigation.first[lang], navigation.pages[lang] = {}, {}
        for section, (path, _, _) in OVERVIEWS.items():
            navigation.first["en"][section] = path
            navigation.pages["en"][section] = [(0, path, "Overview", "en")]
        for page in [*texts, *examples]:
            navigation.first[page.lang].setdefault(page.section, page.path)
            navigation.pages[page.lang].setdefault(page.section, []).append(
                (0, page.path, page.label(), page.lang))
        chinese = [entry for entries in navigation.pages["zh-Hans"].values() for entry in entries]
        for section in TEXTS:
            navigation.pages["zh-Hans"][section] = chinese
        navigation.first["en"]["reference"] = "reference/index.html"
        navigation.pages["en"]["reference"] = self.reference_links(headers)
        for english, other in PAIRS:
            one, two = place_of_text(english), place_of_text(other)
            navigation.pairs[one], navigation.pairs[two] = two, one
        guide = place_of_text("docs/zh/guide.md")
        navigation.pairs[guide] = OVERVIEWS["guides"][0]
        for page in texts:
            if page.section == "guides" and page.lang == "en":
                navigation.pairs.setdefault(page.path, guide)

    def reference_links(self, headers):
        links = [(0, "reference/index.html", "All headers", "en"),
                 (0, "reference/names.html", "All names", "en")]
        for room in rooms(self.world):
            links.append((0, f"reference/{room}.html", f"{room}/", "en"))
            links += [(1, page.path, page.label(), "en") for header, page in headers.items()
                      if room_of(header) == room]
        links += [(0, page.path, page.label(), "en") for header, page in headers.items()
                  if not room_of(header)]
        return links

    # What the search looks through.

    def index(self):
        """names: [name, kind, address, sentence]; texts: [page, heading, address, words]."""
        order = {f"reference/{room}": number for number, room in enumerate(rooms(self.world))}
        names = [[entry.name, entry.kind, entry.address, entry.summary] for entry in sorted(
            self.world.entries, key=lambda one: order.get(one.address.rpartition("/")[0], 99))]
        texts = []
        for page in self.made:
            for title, anchor, words in page.texts or [[page.title, "", [page.summary]]]:
                first = not anchor or title == page.title
                address = page.path + ("" if first else f"#{anchor}")
                texts.append([page.title, "" if first else title, address,
                              " ".join(" ".join(words).split())])
        return {"names": names, "texts": texts}
