import type { Needs } from "@mantel/plugin-sdk/needs";
import type { TileSize } from "@mantel/plugin-sdk/widget";
import type { ReadonlySignal } from "@preact/signals-core";
import type { HandedOverState } from "../handed-over-state.ts";
import { currentPack } from "../i18n/language.ts";
import type { MountedWidget } from "../mounted-widget.ts";
import type { WidgetContexts } from "../widget-context.ts";
import { type Frame, type FrameUser, openFrame } from "./frame.ts";
import type { FromFrame } from "./from-frame.ts";
import { HomeFeed } from "./home-feed.ts";
import { loadCode } from "./load-code.ts";
import type { FrameState, FrameTexts } from "./to-frame.ts";
import { watchFrames } from "./watch.ts";
import { words } from "./words.ts";

/** Time limit for mounting. A widget normally draws immediately. */
const MOUNT_MS = 10_000;

/** Delay before a idle frame opens, so that the swapped widget is painted first. */
const IDLE_FRAME_DELAY_MS = 100;
/** The browser reports a touch in a frame to this page separately from the frame's message. */
const ACTIVATION_MS = 50;

export interface FrameRequest {
  readonly instance: string;
  /** The id of the widget's module. */
  readonly module: string;
  /** The name of the frame, for screen readers. */
  readonly title: string;
  /** The URL of the widget's code. */
  readonly url: string;
  readonly hash: string;
  readonly needs: Needs;
  readonly contexts: WidgetContexts;
  readonly config: ReadonlySignal<Readonly<Record<string, unknown>>>;
  readonly size: ReadonlySignal<TileSize>;
  readonly visible: ReadonlySignal<boolean>;
  /** Returns the state of the previous code, just before the new code mounts. */
  readonly handOver: () => HandedOverState | MessagePort | undefined;
  /** Called when the mounted widget throws later, or must be stopped. */
  readonly onFault: (error: unknown) => void;
  /** Called when code of the widget threw and nothing caught it. The widget continues. */
  readonly onUncaught: (error: unknown) => void;
  /** Called when its frame was removed. The widget may be mounted again. */
  readonly onLost: () => void;
}

/**
 * Mounts a widget into a sandboxed frame below `parent`, hidden until the caller shows it.
 * @throws Error if the widget throws while mounting; all parts are removed in that case
 */
export async function mountInFrame(parent: Element, request: FrameRequest): Promise<MountedWidget> {
  const code = await loadCode(request.url);
  const idleFrame = idleFrames.get(parent);
  idleFrames.delete(parent);
  const frame = idleFrame?.isConnected ? idleFrame : openFrame(parent, request);
  const widget = new FramedWidget(frame, request);
  await widget.opened();
  await inTurn(() => widget.mount(code));
  return widget;
}

/** Frames opened in advance, by their parent element. */
const idleFrames = new WeakMap<Element, Frame>();

class FramedWidget implements FrameUser, MountedWidget {
  readonly host: Frame;
  readonly #request: FrameRequest;
  readonly #feed: HomeFeed;
  #stops: (() => void)[] = [];
  readonly #mounted: Promise<void>;
  #settle = { resolve: (): void => undefined, reject: (_error: Error): void => undefined };
  #isMounted = false;
  #sent: Partial<FrameState> = {};

  constructor(frame: Frame, request: FrameRequest) {
    this.host = frame;
    this.#request = request;
    this.#feed = new HomeFeed(frame, request);
    this.#mounted = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    this.#mounted.catch(() => undefined); // the caller that waits for the frame reports the error
    frame.user = this;
  }

  /** Resolves when its page is ready. */
  async opened(): Promise<void> {
    await Promise.race([this.host.opened, this.#mounted]);
  }

  async mount(code: string): Promise<void> {
    watchFrames.mounting = this.host;
    const deadline = setTimeout(() => this.host.fail(words.peek().frameDoesNotMount), MOUNT_MS);
    try {
      const isSwap = this.#sendMount(code);
      await this.#mounted;
      this.host.inert = false;
      this.#isMounted = true;
      this.#stops = [this.#feed.start(), this.#followState()];
      if (isSwap) this.#openIdleFrameSoon();
    } catch (error) {
      this.unmount();
      throw error;
    } finally {
      clearTimeout(deadline);
      watchFrames.mounting = undefined;
    }
  }

  /** True if it replaces another frame. */
  #sendMount(code: string): boolean {
    const { instance, module, hash, needs } = this.#request;
    const handedOver = this.#request.handOver();
    const isPort = handedOver instanceof MessagePort;
    const state = this.#state();
    this.#sent = state;
    this.host.send(
      {
        kind: "mount",
        instance,
        module,
        hash,
        code,
        needs,
        state,
        ...this.#feed.first(),
        handedOver: isPort ? undefined : handedOver,
      },
      isPort ? [handedOver] : [],
    );
    return isPort;
  }

  /**
   * Opens a idle frame after a code swap: the author is likely to swap again, and opening a frame
   * is the slowest step.
   */
  #openIdleFrameSoon(): void {
    const parent = this.host.parentElement;
    if (!parent) return;
    const timer = setTimeout(
      () => idleFrames.set(parent, openFrame(parent, this.#request)),
      IDLE_FRAME_DELAY_MS,
    );
    this.#stops.push(() => {
      clearTimeout(timer);
      idleFrames.get(parent)?.end();
      idleFrames.delete(parent);
    });
  }

  /** A port that gives the state to the next frame; this page never reads it. */
  handOver(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.host.send({ kind: "handOver" }, [port2]);
    return port1;
  }

  unmount(): void {
    this.#stop();
    this.host.end();
  }

  heard(message: FromFrame): void {
    switch (message.kind) {
      case "mounted":
        return this.#settle.resolve();
      case "refused":
        return this.#settle.reject(errorOf(message));
      case "fault":
        return this.#request.onFault(errorOf(message));
      case "uncaught":
        return this.#request.onUncaught(errorOf(message));
      case "height":
        return this.#setHeight(message.px);
      case "touched":
        return this.#touched();
      case "leave":
        return this.#leave();
      case "ready":
      case "alive":
      case "definition":
        return undefined; // the frame itself has received it, or no caller waits
      default:
        return this.#feed.receive(message);
    }
  }

  failed(error: Error): void {
    this.#stop();
    this.#settle.reject(error);
    if (this.#isMounted) this.#request.onFault(error);
  }

  lost(): void {
    this.#stop();
    this.#request.onLost(); // first, so that the error belongs to the swap that no caller waits for
    this.#settle.reject(new Error(words.peek().frameLeft));
  }

  #stop(): void {
    for (const stop of this.#stops) stop();
    this.#stops = [];
  }

  #setHeight(px: number): void {
    this.host.style.setProperty("--content", `${px}px`);
  }

  /** Trusts a touch only if the browser also reports one in a frame of the page. */
  #touched(): void {
    this.host.touchedAt = performance.now();
    setTimeout(() => {
      if ("userActivation" in navigator && !navigator.userActivation.isActive) return;
      this.host.dispatchEvent(new CustomEvent("mantel-touch", { bubbles: true }));
    }, ACTIVATION_MS);
  }

  /** Escape moves the focus out of the frame to its tile. */
  #leave(): void {
    if (document.activeElement !== this.host.iframe) return;
    const tile = this.host.parentElement;
    if (!tile) return;
    tile.tabIndex = -1;
    tile.focus();
  }

  #state(): FrameState {
    const { contexts, config, size, visible } = this.#request;
    const { theme, online, locale, timeZone } = contexts.shared;
    const page = document.documentElement;
    return {
      theme: theme.peek(),
      online: online.peek(),
      timeZone: timeZone.peek(),
      aheadMs: contexts.aheadMs.peek(),
      locale: locale.peek(),
      language: page.lang,
      texts: this.#texts(),
      direction: page.dir,
      units: contexts.units.peek(),
      viewport: { width: innerWidth, height: innerHeight },
      config: config.peek(),
      size: size.peek(),
      visible: visible.peek(),
      flow: this.host.getAttribute("flow"),
    };
  }

  #texts(): FrameTexts | null {
    const { vocabulary, plugins } = currentPack.peek() ?? {};
    return vocabulary ? { vocabulary, own: plugins?.[this.#request.module] ?? {} } : null;
  }

  #followState(): () => void {
    const { contexts, config, size, visible } = this.#request;
    const { theme, online, locale, timeZone } = contexts.shared;
    const signals: readonly ReadonlySignal<unknown>[] = [
      theme,
      online,
      locale,
      currentPack,
      timeZone,
      contexts.aheadMs,
      contexts.units,
      config,
      size,
      visible,
    ];
    const send = (): void => this.#sendChanges();
    const stops = signals.map((signal) => signal.subscribe(send));
    addEventListener("resize", send);
    return () => {
      removeEventListener("resize", send);
      for (const stop of stops) stop();
    };
  }

  /** Sends the changed values. */
  #sendChanges(): void {
    const now = this.#state();
    const changed = Object.entries(now).filter(
      ([name, value]) => !isSame(value, this.#sent[name as keyof FrameState]),
    );
    this.#sent = now;
    if (changed.length > 0) {
      this.host.send({ kind: "change", change: Object.fromEntries(changed) });
    }
  }
}

/** An error of the widget, with the stack in its frame. */
function errorOf({ message, stack }: { readonly message: string; readonly stack: string }): Error {
  return Object.assign(new Error(message), { stack });
}

let last: Promise<unknown> = Promise.resolve();

/** Mounts one widget at a time, so that an infinite loop can be attributed to its widget. */
function inTurn(work: () => Promise<void>): Promise<void> {
  const done = last.then(work);
  last = done.catch(() => undefined);
  return done;
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
