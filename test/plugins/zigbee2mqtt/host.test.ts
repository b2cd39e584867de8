import assert from "node:assert/strict";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { listedLamp } from "../../fakes/zigbee2mqtt.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { startHost, type TestHost } from "../../helpers/host.ts";
import { startMosquitto } from "../../helpers/mosquitto.ts";
import { until } from "../../helpers/until.ts";
import { openFake, real } from "./start-bridge.ts";

const PLUGINS = ["plugins/zigbee2mqtt"];
const WITHIN = { withinMs: 15_000 };

/** Ids of the available devices by their names. */
async function idsOf(host: TestHost): Promise<Record<string, string>> {
  const response = await host.api("/smart-home/devices");
  const { devices } = (await response.json()) as {
    devices: { id: string; name: string; available: boolean }[];
  };
  const there = devices.filter(({ available }) => available);
  return Object.fromEntries(there.map(({ id, name }) => [name, id]));
}

const idsOnceThere = (host: TestHost, count: number) =>
  until(async () => {
    const ids = await idsOf(host);
    return Object.keys(ids).length === count && ids;
  }, WITHIN);

test(
  "device numbers are kept with two bridges and after a restart of the host",
  real,
  async (t) => {
    const broker = await startMosquitto(t);
    const lamps = (from: number) => [from, from + 1].map((at) => listedLamp(at, `lamp ${at}`));
    openFake(t, broker.url, { devices: lamps(1), groups: [] });
    openFake(t, broker.url, { base: "garage", devices: lamps(11), groups: [] });
    const data = await emptyFolder(t);
    const config = { zigbee2mqtt: { url: broker.url, topic: "zigbee2mqtt" } };
    const host = await startHost(t, { data, plugins: PLUGINS, config });
    const first = await idsOnceThere(host, 2);

    await addBridge(host, "zigbee-garage");
    const json = { url: broker.url, topic: "garage" };
    await until(async () => {
      const patched = await host.api("/modules/zigbee-garage/config", { method: "PATCH", json });
      return patched.status === 200;
    }, WITHIN);
    const both = await idsOnceThere(host, 4);
    assert.equal(new Set(Object.values(both)).size, 4);
    assert.deepEqual({ ...both, ...first }, both);

    await host.stop();
    const next = await startHost(t, { data, plugins: PLUGINS });
    await addBridge(next, "zigbee-garage");

    assert.deepEqual(await idsOnceThere(next, 4), both);
  },
);

test("options are tested against a real broker, and problems are reported", real, async (t) => {
  const users = { guest: "right horse" };
  const broker = await startMosquitto(t, { users });
  const connection = { username: "guest", password: users.guest };
  openFake(t, broker.url, { devices: [listedLamp(1)], groups: [], connection });
  const host = await startHost(t, { plugins: PLUGINS });
  const tried = async (options: object) => {
    const json = { url: broker.url, topic: "zigbee2mqtt", ...options };
    const response = await host.api("/modules/zigbee2mqtt/test", { method: "POST", json });
    return (await response.json()) as { ok: boolean; detail: string };
  };

  const right = await tried(connection);
  const wrong = await tried({ ...connection, password: "wrong" });
  const elsewhere = await tried({ ...connection, topic: "nowhere" });

  assert.ok(right.ok, right.detail);
  assert.match(right.detail, /^Zigbee2MQTT 2\.14\.0 with/);
  assert.ok(!wrong.ok && /refuses the user name or the password/.test(wrong.detail), wrong.detail);
  assert.ok(!elsewhere.ok && /no Zigbee2MQTT publishes under nowhere/.test(elsewhere.detail));
});

/** Another folder with the same bridge, as people have who own two coordinators. */
async function addBridge({ plugins }: TestHost, id: string): Promise<void> {
  const folder = join(plugins, id);
  await cp(join(plugins, "zigbee2mqtt"), folder, { recursive: true });
  const file = join(folder, "package.json");
  const manifest = JSON.parse(await readFile(file, "utf8")) as { name: string; mantel: object };
  const changed = { ...manifest, name: `@mantel/${id}`, mantel: { ...manifest.mantel, id } };
  await writeFile(file, JSON.stringify(changed));
}
