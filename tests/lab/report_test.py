# SPDX-License-Identifier: MIT
"""`handoff report` and `handoff export`: the page in a real browser, and what is refused."""

import csv
import io
import json
import re

import synthetic_results as synthetic
from lab_support import LabTest
from page_support import AUDIT, OVERFLOW, PageTest

LIMIT_BYTES = 600_000
CANARY = """<!DOCTYPE html><meta charset="utf-8"><body style="color: #999; background: #fff">
<h1></h1><h3>deep</h3><p>pale text <a href="#nowhere">leads nowhere</a><button></button>
<svg class="bar" width="9" height="9"><rect width="9" height="9" fill="#eee"/></svg>
<img src="http://picture.example/x.png"><ul><p>no item</p></ul>
<table><tr><th>one</th><th></th></tr><tr><td>1</td></tr></table>
<div style="overflow-x: auto; width: 50px"><div style="width: 2000px">wide</div></div>
<div style="width: 3000px" tabindex="3" id="twice">wide</div><i id="twice"></i>
<input type="text"><nav aria-label="a"></nav><nav aria-label="a"></nav>
<button style="width: 9px; height: 9px; padding: 0">b</button><button>c</button>
<script>console.error("complaint"); undefined_function();</script>"""


class Pages(PageTest):
    def test_a_page_of_one_machine_is_sound(self):
        self.assert_sound(self.page_of(synthetic.result()))

    def test_a_page_of_three_machines_is_sound(self):
        self.assert_sound(self.page_of(*map(synthetic.result, range(3))))

    def test_a_page_of_fifty_machines_is_sound_and_small(self):
        page = self.page_of(*map(synthetic.result, range(50)))
        self.assertLess(page.stat().st_size, LIMIT_BYTES)
        self.assertIn("To keep the page small", page.read_text())
        self.assert_sound(page)
        self.assertEqual(self.browser.evaluate(
            "document.querySelectorAll('svg.bar .dots')[0].getAttribute('d').split('M').length"),
            51)

    def test_an_empty_result_makes_a_page(self):
        self.assert_sound(self.page_of({"schema": 1, "environment": {}, "rows": []}))

    def test_this_harness_finds_what_is_wrong(self):
        (self.folder / "page.html").write_text(CANARY)
        self.browser.open(self.folder / "page.html", width=360)
        self.assertGreater(self.browser.evaluate(OVERFLOW), 0)
        self.assertEqual(self.browser.requests(), ["http://picture.example/x.png"])
        complaints = " ".join(self.browser.complaints())
        self.assertIn("complaint", complaints)
        self.assertIn("Uncaught", complaints)
        faults = " ".join(self.browser.evaluate(AUDIT))
        for fault in ["no language", "no title", "not one main", "cannot be zoomed", "id stands",
                      "outside all landmarks", "a level is left out", "an empty heading",
                      "no name: <button>", "leads nowhere", "a picture without", "an image without",
                      "no item", "own tab order", "without a caption", "of another width",
                      "without a heading", "no scope", "an empty table heading",
                      "no label", "two navigations", "too small",
                      "cannot be scrolled", "contrast 2.85 below 4.5", "contrast 1.16 below 3"]:
            self.assertIn(fault, faults)

    def test_a_table_sorts_by_mouse_and_keyboard(self):
        self.browser.open(self.page_of(synthetic.result()))
        self.browser.evaluate("""window.table = document.querySelector("#s1c1 ~ .scroll table");
            window.head = [...table.tHead.rows[0].cells].find(h => h.textContent === "median");
            window.column = () => [...table.tBodies[0].rows].map(row => [
              row.cells[0].textContent, row.cells[head.cellIndex]?.dataset.v])""")
        before = self.browser.evaluate("column()")
        self.assertEqual(before[0][0], "limit.fma")
        self.browser.evaluate("head.querySelector('button').click()")
        up = self.browser.evaluate("column()")
        values = [float(value) for _, value in up if value is not None]
        self.assertEqual(values, sorted(values))
        self.assertEqual(len(values), len(synthetic.CONTENDERS))
        self.assertEqual(sorted(before, key=str), sorted(up, key=str))
        self.assertEqual({name for name, _ in up[-2:]}, {"peer.absent", "peer.wrong"})
        self.assertEqual(self.browser.evaluate("head.getAttribute('aria-sort')"), "ascending")
        self.browser.evaluate("head.querySelector('button').focus()")
        self.browser.press("Enter", text="\r")
        down = self.browser.evaluate("column()")
        self.assertEqual([v for _, v in down if v], [v for _, v in reversed(up) if v])
        self.assertEqual({name for name, _ in down[-2:]}, {"peer.absent", "peer.wrong"})
        self.assertEqual(self.browser.evaluate("head.getAttribute('aria-sort')"), "descending")
        self.browser.evaluate("table.querySelector('thead button').click()")
        names = [name for name, _ in self.browser.evaluate("column()")]
        self.assertEqual(names, sorted(names))
        self.assertEqual(self.browser.evaluate("head.getAttribute('aria-sort')"), None)

    def test_the_keyboard_reaches_everything_in_order_and_shows_where_it_is(self):
        self.browser.open(self.page_of(synthetic.result()))
        self.browser.press("Tab")
        self.assertEqual(self.browser.evaluate("document.activeElement.className"), "skip")
        self.assertGreaterEqual(
            self.browser.evaluate("document.activeElement.getBoundingClientRect().left"), 0)
        wanted = self.browser.evaluate("""
            window.stops = [...document.querySelectorAll("a, button, summary, [tabindex]")]
              .filter(e => e.getClientRects().length); stops.length""")
        self.assertGreater(wanted, 50)
        for stop in range(1, 40):
            self.browser.press("Tab")
            self.assertEqual(self.browser.evaluate("stops.indexOf(document.activeElement)"), stop)
            self.assertNotEqual(self.browser.evaluate(
                "getComputedStyle(document.activeElement).outlineStyle"), "none")

    def test_charts_are_readable_on_a_phone_and_on_a_desk(self):
        page = self.page_of(synthetic.result())
        for width in (360, 1440):
            self.browser.open(page, width=width)
            texts = self.browser.evaluate("""[...document.querySelectorAll("svg.lines text")]
                .map(text => [text.textContent, ...Object.values(
                  text.getBoundingClientRect().toJSON()).slice(0, 4)])""")
            self.assertGreater(len(texts), 20)
            self.assertGreater(min(height for *_, height in texts), 9)
            outside = self.browser.evaluate("""[...document.querySelectorAll("svg.lines")]
                .flatMap(svg => [...svg.querySelectorAll("text")].map(text => {
                  const [a, b] = [svg.getBoundingClientRect(), text.getBoundingClientRect()];
                  return b.left < a.left - 1 || b.right > a.right + 1 ? text.textContent : "";
                })).filter(text => text)""")
            self.assertEqual(outside, [])
            bars = self.browser.evaluate("""[...document.querySelectorAll(
                "#s1c1 + .scroll tbody tr:not(.without)")].map(row => [
                  Number(row.querySelector("td[data-v]").dataset.v),
                  row.querySelector("rect").getBoundingClientRect().width,
                  row.querySelector("svg").getBoundingClientRect().width,
                  row.querySelector("svg").getBoundingClientRect().right])""")
            self.assertEqual(len(bars), len(synthetic.CONTENDERS))
            for _, _, room, right in bars:
                self.assertGreater(room, 60)
                self.assertLessEqual(right, width)  # in view without scrolling sideways
            (a, a_bar, *_), (b, b_bar, *_) = bars[1], bars[-1]
            self.assertAlmostEqual(a_bar / b_bar, a / b, delta=0.03 * a / b)

    def test_the_page_is_whole_without_scripts(self):
        self.browser.open(self.page_of(synthetic.result()), scripts=False)
        text = self.page_text()
        self.assertNotIn("script", text)
        for words in ["own.thread_team", "GFLOP/s", "unavailable: not built: needs libmoon-dev",
                      "noisy: another process took 40 % of a CPU", "Model 0",
                      "not reproduced: 25.3 x there, 1.00 x here; its machine had more CPUs"]:
            self.assertIn(words, text)

    def test_the_page_of_an_interrupted_run_says_so_first(self):
        self.browser.open(self.page_of({**synthetic.result(), "interrupted": True}))
        self.assertTrue(self.page_text().strip().startswith("Interrupted: these results are"))
        self.browser.open(self.page_of(synthetic.result()))
        self.assertNotIn("Interrupted", self.page_text())

    def test_every_line_of_an_article_says_reproduced_or_why_not(self):
        self.browser.open(self.page_of(synthetic.result()))
        says = self.browser.evaluate(
            "[...document.querySelectorAll('#s1a1 ~ .scroll tbody tr')]"
            ".slice(0, 5).map(row => row.lastElementChild.textContent)")
        self.assertEqual(says, [
            "base", "reproduced",
            "not reproduced: 25.3 x there, 1.00 x here; its machine had more CPUs",
            "no contender implements this scheme",
            "unavailable: not built: needs libmoon-dev"])

    def test_an_article_says_where_the_time_went_where_that_is_known(self):
        result = synthetic.result()
        titles = "document.querySelector('#s1a1 ~ .scroll thead').innerText"
        self.browser.open(self.page_of(result))
        self.assertNotIn("off CPU", self.browser.evaluate(titles))
        for row in result["rows"]:
            if row["contender"] == "seed.single":
                row["per_item"] = {"submitter_on_cpu_ns": 9e5, "submitter_off_cpu_ns": 1e5,
                                   "others_on_cpu_ns": 0, "others_off_cpu_ns": 2e5}
        self.browser.open(self.page_of(result))
        self.assertIn("off CPU, ms", self.browser.evaluate(titles))
        cells = self.browser.evaluate(
            "[...document.querySelectorAll('#s1a1 ~ .scroll tbody tr')]"
            ".map(row => [...row.cells].map(cell => cell.textContent))")
        self.assertEqual(cells[0][5:7], ["0.900 + 0.00", "0.100 + 0.200"])
        self.assertEqual(cells[1][5:7], ["-", "-"])

    def test_curves_and_scaling_are_drawn(self):
        self.browser.open(self.page_of(synthetic.result()))
        charts = self.browser.evaluate("""[...document.querySelectorAll("figure")].map(f => [
            f.querySelector("figcaption").innerText, f.querySelectorAll(".line").length / 2])""")
        wanted = {"GFLOP/s against n, higher is better": 7,
                  "GFLOP/s against width, higher is better; dashed: perfect scaling": 7,
                  "share of full efficiency against the size of a task": 3,
                  "ns by percentile": 3,
                  "latency, ns by percentile": 3}
        found = {caption.split("\n")[1]: lines for caption, lines in charts}
        self.assertEqual(found, wanted)
        # n with 2 kernels and 4 widths, width with 2 kernels and 3 n, and the four curves
        self.assertEqual(len(charts), 2 * 4 + 2 * 3 + 4)

    def test_names_cannot_act_on_the_page(self):
        result = synthetic.result()
        hostile = "</script><script>document.title = 'taken'</script><img src=x>"
        result["rows"][0].update(contender=f"own.{hostile}", reason=hostile)
        result["environment"]["kernel"] = result["environment"]["cpu"]["model"] = hostile
        result["articles"][0] = {**synthetic.ARTICLE, "title": hostile}
        self.browser.open(self.page_of(result))
        self.assertTrue(self.browser.evaluate("document.title").startswith("handoff: what"))
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('img').length"), 0)
        self.assertEqual(self.browser.evaluate("document.scripts.length"), 2)
        self.assertEqual(self.browser.requests(), [])

    def test_the_page_carries_the_results(self):
        results = [synthetic.result(0), synthetic.result(1)]
        for result in results:  # as much as a page can carry
            result["rows"] = [row for row in result["rows"]
                              if row["parameters"].get("n", 512) == 512]
        self.browser.open(self.page_of(*results))
        carried = json.loads(self.browser.evaluate(
            "document.getElementById('results').textContent"))
        for result in results:
            for row in result["rows"]:
                row.pop("samples", None), row.pop("launches", None)
        for result in carried:
            for row in result["rows"]:
                row.pop("samples", None), row.pop("launches", None)
        self.assertEqual(carried, results)

    def test_the_page_says_what_the_kernels_threads_took(self):
        result = synthetic.result()
        block = {"repeats": 0, "foreign_cpus": 0, "stolen_cpus": 0, "throttled": 0,
                 "probe": {"one_cpu_gflops": 40, "all_cpus_gflops": 70}, "disturbed": None}
        result["blocks"] = [block, {**block, "kernel_cpus": None}, {**block, "kernel_cpus": 0.257},
                            None]
        for number, row in enumerate(result["rows"]):
            row["block"] = number % 6  # the last two are in no list
        for row in result["rows"]:
            if row["scenario"] == "grain":
                row["block"] = 1
        text = self.page_of(result).read_text()
        said = "took 0.26 CPUs meanwhile; that is not counted as other programs"
        self.assertIn(said, text)
        for row in result["rows"]:
            row["block"] = 1
        self.assertNotIn("own threads", self.page_of(result).read_text())

    def test_files_of_one_machine_that_do_not_repeat_each_other_belong_together(self):
        one, other = synthetic.result(), synthetic.result()
        one["rows"] = [row for row in one["rows"] if row["scenario"] == "matmul"]
        other["rows"] = [row for row in other["rows"] if row["scenario"] == "grain"]
        self.browser.open(self.page_of(one, other))
        self.assertEqual(self.browser.evaluate("document.querySelector('header p').innerText"),
                         "Model 0 <Processor> 2.50GHz, 2 CPUs, measured 2026-11-01")
        self.browser.open(self.page_of(one, one))
        self.assertEqual(self.browser.evaluate("document.querySelector('header p').innerText"),
                         "2 machines")


class Exports(LabTest):
    def export(self, form, result):
        self.write("r.json", result)
        done = self.run_lab("export", "--to", form, "r.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_csv_holds_every_figure_exactly(self):
        result = synthetic.result()
        result["rows"][-1]["reason"] = 'a "quoted", reason'
        lines = list(csv.DictReader(io.StringIO(self.export("csv", result))))
        self.assertEqual(len(lines), len(result["rows"]))
        for line, row in zip(lines, result["rows"]):
            for key in ("scenario", "contender", "kind", "metric", "unit", "status", "reason"):
                self.assertEqual(line[key], row[key])
            for key in ("median", "low", "high", "wall_ns_per_op"):
                self.assertEqual(float(line[key]) if line[key] else None, row[key])
            for key, value in row["parameters"].items():
                self.assertEqual(line[f"parameter.{key}"], str(value))
            for key, value in row.get("figures", {}).items():
                self.assertEqual(float(line[f"figure.{key}"]), value)
            self.assertEqual(int(line["launches"]), len(row["launches"]))

    def test_csv_has_the_peak_of_memory_and_what_an_item_took(self):
        result = synthetic.result()
        result["rows"][0].update(peak_memory_bytes=3 << 20, per_item={"voluntary_switches": 0.25})
        lines = list(csv.DictReader(io.StringIO(self.export("csv", result))))
        self.assertEqual(float(lines[0]["peak_memory_bytes"]), 3 << 20)
        self.assertEqual(float(lines[0]["per_item.voluntary_switches"]), 0.25)
        self.assertEqual(lines[0]["per_item.involuntary_switches"], "")
        self.assertEqual(lines[1]["peak_memory_bytes"], "")

    def test_google_benchmark_has_its_keys_and_errors_for_rows_without_figures(self):
        result = synthetic.result()
        exported = json.loads(self.export("google-benchmark", result))
        self.assertEqual(exported["context"]["num_cpus"], 2)
        self.assertEqual(exported["context"]["caches"][0]["size"], 32768)
        self.assertEqual(len(exported["benchmarks"]), len(result["rows"]))
        names = [benchmark["name"] for benchmark in exported["benchmarks"]]
        self.assertEqual(len(set(names)), len(names))
        self.assertEqual(names[0], "matmul/gflops/kernel:ikj/n:256/width:1/own.thread_team")
        for benchmark, row in zip(exported["benchmarks"], result["rows"]):
            self.assertEqual(benchmark.get("error_occurred", False), row["median"] is None)
            if row["median"] is None:
                self.assertIn(row["reason"], benchmark["error_message"])
            else:
                self.assertEqual(benchmark[row["metric"]], row["median"])
                self.assertEqual((benchmark["real_time"], benchmark["time_unit"]), (1e6, "ns"))

    def test_markdown_is_one_table_a_cell(self):
        result = synthetic.result()
        result["rows"][0]["contender"] = "own.a|b"
        text = self.export("markdown", result)
        self.assertEqual(text.count("### "), 2 * 3 * 4 + 1 + 3)
        self.assertIn("| own.a\\|b |", text)
        for line in text.splitlines():
            if line.startswith("|"):
                self.assertEqual(len(re.findall(r"(?<!\\)\|", line)), 6, line)

    def test_the_ladder_is_a_sentence_and_a_table_for_a_readme(self):
        text = self.export("ladder", synthetic.overview())
        self.assertRegex(text.splitlines()[0], r"^handoff .* 2 CPUs: ahead on 1\.$")
        self.assertEqual(text.splitlines()[2], "Other programs took 0.9 of 2 CPUs.")
        self.assertRegex(
            text, r"\n\nOn this machine a task costs 28 ns here, 1\d\d in Taskflow\. "
                  r"Tasks of less than ")
        [rung] = re.findall(r"^\| an empty task .*$", text, re.MULTILINE)
        cells = [cell.strip() for cell in rung.strip("|").split("|")]
        self.assertRegex(cells[1], r"^2\d\.\d ns \(2\d\.\d ns \.\. 2\d\.\d ns\)$")
        self.assertRegex(cells[2], r"^1\d\d ns \(1\d\d ns \.\. 1\d\d ns\), Taskflow$")
        self.assertRegex(cells[3], r"^(399|40\d) ns, a mutex pool$")
        self.assertRegex(cells[4], r"^[89]\.\d\d ns$")
        self.assertRegex(cells[5], r"^4\.\dx faster \(\d\.\d \.\. \d\.\d\)$")
        self.assertTrue(text.splitlines()[-1].startswith("Model 0"), text)

    def test_without_a_ladder_there_is_none_to_export(self):
        self.write("r.json", synthetic.result())
        self.assert_refused("export", "--to", "ladder", "r.json", mentions=["has no ladder"])

    def test_where_it_goes(self):
        self.write("r.json", synthetic.result())
        done = self.run_lab("export", "--to", "csv", "r.json", "--output", "out.csv")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        done = self.run_lab("export", "--to", "csv", "r.json")
        self.assertEqual(done.stdout, (self.folder / "out.csv").read_text())
        kept = (self.folder / "r.json").read_text()
        self.assert_refused("export", "--to", "csv", "r.json", "--output", "r.json",
                            mentions=["r.json", "--output"])
        self.assert_refused("report", "r.json", "-o", "./r.json", mentions=["r.json", "--output"])
        self.assertEqual((self.folder / "r.json").read_text(), kept)
        self.assert_refused("export", "--to", "cvs", "r.json", mentions=["'cvs'", "'csv'?"])


def broken(**changes):
    """A result with keys of its first row changed; None takes the key away."""
    result = synthetic.result()
    result["rows"] = result["rows"][:1]
    for key, value in changes.items():
        result["rows"][0][key] = value
        if value is None:
            del result["rows"][0][key]
    return json.dumps(result)


def with_rung(**changes):
    """A result with keys of its rung changed; None takes the key away."""
    rung = {key: value for key, value in {**synthetic.rung(), **changes}.items()
            if value is not None}
    return json.dumps({"schema": 1, "rows": [], "rungs": [rung]})


BAD_FILES = {
    "empty": ("", ["an empty file"]),
    "truncated": (json.dumps(synthetic.result())[:5000], ["no JSON, or cut off"]),
    "no JSON": ("<html>\x1b[31m", ["no JSON", "line 1"]),
    "a list": ("[1, 2]", ['it has no "schema"']),
    "foreign": ('{"context": {}, "benchmarks": []}', ['it has no "schema"']),
    "schema 2": ('{"schema": 2, "environment": {}, "rows": []}', ["has schema 2"]),
    "schema text": ('{"schema": "1", "environment": {}, "rows": []}', ["has schema"]),
    "interrupted": ('{"schema": 1, "rows": [], "interrupted": 1}', ['"interrupted"']),
    "no rows": ('{"schema": 1, "environment": {}}', ['no "rows"']),
    "no environment": ('{"schema": 1, "environment": 3, "rows": []}', ['no "environment"']),
    "row no object": ('{"schema": 1, "environment": {}, "rows": [3]}', ["rows[0]"]),
    "no metric": (broken(metric=None), ["rows[0]", '"metric"']),
    "kind": (broken(kind="own\" onload"), ["rows[0]", '"kind"']),
    "order": (broken(order="lifo"), ["rows[0]", '"order"']),
    "control": (broken(contender="own.\x1b[2J"), ["rows[0]", '"contender"']),
    "median text": (broken(median="fast"), ["rows[0]", '"median"']),
    "launches flat": (broken(launches=[1, 2]), ["rows[0]", '"launches"']),
    "no launches": (broken(launches=[]), ["rows[0]", "launches"]),
    "latency": (broken(latency={"count": 1}), ["rows[0]", '"latency"']),
    "curve": (broken(curves={"x": [[1]]}), ["rows[0]", '"curves"']),
    "rungs no list": ('{"schema": 1, "rows": [], "rungs": {}}', ['"rungs" is no list']),
    "rung no object": ('{"schema": 1, "rows": [], "rungs": [null]}', ["rungs[0] is no object"]),
    "no rung's name": (with_rung(name=None), ["rungs[0]", 'no "name"']),
    "rung's cell": (with_rung(parameters=[]), ["rungs[0]", '"parameters"']),
    "own number": (with_rung(own=3), ["rungs[0]", '"own" is not null or an object']),
    "own nameless": (with_rung(own={"contender": ""}), ["rungs[0]", '"own"']),
    "peer control": (with_rung(peer={"contender": "peer.\x1b[2J"}), ["rungs[0]", '"peer"']),
    "no limit": (with_rung(limit=None), ["rungs[0]", 'no "limit"']),
    "named null": (with_rung(named=[None]), ["rungs[0]", '"named"']),
    "peers a text": (with_rung(peers="peer.onetbb"), ["rungs[0]", '"peers"']),
    "peers control": (with_rung(peers=["peer.\x1b[2J"]), ["rungs[0]", '"peers"']),
    "blocks": ('{"schema": 1, "rows": [], "blocks": 3}', ['"blocks" is no list']),
    "block": ('{"schema": 1, "rows": [], "blocks": [null, 3]}', ["blocks[1] is no object"]),
    "block's reason": ('{"schema": 1, "rows": [], "blocks": [{"disturbed": 1}]}',
                       ["blocks[0]", '"disturbed"']),
    "block's CPUs": ('{"schema": 1, "rows": [], "blocks": [{"foreign_cpus": "1"}]}',
                     ["blocks[0]", '"foreign_cpus"']),
    "block's kernel": ('{"schema": 1, "rows": [], "blocks": [{"kernel_cpus": "1"}]}',
                       ["blocks[0]", '"kernel_cpus"']),
    "article": ('{"schema": 1, "environment": {}, "rows": [], "articles": [{}]}',
                ["articles[0]", '"scenario"']),
}


class Refusals(LabTest):
    def test_a_file_that_is_no_result_gets_one_line(self):
        for name, (text, mentions) in BAD_FILES.items():
            (self.folder / "bad.json").write_text(text)
            for command in (("report", "bad.json", "-o", "page.html"),
                            ("export", "--to", "csv", "bad.json", "-o", "out.csv")):
                with self.subTest(name, command=command[0]):
                    self.assert_refused(*command, mentions=["bad.json", *mentions])

    def test_a_file_that_is_too_large_is_not_even_parsed(self):
        with open(self.folder / "large.json", "wb") as large:
            large.truncate(65 << 20)
        self.assert_refused("report", "large.json", "-o", "page.html",
                            mentions=["large.json", "65 MB, more than 64"])

    def test_a_file_that_cannot_be_read_gets_one_line(self):
        (self.folder / "folder").mkdir()
        for name in ("none.json", "folder"):
            self.assert_refused("report", name, "-o", "page.html",
                                mentions=[name, "cannot be read"])
        self.write("r.json", synthetic.result())
        self.assert_refused("report", "r.json", "-o", "no/page.html", mentions=["no/page.html"])
        self.assert_refused("report", mentions=["results"])
