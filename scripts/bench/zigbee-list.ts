// npm run bench zigbee-list [-- runs]: the bridge of Zigbee2MQTT reads a list with all known definitions, in a real host
// and through a real mosquitto; then the host starts again, and the bridge reads the devices that it has stored while
// Zigbee2MQTT is away. Prints for each run the longest turn of its event loop and the CPU time of its process, then
// their medians. A turn includes garbage collection, and the time in which other processes had the processor.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FakeZigbee2Mqtt, type ListedDevice } from "../../test/fakes/zigbee2mqtt.ts";
import { startMosquitto } from "../../test/helpers/mosquitto.ts";
import { definitions, listed } from "../../test/plugins/zigbee2mqtt/definitions.ts";
import { openHome, type Served, serveHost } from "./bench-home.ts";
import { rounded, summarise } from "./shared/figures.ts";
import { waitUntil } from "./shared/mqtt-home.ts";

const MEASURED_WITHIN_MS = 60_000;
/** The bridge with a look at its event loop, from some time after its start until the devices have long been sent. */
const measuredFrom = (startMs: number): string => `
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import plugin from "./index.ts";

async function measure({ log, signal }) {
  if (${startMs} > 0) await delay(${startMs}, undefined, { signal });
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  const before = process.cpuUsage();
  log.info("waiting");
  await delay(6_000, undefined, { signal });
  const { user, system } = process.cpuUsage(before);
  log.info("measured", { longestMs: loop.max / 1e6, cpuMs: (user + system) / 1e3 });
}

export default {
  ...plugin,
  start(ctx, connection) {
    measure(ctx).catch(() => undefined);
    return plugin.start(ctx, connection);
  },
};
`;

interface Measured {
  readonly longestMs: number;
  readonly cpuMs: number;
}

const NOTHING: Measured = { longestMs: 0, cpuMs: 0 };

const [runs = 5] = process.argv.slice(2).map(Number);
const exposing = definitions.flatMap(({ models, exposes }) =>
  models.map((model) => ({ vendor: "v", model, exposes })),
);
const devices = exposing.map((each, at) => listed(each, at + 1) as ListedDevice);
const all: Measured[][] = [];
for (let run = 0; run < runs; run++) all.push(await measure());
const megabytes = rounded(JSON.stringify(devices).length / 1e6);
const about = { bench: "zigbee-list", unit: "ms", devices: devices.length, megabytes };
for (const [at, part] of ["list", "restart"].entries()) {
  const found = all.map((each) => each[at] ?? NOTHING);
  const longestMs = found.map((each) => rounded(each.longestMs));
  const cpuMs = found.map((each) => rounded(each.cpuMs));
  const medians = { longestMs: summarise(longestMs).p50, cpuMs: summarise(cpuMs).p50 };
  console.log(JSON.stringify({ ...about, part, longestMs, cpuMs, medians }));
}

/** Starts a new broker and host, and then a Zigbee2MQTT; then stops Zigbee2MQTT and starts the host again. */
async function measure(): Promise<Measured[]> {
  const endings: (() => unknown)[] = [];
  const after = (work: unknown) => void endings.push(work as () => unknown);
  const broker = await startMosquitto({ after });
  const home = await openHome(["zigbee2mqtt"]);
  endings.push(() => home.remove());
  const file = join(home.plugins, "zigbee2mqtt/package.json");
  const manifest = JSON.parse(await readFile(file, "utf8")) as { mantel: object };
  const mantel = { ...manifest.mantel, server: "measured.ts" };
  await home.write("zigbee2mqtt/package.json", JSON.stringify({ ...manifest, mantel }));
  await home.write("zigbee2mqtt/measured.ts", measuredFrom(2_000));
  await mkdir(home.data, { recursive: true, mode: 0o700 });
  const config = { zigbee2mqtt: { url: broker.url, topic: "zigbee2mqtt" } };
  await writeFile(join(home.data, "config.json"), JSON.stringify(config));
  const served = await serveHost(home);
  await fieldsOf("waiting", served);
  const fake = new FakeZigbee2Mqtt(broker.url, { devices, groups: [] });
  const list = await fieldsOf("measured", served);
  await served.stop();
  await fake.stop();
  await broker.stop();
  await home.write("zigbee2mqtt/measured.ts", measuredFrom(0));
  const again = await serveHost(home);
  endings.push(() => again.stop());
  const restart = await fieldsOf("measured", again);
  for (const end of endings.toReversed()) await end();
  return [list, restart];
}

/** Waits for a line in the log of the bridge. */
async function fieldsOf(line: string, { url, token }: Served): Promise<Measured> {
  const headers = { authorization: `Bearer ${token}` };
  let found: Measured | undefined;
  await waitUntil(MEASURED_WITHIN_MS, async () => {
    const response = await fetch(`${url}/api/v1/modules/zigbee2mqtt/logs`, { headers });
    const { entries } = (await response.json()) as {
      entries: readonly { sentence: string; fields?: Measured }[];
    };
    found = entries.flatMap((each) => (each.sentence === line ? [each.fields ?? NOTHING] : []))[0];
    return found !== undefined;
  });
  return found ?? NOTHING;
}
