// The list of answers: one opens in the drawer, and another dataset brings its own charts.
const drawer = document.getElementById("answer");
const summary = document.getElementById("answers-summary");

document.addEventListener("htmx:beforeRequest", ({ target }) => {
  if (target.dataset.opens !== "answer") return;
  document.getElementById("answer-body").textContent = "Reading…";
  drawer.showPopover();
  drawer.querySelector("button").focus();
});
document.addEventListener("change", ({ target }) => {
  if (!target.matches("[data-dataset]")) return;
  const url = new URL(summary.getAttribute("hx-get"), location);
  url.searchParams.set("dataset", target.value);
  window.htmx.ajax("GET", url.pathname + url.search, { source: summary, target: summary });
});
