import assert from "node:assert/strict";
import { after, test } from "node:test";
import discovered from "../../plugins/ha-discovery/package.json" with { type: "json" };
import zigbee from "../../plugins/zigbee2mqtt/package.json" with { type: "json" };
import { BRIDGES, type MqttHome, openMqttHome } from "../../scripts/bench/shared/mqtt-home.ts";
import { killBrokerRepeatedly, reloadUnderStates } from "../../scripts/soak/brokers.ts";
import { moveSlider } from "../../scripts/soak/slider.ts";
import { withoutMosquitto } from "../helpers/mosquitto.ts";
import { until } from "../helpers/until.ts";

const real = { skip: withoutMosquitto };
const RATES = { zigbee2mqtt: zigbee.mantel.bridge, "ha-discovery": discovered.mantel.bridge };

/** Lamps per bridge. */
const LAMPS = 60;

/** Real processes over TLS, passwords and ACL: one home for all tests that leave its broker running. */
let opened: Promise<MqttHome> | undefined;
const home = () => (opened ??= openMqttHome({ zigbee2mqtt: LAMPS, "ha-discovery": LAMPS }));
after(async () => (await opened)?.close());

test(
  "after a killed broker no command is sent twice and all states are current",
  real,
  async () => {
    const { doubled, backMs, statuses } = await killBrokerRepeatedly(2);

    assert.equal(doubled, 0);
    for (const id of BRIDGES) assert.equal(backMs[id].length, 2);
    // 504: the broker took it just before it was killed, and nobody confirmed it.
    const truthful = ["200", "409", "503", "504"];
    const others = Object.keys(statuses).filter((each) => !truthful.includes(each));
    assert.deepEqual(others, []);
  },
);

for (const id of BRIDGES) {
  test(
    `a slider reaches a lamp of ${id} at its rate and always with its last value`,
    real,
    async () => {
      const found = await moveSlider(await home(), id);

      const { commandsPerSecond, burst } = RATES[id];
      const most = burst + 1 + (found.elapsedMs / 1_000) * commandsPerSecond;
      assert.equal(found.last, 254);
      assert.ok(found.told <= most, `${found.told} in ${found.elapsedMs} ms`);
      assert.equal(found.others, 0);
      assert.equal(found.wrongRetryAfter, 0);
    },
  );

  test(`reloads of ${id} lose no incoming state, and no device flaps`, real, async () => {
    const found = await reloadUnderStates(await home(), id, { rounds: 2, perSecond: 60 });

    assert.ok(found.sent > 0);
    const { lost, vanished, unavailable, cuts } = found;
    const none = { lost: 0, vanished: 0, unavailable: 0, cuts: 0 };
    assert.deepEqual({ lost, vanished, unavailable, cuts }, none);
  });
}

test("a lamp keeps its number when it is renamed, removed and added again", real, async () => {
  const { lamps, devices } = await home();
  const fake = lamps.zigbee2mqtt;
  const named = async (name: string) =>
    (await devices("zigbee2mqtt")).find((each) => each.name === name)?.id;
  const id = await named("lamp 2");
  const [, lamp] = fake.devices;
  assert.ok(id !== undefined && lamp);

  fake.rename("lamp 2", "hall/lamp");
  await until(async () => (await named("hall/lamp")) === id);
  fake.leave("hall/lamp");
  await until(async () => (await devices("zigbee2mqtt")).length === LAMPS - 1);
  fake.join({ ...lamp, friendly_name: "again" });

  await until(async () => (await named("again")) === id);
});
