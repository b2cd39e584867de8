import assert from "node:assert/strict";
import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { arrived } from "../../../scripts/bench/shared/arrived.ts";
import { type FakeHueBridge, startHueBridge } from "../../fakes/hue-bridge.ts";
import { colorLight, device, home, idOf } from "../../fakes/hue-home.ts";
import { startHost, type TestHost } from "../../helpers/host.ts";
import { until } from "../../helpers/until.ts";
import {
  assertPaced,
  assertTakenOrTold,
  command,
  deviceList,
  json,
  listen,
  moduleView,
  pairBridge,
} from "./hue-host.ts";

const LIGHT = idOf("lamp-1-light-0");
const LONG = { withinMs: 15_000 };
const FIRST_MAC = "00:17:88:01:";
const SECOND_MAC = "00:17:88:02:";

interface TwoBridges {
  readonly host: TestHost;
  readonly first: FakeHueBridge;
  readonly second: FakeHueBridge;
  /** The number of each device, as the host stores it. */
  readonly numbers: Awaited<ReturnType<typeof numbersOf>>;
}

/** Two homes with the same ids and names; only their radios have other addresses. */
async function startBridges(t: TestContext): Promise<TwoBridges> {
  const resources = home().map((each) => {
    const mac = each["mac_address"];
    return typeof mac === "string"
      ? { ...each, mac_address: mac.replace(FIRST_MAC, SECOND_MAC) }
      : each;
  });
  const first = await startHueBridge(t, { id: "001788fffe000001" });
  const second = await startHueBridge(t, { id: "001788fffe000002", resources });
  const host = await startHost(t, { plugins: ["plugins/hue"] });
  const bridges = { [first.id]: first.options, [second.id]: second.options };
  const config = await host.api("/modules/hue/config", { method: "PATCH", json: { bridges } });
  assert.equal(config.status, 200, await config.text());
  await until(async () => (await deviceList(host)).length === 16, LONG);
  await until(async () => (await moduleView(host)).state === "active", LONG); // its devices are listed before
  return { host, first, second, numbers: await numbersOf(host.data) };
}

async function numbersOf(data: string) {
  const read = async (name: string) => {
    const { ids } = JSON.parse(await readFile(join(data, name), "utf8")) as { ids: object };
    return ids as Record<string, { nativeId: string }>;
  };
  return { devices: await read("devices.json"), scenes: await read("scene-numbers.json") };
}

/** Ids of the devices that a bridge is the one to have, by what their native ids begin with. */
function idsOf({ numbers, first }: TwoBridges, bridge: FakeHueBridge): string[] {
  const mac = bridge === first ? FIRST_MAC : SECOND_MAC;
  return Object.entries({ ...numbers.devices, ...numbers.scenes }).flatMap(([id, { nativeId }]) =>
    nativeId.startsWith(mac) || nativeId.startsWith(bridge.id) ? [id] : [],
  );
}

/** All devices have the numbers from the beginning, and no other number was given since. */
async function assertSameNumbers({ numbers }: TwoBridges, host: TestHost) {
  assert.deepEqual(await numbersOf(host.data), numbers);
  const listed = (await deviceList(host)).map(({ id }) => id);
  assert.deepEqual(listed.toSorted(), Object.keys(numbers.devices).toSorted());
}

/** Waits until so many devices of each bridge can be reached, and the module says why not all. */
async function settles(
  { host, ...both }: TwoBridges,
  { up, because }: { up: readonly number[]; because?: string },
) {
  await until(async () => {
    const all = await deviceList(host);
    const ids = all.filter(({ available }) => available).map(({ id }) => id);
    const { error } = await moduleView(host);
    const counts = [both.first, both.second].map(
      (bridge) => idsOf({ host, ...both }, bridge).filter((id) => ids.includes(id)).length,
    );
    return counts.join() === up.join() && error?.message === because;
  }, LONG);
}

test("a home with two Hue bridges with equal ids and names", async (t) => {
  const both = await startBridges(t);

  await t.test("has the devices and scenes of both, each served by its own", () => serves(both));
  await t.test("follows two sliders at once, each at the rate of its bridge", (part) =>
    slides(part, both),
  );
  await t.test("each bridge gets one group or scene command per second", () => sparesGroups(both));
  await t.test("a command is sent only to its own bridge", () => passesOn(both));
  await t.test("the unreachable bridge is named, and the other one works", () => losesOne(both));
  await t.test("left, renamed and returned devices are recognized", () => returns(both));
  await t.test("a reset bridge is paired again, and no device of the other one flaps", (part) =>
    pairsAgain(part, both),
  );
  await t.test("has the same numbers after a restart, with one of them unreachable", (part) =>
    restarts(part, both),
  );
});

async function serves(both: TwoBridges) {
  const { host, first, second } = both;
  const { scenes } = await json<{ scenes: { id: string }[] }>(host.api("/smart-home/scenes"));
  assert.equal(scenes.length, 4);

  for (const [bridge, other] of [
    [first, second],
    [second, first],
  ] as const) {
    other.asked.length = 0;
    const ids = idsOf(both, bridge);
    for (const id of ids.filter((each) => /:(light|plug|group):/.test(each))) {
      const answer = await until(async () => {
        const { status } = await command(host, id, { on: true });
        return status !== 409 && status; // groups take one a second
      }, LONG);
      assert.equal(answer, 200);
    }
    assert.deepEqual(
      other.asked.filter(({ method }) => method === "PUT"),
      [],
    );
  }
}

async function slides(t: TestContext, both: TwoBridges) {
  const { host, first, second } = both;
  const bridges = [first, second];
  const lamps = bridges.map((bridge) => idsOf(both, bridge).filter((id) => /:light:/.test(id)));
  for (const { asked } of bridges) asked.length = 0;

  const answers: Promise<Response>[] = [];
  const begunAt = performance.now();
  for (let change = 1; change <= 300; change++) {
    const value = { brightness: 1 + (change % 99) };
    for (const own of lamps) answers.push(command(host, own[change % 2] ?? "", value));
    await delay(Math.max(0, begunAt + change * 10 - performance.now()));
  }
  const last = async (own: readonly string[]) => {
    const answer = await command(host, own[0] ?? "", { brightness: 77 });
    await assertTakenOrTold(answer);
    return answer.status === 200;
  };
  await arrived(host.url);
  await Promise.all(lamps.map((own) => until(() => last(own), LONG)));
  for (const answer of await Promise.all(answers)) await assertTakenOrTold(answer);

  for (const [at, bridge] of bridges.entries()) {
    const { sent, tookMs } = assertPaced(bridge);
    t.diagnostic(`${sent} changes in ${Math.round(tookMs)} ms`);
    assert.deepEqual(bridge.changesOf(LIGHT).at(-1)?.["dimming"], { brightness: 77 });
    const shown = (await deviceList(host)).find(({ id }) => id === lamps[at]?.[0]);
    assert.equal(shown?.state["brightness"], 77);
  }
  const times = bridges.flatMap(({ asked }) => asked.map(({ at }) => at)).toSorted((a, b) => a - b);
  const most = Math.max(...times.map((from) => countBetween(times, from, from + 1_000)));
  assert.ok(most > 13, `both together had ${most} changes in a second; one rate for both gives 10`);
}

function countBetween(times: readonly number[], from: number, to: number): number {
  return times.filter((at) => at >= from && at < to).length;
}

async function sparesGroups(both: TwoBridges) {
  const { host } = both;
  const [ofFirst, ofSecond] = [both.first, both.second].map((bridge) => ({
    room: idsOf(both, bridge).find((id) => id.includes(":group:")) ?? "",
    scene: idsOf(both, bridge).find((id) => id.includes(":scene:")) ?? "",
  }));
  const activate = (scene = "") =>
    host.api(`/smart-home/scenes/${scene}/activate`, { method: "POST" });
  const rest = async () => (await command(host, ofFirst?.room ?? "", { on: true })).status === 200;
  await until(rest, LONG);

  const rooms = [ofFirst?.room, ofSecond?.room].map((id) => command(host, id ?? "", { on: true }));
  await delay(100); // the first one's turn is in a second, and the second one's was now
  const scenes = await Promise.all([activate(ofFirst?.scene), activate(ofSecond?.scene)]);

  assert.deepEqual(
    scenes.map(({ status }) => status),
    [409, 200],
  );
  assert.ok(Number(scenes[0]?.headers.get("retry-after")) >= 1);
  for (const answer of await Promise.all(rooms)) assert.equal(answer.status, 200);
  assert.deepEqual([both.first.throttled, both.second.throttled], [0, 0]);
}

async function passesOn(both: TwoBridges) {
  const { host, first, second } = both;
  const [lamp = "", other = ""] = [first, second].map(
    (bridge) => idsOf(both, bridge).find((id) => id.includes(":light:")) ?? "",
  );
  const ask = async (id: string) => {
    const answer = await command(host, id, { brightness: 30 });
    return [answer.status, answer.headers.get("retry-after")];
  };

  first.fault = "throttling";
  assert.deepEqual(await ask(lamp), [409, "1"]);
  first.fault = "busy";
  assert.deepEqual(await ask(lamp), [503, "2"]);
  assert.deepEqual(await ask(other), [200, null]);
  first.fault = undefined;
  assert.deepEqual(await ask(lamp), [200, null]);
}

async function losesOne(both: TwoBridges) {
  const { host, first, second } = both;
  const [lamp = "", other = ""] = [first, second].map(
    (bridge) => idsOf(both, bridge).find((id) => id.includes(":light:")) ?? "",
  );

  await second.stop();
  const isAway = {
    up: [8, 0],
    because: `bridge ${second.id}: nothing listens there: is it on, and is that its address?`,
  };
  await settles(both, isAway);
  const answers = [
    await command(host, lamp, { on: false }),
    await command(host, other, { on: false }),
  ];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 503],
  );

  await appendFile(join(host.plugins, "hue/index.ts"), "\nexport const another = 1;\n");
  await until(async () => (await moduleView(host)).generation === 2, LONG);
  await settles(both, isAway);
  await assertSameNumbers(both, host);

  await second.start();
  await settles(both, { up: [8, 8] });
}

async function returns(both: TwoBridges) {
  const { host, second } = both;
  const id = idsOf(both, second).find((each) => each.includes(":light:")) ?? "";
  const name = async () => (await deviceList(host)).find((each) => each.id === id)?.name;

  second.remove(idOf("lamp-1"), LIGHT, idOf("lamp-1-radio"));
  await until(async () => (await name()) === undefined);
  const mac = `${SECOND_MAC}02:03:04:01`;
  second.add(...device({ id: "lamp-7", name: "Window", mac, services: [colorLight()] }));
  await until(async () => (await name()) === "Window");
  second.change(idOf("lamp-7"), { metadata: { name: "Desk" } });
  await until(async () => (await name()) === "Desk");

  assert.equal((await command(host, id, { on: true })).status, 200);
  assert.equal(second.changesOf(idOf("lamp-7-light-0")).length, 1);
  await assertSameNumbers(both, host);
}

async function pairsAgain(t: TestContext, both: TwoBridges) {
  const { host, first, second } = both;
  const heard = await listen(t, host);
  const before = second.fingerprint;

  await second.reset();
  const { error } = await until(async () => {
    const view = await moduleView(host);
    return view.error?.message.includes("certificate") && view;
  }, LONG);
  for (const part of [second.id, "its certificate has changed", before, "pair it again"]) {
    assert.ok(error?.message.includes(part), error?.message);
  }
  await pairBridge(host, second);
  await settles(both, { up: [8, 8] });

  const id = idsOf(both, second).find((each) => each.includes(":plug:")) ?? "";
  assert.equal((await command(host, id, { on: true })).status, 200);
  const flapped = heard.filter(({ topic, device: seen }) => {
    const isGone = /^device\.(added|removed)$/.test(topic) || seen?.available === false;
    return isGone && idsOf(both, first).includes(seen?.id ?? "");
  });
  assert.deepEqual(flapped, []);
  await assertSameNumbers(both, host);
}

async function restarts(t: TestContext, both: TwoBridges) {
  await both.host.stop();
  await both.first.stop();

  const host = await startHost(t, { plugins: ["plugins/hue"], data: both.host.data });
  const because = `bridge ${both.first.id}: nothing listens there: is it on, and is that its address?`;
  await settles({ ...both, host }, { up: [0, 8], because });
  await assertSameNumbers(both, host);

  await both.first.start();
  await settles({ ...both, host }, { up: [8, 8] });
  await assertSameNumbers(both, host);
}
