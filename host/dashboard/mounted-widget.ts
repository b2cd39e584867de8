import type { TileSize, WidgetContext } from "@mantel/plugin-sdk/widget";
import { effect, type ReadonlySignal } from "@preact/signals-core";
import { Scope } from "./scope.ts";
import type { Surroundings } from "./surroundings.ts";
import { translate } from "./translate.ts";
import type { AnyWidget, WidgetCode } from "./widget-loader.ts";
import baseStyles from "./base.css";

type Context = WidgetContext<Record<string, never>, unknown>;

/** What one widget leaves to the code that replaces it. */
export interface Kept {
  readonly stateVersion: number;
  readonly data: unknown;
}

export interface MountRequest {
  readonly code: WidgetCode;
  readonly instance: string;
  readonly surroundings: Surroundings;
  readonly config: ReadonlySignal<Readonly<Record<string, unknown>>>;
  readonly size: ReadonlySignal<TileSize>;
  readonly visible: ReadonlySignal<boolean>;
  readonly kept: Kept | undefined;
  /** Called when the mounted widget throws later on. */
  readonly onFault: (error: unknown) => void;
}

/** A widget that draws into its own shadow root. */
export interface MountedWidget {
  readonly host: HTMLElement;
  keep(): Kept | undefined;
  unmount(): void;
}

const base = sheetOf(baseStyles);

/**
 * Mounts a widget into a new element below `parent`, hidden until the caller shows it.
 * @throws what the widget throws while it mounts; nothing of it is left then
 */
export function mountWidget(parent: HTMLElement, request: MountRequest): MountedWidget {
  const scope = new Scope(request.onFault);
  const host = document.createElement("div");
  host.className = "widget waiting";
  parent.append(host);
  scope.onEnd(() => host.remove());
  try {
    const widget = request.code.instantiate(scope.globals);
    const root = host.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [base, sheetOf(widget.styles ?? "")];
    const handle = widget.mount(root, createContext(widget, request, scope)) ?? {};
    const stateVersion = widget.stateVersion ?? 1;
    return {
      host,
      keep: () => (handle.keep ? { stateVersion, data: handle.keep() } : undefined),
      unmount() {
        scope.onEnd(() => handle.unmount?.());
        scope.end();
      },
    };
  } catch (error) {
    scope.end();
    throw error;
  }
}

function sheetOf(css: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  return sheet;
}

function createContext(widget: AnyWidget, request: MountRequest, scope: Scope): Context {
  const { instance, code, surroundings, size, visible, onFault } = request;
  const { locale } = surroundings.shared;
  const guarded = guard(onFault);
  const kept =
    request.kept?.stateVersion === (widget.stateVersion ?? 1) ? request.kept.data : undefined;
  return {
    ...surroundings.shared,
    instance,
    version: code.hash,
    settings: surroundings.settings(widget.settings ?? {}, request.config),
    size,
    visible,
    kept,
    signal: scope.signal,
    read: (path) => surroundings.read(path, scope.signal),
    t: (text, values) => translate(text, { ...widget, values, locale: locale.value }),
    get fmt() {
      return surroundings.formats.value;
    },
    effect: (draw) => scope.onEnd(guardedEffect(draw, onFault)),
    every: (ms, run, { whenHidden = false } = {}) =>
      scope.onEnd(repeat(ms, guarded(run), whenHidden ? undefined : visible)),
    on: (target, type, run) =>
      target.addEventListener(type, guarded(run as EventListener), { signal: scope.signal }),
    onCleanup: (release) => scope.onEnd(release),
    log: {
      info: (...parts) => console.info(`[${instance}]`, ...parts),
      warn: (...parts) => console.warn(`[${instance}]`, ...parts),
      error: (error) => console.error(`[${instance}]`, error),
    },
  };
}

type Guard = <A extends unknown[]>(run: (...args: A) => void) => (...args: A) => void;

function guard(onFault: (error: unknown) => void): Guard {
  return (run) =>
    (...args) => {
      try {
        run(...args);
      } catch (error) {
        onFault(error);
      }
    };
}

/** The first run throws to the caller, so that code which cannot draw never replaces code that can. */
function guardedEffect(
  draw: () => void | (() => void),
  onFault: (error: unknown) => void,
): () => void {
  let first = true;
  const stop = effect(() => {
    try {
      return draw();
    } catch (error) {
      if (first) throw error;
      onFault(error);
      return undefined;
    }
  });
  first = false;
  return stop;
}

/**
 * Runs every `ms`, on the second when it is whole seconds. Rounds are left out while not visible, and
 * made up for by one as soon as it is.
 */
function repeat(ms: number, run: () => void, visible?: ReadonlySignal<boolean>): () => void {
  const delay = (): number => (ms % 1000 === 0 ? ms - (Date.now() % ms) : ms);
  let missed = false;
  let timer = setTimeout(function round() {
    timer = setTimeout(round, delay());
    missed = visible?.peek() === false;
    if (!missed) run();
  }, delay());
  const stop = visible?.subscribe((now) => {
    if (now && missed) run();
    if (now) missed = false;
  });
  return () => {
    clearTimeout(timer);
    stop?.();
  };
}
