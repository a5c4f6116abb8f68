// Tables that can be sorted by any column. The page is whole without this script.
document.querySelectorAll("table.sortable").forEach(table => {
  const body = table.tBodies[0];
  table.querySelectorAll("thead th:not(.plot)").forEach(head => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      table.querySelectorAll("th[aria-sort]").forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = row => {
        const cell = row.cells[head.cellIndex];
        return row.classList.contains("without") && head.cellIndex > 0 || !cell ? undefined
          : cell.dataset.v !== undefined ? Number(cell.dataset.v) : cell.textContent;
      };
      const order = (a, b) => typeof a === "number" && typeof b === "number" ? a - b
        : String(a).localeCompare(String(b), "en", {numeric: true});
      [...body.rows].map(row => [key(row), row]).sort(([a], [b]) =>
        a === undefined || b === undefined ? (a === undefined) - (b === undefined)
          : up ? order(a, b) : order(b, a))
        .forEach(([, row]) => body.append(row));
    });
  });
});
// A link into what is folded unfolds it.
const reveal = () => {
  let at = document.getElementById(location.hash.slice(1));
  for (; at; at = at.parentElement) if (at.localName === "details") at.open = true;
};
addEventListener("hashchange", reveal);
reveal();
// The common cases, as few of them as are asked for.
const cases = document.getElementById("cases");
if (cases && cases.querySelector("tr")) {
  const form = document.createElement("form");
  const choose = (label, key, parts) => {
    const values = [...new Set([...parts].map(part => part.dataset[key]))];
    const select = document.createElement("select");
    select.append(...["any", ...values].map(value => new Option(value, value)));
    select.addEventListener("change", () => parts.forEach(part => {
      const hidden = new Set((part.dataset.without || "").split(" ").filter(Boolean));
      const kept = select.value === "any" || select.value === part.dataset[key];
      kept ? hidden.delete(key) : hidden.add(key);
      part.dataset.without = [...hidden].join(" ");
      part.hidden = hidden.size > 0;
    }));
    const whole = document.createElement("label");
    whole.append(label, select);
    form.append(whole);
  };
  choose("work", "kind", cases.querySelectorAll(".case"));
  choose("a piece takes", "piece", cases.querySelectorAll("tbody tr"));
  choose("pieces", "count", cases.querySelectorAll("tbody tr"));
  cases.prepend(form);
}
addEventListener("beforeprint", () =>
  document.querySelectorAll("details").forEach(part => part.open = true));
