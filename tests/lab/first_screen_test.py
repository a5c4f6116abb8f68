# SPDX-License-Identifier: MIT
"""The answers of a page: the sentence and the ladder on the first screen, then efficiency against
the size of a task, then which way fits which work; and the ladder as a file of its own."""

import json
import re
import xml.etree.ElementTree as ElementTree

import synthetic_results
from page_support import PageTest
from synthetic_overview import METG, RUNGS, overview

PHONE, DESK = (390, 844), (1280, 800)
OWN = {False: (0x00, 0x67, 0xB8), True: (0x4A, 0xA8, 0xF0)}  # by dark
PEER = {False: (0x3F, 0x7D, 0x75), True: (0x6D, 0xBC, 0xB0)}
SENTENCE = "On this machine a task costs 28 ns here, 96 in enkiTS"
BUSY = [{"foreign_cpus": 0.9, "repeats": 3, "disturbed": "other programs took 0.9 CPUs"}]

PLACES = """[...document.querySelectorAll("h1, .bad, .sum, .answer, svg.ladder")]
  .filter(e => e.getClientRects().length && !e.closest("svg.ladder *, details"))
  .map(e => { const r = e.getBoundingClientRect();
    return [e.localName + "." + (e.getAttribute("class") || ""), r.left, r.top, r.right,
      r.bottom]; })"""
RUNGS_SEEN = """[...document.querySelectorAll("svg.ladder .rung")]
  .filter(e => e.getClientRects().length && !e.closest("details"))
  .map(e => e.getBoundingClientRect().bottom)"""
TEXTS = """[...document.querySelectorAll("svg.ladder text")]
  .filter(e => e.getClientRects().length && !e.closest("details"))
  .map(e => { const r = e.getBoundingClientRect(); const svg = e.ownerSVGElement;
    return [e.textContent, r.left, r.top, r.right, r.bottom, parseFloat(
      getComputedStyle(e).fontSize) * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width,
      svg.getBoundingClientRect().left, svg.getBoundingClientRect().right]; })"""


class FirstScreen(PageTest):
    def assert_first_screen(self, size):
        """The sum, the sentence and all rungs of one ladder are there without scrolling."""
        places = self.browser.evaluate(PLACES)
        kinds = [kind for kind, *_ in places]
        self.assertEqual((kinds.count("p.sum"), kinds.count("p.answer")), (1, 1))
        self.assertEqual(sum(kind.startswith("svg.ladder") for kind in kinds), 1)
        for kind, left, top, right, bottom in places:
            self.assertGreaterEqual(min(left, top), 0, kind)
            self.assertLessEqual(right, size[0], kind)
            if not kind.startswith("svg.ladder"):
                self.assertLessEqual(bottom, size[1], kind)
            self.assertGreater(bottom - top, 10, kind)
        bottoms = self.browser.evaluate(RUNGS_SEEN)
        self.assertEqual(len(bottoms), len(RUNGS))
        self.assertLessEqual(max(bottoms), size[1])

    def assert_readable(self):
        """No text of the ladder is small, cut off, or written over another."""
        texts = self.browser.evaluate(TEXTS)
        self.assertGreater(len(texts), 4 * len(RUNGS))
        for text, left, _, right, _, size, svg_left, svg_right in texts:
            self.assertGreaterEqual(size, 11, text)
            self.assertNotIn("\u2026", text)
            self.assertGreaterEqual(left, svg_left - 1, text)
            self.assertLessEqual(right, svg_right + 1, text)
        for i, (a, *at, _, _, _) in enumerate(texts):
            for b, *other, _, _, _ in texts[i + 1:]:
                wide = min(at[2], other[2]) - max(at[0], other[0])
                high = min(at[3], other[3]) - max(at[1], other[1])
                self.assertFalse(wide > 1 and high > 4, f"{a!r} over {b!r}")

    def test_the_first_screen_holds_the_sentence_and_all_rungs(self):
        busy = {**overview(), "blocks": BUSY}
        for name, result in (("quiet", overview()), ("busy", busy)):
            page = self.page_of(result)
            for size in (PHONE, DESK):
                for dark in (False, True):
                    with self.subTest(name, size=size, dark=dark):
                        self.browser.open(page, *size, dark=dark)
                        self.assert_first_screen(size)
                        self.assert_readable()
                        said = self.browser.evaluate("document.querySelector('.answer').innerText")
                        self.assertIn(SENTENCE, said)
                        self.assertEqual("Other programs took" in self.page_text(), name == "busy")

    def test_what_is_seen_there_has_the_marks_of_the_ways(self):
        page = self.page_of(overview())
        for size in (PHONE, DESK):
            for dark in (False, True):
                with self.subTest(size=size, dark=dark):
                    self.browser.open(page, *size, dark=dark)
                    own, peer = self.browser.count_on_first_screen(OWN[dark], PEER[dark])
                    self.assertGreater(own, 30 * len(RUNGS))
                    self.assertGreater(peer, 10 * len(RUNGS))

    def test_it_is_there_without_scripts(self):
        page = self.page_of(overview())
        for size in (PHONE, DESK):
            self.browser.open(page, *size, scripts=False)
            text = self.page_text().strip()
            self.assertIn(SENTENCE, text)
            for words in ["Which way for my work?", "handoff::ThreadPool, mode stealing: post()",
                          "own.pool.stealing"]:
                self.assertIn(words, text)
            own, = self.browser.count_on_first_screen(OWN[False])
            self.assertGreater(own, 30 * len(RUNGS))

    def test_who_cannot_see_it_is_told_what_a_task_costs_here_and_in_onetbb(self):
        self.browser.open(self.page_of(overview()), *DESK)
        labels = self.browser.evaluate("""[...document.querySelectorAll("svg.ladder")]
            .map(svg => [svg.getAttribute("role"), svg.getAttribute("aria-label")])""")
        self.assertEqual(len(labels), 2)  # for a phone and for a desk
        for role, label in labels:
            self.assertEqual(role, "img")
            self.assertIn(SENTENCE, label)
            here, there = re.search(
                r"An empty task [^:]*: ([\d.]+) ns here, [^:]* ([\d.]+) ns in oneTBB",
                label).groups()
            self.assertAlmostEqual(float(here) / 28, 1, delta=0.02)
            self.assertAlmostEqual(float(there) / 155, 1, delta=0.02)
            self.assertEqual(len(re.findall(r"[A-Z][^:]*: [\d.]+ [num]s here", label)), len(RUNGS))

    def test_the_page_is_sound(self):
        self.assert_sound(self.page_of(overview(noise=0.5)))

    def test_a_page_of_three_machines_shows_one_ladder_and_folds_the_others(self):
        page = self.page_of(*map(overview, range(3)))
        self.assert_sound(page)
        self.browser.open(page, *DESK)
        self.assert_first_screen((DESK[0], DESK[1] + 100))
        self.assertEqual(self.browser.evaluate(
            "document.querySelectorAll('details svg.ladder.wide').length"), 2)

    def test_a_page_of_fifty_machines_has_one_ladder_and_stays_small(self):
        page = self.page_of(*map(overview, range(50)))
        self.assertLessEqual(page.stat().st_size, 600_000)
        self.browser.open(page, *PHONE)
        self.assertEqual(self.browser.evaluate(
            "document.querySelectorAll('svg.ladder.wide').length"), 1)

    def test_all_else_is_folded_and_a_link_unfolds_it(self):
        self.browser.open(self.page_of(overview()), *DESK)
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('details[open]').length"),
                         0)
        self.assertEqual(self.browser.evaluate("""(() => {
            const link = [...document.querySelectorAll("nav a")].find(a => a.text === "tasks");
            link.click();
            return new Promise(done => setTimeout(() => done(
              document.querySelector(link.hash).open), 100)); })()"""), True)

    def test_without_rungs_the_figures_come_first(self):
        self.browser.open(self.page_of(synthetic_results.result()), *DESK)
        heads = self.browser.evaluate(
            "[...document.querySelectorAll('h2')].map(h => h.innerText)")
        self.assertEqual(heads[0], "At a glance")
        self.assertEqual(self.browser.evaluate(
            "[...document.querySelectorAll('details:not([open]) h2')].map(h => h.innerText)"),
            ["How to read it"])


class OtherAnswers(PageTest):
    def test_efficiency_has_a_curve_for_each_way_and_its_metg(self):
        self.browser.open(self.page_of(overview()), *DESK)
        lines = self.browser.evaluate("""[...document.querySelectorAll(
            "#efficiency ~ figure .legend li")].map(li => li.innerText)""")
        self.assertEqual(len(lines), len(METG))
        for contender, ns in METG.items():
            said = [line for line in lines if line.startswith(contender + " ")]
            self.assertEqual(len(said), 1, lines)
            self.assertAlmostEqual(float(said[0].split()[1]) / ns, 1, delta=0.05)
        rings = self.browser.evaluate("""[...document.querySelectorAll(
            "#efficiency ~ figure .reaches")].map(ring => {
              const r = ring.getBoundingClientRect(); return [r.x + r.width / 2, r.y]; })""")
        self.assertEqual(len(rings), len(METG))
        self.assertEqual(len({y for _, y in rings}), 1)  # at 50 % all of them
        self.assertEqual([x for x, _ in rings], sorted(x for x, _ in rings))  # the best first

    def test_which_way_says_what_advise_says(self):
        self.browser.open(self.page_of(overview()), *DESK)
        rows = self.browser.evaluate("""[...document.querySelectorAll("#cases .case")].flatMap(
            part => [...part.querySelectorAll("tbody tr")].map(row => [part.dataset.kind,
              row.dataset.piece, row.dataset.count,
              ...[...row.cells].map(cell => cell.textContent)]))""")
        self.assertEqual(len(rows), 3 * 8)  # loops were not measured
        for kind, piece, count, *cells in rows:
            flags = {"Tasks, in any order": [],
                     "Tasks that must begin in order": ["--order", "fifo"],
                     "Tasks that hand over tasks and wait for them": ["--nesting", "tasks"]}[kind]
            question = ("advise", "0.json", "--grain", piece.replace(" ", ""), "--count", count,
                        *flags)
            advice = self.json_of(*question)
            ways = advice["ways"]
            name = {"here": "do it yourself"}.get(ways[0]["name"], ways[0]["name"])
            self.assertEqual(cells[2], name)
            if ways[0]["name"].startswith("own"):
                self.assertEqual(cells[3], ways[0]["call"])
            times = ways[1]["ns"] / ways[0]["ns"]
            if ways[1]["name"] in advice["equal"]:
                self.assertEqual(cells[6], "equal")
            else:
                self.assertAlmostEqual(float(cells[6].rstrip("x")), times, delta=0.01 * times)
            asleep = self.json_of(*question, "--idle-cost", "0.1")["ways"][0]
            if asleep["name"] == ways[0]["name"]:
                self.assertEqual(cells[7], "the same")
            else:
                self.assertTrue(cells[7].startswith(
                    {"here": "do it yourself"}.get(asleep["name"], asleep["name"]) + ", "))

    def test_work_that_was_not_measured_has_the_command_that_measures_it(self):
        self.browser.open(self.page_of(overview()), *DESK)
        self.assertEqual(self.browser.evaluate(
            "document.querySelector('#cases p.case').innerText"),
            "Indices of a loop: not measured; handoff run grain --metrics metg50 --set unit=index "
            "--set width=2 measures it.")

    def test_the_cases_can_be_narrowed_down(self):
        self.browser.open(self.page_of(overview()), *DESK)
        shown = """[...document.querySelectorAll("#cases tbody tr")]
            .filter(row => row.getClientRects().length).length"""
        self.assertEqual(self.browser.evaluate(shown), 24)
        choose = """(label, value) => { const select = [...document.querySelectorAll(
            "#cases label")].find(one => one.firstChild.data === label).querySelector("select");
            select.value = value; select.dispatchEvent(new Event("change")); }"""
        for label, value, left in [("a piece takes", "1 us", 6), ("pieces", "100", 3),
                                   ("work", "Tasks, in any order", 1), ("pieces", "any", 2),
                                   ("work", "any", 6), ("a piece takes", "any", 24)]:
            self.browser.evaluate(f"({choose})({json.dumps(label)}, {json.dumps(value)})")
            self.assertEqual(self.browser.evaluate(shown), left, (label, value))

    def test_hostile_names_cannot_act(self):
        result = overview()
        hostile = "peer.</title><script>document.title = 'taken'</script>\"'><img src=x>"
        for row in result["rows"]:
            if row["contender"] == "peer.onetbb":
                row["contender"] = hostile
        for rung in result["rungs"]:
            for way in (rung["peer"], *rung["named"]):
                if way and way["contender"] == "peer.onetbb":
                    way["contender"] = hostile
            rung["peers"] = [hostile if peer == "peer.onetbb" else peer for peer in rung["peers"]]
        self.browser.open(self.page_of(result), *DESK)
        self.assertTrue(self.browser.evaluate("document.title").startswith("handoff: what"))
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('img').length"), 0)
        done = self.run_lab("report", "0.json", "--ladder", "ladder.svg")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        ElementTree.parse(self.folder / "ladder.svg")


class LadderFile(PageTest):
    def draw(self, result, *more):
        self.write("r.json", result)
        done = self.run_lab("report", "r.json", "--ladder", "ladder.svg", *more)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return self.folder / "ladder.svg"

    def test_it_is_a_picture_that_needs_nothing_else(self):
        picture = self.draw(overview())
        self.assertEqual(self.files(), ["ladder.svg", "r.json"])
        root = ElementTree.parse(picture).getroot()
        self.assertEqual((root.tag, root.get("role")), ("{http://www.w3.org/2000/svg}svg", "img"))
        described = root.find("{http://www.w3.org/2000/svg}desc").text
        self.assertIn(SENTENCE, described)
        self.assertRegex(described, r"An empty task [^:]*: [^:]*, 15\d ns in oneTBB")
        text = picture.read_text()
        for what in ("<script", "href", "url(", "@import"):
            self.assertNotIn(what, text)
        self.assertLess(picture.stat().st_size, 60_000)
        shown = "".join(root.itertext())
        for words in ["Model 0", "2 threads", "virtual (KVM)", "measured 2026-11-01",
                      "GNU 12.2.0", "oneTBB 2021.8.0", "an empty task (1000 at a time)"]:
            self.assertIn(words, shown.replace("\n", ""))

    def test_it_can_be_read_in_a_page_of_a_phone(self):
        self.draw(overview())
        for dark in (False, True):
            (self.folder / "page.html").write_text(
                '<!DOCTYPE html><meta name="viewport" content="width=device-width">'
                '<body style="margin: 0"><img alt="" src="ladder.svg" style="max-width: 100%">')
            self.browser.open(self.folder / "page.html", *PHONE, dark=dark)
            width, height = self.browser.evaluate("""(() => { const r = document.querySelector(
                "img").getBoundingClientRect(); return [r.width, r.height]; })()""")
            self.assertEqual(width, PHONE[0])
            self.assertGreater(height, 500)
            own, = self.browser.count_on_first_screen(OWN[dark])
            self.assertGreater(own, 30 * len(RUNGS))
        text = (self.folder / "ladder.svg").read_text()
        units = float(re.search(r'viewBox="\S+ \S+ (\S+)', text).group(1))
        sizes = [12, *map(float, re.findall(r'font-size="([\d.]+)"', text))]
        self.assertIn("font-size: 12px", text)
        self.assertGreaterEqual(min(sizes) * PHONE[0] / units, 11)

    def test_page_and_picture_can_be_had_at_once(self):
        self.draw(overview(), "-o", "page.html")
        self.assertEqual(self.files(), ["ladder.svg", "page.html", "r.json"])

    def test_without_rungs_it_is_refused(self):
        self.write("r.json", synthetic_results.result())
        self.assert_refused("report", "r.json", "--ladder", "ladder.svg", "-o", "page.html",
                            mentions=["r.json", "no rungs", "./run"])

    def test_files_that_would_be_lost_are_refused(self):
        self.write("r.json", overview())
        self.assert_refused("report", "r.json", "--ladder", "r.json",
                            mentions=["r.json", "--ladder"])
        self.assert_refused("report", "r.json", "--ladder", "x", "-o", "./x",
                            mentions=["--ladder and --output"])
