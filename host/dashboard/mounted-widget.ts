import { fullChannelName } from "@mantel/plugin-sdk/channel-names";
import type { TileSize, WidgetContext } from "@mantel/plugin-sdk/widget";
import { effect, type ReadonlySignal } from "@preact/signals-core";
import type { HandedOverState } from "./handed-over-state.ts";
import { now } from "./home-time.ts";
import { pluginText } from "./i18n/language.ts";
import { Scope } from "./scope.ts";
import type { WidgetContexts } from "./widget-context.ts";
import type { AnyWidget, WidgetCode } from "./widget-loader.ts";
import baseStyles from "@mantel/plugin-sdk/ui/base.css";

type Context = WidgetContext<Record<string, never>, unknown>;

export interface MountRequest {
  readonly code: WidgetCode;
  readonly instance: string;
  /** The id of the widget's module. */
  readonly module: string;
  readonly contexts: WidgetContexts;
  readonly config: ReadonlySignal<Readonly<Record<string, unknown>>>;
  readonly size: ReadonlySignal<TileSize>;
  readonly visible: ReadonlySignal<boolean>;
  readonly handedOver: HandedOverState | undefined;
  /** Creates the style sheets; by default unchanged. */
  readonly sheetOf?: (css: string) => CSSStyleSheet;
  /** Called when the mounted widget throws later. */
  readonly onFault: (error: unknown) => void;
}

/** A widget that draws into its own shadow root. */
export interface MountedWidget {
  readonly host: HTMLElement;
  /** The state for the next code, or a port from which the next frame receives it. */
  handOver(): HandedOverState | MessagePort | undefined;
  unmount(): void;
}

/** A widget that runs in this page. */
export interface PageWidget extends MountedWidget {
  handOver(): HandedOverState | undefined;
}

const base = sheetOf(baseStyles);

/**
 * Mounts a widget into a new element below `parent`, hidden until the caller shows it.
 * @throws the widget's error while mounting; all parts are removed in that case
 */
export function mountWidget(parent: HTMLElement, request: MountRequest): PageWidget {
  const scope = new Scope(request.onFault);
  const host = document.createElement("div");
  host.className = "widget waiting";
  parent.append(host);
  scope.onEnd(() => host.remove());
  try {
    const widget = request.code.instantiate(scope.globals);
    const root = host.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [base, (request.sheetOf ?? sheetOf)(widget.styles ?? "")];
    const handle = widget.mount(root, createContext(widget, request, scope)) ?? {};
    if ("keep" in handle) throw new Error("keep() is now handOver()");
    const stateVersion = widget.stateVersion ?? 1;
    return {
      host,
      handOver: () => (handle.handOver ? { stateVersion, data: handle.handOver() } : undefined),
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
  const { instance, module, code, contexts, size, visible, onFault } = request;
  const guarded = guard(onFault);
  const handedOver =
    request.handedOver?.stateVersion === (widget.stateVersion ?? 1)
      ? request.handedOver.data
      : undefined;
  const context: Context = {
    ...contexts.shared,
    instance,
    version: code.hash,
    settings: contexts.settings(widget.settings ?? {}, request.config),
    size,
    visible,
    handedOver,
    signal: scope.signal,
    channel: (name: string) => contexts.channel(fullChannelName(name, module)) as never,
    read: (path) => contexts.read(path, scope.signal),
    t: (text, values) => pluginText(module, text, { ...widget, values }),
    get fmt() {
      return contexts.formats.value;
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
  return Object.defineProperty(context, "kept", {
    get() {
      throw new Error("ctx.kept is now ctx.handedOver");
    },
  });
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

/**
 * Errors of the first run are thrown to the caller, so that code that cannot draw never replaces
 * code that can.
 */
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
 * Runs every `ms`, aligned to the second if `ms` is a whole number of seconds. Skips runs while not
 * visible, and runs once when visible again.
 */
function repeat(ms: number, run: () => void, visible?: ReadonlySignal<boolean>): () => void {
  const delay = (): number => (ms % 1000 === 0 ? ms - (now() % ms) : ms);
  let missed = false;
  let timer = setTimeout(function round() {
    timer = setTimeout(round, delay());
    missed = visible?.peek() === false;
    if (!missed) run();
  }, delay());
  const stop = visible?.subscribe((isVisible) => {
    if (isVisible && missed) run();
    if (isVisible) missed = false;
  });
  return () => {
    clearTimeout(timer);
    stop?.();
  };
}
