// SPDX-License-Identifier: MIT
// The search of the site, and what the pages do with a script: without one they stay readable.
"use strict";
(() => {
  const root = document.documentElement.dataset.root;
  const form = document.querySelector("form.search");
  const input = document.getElementById("site-search");
  const found = document.getElementById("site-found");
  const chinese = document.documentElement.lang.startsWith("zh");
  const kResultsMax = 80;
  const kExcerpt = 150;

  // The index is fetched when it is first needed; a script, as files may not be read otherwise.
  let loading = null;
  const load = () => loading ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = root + "site-index.js";
    script.onload = () => done(prepare(window.handoffIndex));
    script.onerror = failed;
    document.head.append(script);
  });

  let index = null;
  const prepare = ({names, texts}) => {
    index = [
      ...names.map(([name, kind, address, sentence]) => ({
        title: name, kind, address, words: sentence, isName: true, small: name.toLowerCase(),
        last: name.split("::").at(-1).toLowerCase(), low: sentence.toLowerCase()})),
      ...texts.map(([page, heading, address, words]) => ({
        title: heading || page, kind: heading ? page : "", address, words, isName: false,
        small: (heading || page).toLowerCase(), last: "", low: words.toLowerCase(),
        around: page.toLowerCase()})),
    ];
    return index;
  };

  // How well an entry answers one word; 0: not at all.
  const rate = (entry, word) => {
    if (entry.isName) {
      if (entry.small === word) return 1000;
      if (entry.last === word) return 900 - entry.small.split("::").length;
      if (entry.last.startsWith(word)) return 500 - Math.min(entry.small.length, 99);
      const at = entry.small.indexOf(word);
      if (at >= 0) return 200 - Math.min(entry.small.length, 99);
      return entry.low.includes(word) ? 30 : 0;
    }
    if (entry.small === word) return 950;
    if (entry.small.startsWith(word)) return 520;
    if (entry.small.includes(word)) return 300;
    if (entry.low.includes(word)) return 60;
    return entry.around.includes(word) ? 20 : 0;
  };

  const words = query => query.trim().toLowerCase().replaceAll("handoff::", "").replace(/(?<!operator)\(\)$/, "")
    .split(/\s+/).filter(Boolean);

  // The entries that have every word, the best first.
  const search = query => {
    const asked = words(query);
    if (asked.length === 0) return [];
    const whole = asked.join(" ");
    const rated = [];
    for (const entry of index) {
      let score = entry.small === whole ? 1000 : 0;
      for (const word of asked) {
        const one = rate(entry, word);
        if (one === 0) { score = 0; break; }
        score += one;
      }
      if (score > 0) rated.push([score, entry]);
    }
    rated.sort((a, b) => b[0] - a[0]);
    const seen = new Set();
    return rated.map(pair => pair[1]).filter(entry => {
      const key = entry.address.split("#")[0] + "|" + entry.title;
      return !seen.has(key) && seen.add(key);
    }).slice(0, kResultsMax);
  };

  // The words of an entry around the first one that was asked for.
  const excerpt = (entry, asked) => {
    const at = Math.max(0, Math.min(...asked.map(word => {
      const here = entry.low.indexOf(word);
      return here < 0 ? Infinity : here;
    })));
    const start = at === Infinity || at < kExcerpt / 2 ? 0
      : entry.words.indexOf(" ", at - kExcerpt / 2) + 1;
    const cut = entry.words.slice(start, start + kExcerpt);
    return (start > 0 ? "... " : "") + cut + (start + kExcerpt < entry.words.length ? " ..." : "");
  };

  // Text with what was asked for marked, without markup of its own.
  const marked = (element, text, asked) => {
    const escaped = asked.map(word => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    text.split(new RegExp(`(${escaped.join("|")})`, "i")).forEach((part, i) => {
      if (i % 2 === 0) element.append(part);
      else element.append(Object.assign(document.createElement("mark"), {textContent: part}));
    });
    return element;
  };

  const make = (tag, name, text = "") =>
    Object.assign(document.createElement(tag), {className: name, textContent: text});

  const item = (entry, asked) => {
    const link = make("a", "");
    link.href = root + entry.address;
    link.append(marked(make("span", entry.isName ? "title code" : "title"), entry.title, asked));
    if (entry.kind) link.append(" ", make("span", "kind", entry.kind));
    if (entry.words) link.append(marked(make("span", "words"), excerpt(entry, asked), asked));
    const line = make("li", "");
    line.append(link);
    return line;
  };

  const told = count => chinese
    ? (count ? `${count} \u4e2a\u7ed3\u679c` : "\u6ca1\u6709\u7ed3\u679c")
    : count === 0 ? "Nothing found" : count === 1 ? "1 result"
      : count === kResultsMax ? `The first ${count} results` : `${count} results`;

  const show = () => {
    const asked = words(input.value);
    found.hidden = asked.length === 0;
    if (found.hidden) { found.replaceChildren(); return; }
    const results = search(input.value);
    const status = make("p", "status", told(results.length));
    status.setAttribute("role", "status");
    const list = make("ol", "");
    list.append(...results.map(entry => item(entry, asked)));
    found.replaceChildren(status, list);
    found.scrollTop = 0;
  };

  const links = () => [...found.querySelectorAll("a")];
  const close = () => { found.hidden = true; };

  form.hidden = false;
  input.addEventListener("focus", () => { load(); if (input.value && index) show(); });
  input.addEventListener("input", () => load().then(show));
  form.addEventListener("submit", event => {
    event.preventDefault();
    load().then(() => { show(); links()[0]?.click(); });
  });
  form.addEventListener("keydown", event => {
    const stops = [input, ...links()];
    const at = stops.indexOf(document.activeElement);
    if (event.key === "Escape") {
      input.focus();
      close();
    } else if (event.key === "ArrowDown" && !found.hidden) {
      stops[Math.min(at + 1, stops.length - 1)].focus();
    } else if (event.key === "ArrowUp" && !found.hidden) {
      stops[Math.max(at - 1, 0)].focus();
    } else {
      return;
    }
    event.preventDefault();
  });
  document.addEventListener("keydown", event => {
    const typing = event.target.closest?.("input, textarea, select");
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
  document.addEventListener("click", event => {
    if (!form.contains(event.target) || event.target.closest("#site-found a")) close();
  });
  form.addEventListener("focusout", event => {
    if (event.relatedTarget && !form.contains(event.relatedTarget)) close();
  });
  window.handoffSearch = query => load().then(() => search(query).map(entry => entry.address));

  // A box is a stop of the keyboard only while something in it is out of sight.
  const boxes = document.querySelectorAll("pre.code, .scroll");
  const fit = box => {
    if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  };
  const sizes = new ResizeObserver(entries => entries.forEach(entry => fit(entry.target)));
  boxes.forEach(box => sizes.observe(box));

  // Where the style cannot unfold the lists beside the text, the script does.
  const folds = document.querySelectorAll("nav.pages details, nav.here details");
  if (!CSS.supports("selector(::details-content)")) {
    const wide = matchMedia("(min-width: 64rem)");
    const unfold = () => folds.forEach(fold => { fold.open = wide.matches; });
    wide.addEventListener("change", unfold);
    unfold();
  }
  const list = document.querySelector("nav.pages");
  const current = list?.querySelector("[aria-current=page]");
  if (current && current.offsetTop > list.clientHeight / 2) {
    list.scrollTop = current.offsetTop - list.clientHeight / 2;
  }
})();
