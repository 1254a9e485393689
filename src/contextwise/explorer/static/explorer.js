// What the page does by itself: inputs that buttons and fields set, sorting, and the address.
"use strict";

// A button that carries a value: data-input names the input, data-value has what it becomes.
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-input]");
  if (!button) return;
  Shiny.setInputValue(button.dataset.input, JSON.parse(button.dataset.value), { priority: "event" });
});

// A selector of a variable's state, and fields that search among names.
document.addEventListener("change", (event) => {
  const { target } = event;
  if (target.matches("select[data-input]")) {
    const { input, variable } = target.dataset;
    const value = variable === undefined ? target.value : { variable, state: target.value };
    Shiny.setInputValue(input, value, { priority: "event" });
  }
});
document.addEventListener("input", (event) => {
  const field = event.target.closest("input.search");
  if (!field) return;
  const known = [...field.list.options].some((option) => option.value === field.value);
  if (!known) return;
  const unfinished = event.inputType?.startsWith("insert")
    && event.inputType !== "insertReplacementText"
    && [...field.list.options].some((o) => o.value !== field.value && o.value.startsWith(field.value));
  if (!unfinished) take(field); // else wait for Enter: a longer name may be meant
});
document.addEventListener("keydown", (event) => {
  const field = event.target.closest("input.search");
  if (field && event.key === "Enter") take(field);
});

function take(field) {
  Shiny.setInputValue(field.id, field.value, { priority: "event" });
  if ("clears" in field.dataset) field.value = "";
}

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
  const key = (row) => Number(row.cells[th.cellIndex].dataset.sort);
  const rows = [...body.rows].sort((a, b) => key(a) - key(b));
  body.append(...(rising ? rows : rows.reverse()));
});

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

// -- the address: each step of a person is an entry of the browser's history ------------------------

let walking = null; // where Back or Forward is leading, until the page has arrived there

window.addEventListener("popstate", (event) => {
  walking = event.state ?? window.location.search.slice(1);
  Shiny.setInputValue("walk", walking, { priority: "event" });
});
for (const kind of ["pointerdown", "keydown"]) {
  document.addEventListener(kind, () => { walking = null; }, true);
}

function follow({ state, link, step }) {
  const address = link ? `?${link}` : window.location.pathname;
  if (walking !== null) {
    if (state === walking) walking = null;
    return;
  }
  const isNew = step && history.state !== null && history.state !== state;
  history[isNew ? "pushState" : "replaceState"](state, "", address);
}

// -- outputs keep the focus: what is drawn again has the focus again --------------------------------

$(document).on("shiny:value", ({ target }) => {
  const { id } = document.activeElement;
  if (!id || !target.contains(document.activeElement)) return;
  setTimeout(() => {
    if (document.activeElement === document.body) document.getElementById(id)?.focus();
  }, 50);
});

// -- the server's messages --------------------------------------------------------------------------

document.addEventListener("heatmap-choose", ({ detail }) => {
  Shiny.setInputValue("chosen_pair", detail, { priority: "event" });
});

document.addEventListener("DOMContentLoaded", () => {
  class HeatMapBinding extends Shiny.OutputBinding {
    find(scope) {
      return $(scope).find(".heat-map");
    }

    renderValue(element, data) {
      element.heatMap ??= new HeatMap(element);
      if (data) element.heatMap.setData(data);
    }

    renderError(element) {
      this.renderValue(element, null);
    }
  }
  Shiny.outputBindings.register(new HeatMapBinding(), "contextwise.heatMap");
  Shiny.addCustomMessageHandler("view", follow);
  Shiny.addCustomMessageHandler("mark", ({ pair }) => {
    const map = document.getElementById("heat");
    map.heatMap ??= new HeatMap(map);
    map.heatMap.mark(pair);
  });
  Shiny.addCustomMessageHandler("field", ({ id, value }) => {
    const field = document.getElementById(id);
    if (field) field.value = value;
  });
  Shiny.addCustomMessageHandler("present", (present) => {
    Object.assign(document.body.dataset, present);
    $(".needs-comparison, .needs-guess, .needs-several").trigger("shown"); // Shiny looks again
  });
});
