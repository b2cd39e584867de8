import type { TestContext } from "node:test";
import type { DeviceDescription } from "@mantel/plugin-sdk";
import type { Page } from "playwright-core";
import { openMeteoAnswer, serveWeather } from "../plugins/weather/serve.ts";
import { servePage } from "./serve-page.ts";
import {
  BLINDS,
  CLIMATE,
  COLOUR_LAMP,
  DISHWASHER,
  DOOR,
  FAN,
  HEATING,
  lamp,
  METER,
  readingsFile,
  SPEAKER,
  WINDOW,
} from "./stage-devices.ts";
import { openStage, type Placed, type Stage } from "./stage.ts";

/** Names as long as people give them, beside short ones. */
const LONG_NAME = "Dining table pendant lamp";

const ROOM = "Living room";
const inRoom = (device: DeviceDescription): DeviceDescription => ({ ...device, room: ROOM });

const DEVICES: readonly DeviceDescription[] = [
  lamp("on", "Sofa lamp"),
  lamp("off", LONG_NAME, { state: { on: false, brightness: 60 } }),
  lamp("away", "Garden", { available: false }),
  lamp("deaf-lamp", "Attic"),
  lamp("busy-lamp", "Cellar"),
  ...[COLOUR_LAMP, BLINDS, DOOR, HEATING, FAN, SPEAKER, CLIMATE, METER, WINDOW, DISHWASHER].map(
    inRoom,
  ),
];

const SCENES = Object.fromEntries(
  ["Good morning", "Movie night", "Everything off"].map((name) => [
    `host:scene:${name.toLowerCase().replace(" ", "-")}`,
    { name, targets: { "stage:light:1": { on: true } } },
  ]),
);

const device = (id: string, of: string, at: Placed["at"]): Placed => ({
  id,
  module: "device-widget",
  config: { device: of },
  at,
});

const TILES: readonly Placed[] = [
  { id: "clock", module: "clock-widget", at: [0, 0, 4, 7] },
  { id: "weather", module: "weather-widget", at: [0, 7, 4, 14] },
  { id: "agenda", module: "agenda-widget", at: [0, 21, 4, 10] },
  { id: "scenes", module: "scenes-widget", at: [4, 2, 8, 2] },
  { id: "room", module: "room-widget", config: { room: ROOM }, at: [4, 4, 8, 12] },
  device("on", "stage:light:1", [4, 16, 2, 4]),
  device("off", "stage:light:2", [6, 16, 2, 4]),
  device("away", "stage:light:3", [8, 16, 2, 4]),
  device("deaf", "stage:light:4", [10, 16, 2, 4]),
  device("busy", "stage:light:5", [4, 20, 2, 4]),
  device("none", "", [6, 20, 2, 4]),
  device("climate", "stage:sensor:1", [8, 20, 2, 4]),
  { id: "energy", module: "energy-widget", at: [10, 20, 2, 4] },
  device("colour", "stage:light:6", [4, 24, 4, 11]),
  device("speaker", "stage:media-player:1", [8, 24, 4, 7]),
  device("heating", "stage:thermostat:1", [8, 31, 2, 5]),
  { id: "status", module: "status-widget", at: [0, 31, 4, 3] },
  { id: "month", module: "month-widget", at: [0, 36, 6, 11] },
  { id: "history", module: "history-widget", at: [6, 36, 6, 9] },
  { id: "cpu", module: "system-widget", at: [10, 31, 2, 4] },
  { id: "modules", module: "modules-widget", at: [0, 47, 4, 7] },
  {
    id: "note",
    module: "note-widget",
    config: { title: "For the sitter", text: "Bedtime is at eight. ".repeat(12) },
    at: [4, 47, 3, 6],
  },
  { id: "photo", module: "photo-widget", at: [7, 47, 3, 6] },
  { id: "absent", module: "calendar", at: [10, 47, 2, 4] },
];

/** A home with every widget and every kind of device tile, in each of the states they can be in. */
export async function openFullHome(t: TestContext): Promise<Stage> {
  const [{ url }, elsewhere] = await Promise.all([
    serveWeather(t, openMeteoAnswer()),
    servePage(t, PAGE),
  ]);
  return openStage(t, {
    plugins: ["weather", "system"],
    devices: DEVICES,
    files: {
      "calendars/family.ics": calendar(),
      "photos/green.png": GREEN,
      "scenes.json": JSON.stringify({ version: 1, scenes: SCENES }),
      "readings.json": readingsFile({
        "stage:sensor:1 temperature": Array.from({ length: 60 }, (_, index) => 19 + index / 20),
        "stage:sensor:2 energy": Array.from({ length: 60 }, (_, index) => 4800 + index / 20),
      }),
    },
    config: {
      server: { frames: [elsewhere] },
      ui: { timeZone: "UTC" },
      weather: { latitude: 52.5, longitude: 13.4, place: "Berlin", url },
    },
    tiles: [
      ...TILES,
      { id: "page", module: "frame-widget", config: { url: `${elsewhere}/` }, at: [0, 54, 4, 5] },
      {
        id: "refused",
        module: "frame-widget",
        config: { url: "https://example.org/" },
        at: [4, 54, 4, 5],
      },
      { id: "tasks", module: "tasks-widget", at: [0, 59, 4, 5] },
      { id: "timers", module: "timers-widget", at: [4, 59, 4, 8] },
    ],
  });
}

/** Waits for what the widgets read before they show it. */
export async function showsAll(page: Page): Promise<void> {
  for (const text of ["Light rain", "Recycling and paper bins"]) {
    await page.getByText(text).first().waitFor();
  }
  await page.locator("[data-module=history-widget] canvas").waitFor();
}

const PAGE = `<!doctype html><html lang="en"><title>Elsewhere</title><main><h1>A page</h1></main>`;

/** An event of the whole day and one in an hour, both today. */
function calendar(): string {
  const stamp = (at: number): string => new Date(at).toISOString().replace(/[-:]|\.\d+/g, "");
  const now = Date.now();
  const today = stamp(now).slice(0, 8);
  const event = (uid: string, ...lines: readonly string[]): readonly string[] => [
    ...["BEGIN:VEVENT", `UID:${uid}`, "DTSTAMP:20261101T000000Z"],
    ...lines,
    "END:VEVENT",
  ];
  return [
    ...["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:test"],
    ...event("bins", `DTSTART;VALUE=DATE:${today}`, "SUMMARY:Recycling and paper bins"),
    ...event("choir", `DTSTART:${stamp(now + 3_600_000)}`, "SUMMARY:Choir", "LOCATION:Town hall"),
    ...["END:VCALENDAR", ""],
  ].join("\r\n");
}

/** Four green pixels. */
export const GREEN = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGMQ2GAARAwQCgAZzgPBxHHjcAAAAABJRU5ErkJggg==",
  "base64",
);
