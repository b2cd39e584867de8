import type { TileSize } from "@mantel/plugin-sdk/widget";
import type { ReadonlySignal } from "@preact/signals-core";
import type { WidgetView } from "../api/module.ts";
import { type MountedWidget, mountWidget } from "./mounted-widget.ts";
import type { WidgetContexts } from "./widget-context.ts";
import type { WidgetLoader } from "./widget-loader.ts";

interface PlaceRequest {
  readonly widget: WidgetView;
  readonly loader: WidgetLoader;
  readonly instance: string;
  /** The id of the widget's module. */
  readonly module: string;
  /** A name for screen readers. */
  readonly title: string;
  readonly contexts: WidgetContexts;
  readonly config: ReadonlySignal<Readonly<Record<string, unknown>>>;
  readonly size: ReadonlySignal<TileSize>;
  readonly visible: ReadonlySignal<boolean>;
  /** Returns the state of the previous code, just before the new code mounts. */
  readonly handOver: MountedWidget["handOver"];
  /** Aborted when newer code replaces this one. */
  readonly overtaken: AbortSignal;
  /** Called when the mounted widget throws later, or must be stopped. */
  readonly onFault: (error: unknown) => void;
  /** Called when code of a framed widget threw and nothing caught it. */
  readonly onUncaught: (error: unknown) => void;
  /** Called when the frame was removed for a reason other than a fault of the widget. */
  readonly onLost: () => void;
}

/**
 * Mounts a widget below `parent`, hidden until the caller shows it: in this page if the widget is
 * trusted, otherwise in a sandboxed frame.
 * @throws the error that prevented mounting; all parts are removed in that case
 */
export async function mountWidgetIn(
  parent: HTMLElement,
  request: PlaceRequest,
): Promise<MountedWidget> {
  const { widget, overtaken } = request;
  if (widget.runsIn === "page") return mountInPage(parent, request);
  const { mountInFrame } = await import("./frames/framed-widget.ts");
  const mounted = await mountInFrame(parent, { ...request, ...widget });
  if (!overtaken.aborted) return mounted;
  mounted.unmount();
  throw overtaken.reason;
}

async function mountInPage(parent: HTMLElement, request: PlaceRequest): Promise<MountedWidget> {
  const { loader, overtaken, handOver } = request;
  const { url } = request.widget;
  try {
    const code = await loader.acquire(url);
    overtaken.throwIfAborted();
    const state = handOver();
    // State does not leave a sandbox: a widget that becomes trusted starts without state.
    const own = state instanceof MessagePort ? undefined : state;
    const mounted = mountWidget(parent, { ...request, code, handedOver: own });
    const unmount = (): void => {
      mounted.unmount();
      loader.release(url);
    };
    return { ...mounted, unmount };
  } catch (error) {
    loader.release(url);
    throw error;
  }
}
