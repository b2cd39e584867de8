import { html, render } from "lit";
import { drawPhoto, listPhotos, type Photo } from "../photos.ts";
import type { Session } from "../session.ts";

const SECOND_MS = 1_000;
/** Seconds for which a photo is shown. */
const PHOTO_SECONDS = 30;
/** The events that wake the screen. `mantel-touch` reports touches in frames. */
const TOUCHES = ["pointerdown", "keydown", "mantel-touch"];

/** The picture of an idle screen: the time, large or over photos. The touch that ends it does nothing else. */
export class Screensaver {
  readonly #session: Session;
  readonly #element = document.createElement("section");
  readonly #clock = document.createElement("div");
  #ended: AbortController | undefined;

  constructor(session: Session) {
    this.#session = session;
    this.#element.className = "screensaver";
    this.#element.append(this.#clock);
  }

  /** Shows what the home has chosen, if it has. */
  show(): void {
    const { store, theme } = this.#session;
    const { screensaver } = store.ui.peek();
    if (!screensaver || this.#ended || theme.theme.peek() === "night") return;
    const ended = new AbortController();
    const { signal } = ended;
    this.#ended = ended;
    this.#draw();
    document.body.append(this.#element);
    const timer = setInterval(() => this.#draw(), SECOND_MS);
    signal.addEventListener("abort", () => clearInterval(timer));
    for (const type of TOUCHES) {
      addEventListener(type, (event) => this.#wake(event), { signal, capture: true });
    }
    if (screensaver === "photos") void this.#turnPhotos(signal);
  }

  hide(): void {
    this.#ended?.abort();
    this.#ended = undefined;
    this.#element.querySelectorAll("canvas").forEach((canvas) => canvas.remove());
    this.#element.remove();
  }

  /** Ends it: of a tap only with its end, so that nothing below the finger is tapped. */
  #wake(event: Event): void {
    if (event.type !== "pointerdown") this.hide();
    if (event.type === "keydown") {
      event.preventDefault();
      event.stopPropagation();
      dispatchEvent(new Event("mantel-touch")); // what waits for idleness has not seen the key
    }
    if (event.type !== "pointerdown") return;
    const end = (click: Event): void => {
      click.stopPropagation();
      this.hide();
    };
    this.#element.addEventListener("click", end, { once: true });
  }

  #draw(): void {
    const fmt = this.#session.formats.peek();
    const at = this.#session.contexts.shared.now();
    render(html`<time>${fmt.time(at)}</time><span>${fmt.date(at)}</span>`, this.#clock);
  }

  /** Shows one photo after the other, from another one each time. Without photos the clock stays. */
  async #turnPhotos(signal: AbortSignal): Promise<void> {
    const { api } = this.#session;
    let shown: HTMLCanvasElement | undefined;
    while (!signal.aborted) {
      const photos = await listPhotos(api, signal);
      const last = shown;
      for (const photo of turned(photos)) {
        const canvas = document.createElement("canvas");
        try {
          await drawPhoto(canvas, photo, { api, signal });
        } catch {
          continue; // it is gone, or the browser cannot read it
        }
        if (signal.aborted) return;
        this.#clock.before(canvas);
        const before = shown;
        shown = canvas;
        canvas.animate([{ opacity: 0 }, { opacity: 1 }], SECOND_MS).finished.then(
          () => before?.remove(),
          () => undefined, // removed before it was there
        );
        await pause(PHOTO_SECONDS, signal);
      }
      if (shown === last) await pause(PHOTO_SECONDS, signal); // none could be shown
    }
  }
}

/** All photos, from a random one on. */
function turned(photos: readonly Photo[]): readonly Photo[] {
  const from = Math.floor(Math.random() * photos.length);
  return [...photos.slice(from), ...photos.slice(0, from)];
}

function pause(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, seconds * SECOND_MS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
