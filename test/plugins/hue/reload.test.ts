import assert from "node:assert/strict";
import { test } from "node:test";
import { idOf } from "../../fakes/hue-home.ts";
import { until } from "../../helpers/until.ts";
import { DESK, SHELF, startHue, startOver } from "./start-hue.ts";

const LIGHT = idOf("lamp-1-light-0");
const SHELF_LIGHT = idOf("lamp-2-light-0");
const loads = (bridge: { asked: readonly { path: string }[] }) =>
  bridge.asked.filter(({ path }) => path === "/clip/v2/resource").length;

test("a reload shows the same state immediately and misses nothing", async (t) => {
  const { plugin, bridge } = await startHue(t);
  bridge.change(LIGHT, { dimming: { brightness: 10 } });
  await until(() => plugin.state(DESK)["brightness"] === 10);
  const before = structuredClone([...plugin.devices]);

  const handedOver = JSON.parse(JSON.stringify(await plugin.stop())) as unknown;
  bridge.change(LIGHT, { dimming: { brightness: 20 } });
  bridge.fault = "never";
  const next = await startOver(t, [bridge], { handedOver });

  assert.deepEqual([...next.devices], before);
  bridge.fault = undefined;
  await until(() => next.state(DESK)["brightness"] === 20);
  assert.equal(loads(bridge), 1);
});

test("a reload without events shows the same state immediately and reads everything again", async (t) => {
  const { plugin, bridge } = await startHue(t);
  const before = structuredClone([...plugin.devices]);
  const handedOver = await plugin.stop();
  bridge.fault = "never";

  const next = await startOver(t, [bridge], { handedOver, forgotten: 0 });
  assert.deepEqual([...next.devices], before);
  assert.equal(next.degraded, undefined);

  bridge.fault = undefined;
  await until(() => loads(bridge) === 2);
});

test("a bridge that restarts repeatedly is soon current, and no command is sent twice", async (t) => {
  const { plugin, bridge } = await startHue(t);
  const begun: Promise<unknown>[] = [];
  for (let restart = 1; restart <= 10; restart++) {
    begun.push(plugin.command(DESK, { on: true, brightness: restart }).catch(() => undefined));
    await bridge.stop();
    bridge.change(SHELF_LIGHT, { dimming: { brightness: restart } });
    await bridge.start();

    await until(
      () => plugin.degraded === undefined && plugin.state(SHELF)["brightness"] === restart,
    );
  }

  await Promise.all(begun);
  const levels = bridge.changesOf(LIGHT).map(({ dimming }) => JSON.stringify(dimming));
  assert.equal(new Set(levels).size, levels.length);
});
