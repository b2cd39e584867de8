import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDescriptions } from "../../../host/devices/parse-devices.ts";
import { Health } from "../../../plugin-sdk/health.ts";
import { LONGEST_MESSAGE } from "../../../plugin-sdk/rpc/lines.ts";
import { Announcements } from "../../../plugins/ha-discovery/announcements.ts";
import { DeviceStore } from "../../../plugins/ha-discovery/device-store.ts";
import { REASONS } from "../../../plugins/ha-discovery/health.ts";
import { collectedLog } from "../../helpers/collected-log.ts";

/** All that was announced, without a broker; `degraded` gives what people are told. */
function open() {
  let told: string | undefined;
  const log = collectedLog();
  const health = new Health(
    {
      status: { ok: () => void (told = undefined), degraded: (reason) => void (told = reason) },
      log,
    },
    REASONS,
  );
  health.startReporting();
  const clock = { now: () => 1e9, zone: "UTC" };
  const announcements = new Announcements({
    prefix: "homeassistant",
    health,
    environment: { clock, mayPublish: () => true },
  });
  const announce = (topic: string, config: object) =>
    announcements.take(`homeassistant/${topic}/config`, JSON.stringify(config), true);
  return { announcements, announce, degraded: () => told };
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

test("announcements beyond 10,000 are ignored and reported, and accepted when others are removed", () => {
  const { announcements, announce, degraded } = open();

  for (let at = 0; at <= 10_000; at++) announce(`switch/s${at}`, { cmd_t: "x", uniq_id: `${at}` });

  assert.equal([...announcements.components].length, 10_000);
  assert.match(degraded() ?? "", /^more announcements are on the broker than are taken/);
  announcements.take("homeassistant/switch/s0/config", "", true);
  assert.ok(announce("switch/s10000", { cmd_t: "x", uniq_id: "10000" }));
  assert.match(degraded() ?? "", /^1 message was ignored; .*: there are too many$/);
});

test("announcements fit into the handover message, including escaped quotes", () => {
  const { announcements, announce, degraded } = open();

  for (let at = 0; at < 200; at++) {
    announce(`select/s${at}`, { cmd_t: "x", uniq_id: `${at}`, ops: [`"`.repeat(20_000)] });
  }

  assert.ok(bytesOf(announcements.kept) < LONGEST_MESSAGE - 2 ** 20);
  assert.match(degraded() ?? "", /^more announcements/);
});

test("the number of components is limited, even in few announcements", () => {
  const { announcements, announce, degraded } = open();
  const button = { p: "button", cmd_t: "x" };

  for (let at = 0; at < 110; at++) {
    const cmps = Object.fromEntries(Array.from({ length: 200 }, (_, id) => [`b${id}`, button]));
    announce(`device/d${at}`, { dev: { ids: `${at}` }, o: {}, cmps });
  }

  assert.equal([...announcements.components].length, 20_000);
  assert.match(degraded() ?? "", /^more announcements/);
});

test("devices beyond the host's limit are skipped, and the others are published", () => {
  const { announcements, announce } = open();
  const home = new DeviceStore();
  for (let at = 0; at < 5_050; at++) announce(`switch/s${at}`, { cmd_t: "x", uniq_id: `${at}` });

  assert.equal(home.regroup(announcements.components), 50);

  assert.equal(parseDescriptions("ha", home.describe(false)).length, 5_000);
});

test("devices beyond the total size of descriptions are skipped", () => {
  const { announcements, announce } = open();
  const home = new DeviceStore();
  const long = "x".repeat(200);
  const dev = { ids: long, name: long, mf: long, mdl: long, sw: long, sn: long, sa: long };
  for (let at = 0; at < 25; at++) {
    const relay = (id: number) => ({ p: "switch", cmd_t: "x", uniq_id: `${at} ${id} ${long}` });
    const cmps = Object.fromEntries(Array.from({ length: 200 }, (_, id) => [`r${id}`, relay(id)]));
    announce(`device/d${at}`, { dev, o: {}, cmps });
  }

  assert.ok(home.regroup(announcements.components) > 0);

  assert.ok(bytesOf(home.describe(false)) < LONGEST_MESSAGE);
});

test("ten thousand components of one device make one device soon", () => {
  const { announcements, announce } = open();
  const home = new DeviceStore();
  for (let at = 0; at < 10_000; at++) {
    announce(`button/b${at}`, { cmd_t: "x", uniq_id: `${at}`, dev: { ids: "one" } });
  }
  const before = process.cpuUsage();

  home.regroup(announcements.components);

  const [device] = parseDescriptions("ha", home.describe(false));
  assert.equal(Object.keys(device?.extra?.capabilities ?? {}).length, 100);
  const usedMs = process.cpuUsage(before).user / 1_000;
  assert.ok(usedMs < 2_000, `${usedMs} ms`);
});

test("of one component announced on many topics the first is used, and the others are reported", () => {
  const { announcements, announce, degraded } = open();

  for (let at = 0; at < 10_000; at++) announce(`switch/s${at}`, { cmd_t: "x", uniq_id: "same" });

  assert.equal([...announcements.components].length, 1);
  assert.match(degraded() ?? "", /another has its unique_id$/);
});
