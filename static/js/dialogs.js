// Confirmations and toasts. Without a script the same links lead to a page with the same question.
const dialog = document.getElementById("dialog");
const toasts = document.getElementById("toasts");

const toast = ({ title, text = "", state = "finished" }) => {
  const box = document.getElementById("toast").content.firstElementChild.cloneNode(true);
  box.dataset.state = state;
  box.querySelector("use").setAttribute("href", `#i-st-${state}`);
  box.querySelector("b").textContent = title;
  box.querySelector("p").textContent = text;
  toasts.append(box);
  setTimeout(() => box.remove(), state === "failed" ? 20_000 : 6000);
};

// A part of the page that is loaded says in its place that it could not be, and offers another try.
const sayNotLoaded = ({ target, pathInfo }, why) => {
  const box = document.getElementById("not-loaded").content.firstElementChild.cloneNode(true);
  box.querySelector("b").textContent = why;
  box.querySelector("button").addEventListener("click", () => window.htmx.ajax("GET", pathInfo.finalRequestPath, { source: target, target }));
  target.replaceChildren(box);
};
const sayFailed = ({ detail }, title) => {
  if (detail.target.matches("[data-loads]")) sayNotLoaded(detail, `${title}.`);
  else toast({ title, text: "Nothing was changed. Try again in a moment.", state: "failed" });
};

// The browser gives the focus back to what opened the dialog, unless that was replaced meanwhile: then its successor gets it.
let opener = null;
const giveFocusBack = () => {
  const href = opener?.isConnected ? null : opener?.getAttribute("href");
  if (href) document.querySelector(`#main a[href="${CSS.escape(href)}"]`)?.focus({ preventScroll: true });
  opener = null;
};

export const startDialogs = () => {
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target !== dialog || dialog.open) return;
    opener = document.activeElement;
    dialog.showModal();
  });
  dialog.addEventListener("close", giveFocusBack);
  document.addEventListener("htmx:beforeSwap", (event) => {
    // 409 and 422 carry the form again, with the reason.
    if ([409, 422].includes(event.detail.xhr.status)) event.detail.shouldSwap = true;
  });
  document.addEventListener("htmx:sendError", (event) => sayFailed(event, "The server does not answer"));
  document.addEventListener("htmx:timeout", (event) => sayFailed(event, "The server takes too long to answer"));
  document.addEventListener("htmx:responseError", (event) => {
    const { status } = event.detail.xhr;
    if (![409, 422].includes(status)) sayFailed(event, `The server refused (${status})`);
  });
  document.addEventListener("done", (event) => {
    dialog.close();
    toast(event.detail);
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-close]")) dialog.close();
    if (event.target === dialog) dialog.close();
    event.target.closest(".toast-x [data-away]")?.closest(".toast-x").remove();
  });
};
