// Buttons and fields that set inputs, zooming graphs, and the address of the page.
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
  if (target.matches("select[data-input], input[data-input]")) {
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

// A link to the card of a pair: the same card may also stand in another tab.
document.addEventListener("click", (event) => {
  const link = event.target.closest(".findings a[href^='#']");
  if (!link) return;
  event.preventDefault();
  link.closest(".findings").querySelector(link.hash)?.scrollIntoView({ block: "start" });
});

// -- graphs that zoom and pan: the view box of the picture changes -----------------------------------

class PanZoom {
  constructor(host) {
    this.host = host;
    this.svg = host.querySelector("svg");
    const { x, y, width, height } = this.svg.viewBox.baseVal;
    this.whole = { x, y, width, height };
    this.box = { ...this.whole };
    host.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    host.addEventListener("pointerdown", (event) => {
      if (event.button === 0) host.setPointerCapture(event.pointerId);
      this.pressed = event.target.closest("[data-variable]")?.dataset.variable;
      this.moved = 0;
    });
    host.addEventListener("pointermove", (event) => {
      if (!host.hasPointerCapture(event.pointerId)) return;
      this.moved += Math.hypot(event.movementX, event.movementY);
      this.pan(-event.movementX, -event.movementY);
    });
    host.addEventListener("pointerup", () => { // a click on a variable gives it its next state
      if (this.pressed === undefined || this.moved > 4) return;
      Shiny.setInputValue("chosen_node", this.pressed, { priority: "event" });
    });
    host.addEventListener("keydown", (event) => this.onKey(event));
  }

  get zoom() { return this.whole.width / this.box.width; }

  show() {
    const { whole, box } = this;
    box.x = Math.min(Math.max(box.x, whole.x), whole.x + whole.width - box.width);
    box.y = Math.min(Math.max(box.y, whole.y), whole.y + whole.height - box.height);
    this.svg.setAttribute("viewBox", `${box.x} ${box.y} ${box.width} ${box.height}`);
    this.host.classList.toggle("zoomed", this.zoom > 1.001);
  }

  // Zoom by a factor; the point of the picture at these shares of its width and height stays.
  zoomBy(factor, across = 0.5, down = 0.5) {
    const { whole, box } = this;
    const zoom = Math.min(Math.max(this.zoom * factor, 1), 20);
    const [width, height] = [whole.width / zoom, whole.height / zoom];
    box.x += across * (box.width - width);
    box.y += down * (box.height - height);
    Object.assign(box, { width, height });
    this.show();
  }

  pan(dx, dy) {
    const scale = this.box.width / this.svg.clientWidth;
    this.box.x += dx * scale;
    this.box.y += dy * scale;
    this.show();
  }

  fit() {
    this.box = { ...this.whole };
    this.show();
  }

  onWheel(event) {
    if (event.deltaY > 0 && this.zoom <= 1.001 && !event.ctrlKey) return; // the page scrolls
    event.preventDefault();
    const seen = this.svg.getBoundingClientRect();
    const factor = Math.exp(-Math.max(-100, Math.min(100, event.deltaY)) / 200);
    this.zoomBy(factor, (event.clientX - seen.left) / seen.width, (event.clientY - seen.top) / seen.height);
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions = {
      "+": () => this.zoomBy(1.5), "-": () => this.zoomBy(1 / 1.5), 0: () => this.fit(),
      ArrowLeft: () => this.pan(-40, 0), ArrowRight: () => this.pan(40, 0),
      ArrowUp: () => this.pan(0, -40), ArrowDown: () => this.pan(0, 40),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }
}

function panZoomOf(host) {
  host.panZoom ??= new PanZoom(host);
  return host.panZoom;
}
for (const kind of ["pointerover", "focusin"]) {
  document.addEventListener(kind, ({ target }) => {
    const host = target.closest?.(".pan-zoom");
    if (host?.querySelector("svg")) panZoomOf(host);
  });
}
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-zoom]");
  if (!button) return;
  const graph = panZoomOf(button.closest("figure").querySelector(".pan-zoom"));
  ({ in: () => graph.zoomBy(1.5), out: () => graph.zoomBy(1 / 1.5), fit: () => graph.fit() })[button.dataset.zoom]();
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

// -- outputs that are drawn again keep the focus -----------------------------------------------------

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
      return $(scope).find("#heat");
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
    $(".needs-comparison, .needs-guess, .needs-several, .needs-one, .needs-offer, .needs-rows, .needs-pairs").trigger("shown"); // Shiny looks again
  });
});
