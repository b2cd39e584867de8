import { test } from "node:test";
import { definePlugin } from "@mantel/plugin-sdk";
import { assertConforms } from "@mantel/plugin-sdk/conformance";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import { Options, startHome } from "../../../plugins/demo-home/home.ts";
import { World } from "../../../plugins/demo-home/world.ts";
import { assertListed } from "../../helpers/conforming-devices.ts";

test("the demo home conforms", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const plugin = definePlugin({
    options: Options,
    state: World,
    start: (ctx) => startHome(ctx, () => Promise.resolve()),
  });
  const home = await startPlugin(plugin, { config: { seed: 1, tickSeconds: 60 } });

  const tested = await assertConforms({
    plugin: home,
    settle: () => t.mock.timers.tick(60_000),
    codes: { alarm: "1234" },
    cannot: {
      stall: "the bridge is the simulation, which does at once what it is told",
      setReachable: "simulated devices are always there",
    },
    concurrency: 1,
  });
  await assertListed("demo-home", tested);
  await home.stop();
});
