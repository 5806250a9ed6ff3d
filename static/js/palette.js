// The command palette: a combobox whose options the server finds. The focus stays in the field; the chosen option is named by
// aria-activedescendant, so that a screen reader hears it and nothing else.
const TYPING_PAUSE = 80; // ms

const palette = document.getElementById("palette");
const field = palette?.querySelector("input");
const list = document.getElementById("palette-hits");
const said = document.getElementById("palette-said");
let request = null;
let timer = null;

const options = () => [...list.querySelectorAll("[role=option]")];
const chosen = () => list.querySelector("[aria-selected=true]");

const choose = (option) => {
  chosen()?.setAttribute("aria-selected", "false");
  option?.setAttribute("aria-selected", "true");
  option?.scrollIntoView({ block: "nearest" });
  field.setAttribute("aria-activedescendant", option?.id ?? "");
};

const step = (by) => {
  const all = options();
  if (all.length) choose(all[(all.indexOf(chosen()) + by + all.length) % all.length]);
};

const say = (text, isShown) => {
  said.textContent = text;
  said.classList.toggle("visually-hidden", !isShown);
};

const find = async () => {
  request?.abort();
  request = new AbortController();
  const typed = field.value.trim();
  try {
    const answer = await fetch(`${palette.dataset.url}?${new URLSearchParams({ q: typed })}`, { signal: request.signal });
    if (answer.redirected) location.reload(); // signed out meanwhile
    else if (!answer.ok) throw new Error(String(answer.status));
    else show(await answer.text(), typed);
  } catch (error) {
    if (error.name !== "AbortError") say("The server does not answer. Nothing was changed.", true);
  }
};

const show = (html, typed) => {
  list.innerHTML = html; // escaped by the server's template, like every fragment
  const [first] = options();
  choose(first);
  const found = options().length;
  say(found ? `${found} found` : `Nothing fits “${typed}”. Try a run’s number, a dataset’s name or a page.`, !found);
};

const follow = (option, newTab) => {
  if (!option) return;
  if (newTab) window.open(option.dataset.href, "_blank", "noopener");
  else location.assign(option.dataset.href);
};

const onKey = (event) => {
  const act = {
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    PageDown: () => step(8),
    PageUp: () => step(-8),
    Enter: () => follow(chosen(), event.ctrlKey || event.metaKey),
    Tab: () => {}, // there is nothing else to go to
  }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
};

export const openPalette = () => {
  if (!palette || palette.open || document.querySelector("dialog[open]")) return;
  palette.showModal();
  field.value = "";
  field.focus();
  find();
};

export const startPalette = () => {
  if (!palette) return;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(find, TYPING_PAUSE);
  });
  field.addEventListener("keydown", onKey);
  list.addEventListener("pointermove", (event) => choose(event.target.closest("[role=option]") ?? chosen()));
  list.addEventListener("click", (event) => follow(event.target.closest("[role=option]"), event.ctrlKey || event.metaKey));
  palette.addEventListener("click", (event) => event.target === palette && palette.close());
  document.addEventListener("click", (event) => event.target.closest("[data-palette]") && openPalette());
};
