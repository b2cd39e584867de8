import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { openZigbeeHouse, type ZigbeeHouse } from "../../scripts/bench/shared/zigbee-house.ts";
import { killBrokers, reloadUnderStates, slide } from "../../scripts/soak/brokers.ts";
import { withoutMosquitto } from "../helpers/mosquitto.ts";
import { until } from "../helpers/until.ts";

const real = { skip: withoutMosquitto };

/** Real processes over TLS, passwords and ACL; all of it ends with the test. */
async function house(t: TestContext, lamps: number): Promise<ZigbeeHouse> {
  const opened = await openZigbeeHouse(lamps);
  t.after(() => opened.close());
  return opened;
}

test("a broker that is killed costs no command twice, and all is current again", real, async () => {
  const { doubled, backMs, statuses } = await killBrokers(2);

  assert.equal(doubled, 0);
  assert.equal(backMs.length, 2);
  const others = Object.keys(statuses).filter((each) => !["200", "409", "503"].includes(each));
  assert.deepEqual(others, []);
});

test("a slider reaches a lamp at its bridge's rate, and its last value always", real, async (t) => {
  const { told, last, elapsedMs, others, wrongRetryAfter } = await slide(await house(t, 3));

  assert.equal(last, 254);
  assert.ok(told <= 11 + elapsedMs / 100, `${told} in ${elapsedMs} ms`);
  assert.equal(others, 0);
  assert.equal(wrongRetryAfter, 0);
});

test("reloads while states come lose none, and no device vanishes or flaps", real, async (t) => {
  const found = await reloadUnderStates(await house(t, 60), 2, 60);

  assert.ok(found.sent > 0);
  const { lost, vanished, unavailable, cuts } = found;
  assert.deepEqual(
    { lost, vanished, unavailable, cuts },
    {
      ...{ lost: 0, vanished: 0, unavailable: 0, cuts: 0 },
    },
  );
});

test("a lamp keeps its number when it is renamed, leaves and comes back", real, async (t) => {
  const { fake, devices } = await house(t, 3);
  const named = async (name: string) => (await devices()).find((each) => each.name === name)?.id;
  const id = await named("lamp 2");
  const [, lamp] = fake.devices;
  assert.ok(id !== undefined && lamp);

  fake.rename("lamp 2", "hall/lamp");
  await until(async () => (await named("hall/lamp")) === id);
  fake.leave("hall/lamp");
  await until(async () => (await devices()).length === 2);
  fake.join({ ...lamp, friendly_name: "again" });

  await until(async () => (await named("again")) === id);
});
