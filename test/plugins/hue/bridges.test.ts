import assert from "node:assert/strict";
import { test } from "node:test";
import { startHueBridge } from "../../fakes/hue-bridge.ts";
import { home, idOf } from "../../fakes/hue-home.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { watchResources } from "../../helpers/resources.ts";
import { until } from "../../helpers/until.ts";
import { DESK, SHELF, startHue, startOver } from "./start-hue.ts";

test("two bridges form one home, and a moved light belongs to the bridge that reaches it", async (t) => {
  onTestEnd(t, watchResources());
  const first = await startHueBridge(t, { id: "001788fffe000001" });
  const names = ["lamp-2", "lamp-2-light-0", "lamp-2-radio"].map(idOf);
  const shelf = home().filter(({ id }) => names.includes(id));
  const resources = shelf.map((each) => ({ ...each, id: each.id }));
  const second = await startHueBridge(t, { id: "001788fffe000002", resources });
  second.change(idOf("lamp-2"), { metadata: { name: "Shelf at the second" } });
  first.change(idOf("lamp-2-radio"), { status: "disconnected" });
  const plugin = await startOver(t, [first, second]);
  await until(() => plugin.devices.get(SHELF)?.available === true);

  await plugin.command(SHELF, { on: true });
  assert.equal(plugin.devices.get(SHELF)?.name, "Shelf at the second");
  assert.equal(second.changesOf(idOf("lamp-2-light-0")).length, 1);

  await second.stop();
  await until(
    () =>
      plugin.degraded ===
      `bridge ${second.id}: nothing listens there: is it on, and is that its address?`,
  );
  await plugin.command(DESK, { on: true });
});

test("devices of several bridges beyond the limit are counted", async (t) => {
  onTestEnd(t, watchResources());
  const scene = (n: number) => ({ id: `scene-${n}`, type: "scene", metadata: { name: `${n}` } });
  const scenes = Array.from({ length: 500 }, (_, n) => scene(n));
  const ids = ["001788fffe000001", "001788fffe000002", "001788fffe000003"];
  const bridges = await Promise.all(
    ids.map((id) => startHueBridge(t, { id, resources: [...home(), ...scenes] })),
  );

  const plugin = await startOver(t, bridges);

  await until(() => plugin.degraded === "500 devices and scenes exceed the limit");
  assert.equal(plugin.scenes.length, 1_000);
});

test("a bridge with a new address is found again, verified by its certificate", async (t) => {
  const { plugin: before, bridge } = await startHue(t);
  const handedOver = await before.stop();
  const impostor = await startHueBridge(t);
  const moved = bridge.options;
  const elsewhere = { ...moved, address: "127.0.0.1:9" };
  let address = impostor.address;
  const find = () => Promise.resolve([{ id: bridge.id, address }]);

  const plugin = await startOver(t, [{ id: bridge.id, options: elsewhere }], { handedOver, find });
  await until(() => plugin.degraded?.includes("its certificate has changed"));
  address = bridge.address;
  await until(() => plugin.degraded === undefined);

  await plugin.command(DESK, { on: true });
  assert.equal(impostor.streams.size, 0);
});

test("a search of the network does not delay the end of the plugin", async (t) => {
  const { plugin: before, bridge } = await startHue(t);
  const handedOver = await before.stop();
  const searching = { times: 0 };
  const find = () => {
    searching.times++;
    return new Promise<never>(() => undefined);
  };
  const away = { ...bridge.options, address: "127.0.0.1:9" };
  const plugin = await startOver(t, [{ id: bridge.id, options: away }], { handedOver, find });
  await until(() => searching.times > 0);

  await plugin.stop();
});
