// Keys and small switches: the palette, "/" searches, "g r" goes to a page, "?" tells; chips filter decisions, buttons copy.
import { openPalette, startPalette } from "./palette.js";

const SECOND_KEY = 1500; // ms within which the key after "g" counts

const typing = (element) => element.closest?.("input, textarea, select, [contenteditable]");

// The clipboard is there for secure origins only; elsewhere the text is selected and copied the old way.
const copy = async (button) => {
  const source = document.getElementById(button.dataset.copies);
  if (navigator.clipboard) await navigator.clipboard.writeText(source.textContent);
  else {
    getSelection().selectAllChildren(source);
    document.execCommand("copy");
  }
  button.querySelector("span").textContent = "Copied";
};

const searchHere = () => {
  const field = document.querySelector("main input[type=search]");
  if (!field) return openPalette();
  field.focus();
  field.select();
};

const help = document.getElementById("keys");
const press = (selector) => document.querySelector(selector)?.click();
const KEYS = {
  "/": searchHere,
  "?": () => help?.showModal(),
  n: () => press(".topbar .actions .btn-main"),
  t: () => press("[data-theme-toggle]"),
};

let goingSince = null;
const onKey = (event) => {
  const isPalette = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
  if (isPalette) {
    event.preventDefault();
    openPalette();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || document.querySelector("dialog[open]")) return;
  const isSecond = goingSince !== null && event.timeStamp - goingSince < SECOND_KEY;
  goingSince = event.key === "g" && !isSecond ? event.timeStamp : null;
  const act = isSecond ? () => press(`.side [data-key="${CSS.escape(event.key)}"]`) : KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
};

export const startKeys = () => {
  startPalette();
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-close-keys]") || event.target === help) help.close();
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-only]");
    if (!button) return;
    document.getElementById(button.getAttribute("aria-controls")).dataset.show = button.dataset.only;
    for (const other of button.parentElement.children) other.setAttribute("aria-pressed", String(other === button));
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-submits]")) event.target.form.requestSubmit();
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copies]");
    if (button) copy(button);
  });
};
