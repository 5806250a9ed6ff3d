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

export const startDialogs = () => {
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target === dialog && !dialog.open) dialog.showModal();
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    // 409 and 422 carry the form again, with the reason.
    if ([409, 422].includes(event.detail.xhr.status)) event.detail.shouldSwap = true;
  });
  document.addEventListener("htmx:sendError", () => {
    toast({ title: "The server does not answer", text: "Nothing was changed. Try again in a moment.", state: "failed" });
  });
  document.addEventListener("htmx:responseError", (event) => {
    if ([409, 422].includes(event.detail.xhr.status)) return;
    toast({ title: `The server refused (${event.detail.xhr.status})`, text: "Nothing was changed.", state: "failed" });
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
