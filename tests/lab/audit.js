// What an accessibility checker looks for on a page like the report: returns the faults as texts.
// Rules as in WCAG 2.2 AA; docs/adr/0008-own-accessibility-audit.md says why this is ours.
(() => {
  const faults = [];
  const all = selector => [...document.querySelectorAll(selector)];
  const shown = element => element.getClientRects().length > 0;
  const describe = element => `<${element.tagName.toLowerCase()}> "${
    (element.getAttribute("aria-label") || element.textContent).trim().slice(0, 40)}"`;
  const need = (holds, what) => { if (!holds) faults.push(what); };
  const name = element => (element.getAttribute("aria-label") || element.textContent).trim();

  // The document.
  need(document.documentElement.lang, "no language");
  need(document.title.trim(), "no title");
  need(all("main").length === 1, "not one main landmark");
  need(all("h1").length === 1, "not one h1");
  const viewport = document.querySelector("meta[name=viewport]");
  need(viewport && !/user-scalable=no|maximum-scale/.test(viewport.content), "cannot be zoomed");
  const ids = all("[id]").map(element => element.id);
  need(new Set(ids).size === ids.length, "an id stands twice");
  all("nav, [role=region]").forEach(part => need(name(part), `no name: ${describe(part)}`));
  const navigations = all("nav").map(name);
  need(new Set(navigations).size === navigations.length, "two navigations have the same name");
  const labels = all("[role=region]").map(part => part.getAttribute("aria-label"));
  need(new Set(labels).size === labels.length, "two regions have the same name");
  const covered = "header, nav, main, footer, script, style, a.skip";
  [...document.body.children].forEach(child =>
    need(child.matches(covered), `outside all landmarks: ${describe(child)}`));

  // Headings go one level down at a time.
  let level = 0;
  all("h1, h2, h3, h4, h5, h6").forEach(heading => {
    const next = Number(heading.tagName[1]);
    need(next <= level + 1, `a level is left out: ${describe(heading)}`);
    need(name(heading), "an empty heading");
    level = next;
  });

  // Names and roles.
  all("a, button, summary").forEach(one => need(name(one), `no name: ${one.outerHTML}`));
  all("a[href^='#']").forEach(link =>
    need(document.getElementById(decodeURIComponent(link.hash.slice(1))), `leads nowhere: ${describe(link)}`));
  all("svg").forEach(svg => need(
    svg.getAttribute("aria-hidden") === "true" ||
      svg.getAttribute("role") === "img" && svg.getAttribute("aria-label"),
    "a picture without a text"));
  all("img").forEach(image => need(image.hasAttribute("alt"), "an image without a text"));
  all("input:not([type=hidden]), select, textarea").forEach(field => need(
    field.getAttribute("aria-label") || [...field.labels].some(label => name(label)),
    `no label: ${field.outerHTML}`));
  all("ul > :not(li), ol > :not(li)").forEach(one => need(false, `no item: ${describe(one)}`));
  all("[tabindex]").forEach(one => need(one.tabIndex <= 0, `own tab order: ${describe(one)}`));

  // Tables: named, each heading with its scope, each row as wide as the first.
  const width = row => [...row.cells].reduce((sum, cell) => sum + cell.colSpan, 0);
  all("table").forEach(table => {
    need(table.caption && name(table.caption), "a table without a caption");
    const columns = table.rows.length > 0 ? width(table.rows[0]) : 0;
    [...table.rows].forEach(row => {
      need(width(row) === columns, `a row of another width: ${describe(row)}`);
      need(row.querySelector("th"), `a row without a heading: ${describe(row)}`);
    });
    table.querySelectorAll("th").forEach(head => {
      need(["row", "col"].includes(head.scope), `no scope: ${describe(head)}`);
      need(name(head), "an empty table heading");
    });
  });

  // What is pressed is large enough, or far enough from its neighbours. Links amid text may be small.
  const targets = all("a, button, summary, input, select").filter(shown)
    .filter(target => getComputedStyle(target).display !== "inline" && !target.closest(".skip"))
    .map(target => ({target, box: target.getBoundingClientRect()}));
  const small = ({box}) => box.width < 24 || box.height < 24;
  const gap = (box, other) => {
    const x = (box.left + box.right) / 2;
    const y = (box.top + box.bottom) / 2;
    return Math.hypot(Math.max(other.left - x, 0, x - other.right),
                      Math.max(other.top - y, 0, y - other.bottom));
  };
  targets.filter(small).forEach(one => need(
    targets.every(other => other === one || gap(one.box, other.box) >= 12),
    `too small to press: ${describe(one.target)}`));

  // What scrolls can be scrolled by the keyboard.
  all("*").filter(shown).forEach(element => {
    const overflow = getComputedStyle(element).overflowX;
    if (!["auto", "scroll"].includes(overflow)) return;
    if (element.scrollWidth > element.clientWidth) {
      need(element.tabIndex >= 0, `cannot be scrolled by keyboard: ${describe(element)}`);
    }
  });

  // Contrast: text against what lies behind it 4.5, large text and graphics 3.
  const parse = colour => {
    const parts = colour.match(/[\d.]+/g).map(Number);
    return {rgb: parts.slice(0, 3), alpha: parts.length > 3 ? parts[3] : 1};
  };
  const luminance = rgb => rgb
    .map(value => value / 255)
    .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, i) => sum + value * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const behind = element => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.alpha === 1) return colour.rgb;
    }
    return parse(matchMedia("(prefers-color-scheme: dark)").matches ? "rgb(0, 0, 0)"
      : "rgb(255, 255, 255)").rgb;
  };
  const require = (element, colour, least) => {
    if (colour === "none") return;
    const ratio = contrast(parse(colour).rgb, behind(element));
    need(ratio >= least, `contrast ${ratio.toFixed(2)} below ${least}: ${describe(element)}`);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !shown(element)) continue;
    if (element.closest("script, style, title")) continue;
    const style = getComputedStyle(element);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700;
    require(element, element.closest("svg") ? style.fill : style.color, large ? 3 : 4.5);
  }
  all("svg.bar rect, svg .mark").filter(shown).forEach(mark =>
    require(mark, getComputedStyle(mark).fill, 3));
  all("svg .line, svg .ring").filter(shown).forEach(line => require(line, getComputedStyle(line).stroke, 3));
  return [...new Set(faults)];
})()
