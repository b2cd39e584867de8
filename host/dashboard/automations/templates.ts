import type { Device } from "@mantel/plugin-sdk/device";
import type { AutomationDocument, Part } from "./document.ts";
import { WEEKDAYS } from "./home.ts";
import { words } from "./words.ts";

/** A first draft of an automation, filled with devices of the home. */
export interface Template {
  readonly id: string;
  readonly icon: string;
  readonly hue: string;
  readonly name: string;
  readonly hint: string;
}

const MINUTE_MS = 60_000;
/** Lamps that pretend that somebody is home. */
const MAX_AWAY_LAMPS = 3;
const WORKDAYS = WEEKDAYS.slice(0, 5);

type Content = Pick<AutomationDocument, "triggers" | "actions"> &
  Partial<Pick<AutomationDocument, "conditions" | "mode">>;

interface Draft {
  readonly icon: string;
  readonly hue: string;
  readonly fill: (devices: readonly Device[]) => Content;
}

const DRAFTS = {
  motionLight: {
    icon: "mdi:motion-sensor",
    hue: "light",
    fill(devices) {
      const [sensor, lamp] = inOneRoom(devices, motion, isLamp);
      const field = sensor ? (motionField(sensor) ?? "motion") : "motion";
      return {
        mode: "restart",
        triggers: [{ type: "state", device: idOf(sensor), field, to: true }],
        conditions: [{ type: "sun", is: "down" }],
        actions: [
          { type: "command", device: idOf(lamp), command: { on: true }, forMs: 5 * MINUTE_MS },
        ],
      };
    },
  },
  wakeUpLight: {
    icon: "mdi:weather-sunset-up",
    hue: "heat",
    fill(devices) {
      const lamp =
        devices.find(
          (each) => isLamp(each) && isDimmable(each) && /bed|schlaf/i.test(placeOf(each)),
        ) ?? devices.find((each) => isLamp(each) && isDimmable(each));
      return {
        triggers: [{ type: "time", at: "06:30", days: WORKDAYS }],
        actions: [
          { type: "command", device: idOf(lamp), command: { on: true, brightness: 1 } },
          { type: "ramp", device: idOf(lamp), field: "brightness", to: 80, ms: 30 * MINUTE_MS },
        ],
      };
    },
  },
  heating: {
    icon: "mdi:radiator",
    hue: "heat",
    fill(devices) {
      const thermostat = devices.find(({ capabilities }) => capabilities["targetTemperature"]);
      const to = (targetTemperature: number): Part => ({
        type: "command",
        device: idOf(thermostat),
        command: { targetTemperature },
      });
      return {
        triggers: [
          { type: "time", at: "06:00" },
          { type: "time", at: "22:00" },
        ],
        actions: [
          {
            type: "if",
            conditions: [{ type: "time", after: "05:00", before: "21:00" }],
            // oxlint-disable-next-line unicorn/no-thenable -- the name in the document, which nobody awaits
            then: [to(21)],
            else: [to(17)],
          },
        ],
      };
    },
  },
  leftOpen: {
    icon: "mdi:window-open-variant",
    hue: "warn",
    fill(devices) {
      const contact = devices.find(({ capabilities }) => capabilities["contact"]);
      const message = words.peek().leftOpenMessage(contact?.name ?? "");
      return {
        triggers: [
          {
            type: "state",
            device: idOf(contact),
            field: "contact",
            to: false,
            forMs: 10 * MINUTE_MS,
          },
        ],
        actions: [{ type: "notify", message }],
      };
    },
  },
  away: {
    icon: "mdi:home-export-outline",
    hue: "ok",
    fill(devices) {
      const lamps = onePerRoom(devices.filter(isLamp)).slice(0, MAX_AWAY_LAMPS);
      const nobody: Part = { type: "presence", anyone: false };
      const wait = (least: number, most: number): Part => ({
        type: "wait",
        ms: least * MINUTE_MS,
        maxMs: most * MINUTE_MS,
      });
      // Nothing is switched once somebody has come home.
      const switched = (lamp: Device | undefined, on: boolean): Part => ({
        type: "if",
        conditions: [nobody],
        // oxlint-disable-next-line unicorn/no-thenable -- the name in the document, which nobody awaits
        then: [{ type: "command", device: idOf(lamp), command: { on } }],
      });
      return {
        mode: "single",
        triggers: [{ type: "sun", event: "sunset", offsetMs: 10 * MINUTE_MS }],
        conditions: [nobody],
        actions: (lamps.length > 0 ? lamps : [undefined]).flatMap((lamp) => [
          wait(1, 25),
          switched(lamp, true),
          wait(40, 90),
          switched(lamp, false),
        ]),
      };
    },
  },
  lowBattery: {
    icon: "mdi:battery-alert-variant-outline",
    hue: "alert",
    fill(devices) {
      const powered = devices.filter(
        ({ capabilities }) => capabilities["battery"]?.type === "number",
      );
      const chosen: readonly (Device | undefined)[] = powered.length > 0 ? powered : [undefined];
      return {
        triggers: chosen
          .slice(0, 50)
          .map((device) => ({ type: "state", device: idOf(device), field: "battery", below: 15 })),
        actions: [{ type: "notify", message: words.peek().lowBatteryMessage }],
      };
    },
  },
  calendarReminder: {
    icon: "mdi:calendar-clock",
    hue: "info",
    fill: () => ({
      mode: "queued",
      triggers: [{ type: "calendar", calendar: "*", edge: "reminder" }],
      actions: [{ type: "notify", message: "{trigger.title}" }],
    }),
  },
} satisfies Readonly<Record<string, Draft>>;

/** The templates, in the language of the page. */
export function templates(): readonly Template[] {
  const texts = words.value;
  return Object.entries(DRAFTS).map(([id, { icon, hue }]) => {
    const key = id as keyof typeof DRAFTS;
    return { id, icon, hue, name: texts[key], hint: texts[`${key}Hint`] };
  });
}

/** A new automation: empty, or from a template with the devices of the home that fit it best. */
export function draftOf(id: string, devices: readonly Device[]): AutomationDocument {
  const draft: Draft | undefined = Object.hasOwn(DRAFTS, id)
    ? DRAFTS[id as keyof typeof DRAFTS]
    : undefined;
  const texts = words.peek();
  const name = draft ? texts[id as keyof typeof DRAFTS] : texts.newName;
  const content = draft?.fill(devices) ?? { triggers: [], actions: [] };
  return { name, enabled: true, mode: "single", conditions: [], ...content };
}

const idOf = (device: Device | undefined): string => device?.id ?? "";
const placeOf = ({ name, room }: Device): string => `${name} ${room ?? ""}`;
const isLamp = ({ kind, capabilities }: Device): boolean =>
  kind === "light" && capabilities["on"] !== undefined;
const isDimmable = ({ capabilities }: Device): boolean => capabilities["brightness"] !== undefined;
const motionField = ({ capabilities }: Device): string | undefined =>
  ["motion", "occupancy", "presence"].find((name) => capabilities[name]);
const motion = (device: Device): boolean => motionField(device) !== undefined;

/** The first device of each room. */
function onePerRoom(devices: readonly Device[]): readonly Device[] {
  const rooms = new Map(devices.toReversed().map((device) => [device.room, device]));
  return devices.filter((device) => rooms.get(device.room) === device);
}

/** The first two devices of these sorts in one room, or else the first of each. */
function inOneRoom(
  devices: readonly Device[],
  isFirst: (device: Device) => boolean,
  isSecond: (device: Device) => boolean,
): readonly [Device | undefined, Device | undefined] {
  const firsts = devices.filter(isFirst);
  const seconds = devices.filter(isSecond);
  for (const first of firsts) {
    const second = seconds.find(({ room }) => room !== null && room === first.room);
    if (second) return [first, second];
  }
  return [firsts[0], seconds[0]];
}
