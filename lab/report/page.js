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
addEventListener("beforeprint", () =>
  document.querySelectorAll("details").forEach(part => part.open = true));
