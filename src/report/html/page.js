"use strict";
(() => {
  const filter = document.getElementById("filter");
  if (filter) {
    const rows = [...document.querySelectorAll("[data-row]")].map((row) => [row, row.textContent.toLowerCase()]);
    filter.closest("[hidden]").hidden = false;
    filter.addEventListener("input", () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const [row, text] of rows) {
        row.hidden = !words.every((word) => text.includes(word));
        shown += row.hidden ? 0 : 1;
      }
      document.getElementById("count").textContent = words.length ? `${shown} of ${rows.length}` : "";
    });
  }
  const order = new Intl.Collator(undefined, { numeric: true });
  for (const table of document.querySelectorAll("table")) {
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
      const button = document.createElement("button");
      button.append(...cell.childNodes);
      cell.append(button);
      button.addEventListener("click", () => {
        const ascending = cell.getAttribute("aria-sort") !== "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        cell.setAttribute("aria-sort", ascending ? "ascending" : "descending");
        const text = (row) => row.cells[column].textContent;
        const rows = [...table.tBodies[0].rows].sort((a, b) => (ascending ? 1 : -1) * order.compare(text(a), text(b)));
        table.tBodies[0].append(...rows);
      });
    });
  }
})();
