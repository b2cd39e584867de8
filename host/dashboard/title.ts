import { effect, signal } from "@preact/signals-core";

/** What is shown: a page of the house, and what lies over it, such as a page of the settings. */
export const titles = { page: signal(""), over: signal("") };

effect(() => {
  const shown = titles.over.value || titles.page.value;
  document.title = shown === "" ? "Mantel" : `${shown} · Mantel`;
});
