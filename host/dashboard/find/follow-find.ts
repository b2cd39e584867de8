import type { Session } from "../session.ts";
import { FIND } from "./event.ts";

/**
 * Opens the search on the dashboard by Ctrl-K, by / outside of fields, and by the button. The settings have their own
 * search, and a display in kiosk mode has none.
 * Returns a function that stops this.
 */
export function followFind(root: HTMLElement, session: Session): () => void {
  const isAway = (): boolean =>
    root.hidden === true || document.documentElement.hasAttribute("data-kiosk");
  const open = async (): Promise<void> => {
    if (isAway()) return;
    const { openFind } = await import("../ready.ts");
    openFind(session);
  };
  const ended = new AbortController();
  const { signal } = ended;
  addEventListener(FIND, () => void open(), { signal });
  const onKey = (event: KeyboardEvent): void => {
    const { key, ctrlKey, metaKey } = event;
    const isShortcut = key.toLowerCase() === "k" && (ctrlKey || metaKey);
    if (isAway() || (!isShortcut && (key !== "/" || isTyping(event)))) return;
    event.preventDefault();
    void open();
  };
  addEventListener("keydown", onKey, { signal });
  return () => ended.abort();
}

/** True for a key in a field, also of a widget. */
function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof HTMLElement &&
    (target.matches("input, select, textarea") || target.isContentEditable)
  );
}
