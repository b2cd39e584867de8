import assert from "node:assert/strict";
import { test } from "node:test";
import { deviceOf } from "../../helpers/device.ts";
import { mountOnPage } from "../../helpers/page/widget.ts";

await import("../../../host/dashboard/pictures.ts"); // as the dashboard does while it waits
const { default: room } = await import("../../../plugins/room-widget/widget.ts");

const CLIMATE = deviceOf({
  kind: "sensor",
  name: "Climate",
  room: "Kitchen",
  capabilities: { temperature: { type: "number", unit: "°C", readOnly: true } },
  state: { temperature: 20.46, humidity: 48 },
});
const LAMP = deviceOf({ name: "Sink", room: "Kitchen" });
const PLUG = deviceOf({ kind: "plug", name: "Kettle", room: "Kitchen" });
const FAR = deviceOf({ number: 2, name: "Attic", room: "Attic" });

test("a room shows its climate and a tile for each of its devices of the chosen kinds", (t) => {
  const { config, textOf } = mountOnPage(t, room, {
    config: { room: "Kitchen" },
    devices: [CLIMATE, LAMP, PLUG, FAR],
  });
  const heading = textOf("h2 strong, h2 span");
  const tiles = textOf(".tiles .name");

  config.value = { room: "Kitchen", title: "Cooking", without: ["plug"] };

  assert.deepEqual(heading, ["Kitchen", "20.5° · 48%"]);
  assert.deepEqual(tiles, ["Sink", "Kettle"]);
  assert.deepEqual(textOf("h2 strong, .tiles .name"), ["Cooking", "Sink"]);
});

test("a heading counts the lights that are on, opens them and turns them all off", async (t) => {
  const lit = deviceOf({ name: "Sink", room: "Kitchen", state: { on: true } });
  const others = [2, 3].map((number) =>
    deviceOf({ id: `demo:light:${number}`, number, room: "Kitchen" }),
  );
  const { config, store, commandedRooms, root, click, textOf } = mountOnPage(t, room, {
    config: { room: "Kitchen" },
    devices: [lit, ...others, { ...FAR, id: "demo:light:9", state: { on: true } }],
  });
  const shown = textOf("h2 small, h2 .all");
  const subject = () => root.querySelector<HTMLElement>("section")?.dataset["detailsRoom"];

  click("h2 .all");
  const kitchen = subject();
  config.value = { title: "Everywhere" };
  const home = [subject(), ...textOf("h2 small")];
  click("h2 .all");
  store.putDevice({ ...lit, revision: 2, state: { on: false } });
  config.value = { room: "Kitchen" };

  assert.deepEqual(shown, ["1 on", "All off"]);
  assert.deepEqual([kitchen, home], ["Kitchen", ["", "2 on"]]);
  assert.deepEqual(commandedRooms, [
    ["Kitchen", "light", { on: false }],
    ["", "light", { on: false }],
  ]);
  assert.equal(root.querySelectorAll("h2 [data-opens]").length, 1, "they can be turned on there");
  assert.deepEqual(textOf("h2 small, h2 .all"), []);
  config.value = { room: "Kitchen", kinds: ["plug"] };
  assert.equal(subject(), undefined, "a wall without lights");
});

test("a camera shows its latest picture with its age, and a placeholder without one", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: 1_000_000 });
  const close = (): void => undefined;
  Object.assign(globalThis, { createImageBitmap: async () => ({ width: 8, height: 4, close }) });
  const camera = deviceOf({
    kind: "camera",
    name: "Yard",
    capabilities: {},
    state: {},
    image: true,
  });
  const image = (id: string) => `/smart-home/devices/demo%3Acamera%3A${id}/image`;
  const { root, visible, textOf, until, mounted } = mountOnPage(t, room, {
    devices: [camera, { ...camera, id: "demo:camera:2", number: 2, name: "Garage" }],
    answers: { [image("1")]: new Response("jpeg") },
  });

  await until(() => textOf(".age").length === 2);

  assert.deepEqual(textOf(".camera .name"), ["Yard", "Garage"]);
  assert.deepEqual(textOf(".age"), ["Now", "No picture"]);
  assert.equal(root.querySelectorAll(".camera canvas").length, 1);
  visible.value = false;
  assert.equal(
    root.querySelectorAll(".camera canvas").length,
    1,
    "a hidden tile keeps its picture",
  );
  mounted.unmount();
});

test("a lock and an alarm that want a code open their keypads, and send nothing", (t) => {
  const code = { type: "text" } as const;
  const { api, root, click } = mountOnPage(t, room, {
    devices: [
      deviceOf({
        kind: "lock",
        name: "Door",
        capabilities: { locked: { type: "boolean" }, code },
        state: { locked: true },
      }),
      deviceOf({
        kind: "alarm",
        name: "House",
        capabilities: { mode: { type: "choice", values: ["disarmed", "away"] }, code },
        state: { mode: "disarmed" },
      }),
    ],
  });

  click("button.tile");
  click("[aria-label=Code]");

  const opening = [...root.querySelectorAll<HTMLElement>("[data-opens]:not(.more)")];
  assert.deepEqual(
    opening.map((each) => each.closest<HTMLElement>("[data-details]")?.dataset["details"]),
    ["demo:lock:1", "demo:alarm:1"],
  );
  assert.deepEqual(api.posted, []);
});

test("a tap on a tile switches the device, and the tile shows it before the host answers", async (t) => {
  const { api, click, textOf } = mountOnPage(t, room, {
    devices: [LAMP],
    answers: {
      "/smart-home/devices/demo%3Alight%3A1/command": {
        device: { ...LAMP, revision: 2, state: { on: true } },
      },
    },
  });
  const before = textOf(".tiles .value");

  click(".tiles button");

  assert.deepEqual([before, textOf(".pending .value")], [["Off"], ["On"]]);
  assert.deepEqual(api.asked, ["POST /smart-home/devices/demo%3Alight%3A1/command"]);
});

test("a room without devices says so, and one with too many says how many are not shown", (t) => {
  const { store, textOf } = mountOnPage(t, room);
  const none = textOf("p");

  store.replaceDevices(
    Array.from({ length: 63 }, (_, number) => deviceOf({ number, id: `${number}` })),
  );

  assert.deepEqual(none, ["No devices here yet."]);
  assert.equal(textOf(".tiles .name").length, 60);
  assert.deepEqual(textOf("p"), ["and 3 more"]);
});

test("remote controls and current software have no tile, buttons and updates have one", (t) => {
  const command = { type: "command" } as const;
  const { textOf } = mountOnPage(t, room, {
    devices: [
      deviceOf({ kind: "button", number: 1, name: "Remote", capabilities: {}, state: {} }),
      deviceOf({ kind: "button", number: 2, name: "Gate", capabilities: { press: command } }),
      deviceOf({ kind: "update", number: 3, name: "Old", state: { updateAvailable: true } }),
      deviceOf({
        kind: "update",
        number: 4,
        name: "Current",
        state: { installedVersion: "1", latestVersion: "1" },
      }),
    ],
  });

  assert.deepEqual(textOf(".tiles .name"), ["Gate", "Old"]);
});
