import type { Device, DeviceState } from "@mantel/plugin-sdk/device";
import type { CalendarWindow, Channels, Scene, SystemSample } from "@mantel/plugin-sdk/widget";
import { signal, type ReadonlySignal } from "@preact/signals-core";
import { Store } from "../store.ts";
import { Surroundings } from "../surroundings.ts";
import { words } from "./demo-words.ts";

type Shared = Surroundings["shared"];

/**
 * A house that is not there, for previews: the same for everyone, so that a preview shows what a
 * widget can do and not what happens to be switched off. Commands do nothing.
 */
export function demoSurroundings({ theme, timeZone }: Shared, house: Store): Surroundings {
  const store = new Store();
  store.ui.value = house.ui.peek();
  store.replaceDevices(devices());
  const channels: { [N in keyof Channels]?: Channels[N] } = {
    system: system(),
    scenes: scenes(),
    calendar: calendar(timeZone.peek()),
  };
  return new Surroundings({
    store,
    channels: {
      get: (name) => signal(channels[name]) as ReadonlySignal<Channels[typeof name] | undefined>,
    },
    commands: {
      send: () => Promise.resolve({ ok: true }),
      activateScene: () => Promise.resolve({ ok: true }),
    },
    theme,
    timeZone,
    online: signal(true),
    announce: () => undefined,
  });
}

function devices(): Device[] {
  const say = words.value;
  const percent = { type: "number", min: 0, max: 100, step: 1, unit: "%" } as const;
  const celsius = { type: "number", min: 5, max: 30, step: 0.5, unit: "°C" } as const;
  const onOff = { type: "boolean" } as const;
  const made: readonly [Device["kind"], string, Device["capabilities"], DeviceState][] = [
    ["light", say.lamp, { on: onOff, brightness: percent }, { on: true, brightness: 62 }],
    ["light", say.ceiling, { on: onOff, brightness: percent }, { on: false, brightness: 40 }],
    ["cover", say.blinds, { position: percent }, { position: 40 }],
    [
      "thermostat",
      say.heating,
      { targetTemperature: celsius },
      { temperature: 19.2, targetTemperature: 20.5 },
    ],
    ["sensor", say.air, {}, { temperature: 21.4, humidity: 46 }],
    ["binary-sensor", say.window, {}, { open: true }],
    ["lock", say.door, { locked: onOff }, { locked: true }],
    [
      "media-player",
      say.player,
      { playback: { type: "choice", values: ["playing", "paused"] }, volume: percent },
      { playback: "playing", title: say.song, volume: 35 },
    ],
    ["fan", say.fan, { on: onOff }, { on: false }],
    ["switch", say.coffee, { on: onOff }, { on: true, power: 840 }],
  ];
  return made.map(([kind, name, capabilities, state], index) =>
    device({ kind, name, capabilities, state, number: index + 1 }),
  );
}

function device(own: Pick<Device, "kind" | "name" | "capabilities" | "state" | "number">): Device {
  const now = new Date().toISOString();
  return {
    ...own,
    id: `demo:${own.kind}:${own.number}`,
    bridgeKind: "demo",
    bridge: "demo",
    room: words.value.room,
    groups: [],
    info: { manufacturer: null, model: null, serial: null, firmware: null },
    available: true,
    lastSeenAt: now,
    stateChangedAt: now,
    revision: 1,
    pending: {},
  };
}

function scenes(): readonly Scene[] {
  const say = words.value;
  const made = [
    [say.morning, "mdi:weather-sunset-up"],
    [say.dinner, "mdi:silverware-fork-knife"],
    [say.movie, "mdi:movie-open"],
    [say.night, "mdi:moon-waning-crescent"],
  ] as const;
  return made.map(([name, icon], index) => ({
    id: `host:scene:demo-${index}`,
    name,
    icon,
    room: null,
    source: "host",
    available: true,
    targets: {},
    lastActivatedAt: index === 2 ? new Date().toISOString() : null,
  }));
}

function calendar(timeZone: string): CalendarWindow {
  const say = words.value;
  const today = new Date().setHours(0, 0, 0, 0);
  const at = (hours: number) => ({
    dateTime: new Date(today + hours * 3_600_000).toISOString(),
    timeZone,
  });
  const events = [
    [say.choir, 19, "#9ecbff"],
    [say.call, 20.5, "#86e0ae"],
    [say.swimming, 33.25, "#ffb08a"],
    [say.visit, 42, "#f5a9ec"],
  ] as const;
  return {
    start: new Date(today).toISOString(),
    end: new Date(today + 14 * 86_400_000).toISOString(),
    events: events.map(([title, hours, color]) => ({
      id: title,
      calendarId: "demo",
      uid: title,
      recurrenceId: null,
      title,
      start: at(hours),
      end: at(hours + 1),
      allDay: false,
      status: "confirmed" as const,
      busy: true,
      location: null,
      description: null,
      url: null,
      color,
    })),
    sources: [{ id: "demo", name: say.family, color: "#9ecbff", status: "ok", fetchedAt: null }],
  };
}

function system(): SystemSample {
  const GIB = 2 ** 30;
  return {
    sampledAt: new Date().toISOString(),
    cpu: { percent: 23, perCore: [18, 28], loadAverage: [0.4, 0.5, 0.4], temperatureC: 48 },
    memory: { totalBytes: 8 * GIB, usedBytes: 3 * GIB, availableBytes: 5 * GIB, percent: 37 },
    temperature: { cpuC: 48, sensors: [] },
    uptime: { systemSeconds: 864_000, processSeconds: 86_400 },
    disks: [{ mount: "/", type: "ext4", totalBytes: 64 * GIB, usedBytes: 21 * GIB, percent: 33 }],
    network: [{ name: "eth0", receivedPerSecond: 120_000, sentPerSecond: 18_000 }],
  };
}
