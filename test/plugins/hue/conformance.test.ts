import { test } from "node:test";
import { assertConforms } from "@mantel/plugin-sdk/conformance";
import { startHue } from "./start-hue.ts";

test("the bridge conforms, with all devices of a home", async (t) => {
  const { bridge, plugin } = await startHue(t, { isUnlimited: true, times: { confirmed: 3_500 } });
  const lights = [...bridge.resources.values()].filter(({ type }) => type.endsWith("light"));

  await assertConforms({
    plugin,
    stall: () => bridge.stall(...lights.map(({ id }) => id)),
    stalledMs: 400,
    setReachable(nativeId, isReachable) {
      const mac = nativeId.split("/")[0];
      const radio = [...bridge.resources.values()].find((each) => each["mac_address"] === mac);
      if (!radio) return false;
      return bridge.change(radio.id, { status: isReachable ? "connected" : "connectivity_issue" });
    },
    concurrency: 1,
  });
});
