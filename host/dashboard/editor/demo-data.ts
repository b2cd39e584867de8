import type { CalendarTasks } from "@mantel/plugin-sdk/services";
import type { CalendarWindow, Scene } from "@mantel/plugin-sdk/widget";
import { now } from "../home-time.ts";
import { words } from "./demo-words.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export function scenes(): readonly Scene[] {
  const texts = words.value;
  const made = [
    [texts.morning, "mdi:weather-sunset-up"],
    [texts.dinner, "mdi:silverware-fork-knife"],
    [texts.movie, "mdi:movie-open"],
    [texts.night, "mdi:moon-waning-crescent"],
  ] as const;
  return made.map(([name, icon], index) => ({
    id: `host:scene:demo-${index}`,
    name,
    icon,
    room: null,
    source: "host",
    available: true,
    targets: {},
    lastActivatedAt: index === 2 ? new Date(now()).toISOString() : null,
  }));
}

export function calendar(timeZone: string): CalendarWindow {
  const texts = words.value;
  const today = startOfDay(timeZone);
  const at = (hours: number) => ({
    dateTime: new Date(today + hours * HOUR_MS).toISOString(),
    timeZone,
  });
  const events = [
    [texts.choir, 19, "#9ecbff"],
    [texts.call, 20.5, "#86e0ae"],
    [texts.swimming, 33.25, "#ffb08a"],
    [texts.visit, 42, "#f5a9ec"],
  ] as const;
  return {
    start: new Date(today).toISOString(),
    end: new Date(today + 14 * DAY_MS).toISOString(),
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
    sources: [{ id: "demo", name: texts.family, color: "#9ecbff", status: "ok", fetchedAt: null }],
  };
}

export function tasks(timeZone: string): CalendarTasks {
  const texts = words.value;
  const due = { dateTime: new Date(startOfDay(timeZone) + 42 * HOUR_MS).toISOString(), timeZone };
  const made = [
    [texts.plants, due],
    [texts.milk, null],
    [texts.bread, null],
  ] as const;
  return {
    lists: calendar(timeZone).sources,
    tasks: made.map(([title, when]) => ({
      id: `demo/${title}`,
      calendarId: "demo",
      uid: title,
      title,
      description: null,
      due: when,
      status: "needs-action" as const,
      completedAt: null,
      priority: null,
      repeats: false,
    })),
    truncated: false,
  };
}

/** Epoch milliseconds. */
function startOfDay(timeZone: string): number {
  const clock = new Intl.DateTimeFormat("en", { timeZone, timeStyle: "medium", hourCycle: "h23" });
  const [hours = 0, minutes = 0, seconds = 0] = clock.format(now()).split(":").map(Number);
  return Math.floor(now() / 1000 - (hours * 60 + minutes) * 60 - seconds) * 1000;
}

/** A day of a room's climate: cool at night, warm when the sun shines in. */
export function readings(deviceId: string): object {
  const to = now();
  const from = to - DAY_MS;
  const values = Array.from({ length: 96 }, (_, quarter) => ({
    at: new Date(from + quarter * (HOUR_MS / 4)).toISOString(),
    value: 20 + Math.sin(quarter / 15) * 1.6 + Math.sin(quarter / 4) * 0.3,
  }));
  return {
    deviceId,
    field: "temperature",
    unit: "°C",
    window: { from: new Date(from).toISOString(), to: new Date(to).toISOString() },
    readings: values,
  };
}
