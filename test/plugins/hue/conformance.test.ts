import assert from "node:assert/strict";
import { test } from "node:test";
import { assertConforms } from "@mantel/plugin-sdk/conformance";
import { home, newerServices } from "../../fakes/hue-home.ts";
import { assertListed } from "../../helpers/conforming-devices.ts";
import { answerFaults, eventFaults } from "./openhue.ts";
import { startHue } from "./start-hue.ts";

test("the bridge conforms, with all devices of a home, and says only what OpenHue describes", async (t) => {
  const faults: string[] = [];
  const { bridge, plugin } = await startHue(t, {
    isUnlimited: true,
    resources: [...home(), ...newerServices()],
    times: { confirmed: 3_500 },
    onAnswer: (answer) => void faults.push(...answerFaults(answer)),
    onEvents: (events) => void faults.push(...eventFaults(events)),
  });
  const radioOf = (nativeId: string) => {
    const mac = nativeId.split("/")[0];
    return [...bridge.resources.values()].find((each) => each["mac_address"] === mac);
  };
  const rooms = [...plugin.devices.keys()].filter((nativeId) => !radioOf(nativeId));
  const lights = [...bridge.resources.values()].filter(({ type }) => type.endsWith("light"));

  const tested = await assertConforms({
    plugin,
    stall: () => bridge.stall(...lights.map(({ id }) => id)),
    stalledMs: 400,
    setReachable(nativeId, isReachable) {
      const radio = radioOf(nativeId);
      if (!radio) return false;
      return bridge.change(radio.id, { status: isReachable ? "connected" : "connectivity_issue" });
    },
    cannot: Object.fromEntries(
      rooms.map((nativeId) => [`${nativeId} setReachable`, "a room or zone has no radio"]),
    ),
    concurrency: 1,
  });
  assert.deepEqual([...new Set(faults)], []);
  await assertListed("hue", tested);
});
