// Comments: the socket only says that there is something new, and each reader fetches the list with their own buttons.
const list = () => document.getElementById("comments");

const load = () => {
  const old = list();
  if (old) window.htmx.ajax("GET", old.dataset.href, { target: old, swap: "outerHTML" });
};

// Somebody who edits a comment, or reads earlier ones, is not disturbed.
const look = () => {
  const old = list();
  const news = document.getElementById("comments-news");
  if (!old || !news || old.dataset.stamp === news.dataset.stamp) return;
  if (!("earlier" in old.dataset) && !old.querySelector("form")) load();
};

new MutationObserver(look).observe(document.getElementById("comments-place"), { childList: true });
document.addEventListener("comments-changed", load);
document.addEventListener("htmx:afterSettle", look);
