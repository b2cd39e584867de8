import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import { emptyFolder } from "../../helpers/folder.ts";
import { startHost, type TestHost } from "../../helpers/host.ts";
import { type Mosquitto, startMosquitto, withoutMosquitto } from "../../helpers/mosquitto.ts";
import { until } from "../../helpers/until.ts";
import { openPeer, type Peer } from "./home.ts";

interface ShownDevice {
  readonly id: string;
  readonly name: string;
  readonly available: boolean;
  readonly state: Readonly<Record<string, unknown>>;
}

/** A broker that wants a password and TLS, and lets Mantel do what it needs and no more. */
async function startStrictBroker(t: TestContext): Promise<{ broker: Mosquitto; peer: Peer }> {
  const broker = await startMosquitto(t, {
    users: { mantel: "s3cret-of-mantel", thing: "other" },
    tls: true,
    acl: [
      ...["user mantel", "topic read homeassistant/#", "topic read lamp/state"],
      ...["topic write lamp/set", "user thing", "topic readwrite #"],
    ],
  });
  const ca = await readFile(broker.caFile);
  const peer = await openPeer(t, broker.url, { username: "thing", password: "other", ca });
  return { broker, peer };
}

async function startWith(t: TestContext, broker: Mosquitto, data: string): Promise<TestHost> {
  const ca = await readFile(broker.caFile, "utf8");
  const host = await startHost(t, {
    data,
    plugins: ["plugins/ha-discovery"],
    config: { "ha-discovery": { url: broker.url, username: "mantel", ca } },
  });
  const stored = await host.api("/modules/ha-discovery/config", {
    method: "PATCH",
    json: { password: "s3cret-of-mantel" },
  });
  assert.equal(stored.status, 200, await stored.text());
  return host;
}

const devicesOf = async (host: TestHost) =>
  ((await (await host.api("/smart-home/devices")).json()) as { devices: ShownDevice[] }).devices;

const deviceNamed = (host: TestHost, name: string) =>
  until(async () => (await devicesOf(host)).find((device) => device.name === name), {
    withinMs: 15_000,
  });

const lamp = (name: string) => ({
  stat_t: "lamp/state",
  cmd_t: "lamp/set",
  uniq_id: "lamp-1",
  name,
});

test(
  "a device keeps its number through rename, return, reload and a start without the broker",
  { skip: withoutMosquitto },
  async (t) => {
    const { broker, peer } = await startStrictBroker(t);
    const data = await emptyFolder(t);
    await peer.announce("switch/other", { cmd_t: "lamp/set", uniq_id: "other", name: "Other" });
    await peer.announce("switch/lamp", lamp("Lamp"));
    await peer.obey("lamp/set", (payload) => void peer.tell("lamp/state", payload));
    const host = await startWith(t, broker, data);
    const { id } = await deviceNamed(host, "Lamp");
    const send = (path: string, method: string, json: object) => host.api(path, { method, json });

    const command = await send(`/smart-home/devices/${id}/command`, "POST", { on: true });
    assert.equal(command.status, 200, await command.text());

    await peer.announce("switch/lamp", lamp("Renamed"));
    assert.equal((await deviceNamed(host, "Renamed")).id, id);
    const options = { refusedTopics: ["nothing/#"] };
    const reload = await send("/modules/ha-discovery/config", "PATCH", options);
    assert.equal(reload.status, 200, await reload.text());
    assert.deepEqual((await deviceNamed(host, "Renamed")).state, { on: true });

    await peer.announce("switch/lamp", "");
    await until(async () => (await devicesOf(host)).length === 1);
    await peer.announce("switch/lamp", lamp("Returned"));
    assert.equal((await deviceNamed(host, "Returned")).id, id);

    await host.stop();
    await broker.stop();
    const next = await startWith(t, broker, data);
    const shown = await deviceNamed(next, "Returned");
    assert.deepEqual([shown.id, shown.available], [id, false]);
    const tried = await next.api("/modules/ha-discovery/test", { method: "POST", json: {} });
    const { ok, detail } = (await tried.json()) as { ok: boolean; detail: string };
    assert.ok(!ok);
    assert.match(detail, /nothing listens at 127\.0\.0\.1/);
    assert.ok(!(next.log() + host.log()).includes("s3cret-of-mantel"));
  },
);

test(
  "a device that was announced before the first start is known at a start without the broker",
  { skip: withoutMosquitto },
  async (t) => {
    const broker = await startMosquitto(t);
    const peer = await openPeer(t, broker.url);
    await peer.announce("switch/lamp", lamp("Lamp"));
    const options = {
      data: await emptyFolder(t),
      plugins: ["plugins/ha-discovery"],
      config: { "ha-discovery": { url: broker.url } },
    };
    const host = await startHost(t, options);
    const { id } = await deviceNamed(host, "Lamp");

    await host.stop();
    await broker.stop();
    const next = await startHost(t, options);

    const shown = await deviceNamed(next, "Lamp");
    assert.deepEqual([shown.id, shown.available], [id, false]);
  },
);
