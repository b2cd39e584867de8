// npm run bench mqtt [-- devices messagesPerSecond seconds]: the time from an MQTT message to the event stream, through a
// real mosquitto, a bridge and the host, and the CPU of the processes. Then the same during reloads of the bridge:
// devices that vanish or flap, and lost messages. First with Zigbee2MQTT, then with MQTT discovery; one line of JSON each.
import { setTimeout as delay } from "node:timers/promises";
import { readProcess } from "../../host/modules/process/procfs.ts";
import { findDescendants } from "./bench-home.ts";
import { EventWatch } from "./shared/event-watch.ts";
import { rounded, summarise } from "./shared/figures.ts";
import {
  BRIDGES,
  type BridgeId,
  type MqttHome,
  openMqttHome,
  reloadBridge,
} from "./shared/mqtt-home.ts";
import { StateStorm } from "./shared/state-storm.ts";

const WARM_UP_MS = 3_000;
const SETTLE_MS = 3_000;
const RELOADS_EVERY_MS = 1_000;

const [devices = 2_000, perSecond = 500, seconds = 20] = process.argv.slice(2).map(Number);
for (const bridge of BRIDGES) {
  const home = await openMqttHome({ [bridge]: devices });
  const unit = { bench: "mqtt", unit: "ms", bridge, devices, perSecond, seconds };
  try {
    await storm(home, bridge, { ms: WARM_UP_MS });
    const steady = await storm(home, bridge, { ms: seconds * 1_000 });
    console.log(JSON.stringify({ ...unit, phase: "steady", ...steady }));
    const now = () => reloadBridge(home, bridge);
    const reloading = await storm(home, bridge, { ms: seconds * 1_000, now });
    console.log(JSON.stringify({ ...unit, phase: "reloads", ...reloading }));
  } finally {
    await home.close();
  }
}

interface Storm {
  readonly ms: number;
  /** An action repeated during the measurement; returns false when it failed. */
  readonly now?: () => Promise<boolean>;
}

async function storm(
  { lamps, served, devices: list }: MqttHome,
  bridge: BridgeId,
  { ms, now }: Storm,
) {
  let states: StateStorm | undefined;
  const watch = new EventWatch(served, ({ topic, data }) => {
    const counter = topic === "device.state" ? /"counter":(\d+)/.exec(data)?.[1] : undefined;
    if (counter !== undefined) states?.arrived(Number(counter));
  });
  await watch.opened;
  states = new StateStorm(lamps[bridge], perSecond);
  const before = await cpuOf(served.pid);
  const startedAt = performance.now();
  let [rounds, failed] = [0, 0];
  for (; performance.now() - startedAt < ms; rounds++) {
    const [isDone] = await Promise.all([now?.(), delay(RELOADS_EVERY_MS)]);
    if (isDone === false) failed++;
  }
  const elapsedMs = performance.now() - startedAt;
  const after = await cpuOf(served.pid);
  const { sent, missed, waits } = states.end();
  await delay(SETTLE_MS);
  const share = (name: "host" | "plugins") =>
    rounded(((after[name] - before[name]) / elapsedMs) * 100);
  return {
    rounds,
    failed,
    sent,
    missed,
    lost: states.lost(await list()),
    ms: summarise(waits),
    hostCpuPercent: share("host"),
    // Not measured during reloads, because the CPU time of an ended process is lost.
    ...(now ? {} : { pluginsCpuPercent: share("plugins") }),
    ...(await watch.stop()),
  };
}

/** The CPU time of the host and its running descendants. */
async function cpuOf(pid: number) {
  const children = await findDescendants(pid);
  const plugins = children.reduce((sum, child) => sum + readProcess(child).cpuMs, 0);
  return { host: readProcess(pid).cpuMs, plugins };
}
