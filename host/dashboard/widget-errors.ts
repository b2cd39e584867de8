import type { Api } from "./api.ts";
import { CodeNotLoaded } from "./code-not-loaded.ts";

/** The errors of one widget's code that a page reports; the host records about as many. */
const MOST = 20;
const LONGEST_MESSAGE = 1_000;
const LONGEST_STACK = 8_000;
/** The URL of a widget's script, in the stacks of its errors. */
const WIDGET_SCRIPT = /\/assets\/widgets\/([a-z0-9-]+)\.([0-9a-f]+)\.js:\d/;

/** Reports errors of widgets to the host, which shows them to the author. */
export class WidgetErrors {
  readonly #api: Pick<Api, "send">;
  readonly #reported = new Map<string, Set<string>>();

  constructor(api: Pick<Api, "send">) {
    this.#api = api;
  }

  /** Reports an error of a widget's code, once while the page is open. */
  readonly report = (module: string, hash: string, error: unknown): void => {
    if (error instanceof CodeNotLoaded) return;
    const { message, stack } = textsOf(error);
    const known = this.#reported.get(hash) ?? new Set();
    this.#reported.set(hash, known);
    const key = `${message}\n${stack}`;
    if (known.has(key) || known.size >= MOST) return;
    known.add(key);
    const path = `/modules/${encodeURIComponent(module)}/widget-errors`;
    this.#api.send("POST", path, { hash, message, stack }).catch((cause: unknown) => {
      console.warn("could not report an error of a widget", cause);
    });
  };

  /** Reports errors that no code catches, such as in timers of widgets that run in this page. */
  follow(page: Pick<Window, "addEventListener">): void {
    const report = (error: unknown): void => {
      const [, module, hash] = WIDGET_SCRIPT.exec(textsOf(error).stack) ?? [];
      if (module !== undefined && hash !== undefined) this.report(module, hash, error);
    };
    page.addEventListener("error", (event) => report(event.error));
    page.addEventListener("unhandledrejection", (event) => report(event.reason));
  }
}

/** The message and the stack of anything that was thrown, within the bounds of the host. */
export function textsOf(error: unknown): { readonly message: string; readonly stack: string } {
  const isError = error instanceof Error;
  const message = isError ? error.message : String(error);
  return {
    message: message.slice(0, LONGEST_MESSAGE),
    stack: (isError ? (error.stack ?? "") : "").slice(0, LONGEST_STACK),
  };
}
