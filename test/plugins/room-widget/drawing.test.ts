import assert from "node:assert/strict";
import { test } from "node:test";
import { deviceOf } from "../../helpers/device.ts";
import { mountOnPage } from "../../helpers/page/widget.ts";

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
