# SPDX-License-Identifier: MIT
"""What tests of pages share: one browser, pages made of results, and what must hold of each."""

import re
from pathlib import Path

from browser import Browser
from lab_support import LabTest

AUDIT = (Path(__file__).parent / "audit.js").read_text()
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


class PageTest(LabTest):
    """One browser for all tests."""

    @classmethod
    def setUpClass(cls):
        cls.browser = cls.enterClassContext(Browser())

    def page_of(self, *results):
        """The path of the page of these results."""
        for i, result in enumerate(results):
            self.write(f"{i}.json", result)
        files = [f"{i}.json" for i in range(len(results))]
        done = self.run_lab("report", *files, "-o", "page.html")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return self.folder / "page.html"

    def assert_sound(self, page):
        """At every size and in every colour: nothing overflows, nothing is asked for, no faults;
        and the same where all is unfolded."""
        for width, dark, media in [(360, False, "screen"), (360, True, "screen"),
                                   (1440, False, "screen"), (1440, True, "screen"),
                                   (760, False, "print")]:
            with self.subTest(width=width, dark=dark, media=media):
                self.browser.open(page, width=width, dark=dark, media=media)
                for unfold in ("", "document.querySelectorAll('details').forEach(d => d.open = 1)"):
                    self.browser.evaluate(unfold)
                    self.assertLessEqual(self.browser.evaluate(OVERFLOW), 0)
                    self.assertEqual(self.browser.evaluate(AUDIT), [])
                self.assertEqual(self.browser.requests(), [])
                self.assertEqual(self.browser.complaints(), [])

    def page_text(self):
        document = self.browser.call("DOM.getDocument", depth=0)["root"]["nodeId"]
        body = self.browser.call("DOM.querySelector", nodeId=document, selector="main")["nodeId"]
        html = self.browser.call("DOM.getOuterHTML", nodeId=body)["outerHTML"]
        return re.sub(r"<wbr>|<[^>]*>", "", html)
