// The list of runs: which are selected (also across pages), what the bar below offers for them, and a short address.
const table = () => document.getElementById("runs-table");
const bar = document.getElementById("runs-chosen");
const filter = document.getElementById("runs-filter");
const MOST_COMPARED = 6;

const chosen = new Map(); // run → its status when it was ticked
const boxes = () => [...document.querySelectorAll("#runs-table input[name=runs]")];
const LIVE = ["queued", "starting", "running", "stopping"];

const show = () => {
  const all = boxes();
  for (const box of all) {
    box.checked = chosen.has(box.value);
    box.closest("tr").setAttribute("aria-selected", String(box.checked));
  }
  const every = document.querySelector("#runs-table [data-all]");
  if (every) {
    every.checked = all.length > 0 && all.every((box) => box.checked);
    every.indeterminate = !every.checked && all.some((box) => box.checked);
  }
  bar.hidden = chosen.size === 0;
  bar.querySelector("[data-chosen-count]").textContent = chosen.size;
  const compare = bar.querySelector("[data-compares]");
  compare.disabled = chosen.size < 2 || chosen.size > MOST_COMPARED;
  compare.title = compare.disabled ? `Select 2 to ${MOST_COMPARED} runs to compare them` : "";
  const stop = bar.querySelector("[data-only-live]");
  if (stop) stop.disabled = ![...chosen.values()].some((status) => LIVE.includes(status));
};
const choose = (box, on) => (on ? chosen.set(box.value, box.dataset.stateOf) : chosen.delete(box.value));

document.addEventListener("change", ({ target }) => {
  if (target.matches("#runs-table [data-all]")) for (const box of boxes()) choose(box, target.checked);
  else if (target.matches("#runs-table input[name=runs]")) choose(target, target.checked);
  else return;
  show();
});
document.addEventListener("htmx:afterSwap", ({ detail }) => detail.target?.id === "runs-table" && show());
bar.addEventListener("click", ({ target }) => {
  const asks = target.closest("[data-asks]");
  if (asks) window.htmx.ajax("GET", `${asks.dataset.asks}?runs=${[...chosen.keys()].join(",")}`, { target: "#dialog", swap: "innerHTML" });
  if (target.closest("[data-clears]")) {
    chosen.clear();
    show();
  }
});
bar.addEventListener("submit", (event) => {
  event.preventDefault();
  location.assign(`${bar.action}?runs=${[...chosen.keys()].join(",")}`);
});

// The address names only what differs from the plain list.
const shorten = (parameters) => {
  const columns = parameters.getAll("cols").join(",");
  for (const name of [...parameters.keys()]) if (!parameters.getAll(name).some(Boolean)) parameters.delete(name);
  parameters.delete("cols");
  if (columns && columns !== filter.dataset.defaultColumns) parameters.set("cols", columns);
};
filter.addEventListener("htmx:configRequest", ({ detail, target }) => target === filter && shorten(detail.formData));

// Links that take the filters along, and the view that is saved, follow the address.
const follow = () => {
  const query = new URLSearchParams(location.search);
  query.delete("page");
  for (const link of document.querySelectorAll("[data-exports]")) link.search = query;
  document.querySelector("[data-saves-view] [name=query]").value = query;
};
document.addEventListener("htmx:pushedIntoHistory", follow);

show();
