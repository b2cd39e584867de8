// The script of a frame's page. It shares its realm with the widget, which may be hostile. This
// script only makes the widget work; the dashboard page at the other end of the port protects the
// rest of the home.
import type { DeviceKind } from "@mantel/plugin-sdk/device";
import type { Needs } from "@mantel/plugin-sdk/needs";
import type { CommandResult, CommandBody, RoomOrGroup } from "@mantel/plugin-sdk/widget";
import { noAccess } from "@mantel/plugin-sdk/widget-permissions";
import { batch, type ReadonlySignal, signal, type Signal } from "@preact/signals-core";
import { followDetailsGestures } from "../details-gestures.ts";
import type { HandedOverState } from "../handed-over-state.ts";
import { aheadMs } from "../home-time.ts";
import { setLocale } from "../i18n/language.ts";
import { createPack } from "../i18n/packs.ts";
import { mountWidget, type PageWidget } from "../mounted-widget.ts";
import { Scope } from "../scope.ts";
import { Store } from "../store.ts";
import { type Box, type DetailsTarget, WidgetContexts } from "../widget-context.ts";
import { textsOf } from "../widget-errors.ts";
import { WidgetLoader } from "../widget-loader.ts";
import type { FromFrame } from "./from-frame.ts";
import { Icons } from "./icons-in-frame.ts";
import { adaptTo, mediaSheet } from "./media.ts";
import type {
  FrameFont,
  FrameState,
  FrameTexts,
  ReadAnswer,
  ServiceAnswer,
  ToFrame,
} from "./to-frame.ts";
import frameStyles from "./frame.css";
import baseStyles from "@mantel/plugin-sdk/ui/base.css";
import themeStyles from "@mantel/plugin-sdk/ui/theme.css";

const KEPT_MS = 1_000;
const PAINT_MS = 100;
const TOUCHED_EVERY_MS = 1_000;
/** The uncaught errors that a page reports. */
const MOST_UNCAUGHT = 20;

type Mount = Extract<ToFrame, { kind: "mount" }>;

/** The widget in this page, and the port to the dashboard. */
class FramePage {
  readonly #port: MessagePort;
  readonly #icons: Icons;
  readonly #calls = new Map<number, (answer: never) => void>();
  #lastCall = 0;
  #home: Home | undefined;
  #mounted: PageWidget | undefined;

  constructor(port: MessagePort) {
    this.#port = port;
    this.#icons = new Icons((name) => this.#send({ kind: "icon", name }));
    port.addEventListener("message", ({ data, ports }) => this.#hear(data as ToFrame, ports));
    port.start();
    followUserInput((kind) => this.#send({ kind }));
    followUncaught((error) => this.#send({ kind: "uncaught", ...textsOf(error) }));
    this.#send({ kind: "ready" });
  }

  #send(message: FromFrame): void {
    const text = JSON.stringify(message);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port has no origin
    this.#port.postMessage(text);
  }

  #hear(message: ToFrame, ports: readonly MessagePort[]): void {
    switch (message.kind) {
      case "ping":
        return this.#send({ kind: "alive" });
      case "fonts":
        return addFonts(message.fonts);
      case "mount":
        return void this.#mount(message, ports[0]);
      case "describe":
        return void this.#describe(message.code);
      case "handOver":
        return this.#handOver(ports[0]);
      case "icon":
        return this.#icons.put(message.name, message.path);
      case "answer":
        this.#calls.get(message.call)?.(message.answer as never);
        this.#calls.delete(message.call);
        return undefined;
      default:
        return this.#home?.take(message);
    }
  }

  async #mount(request: Mount, handedOverPort: MessagePort | undefined): Promise<void> {
    const home = new Home(request, {
      command: (device, command) =>
        this.#ask((call) => ({ kind: "command", call, device, command })),
      scene: (scene) => this.#ask((call) => ({ kind: "scene", call, scene })),
      read: (path, ended) => this.#read(path, ended),
      service: (path, input) => this.#callService(path, input),
      announce: (text) => this.#send({ kind: "announce", text: text.slice(0, 500) }),
      openDetails: (target, box) => this.#send({ kind: "details", target, box: plainBox(box) }),
      commandRoom: (room, device, command) =>
        this.#ask((call) => ({ kind: "commandRoom", call, room, device, command })),
    });
    this.#home = home;
    for (const [name, path] of Object.entries(request.icons)) this.#icons.put(name, path);
    try {
      const code = await codeOf(request.code);
      const handedOver = handedOverPort ? await readHandedOver(handedOverPort) : request.handedOver;
      const mounted = mountWidget(document.body, {
        code,
        handedOver,
        instance: request.instance,
        module: request.module,
        contexts: home.contexts,
        config: home.config,
        size: home.size,
        visible: home.visible,
        sheetOf: mediaSheet,
        onFault: (error) => this.#send({ kind: "fault", ...textsOf(error) }),
      });
      this.#mounted = mounted;
      mounted.host.classList.remove("waiting");
      home.follow(mounted.host, (px) => this.#send({ kind: "height", px }));
      followDetailsGestures((target, element) =>
        home.contexts.openDetails(target, element.getBoundingClientRect()),
      );
      await painted();
      this.#send({ kind: "mounted" });
    } catch (error) {
      this.#send({ kind: "refused", ...textsOf(error) });
    }
  }

  /** Sends the widget's definition to the editor. */
  async #describe(source: string): Promise<void> {
    try {
      const code = await codeOf(source);
      const { name, icon, texts, settings, size, ...widget } = code.instantiate(
        new Scope().globals,
      );
      const preview = widget.preview?.();
      this.#send({
        kind: "definition",
        definition: { name, icon, texts, settings, size, preview },
      });
    } catch (error) {
      this.#send({ kind: "refused", ...textsOf(error) });
    }
  }

  #handOver(port: MessagePort | undefined): void {
    try {
      port?.postMessage(this.#mounted?.handOver());
    } catch (error) {
      console.error("the widget could not hand over its state", error);
      port?.postMessage(undefined);
    }
  }

  #ask<A>(message: (call: number) => FromFrame): Promise<A> {
    const call = ++this.#lastCall;
    this.#send(message(call));
    return new Promise<A>((resolve) => this.#calls.set(call, resolve));
  }

  /** `path` is that of the HTTP API. */
  async #callService(path: string, input: unknown): Promise<unknown> {
    const [name = "", version = "1"] = path.slice("/services/".length).split("@");
    const answer = await this.#ask<ServiceAnswer>((call) => ({
      kind: "service",
      call,
      name,
      version: Number(version),
      input,
    }));
    if ("result" in answer) return answer.result;
    throw Object.assign(new Error(answer.error.message), { code: answer.error.code });
  }

  async #read(path: string, ended: AbortSignal): Promise<Response> {
    ended.throwIfAborted();
    const answered = this.#ask<ReadAnswer>((call) => {
      ended.addEventListener("abort", () => this.#send({ kind: "cancel", call }), { once: true });
      return { kind: "read", call, path };
    });
    const answer = await answered;
    if ("error" in answer) throw new Error(answer.error);
    return new Response(answer.body, { headers: { "Content-Type": answer.type } });
  }
}

interface Asks {
  command(device: string, command: CommandBody): Promise<CommandResult>;
  scene(scene: string): Promise<CommandResult>;
  read(path: string, ended: AbortSignal): Promise<Response>;
  service(path: string, input: unknown): Promise<unknown>;
  announce(text: string): void;
  openDetails(target: DetailsTarget, box: Box): void;
  commandRoom(room: RoomOrGroup, kind: DeviceKind, command: CommandBody): Promise<CommandResult>;
}

/** The home, as received from the dashboard. */
class Home {
  readonly contexts: WidgetContexts;
  readonly config: Signal<FrameState["config"]>;
  readonly size: Signal<FrameState["size"]>;
  readonly visible: Signal<boolean>;
  readonly #store: Store;
  readonly #theme: Signal<FrameState["theme"]>;
  readonly #online: Signal<boolean>;
  readonly #timeZone: Signal<string>;
  readonly #channels = new Map<string, Signal<unknown>>();
  readonly #module: string;
  readonly #flow = signal<string | null>(null);
  #locale = "en";
  #texts: FrameTexts | undefined;

  constructor({ state, devices, channels, needs, module }: Mount, asks: Asks) {
    this.#module = module;
    this.#store = needs.devices?.includes("read") ? new Store() : new HintingStore();
    this.#theme = signal(state.theme);
    this.#online = signal(state.online);
    this.#timeZone = signal(state.timeZone);
    this.config = signal(state.config);
    this.size = signal(state.size);
    this.visible = signal(state.visible);
    this.#store.replaceDevices(devices);
    for (const [name, value] of Object.entries(channels)) this.#putChannel(name, value);
    this.#change(state);
    this.contexts = new WidgetContexts({
      store: this.#store,
      channels: {
        get: (name) => this.#channel(name),
        getOfPlugin: (name) => this.#channel(name),
      },
      commands: {
        send: (id, command) => asks.command(id, command),
        activateScene: (id) => asks.scene(id),
      },
      api: {
        open: (path, request) => asks.read(path, request.signal),
        post: (path, input) => asks.service(path, input) as Promise<never>,
      },
      theme: this.#theme,
      online: this.#online,
      timeZone: this.#timeZone,
      announce: (text) => asks.announce(text),
      openDetails: (target, box) => asks.openDetails(target, box),
      commandRoom: (room, kind, command) => asks.commandRoom(room, kind, command),
    });
  }

  take(message: ToFrame): void {
    if (message.kind === "change") batch(() => this.#change(message.change));
    else if (message.kind === "devices") this.#store.replaceDevices(message.all);
    else if (message.kind === "device") this.#store.putDevice(message.device);
    else if (message.kind === "channel") this.#putChannel(message.name, message.value);
  }

  /**
   * Keeps the host element as high as its tile, or reports its height where tiles follow their
   * content.
   */
  follow(host: HTMLElement, tell: (px: number) => void): void {
    this.#flow.subscribe((least) => {
      document.documentElement.toggleAttribute("flow", least !== null);
      host.toggleAttribute("flow", least !== null);
      host.style.minHeight = least ?? "";
    });
    new ResizeObserver(() => {
      if (this.#flow.peek() !== null) tell(Math.ceil(host.getBoundingClientRect().height));
    }).observe(host);
  }

  #change(change: Partial<FrameState>): void {
    this.#changePage(change);
    if (change.theme !== undefined) this.#theme.value = change.theme;
    if (change.online !== undefined) this.#online.value = change.online;
    if (change.timeZone !== undefined) this.#timeZone.value = change.timeZone;
    if (change.aheadMs !== undefined) aheadMs.value = change.aheadMs;
    if (change.units !== undefined) this.#store.ui.value = { units: change.units };
    if (change.config !== undefined) this.config.value = change.config;
    if (change.size !== undefined) this.size.value = change.size;
    if (change.visible !== undefined) this.visible.value = change.visible;
    if (change.flow !== undefined) this.#flow.value = change.flow;
  }

  #changePage(change: Partial<FrameState>): void {
    const page = document.documentElement;
    if (change.theme !== undefined) page.dataset.theme = change.theme;
    if (change.language !== undefined) page.lang = change.language;
    if (change.direction !== undefined) page.dir = change.direction;
    this.#changeLanguage(change);
    if (change.viewport !== undefined) adaptTo(change.viewport);
  }

  #changeLanguage({ locale, texts }: Partial<FrameState>): void {
    if (locale !== undefined) this.#locale = locale;
    if (texts !== undefined) this.#texts = texts ?? undefined;
    if (locale === undefined && texts === undefined) return;
    const { vocabulary = {}, own = {} } = this.#texts ?? {};
    const pack = { vocabulary, plugins: { [this.#module]: own } };
    setLocale(this.#locale, this.#texts && createPack(pack, this.#locale));
  }

  #putChannel(name: string, value: unknown): void {
    if (name === "modules") this.#store.replaceModules(value as never);
    else this.#signalOf(name).value = value;
  }

  #channel<T>(name: string): ReadonlySignal<T> {
    if (!this.#channels.has(name)) this.#hintAt(name);
    return this.#signalOf(name) as ReadonlySignal<T>;
  }

  #signalOf(name: string): Signal<unknown> {
    const known = this.#channels.get(name) ?? signal<unknown>(undefined);
    this.#channels.set(name, known);
    return known;
  }

  #hintAt(name: string): void {
    const [own = "", rest] = name.split("/");
    const toDeclare = own === this.#module && rest !== undefined ? rest : name;
    hint(`the channel ${toDeclare}`, { channels: [toDeclare] });
  }
}

/** Explains once the reason for missing devices. */
class HintingStore extends Store {
  override device(id: string): ReturnType<Store["device"]> {
    hint("devices", { devices: ["read"] });
    return super.device(id);
  }

  override devices(query?: Parameters<Store["devices"]>[0]): ReturnType<Store["devices"]> {
    hint("devices", { devices: ["read"] });
    return super.devices(query);
  }
}

const hinted = new Set<string>();

function hint(what: string, needs: Needs): void {
  if (hinted.has(what)) return;
  hinted.add(what);
  console.warn(noAccess(what, needs));
}

/** Loads code as a separate script; the page's policy allows no other way. */
async function codeOf(source: string): ReturnType<WidgetLoader["acquire"]> {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  try {
    return await new WidgetLoader().acquire(url);
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** The state from the previous frame, unless that frame does not answer. */
function readHandedOver(port: MessagePort): Promise<HandedOverState | undefined> {
  return new Promise((resolve) => {
    setTimeout(resolve, KEPT_MS, undefined);
    port.addEventListener("message", ({ data }) => resolve(data as HandedOverState | undefined));
    port.start();
  });
}

/**
 * Resolves when the current content is painted. Has a short timeout, because hidden pages are not
 * painted.
 */
function painted(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, PAINT_MS);
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.addEventListener("message", () => resolve());
      port1.start();
      port2.postMessage(undefined);
    });
  });
}

/** Reports touches and key presses in this page, which the dashboard does not receive. */
function followUserInput(tell: (kind: "touched" | "leave") => void): void {
  let toldAt = -Infinity;
  const touched = (): void => {
    if (performance.now() - toldAt < TOUCHED_EVERY_MS) return;
    toldAt = performance.now();
    tell("touched");
  };
  for (const type of ["pointerdown", "pointerup", "keydown"]) {
    addEventListener(type, touched, { passive: true, capture: true });
  }
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.defaultPrevented) tell("leave");
  });
}

/** Reports the first errors that no code catches, such as in timers. */
function followUncaught(tell: (error: unknown) => void): void {
  let left = MOST_UNCAUGHT;
  const report = (error: unknown): void => {
    if (left-- > 0) tell(error);
  };
  addEventListener("error", (event) => report(event.error));
  addEventListener("unhandledrejection", (event) => report(event.reason));
}

function addFonts(fonts: readonly FrameFont[]): void {
  for (const { family, weight, unicodeRange, data } of fonts) {
    document.fonts.add(new FontFace(family, data, { weight, unicodeRange }));
  }
}

/** A box without the further fields of a `DOMRect`. */
function plainBox({ x, y, width, height }: Box): Box {
  return { x, y, width, height };
}

/**
 * A peer connection bypasses every content security policy. A decision record explains why a fresh
 * one cannot be created.
 */
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection"]) {
  Reflect.deleteProperty(globalThis, name);
}
globalThis.fetch = () =>
  Promise.reject(new TypeError("a framed widget has no network access: use ctx.read"));
document.adoptedStyleSheets = [themeStyles, baseStyles, frameStyles].map(mediaSheet);
/** Exported to keep it alive as long as the page. */
export let framePage: FramePage | undefined;
addEventListener("message", function greeted({ source, ports: [port] }) {
  if (source !== parent || !port) return;
  removeEventListener("message", greeted);
  framePage = new FramePage(port);
});
