// Keys and small switches: "/" searches, chips filter the decisions, buttons copy.
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

export const startKeys = () => {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    const field = document.querySelector("main input[type=search]");
    if (!field) return;
    event.preventDefault();
    field.focus();
    field.select();
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
