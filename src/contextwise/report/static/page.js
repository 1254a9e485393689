// The report: the still heat maps give way to ones that zoom, where the browser can unpack the data.
"use strict";

async function show(map) {
  const packed = bytesOf(map.querySelector("script").textContent.trim());
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const data = JSON.parse(await new Response(plain).text());
  map.parentElement.querySelector(".still").hidden = true;
  map.hidden = false;
  const host = map.querySelector(".heat-map");
  host.heatMap = new HeatMap(host);
  host.heatMap.setData(data);
}

if (typeof DecompressionStream === "function") document.querySelectorAll(".map").forEach(show);
