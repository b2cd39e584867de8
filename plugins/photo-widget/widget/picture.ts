import type { WidgetContext } from "@mantel/plugin-sdk/widget";

type Context = Pick<
  WidgetContext<Record<string, never>, unknown>,
  "read" | "size" | "log" | "signal"
>;

/** Maximum pixel density; higher values only use more memory. */
const DENSITY = 2;
const LEAST_PX = 640;

/**
 * The current picture on a canvas. Pictures require the token, so a URL alone would not load them,
 * and a canvas needs no exception in the page's security policy.
 */
export class Picture {
  readonly element = document.createElement("canvas");
  readonly #ctx: Context;
  #shown = false;

  constructor(ctx: Context) {
    this.#ctx = ctx;
    // The content of a photo is unknown; the surrounding element has a label.
    this.element.setAttribute("aria-hidden", "true");
  }

  get isShown(): boolean {
    return this.#shown;
  }

  /**
   * Shows the picture at a path of the API once it is fully loaded; false if it is not a picture or could not be loaded.
   */
  async show(path: string): Promise<boolean> {
    const { read, size, log, signal } = this.#ctx;
    try {
      const answer = await read(path);
      const fullSize = await createImageBitmap(await answer.blob());
      if (signal.aborted) return true;
      const { width, height } = size.peek();
      const neededPx = Math.max(width, height, LEAST_PX) * DENSITY;
      this.#draw(fullSize, Math.min(1, neededPx / Math.max(fullSize.width, fullSize.height)));
      return true;
    } catch (error) {
      if (!signal.aborted) log.warn("could not show a picture", path, error);
      return signal.aborted;
    }
  }

  #draw(whole: ImageBitmap, scale: number): void {
    const { element } = this;
    element.width = Math.round(whole.width * scale);
    element.height = Math.round(whole.height * scale);
    element.getContext("2d")?.drawImage(whole, 0, 0, element.width, element.height);
    whole.close();
    this.#shown = true;
    element.getAnimations().forEach((each) => each.cancel());
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) {
      element.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 600, easing: "ease-out" });
    }
  }
}
