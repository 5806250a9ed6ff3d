// While a slider moves, the word beside it follows at once; the server's numbers come after.
const form = document.getElementById("plan");
const group = (number) => Number(number).toLocaleString("en").replaceAll(",", "\u00a0");
const units = { speed: " tok/s", length: " %" };

form?.addEventListener("input", ({ target }) => {
  const out = form.querySelector(`output[for="${target.id}"]`);
  if (target.type === "range" && target.id && out) out.textContent = group(target.value) + (units[target.name] ?? "").replace(" ", "\u00a0");
});
