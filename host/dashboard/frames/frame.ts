import { html, render } from "lit";
import type { Box } from "../widget-context.ts";
import { fontsOfPage } from "./fonts.ts";
import { type FromFrame, parseFromFrame } from "./from-frame.ts";
import type { ToFrame } from "./to-frame.ts";
import { watchFrames } from "./watch.ts";
import { words } from "./words.ts";
import styles from "./tile.css";

/** Opening a frame's page takes about 100 ms, and much longer on a slow machine. */
const OPEN_MS = 15_000;
/** Maximum number of messages per second. Dragging a slider sends about 120. */
const MOST_PER_SECOND = 600;

/** The owner of a frame. */
export interface FrameUser {
  heard(message: FromFrame): void;
  /** The frame was stopped for this reason and sends nothing more. */
  failed(error: Error): void;
  /**
   * The frame was removed from the page, or stopped because of another frame. A new one may replace
   * it.
   */
  lost(): void;
}

/**
 * `<mantel-frame>`: a sandboxed page with an opaque origin and a port to it. Its code may be
 * hostile: it cannot reach this page, its storage or the network, and its messages are limited
 * here.
 */
export class Frame extends HTMLElement {
  static readonly observedAttributes = ["flow"];

  /** The id of its tile. */
  instance = "";
  user: FrameUser | undefined;
  /** Watch ticks since the last message. */
  silentTicks = 0;
  touchedAt = -Infinity;
  heardAt = -Infinity;
  isReady = false;
  /** Resolves when its page is ready. Stays pending if the frame ends before that. */
  readonly opened: Promise<void>;
  #tellOpened = (): void => undefined;
  #iframe: HTMLIFrameElement | undefined;
  #port: MessagePort | undefined;
  #second = 0;
  #inSecond = 0;
  #hasEnded = false;
  #deadline: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.opened = new Promise((resolve) => (this.#tellOpened = resolve));
  }

  connectedCallback(): void {
    if (this.#iframe || this.#hasEnded) return;
    const loaded = (): void => this.#loaded();
    render(
      html`<iframe
        sandbox="allow-scripts"
        src=${addressOfPage()}
        title=${this.title}
        @load=${loaded}
      ></iframe>`,
      this,
    );
    this.removeAttribute("title"); // otherwise it would be a tooltip
    this.#iframe = this.querySelector("iframe") ?? undefined;
    this.#deadline = setTimeout(() => this.fail(words.peek().frameDoesNotOpen), OPEN_MS);
    watchFrames.add(this);
  }

  /** Called for a move that keeps the page of the frame. Any other move ends it. */
  connectedMoveCallback(): void {}

  disconnectedCallback(): void {
    this.end()?.lost();
  }

  attributeChangedCallback(): void {
    this.send({ kind: "change", change: { flow: this.getAttribute("flow") } });
  }

  /** Sends a message. Does nothing before the page is ready and after the frame has ended. */
  send(message: ToFrame, ports: Transferable[] = []): void {
    if (this.isReady) this.#port?.postMessage(message, ports);
  }

  /** True if the frame's window sent a message event. Widgets may only use the port. */
  isSourceOf({ source }: MessageEvent): boolean {
    return source !== null && source === this.#iframe?.contentWindow;
  }

  /** A box of the frame's page, in the window of the dashboard. */
  inWindow({ x, y, width, height }: Box): Box {
    const { left = 0, top = 0 } = this.#iframe?.getBoundingClientRect() ?? {};
    return { x: x + left, y: y + top, width, height };
  }

  get iframe(): HTMLIFrameElement | undefined {
    return this.#iframe;
  }

  fail(reason: string): void {
    this.end()?.failed(new Error(reason));
  }

  /** Ends the frame and returns its owner. */
  end(): FrameUser | undefined {
    const { user } = this;
    this.#hasEnded = true;
    this.user = undefined;
    clearTimeout(this.#deadline);
    watchFrames.delete(this);
    this.#port?.close();
    this.#port = undefined;
    this.#iframe?.remove();
    this.#iframe = undefined;
    this.remove();
    return user;
  }

  #loaded(): void {
    if (this.#port) return this.fail(words.peek().frameLeft);
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.addEventListener("message", ({ data }) => this.#receive(data));
    port1.start();
    // An opaque origin cannot be named. The policy of this page prevents any other page in the
    // frame.
    this.#iframe?.contentWindow?.postMessage("mantel", "*", [port2]);
  }

  #receive(data: unknown): void {
    if (this.#hasEnded) return;
    if (this.#isFlood()) return this.fail(words.peek().frameFloods);
    this.silentTicks = 0;
    this.heardAt = performance.now();
    try {
      const message = parseFromFrame(data);
      if (message.kind === "ready") this.#opened();
      else if (this.isReady) this.user?.heard(message);
    } catch (error) {
      console.warn("a widget sent an invalid message", error);
      this.fail(words.peek().invalidFrameMessage);
    }
  }

  #opened(): void {
    if (this.isReady) return;
    this.isReady = true;
    clearTimeout(this.#deadline);
    void fontsOfPage().then((fonts) => this.send({ kind: "fonts", fonts }));
    this.#tellOpened();
  }

  #isFlood(): boolean {
    const second = Math.floor(performance.now() / 1_000);
    this.#inSecond = second === this.#second ? this.#inSecond + 1 : 1;
    this.#second = second;
    return this.#inSecond > MOST_PER_SECOND;
  }
}

customElements.define("mantel-frame", Frame);
const sheet = new CSSStyleSheet();
sheet.replaceSync(styles);
document.adoptedStyleSheets.push(sheet);

/**
 * Opens a hidden frame below `parent` as soon as `parent` is in the page. `title` is its name for
 * screen readers.
 */
export function openFrame(
  parent: Element,
  { instance, title }: { readonly instance: string; readonly title: string },
): Frame {
  const frame = new Frame();
  frame.instance = instance;
  frame.className = "widget framed waiting";
  frame.title = title;
  frame.inert = true;
  parent.append(frame);
  return frame;
}

function addressOfPage(): string {
  return document.querySelector<HTMLMetaElement>("meta[name=mantel-frame]")?.content ?? "";
}
