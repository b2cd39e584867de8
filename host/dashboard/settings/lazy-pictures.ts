import type { Api } from "../api.ts";
import { drawCover } from "../photos.ts";

/** Draws pictures of the host into canvases with `data-photo`, the path of a picture in the API, once they are in view. */
export class LazyPictures {
  readonly #api: Pick<Api, "open">;
  readonly #ended = new AbortController();
  readonly #views = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      this.#views.unobserve(target);
      void this.#draw(target as HTMLCanvasElement);
    }
  });

  constructor(api: Pick<Api, "open">) {
    this.#api = api;
  }

  /** Watches the canvases that are in the page after the present drawing. */
  watchSoon(): void {
    queueMicrotask(() => {
      for (const canvas of document.querySelectorAll<HTMLCanvasElement>("canvas[data-photo]")) {
        if (canvas.dataset["drawn"] !== canvas.dataset["photo"]) this.#views.observe(canvas);
      }
    });
  }

  close(): void {
    this.#ended.abort();
    this.#views.disconnect();
  }

  async #draw(canvas: HTMLCanvasElement): Promise<void> {
    const path = canvas.dataset["photo"] ?? "";
    canvas.dataset["drawn"] = path;
    try {
      const answer = await this.#api.open(path, { signal: this.#ended.signal });
      const picture = await createImageBitmap(await answer.blob());
      if (canvas.dataset["photo"] !== path) return; // the list has changed meanwhile
      drawCover(canvas, picture);
      picture.close();
    } catch {
      // It stays empty: the picture is gone, or the browser cannot read it.
    }
  }
}
