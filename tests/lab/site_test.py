# SPDX-License-Identifier: MIT
"""`tools/site`: no link is dead, the search finds each public name, the audit finds no fault."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from browser import Browser

ROOT = Path(os.environ.get("HANDOFF_SOURCE", Path(__file__).resolve().parents[2]))
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools" / "reference")]
import reference  # noqa: E402  (found by the line above)
from site_pages.dead_links import dead_links  # noqa: E402
from site_pages.reference_pages import bare, page_of_header  # noqa: E402
from site_pages.texts import Renderer  # noqa: E402

AUDIT = (Path(__file__).parent / "audit.js").read_text()
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
VIEWS = [(390, False), (1280, True)]  # each page in one of them
HEADERS_STEP = 5  # one program makes the pages of all headers; a deep run looks at each
DEEP = bool(os.environ.get("HANDOFF_TEST_DEEP"))
OTHER_VIEWS = [(390, False), (390, True), (1280, False)]
# A page of each kind, which is looked at in the other views too and as it is printed.
KINDS = ["index.html", "index.zh.html", "docs/zh/guide.html", "docs/guide/index.html",
         "docs/guide/messages.html", "docs/adr/index.html", "examples/index.html",
         "reference/index.html", "reference/names.html", "reference/pool/thread_pool.html",
         "source/examples/01_thread_team.cpp.html"]
TYPE = """(text => {
  const input = document.getElementById("site-search");
  input.value = text;
  input.dispatchEvent(new Event("input"));
  return window.handoffSearch(text);
})(%s)"""
FOUND = "[...document.querySelectorAll('#site-found a')].map(link => link.getAttribute('href'))"
AT = "decodeURIComponent(location.href).split('/site/')[1] + '|' + document.activeElement.id"


def make_site(folder):
    return subprocess.run([sys.executable, ROOT / "tools" / "site", folder], capture_output=True,
                          text=True, check=False)


class SiteTest(unittest.TestCase):
    """One site and one browser for all tests."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.site = cls.scratch / "site"
        cls.made = make_site(cls.site)
        assert cls.made.returncode == 0, cls.made.stdout + cls.made.stderr
        cls.browser = cls.enterClassContext(Browser())

    def open(self, page, **view):
        self.browser.open(self.site / page, **view)

    def assert_sound(self, page, width, dark, media="screen"):
        with self.subTest(page=page, width=width, dark=dark, media=media):
            self.open(page, width=width, dark=dark, media=media)
            self.assertEqual(self.browser.evaluate(AUDIT), [])
            self.assertLessEqual(self.browser.evaluate(OVERFLOW), 0)
            self.assertEqual(self.browser.complaints(), [])

    # Links.

    def test_each_text_and_each_header_has_a_page(self):
        titles = "".join(path.read_text() for path in self.site.rglob("*.html"))
        for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "lab" / "README.md",
                     *reference.public_headers(ROOT)]:
            self.assertIn(f"<code>{path.relative_to(ROOT).as_posix()}</code>", titles)

    def test_no_link_is_dead(self):
        """The tool reads its own links, by what the next test tries; here those of the search."""
        self.assertIn(" 0 dead links; ", self.made.stdout)
        anchors = {}
        for address in self.addresses():
            path, _, anchor = address.partition("#")
            if path not in anchors:
                anchors[path] = set(re.findall(r' id="([^"]*)"', (self.site / path).read_text()))
            self.assertTrue(not anchor or anchor in anchors[path], address)

    def addresses(self):
        """Where the search leads to."""
        text = (self.site / "site-index.js").read_text()
        index = json.loads(text.removeprefix("window.handoffIndex = ").removesuffix(";\n"))
        return [entry[2] for entries in index.values() for entry in entries]

    def test_a_dead_link_is_found(self):
        folder = self.scratch / "dead"
        folder.mkdir()
        (folder / "there.html").write_text('<p id="part">x</p>')
        (folder / "a.html").write_text(
            '<a href="there.html#part">1</a><a href="https://example.org">2</a><a>3</a>'
            '<a href="gone.html">4</a><a href="there.html#nowhere">5</a><a href="#none">6</a>'
            '<a href="../site/index.html">7</a><a href="file:///etc/passwd">8</a>'
            '<img src="https://example.org/x.png"><img src="no.svg"><a href="//cdn/x">9</a>')
        faults = [fault.removeprefix("a.html: ") for fault in dead_links(folder)]
        self.assertEqual(faults, [
            "None: a link without an address", "gone.html: no such file",
            "there.html#nowhere: no such anchor", "#none: no such anchor",
            "../site/index.html: outside of the site", "file:///etc/passwd: not within the site",
            "https://example.org/x.png: loaded from elsewhere", "no.svg: no such file",
            "//cdn/x: not within the site"])

    def test_a_text_that_links_to_nothing_is_told(self):
        renderer = Renderer("docs", "en", lambda target, anchor: None, lambda name: None)
        renderer.render("# A\n\n[b](../gone.md#part) ![c](no.svg) [d](https://example.org)\n")
        self.assertEqual(renderer.dead, ["../gone.md#part", "no.svg"])

    def test_what_it_did_not_make_stays(self):
        folder = self.scratch / "mine"
        folder.mkdir()
        (folder / "letter.txt").write_text("keep")
        done = make_site(folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is not empty and holds no site", done.stderr)
        self.assertEqual([path.name for path in folder.iterdir()], ["letter.txt"])

    # Search.

    def test_the_search_finds_each_public_name(self):
        reference.run_doxygen(ROOT, self.scratch, for_site=True)
        names = list(reference.names_in(self.scratch / "xml"))
        self.assertGreater(len(names), 1000)
        asked = {}  # what is typed -> the pages that must be among what is found
        for name in names:
            whole, last = bare(name.name), bare(name.name).split("::")[-1]
            if name.place.endswith(".h"):  # C: no namespace, but doxygen puts the file before it
                whole = last
            for typed in (whole, "handoff::" + whole, last):
                asked.setdefault(typed, set()).add(page_of_header(name.place))
        self.open("docs/guide/index.html")
        found = self.browser.evaluate(
            "(async asked => { const found = {}; for (const one of asked)"
            " found[one] = await handoffSearch(one); return found; })(%s)" % json.dumps(
                list(asked)))
        for typed, pages in asked.items():
            self.assertLessEqual(pages, {address.split("#")[0] for address in found[typed]}, typed)

    def test_words_of_guides_are_found_in_both_languages(self):
        self.open("index.html")
        for typed, page in (("nested waits end", "docs/design/thread_pool.html"),
                            ("SIGXFSZ", "CHANGELOG.html"),
                            ("\u7ebf\u7a0b\u6c60", "docs/zh/guide.html"),
                            ("worker_program.cpp", "source/examples/16_worker_program.cpp.html")):
            found = self.browser.evaluate(TYPE % json.dumps(typed))
            self.assertIn(page, {address.split("#")[0] for address in found}, typed)
        self.assertEqual(self.browser.evaluate(TYPE % '"no such words anywhere"'), [])
        self.assertEqual(self.browser.evaluate(
            "document.querySelector('#site-found [role=status]').textContent"), "Nothing found")

    def test_the_search_is_used_by_keyboard(self):
        self.open("docs/guide/pools.html", width=1280)
        self.browser.press("/", text="/")
        self.assertEqual(self.browser.evaluate("document.activeElement.id"), "site-search")
        self.browser.call("Input.insertText", text="ThreadPool::submit")
        self.browser.evaluate("window.handoffSearch('x')")
        shown = self.browser.evaluate(FOUND)
        self.assertEqual(shown[0], "../../reference/pool/thread_pool.html#ThreadPool.submit")
        self.assertEqual(self.browser.evaluate(AUDIT), [])
        self.browser.press("ArrowDown")
        self.browser.press("ArrowDown")
        self.assertEqual(self.browser.evaluate("document.activeElement.getAttribute('href')"),
                         shown[1])
        self.browser.press("ArrowUp")
        self.browser.press("Escape")
        self.assertEqual(self.browser.evaluate("document.activeElement.id"), "site-search")
        self.assertTrue(self.browser.evaluate("document.getElementById('site-found').hidden"))
        self.browser.events.clear()
        self.browser.press("Enter", text="\r")
        while not any(event.get("method") == "Page.loadEventFired"
                      for event in self.browser.events):
            self.browser.events.append(self.browser.receive())
        self.assertEqual(self.browser.evaluate(AT),
                         "reference/pool/thread_pool.html#ThreadPool.submit|")

    # Pages.

    def test_each_page_is_sound(self):
        pages = [path.relative_to(self.site).as_posix() for path in self.site.rglob("*.html")]
        pages = sorted(page for page in pages if not page.startswith("source/"))
        headers = [page for page in pages if page.count("/") == 2 and page.startswith("reference/")]
        self.assertGreater(len(headers), 100)
        left_out = set() if DEEP else set(headers) - set(headers[::HEADERS_STEP])
        for number, page in enumerate(page for page in pages if page not in left_out):
            self.assert_sound(page, *VIEWS[number % len(VIEWS)])

    def test_a_page_of_each_kind_is_sound_in_each_view(self):
        for page in KINDS:
            for view in OTHER_VIEWS:
                self.assert_sound(page, *view)
            self.assert_sound(page, 760, False, "print")
            asked = self.browser.requests()
            self.assertTrue(all(url.startswith(self.site.as_uri()) for url in asked), asked)

    def test_the_audit_finds_what_is_wrong(self):
        text = (self.site / "index.html").read_text()
        for good, bad, fault in (
                (' alt="', ' title="', "an image without a text"),
                ('<label for="site-search">', '<label for="other">', "no label"),
                ('lang="en" data', "data", "no language"),
                ('<h2 id="an-example">', '<h4 id="an-example">', "a level is left out"),
                ('href="#an-example"', 'href="#no-example"', "leads nowhere"),
                ('class="home"', 'class="home" style="color: #999"', "contrast 2.85 below 4.5")):
            self.assertIn(good, text)
            (self.site / "canary.html").write_text(text.replace(good, bad))
            self.addCleanup((self.site / "canary.html").unlink, missing_ok=True)
            self.open("canary.html", width=1280)
            self.assertIn(fault, " ".join(self.browser.evaluate(AUDIT)))

    def test_pages_can_be_used_without_a_script(self):
        for width in (390, 1280):
            self.open("docs/guide/pools.html", width=width, scripts=False)
            self.assertEqual(self.hidden("form.search"), True)
            self.assertEqual(self.hidden("nav.sections a[href$='reference/index.html']"), False)
            self.assertEqual(self.hidden("nav.pages summary"), width > 1000)
            self.assertEqual(self.hidden("article h2"), False)

    def hidden(self, selector):
        """Whether an element takes no room. Asked of the browser, as scripts are off."""
        document = self.browser.call("DOM.getDocument", depth=0)["root"]["nodeId"]
        node = self.browser.call("DOM.querySelector", nodeId=document,
                                 selector=selector)["nodeId"]
        self.assertTrue(node, selector)
        try:
            self.browser.call("DOM.getBoxModel", nodeId=node)
        except AssertionError:
            return True
        return False

    def test_what_is_in_sight_scrolls_and_is_no_stop(self):
        self.open("docs/guide/pools.html", width=1280)
        self.browser.evaluate("new Promise(done => setTimeout(done, 100))")
        stops = self.browser.evaluate(
            "[...document.querySelectorAll('.scroll, pre.code')].map(box => "
            "[box.scrollWidth > box.clientWidth, box.tabIndex === 0])")
        self.assertGreater(len(stops), 5)
        self.assertEqual([stop for stop in stops if stop[0] != stop[1]], [])


if __name__ == "__main__":
    unittest.main()
