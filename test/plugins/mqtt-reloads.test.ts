import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { EventWatch } from "../../scripts/bench/shared/event-watch.ts";
import { FakeZigbee2Mqtt, listedLamp } from "../fakes/zigbee2mqtt.ts";
import { startHost, type TestHost } from "../helpers/host.ts";
import { startMosquitto, withoutMosquitto } from "../helpers/mosquitto.ts";
import { onTestEnd } from "../helpers/on-test-end.ts";
import { until } from "../helpers/until.ts";
import { openPeer } from "./ha-discovery/home.ts";

const DEVICES = 30;
const TELLS_EVERY_MS = 20;
const ASKS = 8;
/** Far sooner than a reload is over: requests wait, and several become one. */
const ASKS_EVERY_MS = 150;

interface Shown {
  readonly name: string;
  readonly bridge: string;
  readonly available: boolean;
  readonly state: Readonly<Record<string, unknown>>;
}

const devicesOf = async (host: TestHost): Promise<Shown[]> =>
  ((await (await host.api("/smart-home/devices")).json()) as { devices: Shown[] }).devices;

/** Lamps of Zigbee2MQTT and of MQTT discovery at one broker and one host, all of them there. */
async function startBridges(t: TestContext) {
  const broker = await startMosquitto(t);
  const devices = Array.from({ length: DEVICES }, (_, at) => listedLamp(at + 1));
  const fake = new FakeZigbee2Mqtt(broker.url, { devices, groups: [] });
  t.after(() => fake.stop());
  const peer = await openPeer(t, broker.url);
  for (let at = 1; at <= DEVICES; at++) {
    const config = { stat_t: `count/${at}`, uniq_id: `c${at}`, name: `count ${at}`, avty_t: "up" };
    await peer.announce(`sensor/c${at}`, config);
  }
  await peer.tell("up", "online", true);
  const host = await startHost(t, {
    plugins: ["plugins/mqtt", "plugins/zigbee2mqtt", "plugins/ha-discovery"],
    config: {
      mqtt: { url: broker.url },
      zigbee2mqtt: { topic: fake.base },
      "ha-discovery": { prefix: "homeassistant" },
    },
  });
  const areUp = async () =>
    (await devicesOf(host)).filter(({ available }) => available).length === 2 * DEVICES;
  await until(areUp, { withinMs: 20_000 });
  return { host, fake, peer };
}

const told = ({ bridge, state }: Shown): unknown =>
  bridge === "zigbee2mqtt" ? state["brightness"] : Object.values(state)[0];

test(
  "reloads requested faster than they finish lose no state and show no device as unavailable",
  { skip: withoutMosquitto },
  async (t) => {
    const { host, fake, peer } = await startBridges(t);
    const watch = new EventWatch({ url: host.url, token: await host.token("read") });
    await watch.opened;
    let round = 0;
    const tells = setInterval(() => {
      const at = (round % DEVICES) + 1;
      round++;
      fake.tell(`lamp ${at}`, { state: "ON", brightness: round % 255 });
      void peer.tell(`count/${at}`, String(round));
    }, TELLS_EVERY_MS);
    onTestEnd(t, async () => clearInterval(tells));

    const asked: Promise<Response>[] = [];
    for (let ask = 0; ask < ASKS; ask++) {
      for (const id of ["zigbee2mqtt", "ha-discovery"]) {
        const json = { username: `nobody-${ask}` }; // it is of no use without a url
        asked.push(host.api(`/modules/${id}/config`, { method: "PATCH", json }));
      }
      await delay(ASKS_EVERY_MS);
    }
    const answers = await Promise.all(asked);
    await until(async () => {
      const response = await host.api("/modules");
      const { modules } = (await response.json()) as { modules: { state: string }[] };
      return modules.every(({ state }) => state === "active");
    });
    clearInterval(tells);

    assert.deepEqual(
      answers.map(({ status }) => status),
      answers.map(() => 200),
    );
    const last = (at: number) => at + Math.floor((round - at) / DEVICES) * DEVICES;
    await until(async () => {
      const devices = await devicesOf(host);
      return devices.every((device) => {
        const at = last(Number(/\d+$/.exec(device.name)?.[0]));
        const wanted = device.bridge === "zigbee2mqtt" ? ((at % 255) / 254) * 100 : at;
        return Math.abs(Number(told(device)) - wanted) < 0.5;
      });
    });
    const { vanished, unavailable, cuts } = await watch.stop();
    assert.deepEqual({ vanished, unavailable, cuts }, { vanished: 0, unavailable: 0, cuts: 0 });
  },
);
