// Comments: the socket only says that there is something new, and each reader fetches the list with their own buttons.
const list = () => document.getElementById("comments");

// Somebody who edits a comment, or is about to, is not disturbed: her own answer comes first, and then we look again.
const isBusy = (el) => el.querySelector("form, .htmx-request") !== null;

const load = () => {
  const old = list();
  if (old) window.htmx.ajax("GET", old.dataset.href, { target: old, swap: "outerHTML", headers: { "X-Unasked": "1" } });
};

// Nor is somebody who reads earlier ones.
const look = () => {
  const old = list();
  const news = document.getElementById("comments-news");
  if (!old || !news || old.dataset.stamp === news.dataset.stamp) return;
  if (!("earlier" in old.dataset) && !isBusy(old)) load();
};

new MutationObserver(look).observe(document.getElementById("comments-place"), { childList: true });
document.addEventListener("comments-changed", load);
document.addEventListener("htmx:afterSettle", look);
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target === list() && "X-Unasked" in detail.requestConfig.headers && isBusy(detail.target)) detail.shouldSwap = false;
});
