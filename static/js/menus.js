// Small menus open below their button, within the window.
const GAP = 4;

document.addEventListener(
  "toggle",
  ({ target, newState }) => {
    if (newState !== "open" || !target.matches(".menu-under")) return;
    const button = document.querySelector(`[popovertarget="${target.id}"]`).getBoundingClientRect();
    const left = Math.min(button.left, document.documentElement.clientWidth - target.offsetWidth - 2 * GAP);
    target.style.inset = `${button.bottom + GAP}px auto auto ${Math.max(2 * GAP, left)}px`;
  },
  true,
);
