import type { Capability, Device, DeviceState } from "@mantel/plugin-sdk/device";
import type { Channels } from "@mantel/plugin-sdk/widget";
import { signal, type ReadonlySignal } from "@preact/signals-core";
import { now } from "../home-time.ts";
import { Store } from "../store.ts";
import { WidgetContexts } from "../widget-context.ts";
import { calendar, readings, scenes, tasks } from "./demo-data.ts";
import { words } from "./demo-words.ts";

type Shared = WidgetContexts["shared"];

/**
 * A demo home for previews. It is the same for everyone, so that a preview shows the abilities of a
 * widget and not the current state of a home. Commands do nothing.
 */
export function demoWidgetContexts(
  { theme, timeZone }: Shared,
  homeStore: Store,
  ofPlugins: ReadonlyMap<string, unknown>,
): WidgetContexts {
  const store = new Store();
  store.ui.value = homeStore.ui.peek();
  store.replaceDevices(devices());
  const channels: { [N in keyof Channels]?: Channels[N] } = {
    scenes: scenes(),
    calendar: calendar(timeZone.peek()),
  };
  return new WidgetContexts({
    store,
    channels: {
      get: (name) => signal(channels[name]) as ReadonlySignal<Channels[typeof name] | undefined>,
      getOfPlugin: (name) => signal(ofPlugins.get(name)),
    },
    commands: {
      send: () => Promise.resolve({ ok: true }),
      activateScene: () => Promise.resolve({ ok: true }),
    },
    theme,
    timeZone,
    online: signal(true),
    api: {
      open: (path) => answerTo(path, timeZone.peek(), ofPlugins),
      post: (path) =>
        path === "/services/calendar.tasks"
          ? Promise.resolve(tasks(timeZone.peek()) as never)
          : Promise.reject(new Error("the demo home does not have this service")),
    },
    announce: () => undefined,
    openDetails: () => undefined,
    commandRoom: () => Promise.resolve({ ok: true }),
  });
}

/** Answers to `ctx.read` in the demo home: documents of the host, and what widgets have for their previews. */
async function answerTo(
  path: string,
  timeZone: string,
  ofPlugins: ReadonlyMap<string, unknown>,
): Promise<Response> {
  if (path.startsWith("/calendar/events")) return Response.json(calendar(timeZone));
  const [, id] = /^\/smart-home\/devices\/([^/]+)\/history/.exec(path) ?? [];
  if (id !== undefined) return Response.json(readings(decodeURIComponent(id)));
  const answer = ofPlugins.get(path);
  if (answer === undefined) throw new Error(`the demo home has nothing at ${path}`);
  return Response.json(answer);
}

function devices(): Device[] {
  const texts = words.value;
  const percent = { type: "number", min: 0, max: 100, step: 1, unit: "%" } as const;
  const celsius = { type: "number", min: 5, max: 30, step: 0.5, unit: "°C" } as const;
  const measured = { type: "number", unit: "°C", readOnly: true } as const;
  const watts = { type: "number", unit: "W", readOnly: true } as const;
  const onOff = { type: "boolean" } as const;
  const fact = { type: "boolean", readOnly: true } as const;
  const command = { type: "command" } as const;
  const action: Capability = { type: "choice", values: ["idle", "heating"], readOnly: true };
  const made: readonly [Device["kind"], string, Device["capabilities"], DeviceState][] = [
    ["light", texts.lamp, { on: onOff, brightness: percent }, { on: true, brightness: 62 }],
    ["light", texts.ceiling, { on: onOff, brightness: percent }, { on: false, brightness: 40 }],
    ["cover", texts.blinds, { position: percent }, { position: 40 }],
    [
      "thermostat",
      texts.heating,
      { temperature: measured, targetTemperature: celsius, action },
      { temperature: 19.2, targetTemperature: 20.5, action: "heating" },
    ],
    ["sensor", texts.air, { temperature: measured }, { temperature: 21.4, humidity: 46 }],
    ["binary-sensor", texts.window, { contact: fact }, { contact: false }],
    ["lock", texts.door, { locked: onOff }, { locked: true }],
    [
      "media-player",
      texts.player,
      {
        playback: { type: "choice", values: ["playing", "paused"] },
        previous: command,
        next: command,
        volume: percent,
      },
      { playback: "playing", title: texts.song, volume: 35 },
    ],
    ["fan", texts.fan, { on: onOff }, { on: false }],
    ["switch", texts.coffee, { on: onOff, power: watts }, { on: true, power: 840 }],
  ];
  return made.map(([kind, name, capabilities, state], index) =>
    device({ kind, name, capabilities, state, number: index + 1 }),
  );
}

function device(own: Pick<Device, "kind" | "name" | "capabilities" | "state" | "number">): Device {
  const at = new Date(now()).toISOString();
  return {
    ...own,
    id: `demo:${own.kind}:${own.number}`,
    bridgeKind: "demo",
    bridge: "demo",
    room: words.value.room,
    groups: [],
    info: { manufacturer: null, model: null, serial: null, firmware: null },
    available: true,
    lastSeenAt: at,
    stateChangedAt: at,
    revision: 1,
    pending: {},
  };
}
