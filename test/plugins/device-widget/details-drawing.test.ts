import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Device } from "@mantel/plugin-sdk/device";
import { ApiError } from "../../../host/dashboard/api.ts";
import { setLocale } from "../../../host/dashboard/i18n/language.ts";
import { deviceOf } from "../../helpers/device.ts";
import { mountOnPage } from "../../helpers/page/widget.ts";

const { default: widget } = await import("../../../plugins/device-widget/widget.ts");

const SWITCH = { type: "boolean" } as const;
const COMMAND = { type: "command" } as const;
const PERCENT = { type: "number", min: 0, max: 100, step: 1, unit: "%" } as const;
const BATTERY = { ...PERCENT, readOnly: true } as const;
const TEXT = { type: "text", readOnly: true } as const;

const show = (t: TestContext, change: Partial<Device>) => {
  const device = deviceOf({ name: "Thing", ...change });
  return mountOnPage(t, widget, { config: { device: device.id }, devices: [device] });
};

const GANGS: Partial<Device> = {
  kind: "switch",
  capabilities: {},
  state: {},
  parts: ["Left", "Right"].map((name, index) => ({
    id: `l${index + 1}`,
    kind: "switch" as const,
    name,
    capabilities: { on: SWITCH },
    state: { on: index === 0 },
    pending: {},
  })),
};

test("a gang of a switch is switched alone, and is pending alone", (t) => {
  const { api, store, click, root } = show(t, GANGS);
  const pressed = () =>
    Array.from(root.querySelectorAll(".pill"), (each) => each.getAttribute("aria-pressed"));
  const before = pressed();

  click(".pill:nth-child(2)");

  assert.deepEqual(api.posted, [{ parts: { l2: { on: true } } }]);
  assert.deepEqual(
    [before, pressed()],
    [
      ["true", "false"],
      ["true", "true"],
    ],
  );
  assert.deepEqual(
    store.device("demo:switch:1").value?.parts?.map(({ pending }) => pending),
    [{}, { on: true }],
  );
  assert.equal(root.querySelector(".part"), null);
});

const FAN: Partial<Device> = {
  kind: "fan",
  capabilities: {
    on: SWITCH,
    speed: { ...PERCENT, step: 100 / 3 },
    direction: { type: "choice", values: ["forward", "reverse"] },
  },
  state: { on: true, speed: 100 / 3, direction: "forward" },
  parts: [
    {
      id: "light",
      kind: "light",
      name: "Fan light",
      capabilities: {
        on: SWITCH,
        brightness: PERCENT,
        effect: { type: "choice", values: ["candle"] },
      },
      state: { on: true, brightness: 45, effect: null },
      pending: {},
    },
  ],
};

test("a part is shown with the tile and the controls of its kind", (t) => {
  const { api, click, textOf } = show(t, FAN);

  click(".part [role=slider]");
  click(".part .choices button");

  assert.deepEqual(textOf(".part .name, .part .what"), ["Fan light", "Effect"]);
  assert.deepEqual(api.posted[0], { parts: { light: { on: false } } });
  assert.deepEqual(textOf(".tile .value"), ["33 %".replace(" ", " "), "Off"]);
});

test("a key moves a fan of three speeds to its next level", (t) => {
  const { api, root } = show(t, FAN);
  const slider = root.querySelector("[role=slider]");

  slider?.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowUp" }));

  assert.deepEqual(api.posted, [{ speed: 200 / 3 }]);
});

test("extras are shown by their group, and configuration and diagnostics are folded away", (t) => {
  const { api, click, textOf } = show(t, {
    kind: "plug",
    capabilities: { on: SWITCH, battery: BATTERY },
    state: { on: true, battery: 50 },
    extra: {
      capabilities: {
        tariff: { type: "choice", values: ["day", "night"], group: "main" },
        childLock: { ...SWITCH, group: "configuration" },
        reset: { ...COMMAND, group: "configuration" },
        uptime: { type: "number", unit: "min", readOnly: true, group: "diagnostic" },
        address: { ...TEXT, group: "diagnostic" },
      },
      state: { tariff: "day", childLock: false, uptime: 12, address: "0x1" },
      pending: {},
    },
  });

  click("details .commands button");
  click("details .switch");

  assert.deepEqual(textOf(".controls-list > .control .what"), ["Tariff"]);
  assert.deepEqual(textOf("details:nth-of-type(1) :is(summary, .what)"), [
    "Configuration",
    "Child lock",
  ]);
  assert.deepEqual(textOf("details:nth-of-type(2) :is(summary, .what, output)"), [
    "Diagnostics",
    "Battery",
    "50%",
    "Uptime",
    "12 min",
    "Address",
    "0x1",
  ]);
  assert.deepEqual(api.posted, [{ extra: { reset: true } }]);
});

test("commands without state are buttons, and opening a door needs a second tap", (t) => {
  const { api, click, said, textOf } = show(t, {
    kind: "lock",
    capabilities: { locked: SWITCH, unlatch: COMMAND },
    state: { locked: true },
  });

  click(".commands button");
  const asked = [textOf(".commands button"), api.posted.length];
  click(".commands button");

  assert.deepEqual(asked, [["Open the door?"], 0]);
  assert.deepEqual(said, ["Thing: Open the door?"]);
  assert.deepEqual(api.posted, [{ unlatch: true }]);
});

test("a code is typed, sent once, and neither kept nor shown", (t) => {
  const { api, store, click, root } = show(t, {
    kind: "alarm",
    capabilities: {
      mode: { type: "choice", values: ["disarmed", "away"] },
      code: { type: "text" },
    },
    state: { mode: "disarmed" },
  });
  const input = root.querySelector<HTMLInputElement>(".pad input");

  for (const key of [1, 2, 3]) click(`.keys button:nth-of-type(${key})`);
  click(".keys button:last-child");
  const typed = input?.value;
  click(".pad .choices button:nth-child(2)");

  assert.deepEqual([typed, input?.value, input?.type], ["12", "", "password"]);
  assert.deepEqual(api.posted, [{ mode: "away", code: "12" }]);
  assert.deepEqual(store.device("demo:alarm:1").value?.pending, { mode: "away" });
});

test("a long choice is a list, and what a tile shows is not repeated", (t) => {
  const values = Array.from({ length: 9 }, (_, index) => `HDMI ${index}`);
  const { api, root, textOf } = show(t, {
    kind: "media-player",
    capabilities: {
      playback: { type: "choice", values: ["playing", "paused"] },
      next: COMMAND,
      title: TEXT,
      source: { type: "choice", values },
    },
    state: { playback: "playing", title: "Slow Light", source: "HDMI 2" },
  });
  const list = root.querySelector("select");
  assert.ok(list);

  list.value = "HDMI 3";
  list.dispatchEvent(new Event("change"));

  assert.deepEqual(textOf(".what"), ["Source"]);
  assert.deepEqual(api.posted, [{ source: "HDMI 3" }]);
});

const player = (number: number, name: string, group: string): Device =>
  deviceOf({
    id: `demo:media-player:${number}`,
    kind: "media-player",
    name: `${name} speaker`,
    capabilities: {
      playback: { type: "choice", values: ["playing", "paused"] },
      title: TEXT,
      groupName: TEXT,
      group: { type: "choice", values: ["Bath", "Kitchen", "Living"] },
    },
    state: {
      playback: "playing",
      title: "Slow Light",
      artist: "Nils Arden",
      groupName: name,
      group,
    },
  });
const LIVING = player(1, "Living", "Living");

test("a player shows who plays along, and a button for each player lets it join or leave", (t) => {
  const { api, click, root, textOf } = mountOnPage(t, widget, {
    config: { device: LIVING.id },
    devices: [LIVING, player(2, "Kitchen", "Kitchen"), player(3, "Bath", "Living")],
  });
  const pressed = () =>
    Array.from(root.querySelectorAll(".choices button"), (each) =>
      each.getAttribute("aria-pressed"),
    );
  const before = [textOf(".said"), pressed()];

  click(".choices button:nth-child(1)");
  click(".choices button:nth-child(2)");

  assert.deepEqual(before, [["Nils Arden · + Bath speaker"], ["false", "true"]]);
  assert.deepEqual(textOf(".what, .choices button"), [
    "Also plays in",
    "Kitchen speaker",
    "Bath speaker",
  ]);
  assert.equal(
    root.querySelector("[role=group]:has(> .choices)")?.getAttribute("aria-label"),
    "Also plays in",
  );
  assert.deepEqual(api.posted, [{ group: "Living" }, { group: "Bath" }]);
  assert.deepEqual(pressed(), ["true", "false"], "the requested groups show at once");
  assert.deepEqual(textOf(".said"), ["Nils Arden · + Kitchen speaker"]);
});

test("a player that cannot join says so on its button and to screen readers", async (t) => {
  const { click, said, textOf, until } = mountOnPage(t, widget, {
    config: { device: LIVING.id },
    devices: [LIVING, player(2, "Kitchen", "Kitchen")],
    answers: {
      "/smart-home/devices/demo%3Amedia-player%3A2/command": new ApiError(403, {
        code: "insufficient_scope",
      }),
    },
  });

  click(".choices button");
  await until(() => said.length > 0);

  assert.deepEqual(said, ["Kitchen speaker: Not allowed"]);
  assert.deepEqual(textOf(".choices button"), ["Kitchen speaker: Not allowed"]);
});

test("without other players a group is neither a choice nor a reading", (t) => {
  const { textOf } = show(t, LIVING);

  assert.deepEqual(textOf(".what, .choices button"), []);
  assert.deepEqual(textOf(".said"), ["Nils Arden"]);
});

test("a sensor shows its other readings below its card", (t) => {
  const { textOf } = show(t, {
    kind: "sensor",
    capabilities: {
      temperature: { type: "number", unit: "°C", readOnly: true },
      humidity: BATTERY,
      battery: BATTERY,
    },
    state: { temperature: 21, humidity: 45, battery: 50 },
  });

  assert.deepEqual(textOf(".title, .controls-list > .control .what, summary"), [
    "Thing",
    "Humidity",
    "Diagnostics",
  ]);
});

/** The role, name and pressed state of the first control or group of a tile. */
const ROLES: readonly (readonly [Partial<Device>, role: string, name: string, state?: string])[] = [
  [
    {
      kind: "light",
      capabilities: { on: SWITCH, brightness: PERCENT },
      state: { on: true, brightness: 4 },
    },
    "slider",
    "Thing",
  ],
  [
    { kind: "plug", capabilities: { on: SWITCH }, state: { on: true } },
    "button",
    "Thing On",
    "true",
  ],
  [
    { kind: "lock", capabilities: { locked: SWITCH }, state: { locked: true } },
    "button",
    "Thing Locked",
  ],
  [
    { kind: "siren", capabilities: { on: SWITCH }, state: { on: false } },
    "button",
    "Thing Off",
    "false",
  ],
  [{ kind: "button", capabilities: { press: COMMAND }, state: {} }, "button", "Thing Press"],
  [{ kind: "camera", capabilities: {}, state: { streaming: true } }, "group", "Thing"],
  [
    { kind: "vacuum", capabilities: { start: COMMAND }, state: { action: "docked" } },
    "group",
    "Thing",
  ],
];
for (const [change, role, name, state] of ROLES) {
  void test(`the tile of a ${change.kind} is a ${role} called ${name}`, (t) => {
    const { root } = show(t, change);
    const tile = root.querySelector(".tile");
    const text = (tile?.textContent ?? "").replace(/\s+/g, " ").trim();

    assert.equal(tile?.getAttribute("role") ?? tile?.localName, role);
    assert.equal(tile?.getAttribute("aria-label") ?? text, name);
    assert.equal(tile?.getAttribute("aria-pressed") ?? undefined, state);
  });
}

test("details are German in a German home", (t) => {
  const { textOf } = show(t, FAN);

  setLocale("de-DE");

  assert.deepEqual(textOf(".what, .choices button"), [
    "Richtung",
    "Vorwärts",
    "Rückwärts",
    "Effekt",
    "Kerze",
  ]);
});
