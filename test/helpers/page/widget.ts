import "./light-dom.ts";
import type { TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { fullChannelName } from "@mantel/plugin-sdk/channel-names";
import type { Device, Settings, TileSize, WidgetDefinition } from "@mantel/plugin-sdk/widget";
import { signal } from "@preact/signals-core";
import type { ModuleView } from "../../../host/api/module.ts";
import { ChannelSet } from "../../../host/dashboard/channels.ts";
import { Commands } from "../../../host/dashboard/commands.ts";
import type { HandedOverState } from "../../../host/dashboard/handed-over-state.ts";
import { setLocale } from "../../../host/dashboard/i18n/language.ts";
import { Store } from "../../../host/dashboard/store.ts";
import { WidgetContexts } from "../../../host/dashboard/widget-context.ts";
import type { AnyWidget } from "../../../host/dashboard/widget-loader.ts";
import { loadNow } from "../until.ts";
import { type Answers, FakeApi } from "./fake-api.ts";

const { mountWidget } = await import("../../../host/dashboard/mounted-widget.ts");

/** A home, and a tile in it. */
interface Place {
  readonly config?: Readonly<Record<string, unknown>>;
  readonly size?: Partial<TileSize>;
  readonly devices?: readonly Device[];
  readonly modules?: readonly ModuleView[];
  readonly answers?: Answers;
  /** Values of plugins' channels, by name as in `ctx.channel`. */
  readonly channels?: Readonly<Record<string, unknown>>;
  readonly handedOver?: unknown;
  /** The version of `handedOver`; by default the widget's own. */
  readonly stateVersion?: number;
}

/** Mounts a widget in a home with a fake host, as the dashboard does, in UTC and in British English. */
export function mountOnPage<S extends Settings, State>(
  t: TestContext,
  definition: WidgetDefinition<S, State>,
  {
    config = {},
    size = {},
    devices = [],
    modules = [],
    answers = {},
    channels = {},
    ...previous
  }: Place = {},
) {
  const widget = definition as unknown as AnyWidget;
  setLocale("en-GB"); // it may be another since the test before
  const api = new FakeApi(answers);
  const channelSet = new ChannelSet(api, () => ({ timeZone: "UTC", calendarDays: 14 }));
  let revision = 1;
  /** Changes a channel of a plugin; `undefined` means that it is gone. */
  const setChannel = (name: string, value: unknown): void => {
    channelSet.put(fullChannelName(name, MODULE), value, ++revision);
  };
  for (const [name, value] of Object.entries(channels)) {
    const path = `/channels/${fullChannelName(name, MODULE)}`;
    api.answers[path] = { value, revision };
  }
  const store = new Store();
  store.replaceDevices(devices);
  store.replaceModules(modules);
  const signals = {
    config: signal(config),
    size: signal<TileSize>({ ...SIZE, ...size }),
    online: signal(true),
    visible: signal(true),
    timeZone: signal("UTC"),
  };
  const said: string[] = [];
  const opened: unknown[] = [];
  const commandedRooms: unknown[] = [];
  const faults: unknown[] = [];
  const contexts = new WidgetContexts({
    api,
    store,
    channels: channelSet,
    commands: new Commands(api, store, () => undefined),
    theme: signal("dark"),
    ...signals,
    announce: (text) => said.push(text),
    openDetails: (target) => opened.push(target),
    commandRoom: async (room, kind, command) => {
      commandedRooms.push([room, kind, command]);
      return { ok: true };
    },
  });
  const { handedOver: data, stateVersion = widget.stateVersion ?? 1 } = previous;
  const handedOver: HandedOverState | undefined =
    data === undefined ? undefined : { stateVersion, data };
  const mounted = mountWidget(document.body, {
    code: { hash: "hash", instantiate: () => widget },
    instance: "tile",
    module: MODULE,
    contexts,
    ...signals,
    handedOver,
    onFault: (error) => faults.push(error),
  });
  t.after(() => mounted.host.isConnected && mounted.unmount());
  const root = mounted.host.shadowRoot;
  if (!root) throw new Error("the widget has no shadow root");
  return {
    ...signals,
    api,
    setChannel,
    store,
    said,
    opened,
    commandedRooms,
    faults,
    mounted,
    root,
    ...lookInto(root),
  };
}

/** The id of the widget's module. */
const MODULE = "own";
const SIZE: TileSize = { cols: 4, rows: 8, width: 400, height: 500, shape: "panel" };
/** Time after which a fake host has answered everything, and a body was read. */
const WAIT_MS = 5_000;

function lookInto(root: ShadowRoot) {
  const textOf = (selector: string): string[] =>
    Array.from(root.querySelectorAll(selector), ({ textContent }) => plain(textContent));
  return {
    /** The text of each matching element. */
    textOf,
    /** Resolves with the texts of the matching elements when there are any. */
    waitFor: async (selector: string): Promise<string[]> => {
      await untilShown(root, () => root.querySelector(selector) !== null);
      return textOf(selector);
    },
    /** Resolves when a condition is true. */
    until: (holds: () => boolean) => untilShown(root, holds),
    click: (selector: string): void => {
      const element = root.querySelector<HTMLElement>(selector);
      if (!element) throw new Error(`nothing matches ${selector} in ${root.innerHTML}`);
      element.click();
    },
  };
}

async function untilShown(root: ShadowRoot, holds: () => boolean): Promise<void> {
  const startedAt = performance.now();
  while (!holds() && performance.now() - startedAt < WAIT_MS * loadNow()) await setImmediate();
  if (!holds()) throw new Error(`the widget still shows ${root.innerHTML}`);
}

function plain(text: string | null): string {
  return (text ?? "").replace(/\s+/g, " ").trim();
}
