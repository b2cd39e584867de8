import { test } from "node:test";
import { assertConforms } from "@mantel/plugin-sdk/conformance";
import { type ListedDevice, listedLamp } from "../../fakes/zigbee2mqtt.ts";
import { assertListed } from "../../helpers/conforming-devices.ts";
import { until } from "../../helpers/until.ts";
import { definitionOf, layoutIn } from "./definitions.ts";
import { openNetwork, real } from "./start-bridge.ts";

/** One device of each kind, and those whose functions are several. */
const MODELS = [
  "929003856401", // a lamp with effects
  "929001953101", // a lamp with colour, whites and effects
  "TS011F_plug_1", // a plug that measures
  "SWV", // a water valve
  "99432", // a fan with a light
  "TS0601_fan_5_levels_and_light_switch",
  "E2103", // a blind
  "V3-BTZB/V3-BTZBE", // a lock
  "BRT-100-TRV", // a thermostat with a switch for a setting
  "AC201", // an air conditioner with a fan
  "SMSZB-120", // a siren in a smoke alarm
  "NAS-AB02B2", // a siren with melodies
  "AUT000069", // a switch of several gangs
  "TS0601_cover_with_2_switch",
];

function listedModel(model: string, at: number): ListedDevice {
  const [vendor = ""] = definitionOf(model).models;
  const { exposes } = definitionOf(model);
  const definition = { vendor, model, description: "", exposes, options: [], supports_ota: false };
  return { ...listedLamp(at + 1, `device ${at}`), definition };
}

test("the bridge conforms, with devices of all kinds and a mixed group", real, async (t) => {
  const devices = MODELS.map(listedModel);
  const members = devices.slice(0, 3).map(({ ieee_address }) => ({ ieee_address, endpoint: 1 }));
  const groups = [{ id: 1, friendly_name: "lounge", members, scenes: [] }];
  const { bridge, fake } = await openNetwork(t, { devices, groups, answerMs: 1 });
  fake.tell("lounge", { state: "OFF" });
  for (const { friendly_name, definition } of devices) {
    fake.tell(friendly_name, initialStateOf((definition as { exposes: unknown[] }).exposes));
  }
  const last = bridge.idOf(`device ${MODELS.length - 1}`);
  await until(() => bridge.state(last)["position"] === 40);
  const nameOf = (id: string) => bridge.devices.get(id)?.name ?? "";

  const tested = await assertConforms({
    plugin: bridge,
    stall: (id) => fake.stall(nameOf(id)),
    setReachable: (id, isReachable) =>
      fake.setAvailability(nameOf(id), isReachable ? "online" : "offline"),
    untold: Object.assign({}, ...devices.map(untoldOf)) as Record<string, string>,
  });
  await assertListed("zigbee2mqtt", tested);
});

/** A state in which every function of a device has reported. */
function initialStateOf(exposes: readonly unknown[]): Record<string, unknown> {
  const { features } = layoutIn(exposes);
  const paths = features.map(({ path }) => path[0] ?? "");
  const off = features.find(({ name }) => name === "on" || name === "locked")?.write?.(false);
  const known = { state: off ?? "OPEN", fan_state: "OFF", position: 40 };
  return Object.fromEntries(Object.entries(known).filter(([name]) => paths.includes(name)));
}

/** Settings that Zigbee2MQTT never reports, such as effects. */
function untoldOf({ ieee_address, definition }: ListedDevice): Record<string, string> {
  const { features } = layoutIn((definition as { exposes: unknown[] }).exposes);
  const untold = features.filter(
    ({ isTold, write, leaves, capability }) =>
      !isTold && write && !leaves && capability.type !== "command",
  );
  return Object.fromEntries(
    untold.map(({ name, part, group }) => {
      const place = group !== undefined ? "extra/" : part === undefined ? "" : `parts/${part}/`;
      return [`${ieee_address} ${place}${name}`, "Zigbee2MQTT does not report it"];
    }),
  );
}
