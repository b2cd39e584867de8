import { computed, effect, signal, untracked, type ReadonlySignal } from "@preact/signals-core";
import { html, nothing, render } from "lit";
import type { ModuleView, WidgetView } from "../api/module.ts";
import { words } from "./i18n/shell.ts";
import type { Geometry, PlacedWidget } from "./layout.ts";
import { mountWidgetIn } from "./mount.ts";
import type { MountedWidget } from "./mounted-widget.ts";
import { Scope } from "./scope.ts";
import type { Store } from "./store.ts";
import { SizeWatch } from "./tile-size.ts";
import type { WidgetContexts } from "./widget-context.ts";
import type { WidgetErrors } from "./widget-errors.ts";
import type { WidgetLoader } from "./widget-loader.ts";

/** A notice of the tile over or beside its widget. */
interface Notice {
  readonly kind: "absent" | "fault" | "badge";
  readonly text: string;
}

export interface TileDependencies {
  readonly store: Store;
  readonly loader: WidgetLoader;
  readonly contexts: WidgetContexts;
  /** False if the tab is hidden or the screen is dimmed. */
  readonly awake: ReadonlySignal<boolean>;
  /** Reports an error of a module's widget, by the hash of its code. */
  readonly reportError: WidgetErrors["report"];
  /** Reloads a module in the host, for a widget whose build failed. */
  readonly reloadModule: (id: string) => Promise<void>;
}

/** The frame of one widget: shows its code, swaps it in place and shows a notice when it fails. */
export class Tile {
  readonly element = document.createElement("section");
  readonly #notices = document.createElement("div");
  readonly #parts: TileDependencies;
  readonly #instance: string;
  readonly #moduleId: string;
  readonly #config = signal<PlacedWidget["config"]>({});
  readonly #onScreen = signal(false);
  readonly #notice = signal<Notice | undefined>(undefined);
  readonly #size = new SizeWatch(this.element);
  readonly #scope = new Scope();
  /** The code to show and where to run it. The next swap aborts this one. */
  #target: { readonly key: string; readonly overtaken: AbortController } | undefined;
  #shown: { readonly key: string; readonly mounted: MountedWidget } | undefined;

  constructor(widget: PlacedWidget, parts: TileDependencies) {
    this.#parts = parts;
    this.#instance = widget.id;
    this.#moduleId = widget.module;
    this.#config.value = widget.config;
    this.element.className = "tile";
    this.element.dataset.module = widget.module;
    this.#notices.className = "notices";
    this.element.append(this.#notices);
    const screen = new IntersectionObserver(([entry]) => {
      this.#onScreen.value = entry?.isIntersecting ?? false;
    });
    screen.observe(this.element);
    this.#scope.onEnd(() => screen.disconnect());
    this.#scope.onEnd(() => this.#size.close());
    this.#scope.onEnd(effect(() => this.#drawNotice(this.#module, this.#notice.value)));
    this.#scope.onEnd(
      effect(() => {
        const module = this.#module;
        untracked(() => this.#follow(module));
      }),
    );
  }

  get moduleId(): string {
    return this.#moduleId;
  }

  /** Applies settings from a newer layout without mounting the widget again. */
  set config(config: PlacedWidget["config"]) {
    if (JSON.stringify(config) !== JSON.stringify(this.#config.peek())) this.#config.value = config;
  }

  /**
   * Sets the cells of the tile. With `leastHeight`, in rem, the height follows the content, as on a
   * phone. Without it, the widget fills its cells.
   */
  resize(geometry: Geometry, leastHeight: number | undefined): void {
    this.#size.place(geometry);
    this.element.style.minHeight = leastHeight === undefined ? "" : `${leastHeight}rem`;
    this.element.toggleAttribute("flow", leastHeight !== undefined);
    if (this.#shown) this.#setFlow(this.#shown.mounted.host);
  }

  close(): void {
    this.#target?.overtaken.abort();
    this.#target = undefined;
    this.#unmountShown();
    this.#scope.end();
    this.element.remove();
  }

  get #module(): ModuleView | undefined {
    return this.#parts.store.module(this.#moduleId).value;
  }

  #follow(module: ModuleView | undefined): void {
    const widget = module?.widget;
    if (!widget) {
      if (!this.#shown) this.#notice.value = emptyTileNotice(module);
    } else if (keyOf(widget) !== this.#target?.key) void this.#swapTo(widget);
  }

  /**
   * Keep the state → mount the new widget hidden → unmount the old one → show. Code that throws is
   * discarded.
   */
  async #swapTo(widget: WidgetView): Promise<void> {
    const key = keyOf(widget);
    this.#target?.overtaken.abort();
    const target = { key, overtaken: new AbortController() };
    this.#target = target;
    let fault: { readonly error: unknown } | undefined;
    let isShown = false;
    try {
      const mounted = await this.#mount(widget, target.overtaken.signal, {
        onFault: (error) => {
          if (isShown) queueMicrotask(() => this.#crashed(widget, error));
          else fault = { error };
        },
        onUncaught: (error) => this.#report(widget, error),
        onLost: () => this.#mountAgain(target, widget),
      });
      this.#unmountShown();
      this.#shown = { key, mounted };
      isShown = true;
      this.#setFlow(mounted.host);
      mounted.host.classList.remove("waiting");
      this.#notice.value = undefined;
      if (fault) this.#crashed(widget, fault.error);
    } catch (error) {
      if (this.#target === target) this.#refused(widget, error);
    }
  }

  #mount(
    widget: WidgetView,
    overtaken: AbortSignal,
    listeners: Pick<Parameters<typeof mountWidgetIn>[1], "onFault" | "onUncaught" | "onLost">,
  ): Promise<MountedWidget> {
    const { loader, contexts, awake } = this.#parts;
    return mountWidgetIn(this.element, {
      widget,
      loader,
      contexts,
      overtaken,
      ...listeners,
      instance: this.#instance,
      module: this.#moduleId,
      title: this.#title,
      config: this.#config,
      size: this.#size.size,
      visible: computed(() => this.#onScreen.value && awake.value),
      handOver: () => this.#handOver(),
    });
  }

  /**
   * Mounts again after the frame was lost with its state: it moved in the page, or its process
   * hung.
   */
  #mountAgain(target: { readonly key: string }, widget: WidgetView): void {
    if (this.#target !== target) return;
    if (this.#shown?.key === target.key) this.#unmountShown();
    void this.#swapTo(widget);
  }

  get #title(): string {
    return this.#module?.name ?? this.#moduleId;
  }

  #setFlow(host: HTMLElement): void {
    if (this.element.hasAttribute("flow")) host.setAttribute("flow", this.element.style.minHeight);
    else host.removeAttribute("flow");
  }

  #handOver(): ReturnType<MountedWidget["handOver"]> {
    try {
      return this.#shown?.mounted.handOver();
    } catch (error) {
      console.error(`${this.#instance} could not hand over its state`, error);
      return undefined;
    }
  }

  #unmountShown(): void {
    this.#shown?.mounted.unmount();
    this.#shown = undefined;
  }

  #report(widget: WidgetView, error: unknown): void {
    this.#parts.reportError(this.#moduleId, widget.hash, error);
  }

  #refused(widget: WidgetView, error: unknown): void {
    console.error(`${this.#instance}: could not mount the new code`, error);
    this.#report(widget, error);
    const text = messageOf(error);
    this.#notice.value = this.#shown
      ? { kind: "badge", text: words.peek().newCodeFailed(text) }
      : { kind: "fault", text: words.peek().stopped(text) };
  }

  #crashed(widget: WidgetView, error: unknown): void {
    if (this.#shown?.key !== keyOf(widget)) return;
    console.error(`${this.#instance} failed`, error);
    this.#report(widget, error);
    this.#unmountShown();
    this.#notice.value = { kind: "fault", text: words.peek().stopped(messageOf(error)) };
  }

  async #restart(): Promise<void> {
    const widget = this.#module?.widget;
    if (widget) return this.#swapTo(widget);
    try {
      await this.#parts.reloadModule(this.#moduleId);
    } catch (error) {
      this.#notice.value = { kind: "fault", text: messageOf(error) };
    }
  }

  #drawNotice(module: ModuleView | undefined, notice: Notice | undefined): void {
    const name = module?.name ?? this.#moduleId;
    render(notice ? this.#noticeOf(name, notice) : nothing, this.#notices);
  }

  #noticeOf(name: string, { kind, text }: Notice): unknown {
    if (kind === "badge") return html`<div class="badge" role="status" title=${text}>${text}</div>`;
    if (kind === "absent") {
      return html`<div class="notice absent"><strong>${name}</strong><span>${text}</span></div>`;
    }
    return html`<div class="notice fault" role="alert">
      <strong><mantel-icon name="mdi:alert-circle"></mantel-icon>${name}</strong>
      <span>${text}</span>
      <button @click=${() => this.#restart()}>${words.value.restart}</button>
    </div>`;
  }
}

/** Different code, another place to run or other needs require a new mount. */
function keyOf({ url, runsIn, needs }: WidgetView): string {
  return JSON.stringify([url, runsIn, needs]);
}

function emptyTileNotice(module: ModuleView | undefined): Notice {
  if (!module) return { kind: "absent", text: words.value.notInstalled };
  if (!module.error) return { kind: "absent", text: words.value.noWidget };
  return { kind: "fault", text: module.error.message };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
