import { computed, effect, signal, untracked, type ReadonlySignal } from "@preact/signals-core";
import { html, nothing, render } from "lit";
import type { ModuleView } from "../modules/view.ts";
import type { Geometry, PlacedWidget } from "./layout.ts";
import { type MountedWidget, mountWidget } from "./mounted-widget.ts";
import { Scope } from "./scope.ts";
import type { Store } from "./store.ts";
import type { Surroundings } from "./surroundings.ts";
import { SizeWatch } from "./tile-size.ts";
import type { WidgetLoader } from "./widget-loader.ts";
import { words } from "./words/shell.ts";

/** What a tile says about itself, over or beside its widget. */
interface Notice {
  readonly kind: "absent" | "fault" | "badge";
  readonly text: string;
}

export interface TileParts {
  readonly store: Store;
  readonly loader: WidgetLoader;
  readonly surroundings: Surroundings;
  /** False while the tab is hidden or the screen dimmed. */
  readonly awake: ReadonlySignal<boolean>;
  /** Loads a module again in the host, for a widget whose code did not build. */
  readonly reloadModule: (id: string) => Promise<void>;
}

/** The frame of one widget: shows its code, swaps it in place, and stands in when it fails. */
export class Tile {
  readonly element = document.createElement("section");
  readonly #notices = document.createElement("div");
  readonly #parts: TileParts;
  readonly #instance: string;
  readonly #moduleId: string;
  readonly #config = signal<PlacedWidget["config"]>({});
  readonly #onScreen = signal(false);
  readonly #notice = signal<Notice | undefined>(undefined);
  readonly #size = new SizeWatch(this.element);
  readonly #scope = new Scope();
  /** The address of the code this tile is to show; whoever finds another one here has been overtaken. */
  #wanted: string | undefined;
  #shown: { readonly url: string; readonly mounted: MountedWidget } | undefined;

  constructor(widget: PlacedWidget, parts: TileParts) {
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

  /** Settings from a newer layout. They never mount the widget again. */
  set config(config: PlacedWidget["config"]) {
    if (JSON.stringify(config) !== JSON.stringify(this.#config.peek())) this.#config.value = config;
  }

  /**
   * The cells it takes. With `leastHeight`, in rem, the height follows what the widget shows,
   * as on a phone; without, the widget fills its cells.
   */
  resize(geometry: Geometry, leastHeight: number | undefined): void {
    this.#size.place(geometry);
    this.element.style.minHeight = leastHeight === undefined ? "" : `${leastHeight}rem`;
    this.element.toggleAttribute("flow", leastHeight !== undefined);
    this.#shown?.mounted.host.toggleAttribute("flow", leastHeight !== undefined);
  }

  close(): void {
    this.#wanted = undefined;
    this.#letGo();
    this.#scope.end();
    this.element.remove();
  }

  get #module(): ModuleView | undefined {
    return this.#parts.store.module(this.#moduleId).value;
  }

  #follow(module: ModuleView | undefined): void {
    const url = module?.widget?.url;
    if (url === undefined) {
      if (!this.#shown) this.#notice.value = whyNothing(module);
    } else if (url !== this.#wanted) void this.#swapTo(url);
  }

  /** keep → mount the next hidden → unmount the old → show. Code that throws is let go. */
  async #swapTo(url: string): Promise<void> {
    const { loader, surroundings, awake } = this.#parts;
    this.#wanted = url;
    try {
      const code = await loader.acquire(url);
      if (this.#wanted !== url) return loader.release(url);
      const mounted = mountWidget(this.element, {
        code,
        surroundings,
        instance: this.#instance,
        config: this.#config,
        size: this.#size.size,
        visible: computed(() => this.#onScreen.value && awake.value),
        kept: this.#keep(),
        onFault: (error) => queueMicrotask(() => this.#crashed(url, error)),
      });
      this.#letGo();
      this.#shown = { url, mounted };
      mounted.host.toggleAttribute("flow", this.element.hasAttribute("flow"));
      mounted.host.classList.remove("waiting");
      this.#notice.value = undefined;
    } catch (error) {
      loader.release(url);
      if (this.#wanted === url) this.#refused(error);
    }
  }

  #keep(): ReturnType<MountedWidget["keep"]> {
    try {
      return this.#shown?.mounted.keep();
    } catch (error) {
      console.error(`${this.#instance} could not hand its state over`, error);
      return undefined;
    }
  }

  #letGo(): void {
    if (!this.#shown) return;
    this.#shown.mounted.unmount();
    this.#parts.loader.release(this.#shown.url);
    this.#shown = undefined;
  }

  #refused(error: unknown): void {
    console.error(`${this.#instance}: the code does not mount`, error);
    const text = messageOf(error);
    this.#notice.value = this.#shown
      ? { kind: "badge", text: words.peek().newCodeFailed(text) }
      : { kind: "fault", text: words.peek().stopped(text) };
  }

  #crashed(url: string, error: unknown): void {
    if (this.#shown?.url !== url) return;
    console.error(`${this.#instance} failed`, error);
    this.#letGo();
    this.#notice.value = { kind: "fault", text: words.peek().stopped(messageOf(error)) };
  }

  async #restart(): Promise<void> {
    const url = this.#module?.widget?.url;
    if (url !== undefined) return this.#swapTo(url);
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

function whyNothing(module: ModuleView | undefined): Notice {
  if (!module) return { kind: "absent", text: words.value.notInstalled };
  if (!module.error) return { kind: "absent", text: words.value.noWidget };
  return { kind: "fault", text: module.error.message };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
