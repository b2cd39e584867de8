import { test } from "node:test";
import { assertConforms } from "@mantel/plugin-sdk/conformance";
import { FakeTasmota } from "../../fakes/tasmota.ts";
import { assertListed } from "../../helpers/conforming-devices.ts";
import { until } from "../../helpers/until.ts";
import { gadgets } from "./gadgets.ts";
import { openPeer, real, startHome } from "./home.ts";

const SILENT = "a silent siren takes it only when it is turned on";

test("devices of Home Assistant's discovery conform", real, async (t) => {
  const { peer, bridge } = await startHome(t);
  const all = gadgets(peer);
  for (const gadget of all) await gadget.announce();
  await until(() => all.every(({ nativeId }) => bridge.devices.get(nativeId)?.available));
  const byId = new Map(all.map((gadget) => [gadget.nativeId, gadget]));

  const tested = await assertConforms({
    plugin: bridge,
    codes: { "alarm_control_panel:house": "1234", "lock:safe": "1234" },
    stall(nativeId) {
      const gadget = byId.get(nativeId);
      if (!gadget) return undefined;
      gadget.isStalled = true;
      return () => gadget.follow();
    },
    setReachable: (nativeId, isReachable) => byId.get(nativeId)?.setOnline(isReachable),
    untold: {
      "siren:hall tone": SILENT,
      "siren:hall volume": SILENT,
      "siren:hall duration": SILENT,
    },
  });
  await assertListed("ha-discovery", tested);
});

test("Tasmota devices conform", real, async (t) => {
  const { broker, bridge } = await startHome(t);
  const fakes = new Map<string, FakeTasmota>();
  for (const [index, config] of [
    { rl: [1, 1] },
    { rl: [2], lt_st: 5 },
    { rl: [2], lt_st: 1 },
    { if: 1, rl: [2, 0, 0, 0] },
    { rl: [3, 3], sht: [[-90, 90, 10]] },
  ].entries()) {
    const peer = await openPeer(t, broker.url);
    const [mac, topic] = [`00000000000${index}`, `thing-${index}`];
    const fake = new FakeTasmota(
      ({ topic: to, payload, retain = false }) => {
        peer.tell(to, payload, retain).catch(() => undefined); // the broker may be away
      },
      { ...config, mac, t: topic },
    );
    await peer.hear(`cmnd/${topic}/+`, (payload, to) => fake.receive(to, payload));
    fake.announce();
    fakes.set(mac, fake);
  }
  await until(() => bridge.devices.size === 5);
  await until(() => [...bridge.devices.values()].every(({ available }) => available));
  const fakeOf = (nativeId: string) => fakes.get(/tasmota-(\w+)-/.exec(nativeId)?.[1] ?? "");

  const tested = await assertConforms({
    plugin: bridge,
    stall(nativeId) {
      const fake = fakeOf(nativeId);
      if (!fake) return undefined;
      fake.isStalled = true;
      return () => fake.follow();
    },
    setReachable: (nativeId, isReachable) => fakeOf(nativeId)?.setOnline(isReachable),
    concurrency: 1,
  });
  await assertListed("tasmota", tested);
});
