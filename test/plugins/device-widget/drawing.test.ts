import assert from "node:assert/strict";
import { test } from "node:test";
import type { Device } from "@mantel/plugin-sdk/device";
import { ApiError } from "../../../host/dashboard/api.ts";
import { deviceOf } from "../../helpers/device.ts";
import { mountOnPage } from "../../helpers/page/widget.ts";

const { default: device } = await import("../../../plugins/device-widget/widget.ts");

const LAMP = deviceOf({
  name: "Shelf",
  capabilities: {
    on: { type: "boolean" },
    brightness: { type: "number", min: 0, max: 100, unit: "%" },
    effect: { type: "choice", values: ["none", "candle"] },
  },
  state: { on: true, brightness: 60, effect: "none" },
});
const SENSOR = deviceOf({
  kind: "sensor",
  name: "Bath climate",
  capabilities: {
    temperature: { type: "number", unit: "°C", step: 0.1, readOnly: true },
    humidity: { type: "number", unit: "%", step: 1, readOnly: true },
  },
  state: { temperature: 21.44, humidity: 46 },
});

test("a device shows its tile, and its controls if the tile is tall enough", (t) => {
  const { size, textOf } = mountOnPage(t, device, {
    config: { device: LAMP.id },
    devices: [LAMP],
    size: { height: 209 },
  });
  const low = textOf(".name, .value, .what");

  size.value = { ...size.value, height: 210 };

  assert.deepEqual(low, ["Shelf", "60\u202f%".replace("\u202f", " ")]);
  assert.deepEqual(textOf(".what, .choices button"), ["Effect", "None", "Candle"]);
});

test("a sensor shows the value of the settings, and its day as a line", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 20, 12) });
  const readings = [
    { at: "2026-11-20T06:00:00Z", value: 40 },
    { at: "2026-11-20T09:00:00Z", value: 50 },
  ];
  const { api, root, textOf, waitFor } = mountOnPage(t, device, {
    config: { device: SENSOR.id, field: "humidity" },
    devices: [SENSOR],
    answers: { "/smart-home/devices/demo%3Asensor%3A1/history?": { readings } },
  });
  await waitFor(".spark");

  assert.deepEqual(textOf(".title, b"), ["Bath climate", "46%"]);
  assert.match(api.asked[0] ?? "", /field=humidity$/);
  assert.ok((root.querySelector(".line")?.getAttribute("d") ?? "").split("L").length > 10);
});

test("a tile without a device says what to do", (t) => {
  const { config, textOf } = mountOnPage(t, device);
  const none = textOf(".empty");

  config.value = { device: "demo:light:9" };

  assert.deepEqual(none, ["Choose a device in the settings of this tile."]);
  assert.deepEqual(textOf(".empty"), ["Device demo:light:9 not found."]);
});

const NUMBER = { type: "number", min: 0, max: 100, step: 1, unit: "%" } as const;

/** A device, what a user does, and the command that is sent. */
const USES: readonly [name: string, change: Partial<Device>, use: Use, command: object][] = [
  [
    "a tap turns a lamp off",
    {
      capabilities: { on: { type: "boolean" }, brightness: NUMBER },
      state: { on: true, brightness: 9 },
    },
    { click: "[role=slider]" },
    { on: false },
  ],
  [
    "a key changes a level by five",
    {
      capabilities: { on: { type: "boolean" }, brightness: NUMBER },
      state: { on: true, brightness: 60 },
    },
    { key: "ArrowUp", on: "[role=slider]" },
    { brightness: 65 },
  ],
  [
    "a level ends at a hundred",
    {
      capabilities: { on: { type: "boolean" }, brightness: NUMBER },
      state: { on: true, brightness: 98 },
    },
    { key: "PageUp", on: "[role=slider]" },
    { brightness: 100 },
  ],
  [
    "a warmer target is sent by half a degree",
    {
      kind: "thermostat",
      capabilities: {
        targetTemperature: { type: "number", min: 5, max: 30, step: 0.5, unit: "°C" },
      },
      state: { temperature: 19.2, targetTemperature: 20.5, mode: "heat" },
    },
    { click: "[aria-label=Warmer]" },
    { targetTemperature: 21 },
  ],
  [
    "a player pauses",
    {
      kind: "media-player",
      capabilities: { playback: { type: "choice", values: ["playing", "paused"] } },
      state: { playback: "playing", title: "Slow Light" },
    },
    { click: "[aria-label=Pause]" },
    { playback: "paused" },
  ],
  [
    "a player skips",
    {
      kind: "media-player",
      capabilities: { next: { type: "command" } },
      state: { playback: "stopped" },
    },
    { click: "[aria-label=Next]" },
    { next: true },
  ],
  [
    "a player seeks",
    {
      kind: "media-player",
      capabilities: {
        title: { type: "text", readOnly: true },
        elapsed: { type: "number", min: 0, unit: "s" },
      },
      state: { playback: "playing", title: "Slow Light", elapsed: 82.4, duration: 214 },
    },
    { enter: "120", on: ".seek" },
    { elapsed: 120 },
  ],
  [
    "a player is louder",
    {
      kind: "media-player",
      capabilities: { next: { type: "command" }, volume: { type: "number", min: 0, max: 100 } },
      state: { playback: "stopped", volume: 20 },
    },
    { enter: "40", on: ".volume input" },
    { volume: 40 },
  ],
  [
    "a choice is sent",
    {
      capabilities: { effect: { type: "choice", values: ["none", "candle"] } },
      state: { effect: "none" },
    },
    { click: ".choices button:last-child" },
    { effect: "candle" },
  ],
  [
    "a switch is sent",
    { capabilities: { muted: { type: "boolean" } }, state: { muted: true } },
    { click: ".switch" },
    { muted: false },
  ],
  [
    "a number is sent while it is dragged",
    { capabilities: { volume: NUMBER }, state: { volume: 5 } },
    { enter: "35", on: "input" },
    { volume: 35 },
  ],
  [
    "a colour of a white lamp has full saturation",
    { capabilities: { color: { type: "color" } }, state: { color: { hue: 0, saturation: 0 } } },
    { enter: "200", on: "input.hues" },
    { color: { hue: 200, saturation: 100 } },
  ],
];

for (const [name, change, use, command] of USES) {
  void test(`${name}, and its tile shows it as pending`, (t) => {
    const lamp = deviceOf({ name: "Thing", ...change });
    const { api, root, store, click } = mountOnPage(t, device, {
      config: { device: lamp.id },
      devices: [lamp],
    });

    if (use.click) click(use.click);
    const element = use.on === undefined ? undefined : root.querySelector<HTMLInputElement>(use.on);
    if (element && use.enter !== undefined) {
      element.value = use.enter;
      element.dispatchEvent(new Event("input"));
      element.dispatchEvent(new Event("change"));
    }
    element?.dispatchEvent(new KeyboardEvent("keydown", { key: use.key ?? "Tab" }));

    assert.deepEqual(api.posted, [command]);
    assert.deepEqual(store.device(lamp.id).value?.pending, command);
  });
}

test("a player shows the cover of what it plays, its position and its volume", async (t) => {
  const picture = { width: 128, height: 128, close: () => undefined };
  const drawn: unknown[] = [];
  Object.assign(globalThis, { createImageBitmap: async () => picture });
  t.mock.method(HTMLCanvasElement.prototype, "getContext", () => ({
    drawImage: (...args: unknown[]) => drawn.push(args),
  }));
  const player = deviceOf({
    kind: "media-player",
    name: "Speaker",
    image: true,
    capabilities: { next: { type: "command" }, volume: NUMBER },
    state: { playback: "playing", title: "Slow Light", elapsed: 107, duration: 214, volume: 35 },
  });
  const { root, waitFor } = mountOnPage(t, device, {
    config: { device: player.id },
    devices: [player],
    answers: {
      [`/smart-home/devices/${encodeURIComponent(player.id)}/image`]: new Response("cover"),
    },
  });
  await waitFor(".art canvas");

  assert.deepEqual(drawn, [[picture, 0, 0, 128, 128]]);
  assert.equal(root.querySelector<HTMLElement>(".bar i")?.style.width, "50%");
  assert.equal(root.querySelector(".seek"), null, "it cannot seek");
  assert.equal(
    root.querySelector(".volume input")?.getAttribute("aria-valuetext")?.slice(0, 2),
    "35",
  );
  assert.ok(root.querySelector(".more"), "its details open as those of others do");
});

test("a command that the host refuses is explained on the tile for four seconds", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { said, click, textOf, until } = mountOnPage(t, device, {
    config: { device: LAMP.id },
    devices: [LAMP],
    answers: {
      "/smart-home/devices/demo%3Alight%3A1/command": new ApiError(403, {
        code: "insufficient_scope",
      }),
    },
  });

  click("[role=slider]");
  await until(() => said.length > 0);
  const explained = textOf(".value");
  t.mock.timers.tick(4_000);

  assert.deepEqual([said, explained], [["Shelf: Not allowed"], ["Not allowed"]]);
  assert.deepEqual(textOf(".value"), ["60 %"]);
});

interface Use {
  readonly click?: string;
  readonly on?: string;
  readonly key?: string;
  readonly enter?: string;
}

test("a lamp with a level is a switch and a slider for screen readers, and a lock says its state", (t) => {
  const lamp = mountOnPage(t, device, { config: { device: LAMP.id }, devices: [LAMP] });
  const lock = deviceOf({
    kind: "lock",
    name: "Front door",
    capabilities: { locked: { type: "boolean" } },
    state: { locked: true },
  });
  const door = mountOnPage(t, device, { config: { device: lock.id }, devices: [lock] });

  const [onOff, level] = lamp.root.querySelectorAll("[role=switch], [role=slider]");
  assert.deepEqual(
    [onOff, level].map((each) => ["role", "aria-label"].map((name) => each?.getAttribute(name))),
    [
      ["switch", "Shelf"],
      ["slider", "Shelf"],
    ],
  );
  assert.equal(onOff?.getAttribute("aria-checked"), "true");
  assert.equal(onOff?.getAttribute("tabindex"), "-1");
  (onOff as HTMLButtonElement).click();
  assert.equal(
    lamp.root.querySelector("[role=switch]")?.getAttribute("aria-checked"),
    "false",
    "the pending state shows at once",
  );
  assert.equal(door.root.querySelector("[role=switch]"), null);
  assert.deepEqual(door.textOf(".tile .name, .tile .value"), ["Front door", "Locked"]);
});
