const MARKED_MS = 2_500;
/** A page is drawn after its address has changed, and after its code has been loaded. */
const LOOK_EVERY_MS = 60;
const LOOKS = 50;

/** Scrolls to a setting and marks it for a moment, as soon as its page is drawn. */
export function markRow(id: string, looks = LOOKS): void {
  setTimeout(() => {
    const row = document.querySelector<HTMLElement>(`.settings [data-setting="${CSS.escape(id)}"]`);
    if (row) mark(row);
    else if (looks > 1) markRow(id, looks - 1);
  }, LOOK_EVERY_MS);
}

function mark(row: HTMLElement): void {
  row.scrollIntoView({ block: "center" });
  row.querySelector<HTMLElement>("input, select, a")?.focus();
  row.classList.add("found");
  setTimeout(() => row.classList.remove("found"), MARKED_MS);
}
