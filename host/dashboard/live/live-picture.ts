import type { LiveForm } from "@mantel/plugin-sdk/device";
import type { Api } from "../api.ts";
import { watchFrames } from "./watch-frames.ts";
import { watchVideo } from "./watch-video.ts";

/** Waits before further attempts, in milliseconds. The last one repeats. */
const RETRY_MS = [2_000, 5_000, 15_000];
const MOST_PX = 1_920;

/** Shows one form of a live picture until `signal` aborts, and calls `begun` with the first picture. */
export type Show = (
  form: LiveForm,
  request: { signal: AbortSignal; begun: () => void },
) => Promise<void>;

/**
 * Shows the live picture of a device in the first of its forms that works, and tries again when it has ended. `playing`
 * is told when a picture is shown, and when that is over. Resolves when `signal` aborts.
 */
export async function followLive(
  forms: readonly LiveForm[],
  { signal, show, playing }: { signal: AbortSignal; show: Show; playing: (is: boolean) => void },
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    for (const form of forms) {
      let hasBegun = false;
      const begun = (): void => {
        if (signal.aborted) return;
        hasBegun = true;
        failures = 0;
        playing(true);
      };
      await show(form, { signal, begun }).catch(() => undefined); // the next form, or attempt, follows
      if (signal.aborted) return;
      if (hasBegun) {
        playing(false);
        break;
      }
    }
    await pause(RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)] ?? 0, signal);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}

/**
 * Defines `<mantel-live device="demo:camera:1" forms="video frames">`, for the page and for widgets that run in it. It
 * has the attribute `playing` while it shows the live picture, and is empty otherwise. It rests while the page is
 * hidden.
 */
export function defineLivePicture(api: Pick<Api, "open" | "post">): void {
  class MantelLive extends HTMLElement {
    static readonly observedAttributes = ["device", "forms"];
    #running: AbortController | undefined;
    readonly #followPage = (): void => this.#restart();

    connectedCallback(): void {
      document.addEventListener("visibilitychange", this.#followPage);
      this.#restart();
    }

    disconnectedCallback(): void {
      document.removeEventListener("visibilitychange", this.#followPage);
      this.#stop();
    }

    attributeChangedCallback(): void {
      if (this.isConnected) this.#restart();
    }

    #stop(): void {
      this.#running?.abort();
      this.#running = undefined;
      this.removeAttribute("playing");
      this.replaceChildren();
    }

    #restart(): void {
      this.#stop();
      const device = this.getAttribute("device");
      const forms = (this.getAttribute("forms") ?? "").split(" ").filter(isForm);
      if (device === null || document.hidden) return;
      const running = new AbortController();
      this.#running = running;
      const show: Show = (form, request) =>
        form === "video" ? this.#showVideo(device, request) : this.#showFrames(device, request);
      const playing = (is: boolean): void => {
        this.toggleAttribute("playing", is);
      };
      void followLive(forms, { signal: running.signal, show, playing });
    }

    async #showVideo(device: string, { signal, begun }: Parameters<Show>[1]): Promise<void> {
      const video = document.createElement("video");
      video.muted = true;
      video.autoplay = true;
      video.playsInline = true;
      this.replaceChildren(video);
      await watchVideo(api, device, { signal, video, begun });
    }

    async #showFrames(device: string, { signal, begun }: Parameters<Show>[1]): Promise<void> {
      const canvas = document.createElement("canvas");
      this.replaceChildren(canvas);
      const draw = (picture: ImageBitmap): void => {
        const scale = Math.min(1, MOST_PX / picture.width);
        const [width, height] = [picture.width * scale, picture.height * scale].map(Math.round);
        if (canvas.width !== width) canvas.width = width ?? 0;
        if (canvas.height !== height) canvas.height = height ?? 0;
        canvas.getContext("2d")?.drawImage(picture, 0, 0, canvas.width, canvas.height);
        begun();
      };
      await watchFrames(api, device, { signal, draw });
    }
  }
  customElements.define("mantel-live", MantelLive);
}

const isForm = (text: string): text is LiveForm => text === "video" || text === "frames";
