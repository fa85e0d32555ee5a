"use strict";
// Sorts a table when a heading is pressed: ascending, descending, then the original order.
(() => {
  const said = document.getElementById("said");
  const next = { none: "ascending", ascending: "descending", descending: "none" };
  const words = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  // Returns the number of a cell, else its text, else null.
  const key = (cell) => {
    if (!cell) return null;
    if (cell.dataset.number !== undefined) return Number(cell.dataset.number);
    return cell.textContent.trim() || null;
  };

  // Numbers come before text. Empty cells come last in both directions.
  const compare = (one, other, sign) => {
    if (one === null || other === null) return (one === null) - (other === null);
    if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
    return sign * (typeof one === "number" ? one - other : words.compare(one, other));
  };

  for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0];
    const original = [...body.rows];
    const headings = [...table.tHead.rows[0].cells];
    headings.forEach((heading, column) => {
      heading.querySelector("button").addEventListener("click", () => {
        const direction = next[heading.getAttribute("aria-sort")] || "ascending";
        for (const other of headings) other.setAttribute("aria-sort", other === heading ? direction : "none");
        const keyed = original.map((row) => [key(row.cells[column]), row]);
        if (direction !== "none") {
          const sign = direction === "ascending" ? 1 : -1;
          keyed.sort((one, other) => compare(one[0], other[0], sign));
        }
        body.append(...keyed.map(([, row]) => row));
        const name = heading.textContent.trim();
        said.textContent = direction === "none" ? "In the original order." : `Sorted by ${name}, ${direction}.`;
      });
    });
  }
})();
