import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import "../../../helpers/page/light-dom.ts";
import { createFormats } from "@mantel/plugin-sdk/format";
import { render } from "lit";
import type { Part, SectionName } from "../../../../host/dashboard/automations/document.ts";
import type { HomeView } from "../../../../host/dashboard/automations/home.ts";
import { partForm, spanForm } from "../../../../host/dashboard/automations/part-form.ts";
import { deviceOf } from "../../../helpers/device.ts";

const LAMP = deviceOf({
  id: "demo:light:1",
  name: "Hall lamp",
  room: "Hall",
  capabilities: {
    on: { type: "boolean" },
    brightness: { type: "number", min: 0, max: 100, unit: "%" },
    effect: { type: "choice", values: ["none", "candle"] },
    color: { type: "color" },
    note: { type: "text" },
  },
  state: { on: false, brightness: 40, effect: "none", note: "" },
});
const BLINDS = deviceOf({
  id: "demo:cover:1",
  kind: "cover",
  name: "Blinds",
  capabilities: { stop: { type: "command" }, position: { type: "number", min: 0, max: 100 } },
  state: { position: 40 },
});
const DOOR = deviceOf({
  id: "demo:binary-sensor:1",
  kind: "binary-sensor",
  name: "Front door",
  capabilities: { contact: { type: "boolean", readOnly: true } },
  state: { contact: true },
});
const DEVICES = [LAMP, BLINDS, DOOR];
const HOME: HomeView = {
  device: (id) => DEVICES.find((each) => each.id === id),
  devices: () => DEVICES,
  scenes: () => new Map([["demo:scene:1", "Movie"]]),
  calendars: () => new Map([["family", "Family"]]),
  sun: () => undefined,
  clock: () => ({ time: "12:00", day: "mon" }),
  fmt: createFormats({ locale: "en-GB", timeZone: "UTC", units: "metric" }),
};

const root = document.body.appendChild(document.createElement("div"));
afterEach(() => render(null, root));

/** Draws the form of a part. */
function draw(section: SectionName, part: Part) {
  const changes: Part[] = [];
  const options = {
    home: HOME,
    faults: new Map(),
    id: "f",
    onChange: (next: Part) => changes.push(next),
  };
  render(partForm({ section, part, ...options }), root);
  const labels = [...root.querySelectorAll("label, legend")].map((each) =>
    (each.textContent ?? "").replace(/\s+/g, " ").trim(),
  );
  const set = (at: number, value: string): Part | undefined => {
    const input = root.querySelectorAll<HTMLInputElement | HTMLSelectElement>("input, select")[at];
    assert.ok(input, `there is an input ${at}`);
    const choices = [...input.querySelectorAll("option")];
    const option = choices.find(({ textContent }) => textContent?.includes(value));
    input.value = option?.value ?? value;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    input.dispatchEvent(new Event("change", { bubbles: true }));
    return changes.at(-1);
  };
  return { labels, set };
}

const PARTS: readonly (readonly [SectionName, Part, number])[] = [
  ["triggers", { type: "event", device: "demo:light:1", event: "pressed" }, 2],
  ["triggers", { type: "time", at: "07:00" }, 2],
  ["triggers", { type: "cron", expression: "0 7 * * *" }, 1],
  ["triggers", { type: "sun", event: "sunset", offsetMs: -600_000 }, 2],
  ["triggers", { type: "calendar", calendar: "*" }, 4],
  ["triggers", { type: "presence", anyone: true }, 2],
  ["triggers", { type: "webhook", name: "bell" }, 1],
  ["triggers", { type: "mqtt", topic: "a/b" }, 2],
  ["conditions", { type: "time", after: "07:00" }, 3],
  ["conditions", { type: "sun", is: "down" }, 1],
  ["conditions", { type: "calendar", calendar: "family" }, 2],
  ["conditions", { type: "presence", anyone: false }, 2],
  ["actions", { type: "scene", scene: "demo:scene:1" }, 1],
  ["actions", { type: "ramp", device: LAMP.id, field: "brightness", to: 1, ms: 1 }, 3],
  ["actions", { type: "notify", message: "Hello", to: ["Anna", "Ben"] }, 2],
];

for (const [section, part, inputs] of PARTS) {
  test(`the form of ${section} of the type ${part.type} has a label for each input`, () => {
    const { labels } = draw(section, part);

    assert.ok(labels.length >= inputs, labels.join());
    assert.ok(labels.every((label) => label !== ""));
  });
}

test("parts without values have no form", () => {
  draw("triggers", { type: "start" });
  assert.equal(root.querySelector("input, select"), null);
});

test("a text is changed, and an empty one leaves its field out unless it is needed", () => {
  assert.deepEqual(draw("triggers", { type: "cron", expression: "0 7 * * *" }).set(0, ""), {
    type: "cron",
    expression: "",
  });
  assert.deepEqual(draw("triggers", { type: "mqtt", topic: "a/b", payload: "on" }).set(1, ""), {
    type: "mqtt",
    topic: "a/b",
  });
});

test("several recipients are separated by commas", () => {
  const part = { type: "notify", message: "Hello" };
  assert.deepEqual(draw("actions", part).set(1, "Anna, Ben,"), { ...part, to: ["Anna", "Ben"] });
  assert.deepEqual(draw("actions", part).set(1, "Anna"), { ...part, to: "Anna" });
});

test("an offset is shown in minutes and kept in milliseconds", () => {
  const part = { type: "sun", event: "sunset", offsetMs: -600_000 };
  const { set } = draw("triggers", part);

  assert.equal(root.querySelector<HTMLInputElement>("input[type=number]")?.value, "-10");
  const inputs = [...root.querySelectorAll("input, select")];
  const at = inputs.findIndex((each) => each.getAttribute("type") === "number");
  assert.deepEqual(set(at, "-30"), { ...part, offsetMs: -1_800_000 });
});

test("another device brings the field that most rules are about, and drops the old value", () => {
  const part = { type: "state", device: DOOR.id, field: "contact", to: false };
  const { labels, set } = draw("triggers", part);

  assert.equal(labels.length, 3);
  assert.deepEqual(set(0, LAMP.name), { type: "state", device: LAMP.id, field: "on", to: true });
});

test("a field has inputs of its type", () => {
  const inputs = (section: SectionName, field: string) =>
    draw(section, { type: "state", device: LAMP.id, field }).labels.slice(2);

  assert.equal(inputs("triggers", "brightness").length, 2, "above and below");
  for (const field of ["on", "effect", "note"]) {
    assert.equal(inputs("triggers", field).length, 1, field);
    assert.equal(inputs("conditions", field).length, 1, field);
  }
  assert.deepEqual(inputs("triggers", "color"), []);
});

test("a command has an input for each setting but colours, and keeps what it cannot show", () => {
  const color = { hue: 10, saturation: 90 };
  const part = { type: "command", device: LAMP.id, command: { on: true, color } };
  const { labels, set } = draw("actions", part);

  assert.equal(labels.length, 5, labels.join());
  assert.deepEqual(set(2, "30"), { ...part, command: { on: true, color, brightness: 30 } });
});

test("another device gets its usual command", () => {
  const part = { type: "command", device: LAMP.id, command: { on: true } };
  const { set } = draw("actions", part);
  assert.deepEqual(set(0, BLINDS.name), { ...part, device: BLINDS.id, command: { stop: true } });
});

test("a span is one of the usual ones, or minutes", () => {
  const chosen: number[] = [];
  const onChange = (ms: number): void => void chosen.push(ms);
  render(spanForm({ id: "s", label: "For", ms: 120_000, none: "no limit", onChange }), root);
  const input = root.querySelector("input");
  assert.equal(input?.value, "2");

  for (const button of root.querySelectorAll("button")) button.click();
  if (input) input.value = "3";
  input?.dispatchEvent(new Event("change"));

  assert.deepEqual(chosen, [0, 60_000, 300_000, 900_000, 180_000]);
});

test("an even change offers the numbers of its device, and another device has its own", () => {
  const part = { type: "ramp", device: LAMP.id, field: "brightness", to: 80, ms: 60_000 };
  const next = draw("actions", part).set(0, "Blinds");

  assert.deepEqual(next, { ...part, device: BLINDS.id, field: "position" });
});
