import { computed, effect } from "@preact/signals-core";
import { addStyles } from "../add-styles.ts";
import { drawPhoto, type Photo } from "../photos.ts";
import type { Session } from "../session.ts";
import { Screensaver } from "./screensaver.ts";
import styles from "./look.css";

/** Shows the accent, the wallpaper and the screensaver of the home. */
export function followLook(root: HTMLElement, session: Session): void {
  const { ui } = session.store;
  addStyles(styles);
  const { dataset } = document.documentElement;
  effect(() => {
    const { accent } = ui.value;
    if (accent) dataset["accent"] = accent;
    else delete dataset["accent"];
  });
  // as text, which is equal while other settings change
  const wallpaper = computed(() => JSON.stringify(ui.value.wallpaper ?? null));
  effect(() => {
    const photo = JSON.parse(wallpaper.value) as Photo | null;
    return photo ? hang(root, photo, session) : undefined;
  });
  const screensaver = new Screensaver(session);
  addEventListener("mantel-idle", () => screensaver.show());
  effect(() => {
    if (session.theme.theme.value === "night" || !ui.value.screensaver) screensaver.hide();
  });
}

/** Puts a photo behind the pages. Returns a function that takes it away. */
function hang(root: HTMLElement, photo: Photo, { api }: Pick<Session, "api">): () => void {
  const ended = new AbortController();
  const canvas = document.createElement("canvas");
  canvas.className = "wallpaper";
  drawPhoto(canvas, photo, { api, signal: ended.signal }).then(
    () => {
      if (ended.signal.aborted) return;
      root.append(canvas);
      root.classList.add("has-wallpaper");
    },
    (error: unknown) => {
      if (!ended.signal.aborted) console.warn("could not show the wallpaper", error);
    },
  );
  return () => {
    ended.abort();
    canvas.remove();
    root.classList.remove("has-wallpaper");
  };
}
