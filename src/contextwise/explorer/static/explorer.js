// What the page does by itself: clicks on the heat map, sorting, and the link to a view.
"use strict";

// A click on the heat map, as the cell under it, at any size on the screen.
document.addEventListener("click", (event) => {
  const cells = event.target.closest("svg.heat g.cells");
  if (!cells) return;
  const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(
    cells.getScreenCTM().inverse(),
  );
  const cell = Number(cells.dataset.cell);
  Shiny.setInputValue(
    "cell",
    {
      map: cells.closest("[data-map]").dataset.map,
      row: Math.floor(place.y / cell),
      column: Math.floor(place.x / cell),
    },
    { priority: "event" },
  );
});

// A button that carries a value: data-input names the input, data-value what it becomes.
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-input]");
  if (!button) return;
  Shiny.setInputValue(button.dataset.input, button.dataset.value, { priority: "event" });
});

// Tables with the class "sortable": a click on a head sorts by it, another one turns it around.
document.addEventListener("click", (event) => {
  const head = event.target.closest("table.sortable th[aria-sort] button");
  if (!head) return;
  const th = head.closest("th");
  const body = th.closest("table").tBodies[0];
  const rising = th.getAttribute("aria-sort") !== "ascending";
  for (const other of th.parentElement.children) {
    if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
  }
  th.setAttribute("aria-sort", rising ? "ascending" : "descending");
  const key = (row) => row.cells[th.cellIndex].dataset.sort ?? row.cells[th.cellIndex].textContent;
  const compare = (a, b) => {
    const [x, y] = [Number(key(a)), Number(key(b))];
    if (Number.isNaN(x) || Number.isNaN(y)) return key(a).localeCompare(key(b));
    return x - y;
  };
  const rows = [...body.rows].sort(compare);
  body.append(...(rising ? rows : rows.reverse()));
});

// The address of the page is the link to what it shows.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("#copy-link");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(window.location.href);
    button.textContent = "Copied";
  } catch {
    window.prompt("The link to this view:", window.location.href);
  }
  setTimeout(() => { button.textContent = "Copy link"; }, 1500);
});

document.addEventListener("DOMContentLoaded", () => {
  Shiny.addCustomMessageHandler("address", ({ query }) => {
    history.replaceState(null, "", query ? `?${query}` : window.location.pathname);
  });
});
