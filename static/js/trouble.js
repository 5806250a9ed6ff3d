// The tab shows trouble whatever page is open: "(2!)" before the title, and an icon with another colour and another shape.
const icon = document.querySelector("link[rel=icon]");
const calm = icon.href;
let title = document.title;

export const showTrouble = () => {
  const { runs = "0", state = "" } = document.getElementById("bell")?.dataset ?? {};
  document.title = runs === "0" ? title : `(${runs}!) ${title}`;
  const wanted = icon.dataset[state] ?? calm;
  if (icon.href !== new URL(wanted, location.href).href) icon.href = wanted;
};

export const setTitle = (text) => {
  title = text;
  showTrouble();
};
