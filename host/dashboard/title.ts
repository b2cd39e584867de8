import { effect, signal } from "@preact/signals-core";

/** The page title: the current page, and the overlay on top of it, such as a settings page. */
export const titles = { page: signal(""), over: signal("") };

effect(() => {
  const shown = titles.over.value || titles.page.value;
  document.title = shown === "" ? "Mantel" : `${shown} · Mantel`;
});
