import type { TestContext } from "node:test";
import { definePlugin } from "@mantel/plugin-sdk";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import { startDeviceStore } from "../../../plugins/hue/device-store.ts";
import type { FindBridges } from "../../../plugins/hue/discovery.ts";
import { TIMES, type Times } from "../../../plugins/hue/feed.ts";
import { Options, State } from "../../../plugins/hue/options.ts";
import {
  type FakeBridgeOptions,
  type FakeHueBridge,
  startHueBridge,
} from "../../fakes/hue-bridge.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { watchResources } from "../../helpers/resources.ts";
import { until } from "../../helpers/until.ts";

/** Native ids of what the fake has at first. */
export const DESK = "00:17:88:01:02:03:04:01/light";
export const SHELF = "00:17:88:01:02:03:04:02/light";
export const DIAL = "00:17:88:01:02:03:04:04/button";
export const HALL = "00:17:88:01:02:03:04:05/sensor";

/** Waits that are short enough for a test, and long enough for a machine with other work. */
const SHORT: Times = { ...TIMES, loaded: 2_000, firstRetry: 50, lastRetry: 200, confirmed: 1_500 };

/** The plugin, with shorter waits. */
function pluginWith(times: Partial<Times>, find: FindBridges) {
  return definePlugin({
    options: Options,
    state: State,
    start: (ctx) => startDeviceStore(ctx, { times: { ...SHORT, ...times }, find }),
  });
}

type OverOptions = Partial<Times> & { handedOver?: unknown; find?: FindBridges };

/** The plugin over bridges that are there. It ends with the test, and leaves nothing open. */
export async function startOver(
  t: TestContext,
  bridges: readonly Pick<FakeHueBridge, "id" | "options">[],
  { handedOver, find = () => Promise.resolve([]), ...times }: OverOptions = {},
) {
  const config = { bridges: Object.fromEntries(bridges.map(({ id, options }) => [id, options])) };
  const plugin = await startPlugin(pluginWith(times, find), { config, handedOver });
  let stopped: Promise<unknown> | undefined;
  const end = plugin.stop.bind(plugin);
  const stop = () => (stopped ??= end());
  onTestEnd(t, async () => void (await stop()));
  return Object.assign(plugin, { stop });
}

/** The plugin with one bridge. */
export async function startHue(
  t: TestContext,
  { times, ...options }: FakeBridgeOptions & { times?: Partial<Times> } = {},
) {
  onTestEnd(t, watchResources());
  const bridge = await startHueBridge(t, options);
  const plugin = await startOver(t, [bridge], times);
  await until(() => plugin.degraded === undefined && plugin.devices.size > 0); // a start waits a second for them
  return { bridge, plugin };
}
