// Light or dark: the system decides until somebody presses the button. Loaded before the page is drawn.
"use strict";
(() => {
  const root = document.documentElement;
  const saved = localStorage.getItem("theme");
  if (saved) root.dataset.bsTheme = saved;

  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-toggle]")) return;
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    root.dataset.bsTheme = (root.dataset.bsTheme ?? system) === "dark" ? "light" : "dark";
    localStorage.setItem("theme", root.dataset.bsTheme);
    dispatchEvent(new Event("themechange"));
  });
})();
