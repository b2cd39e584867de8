import assert from "node:assert/strict";
import { test } from "node:test";
import type { DeviceDescription, DeviceUpdate } from "@mantel/plugin-sdk/device";
import { FiniteNumbersHost } from "../../../plugin-sdk/runtime/finite-numbers-host.ts";
import type { HostLink } from "../../../plugin-sdk/runtime/host-link.ts";

function openHost() {
  const said: [method: string, input: unknown][] = [];
  const host = new FiniteNumbersHost({
    call: async (method: string, input: unknown) => void said.push([method, input]),
    notify: (method: string, input: unknown) => void said.push([method, input]),
  } as HostLink);
  return { host, said };
}

test("an update with NaN is dropped, with one log record that names device and field", () => {
  const { host, said } = openHost();
  const color = { hue: Infinity, saturation: 5 };
  const wrong: DeviceUpdate[] = [
    { nativeId: "lamp", state: { power: Number.NaN } },
    { nativeId: "fan", parts: { light: { color } } },
    { nativeId: "fan", extra: { linkQuality: -Infinity } },
  ];
  const right: DeviceUpdate = { nativeId: "b", state: { power: 5, on: null } };

  host.notify("updateDevices", [...wrong, right]);
  host.notify("updateDevices", wrong);

  const record = (place: string) => {
    const sentence = `device update dropped: ${place}; use null for an unknown number`;
    return ["log", { level: "error", sentence }];
  };
  assert.deepEqual(said, [
    record("/state/power of lamp is NaN"),
    record("/parts/light/color/hue of fan is Infinity"),
    record("/extra/linkQuality of fan is -Infinity"),
    ["updateDevices", [right]],
  ]);
});

test("a device list with NaN is refused before it is sent, with device and field", async () => {
  const { host, said } = openHost();
  const lamp = { kind: "light", name: "Lamp", capabilities: {} } as const;
  const right: DeviceDescription = { ...lamp, nativeId: "a", state: { power: 5 } };
  const wrong: DeviceDescription = { ...lamp, nativeId: "b", state: { power: Number.NaN } };

  await host.call("publishDevices", [right]);
  await assert.rejects(host.call("publishDevices", [right, wrong]), {
    code: "invalid",
    message: "the device list is invalid: /state/power of b is NaN; use null for an unknown number",
  });
  assert.deepEqual(said, [["publishDevices", [right]]]);
});
