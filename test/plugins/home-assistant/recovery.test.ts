import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { describe, test } from "node:test";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import plugin from "../../../plugins/home-assistant/index.ts";
import { DOMAINS } from "../../../plugins/home-assistant/options.ts";
import { furnish } from "../../fakes/home-assistant-entities.ts";
import type { Faults } from "../../fakes/home-assistant-faults.ts";
import { FakeHomeAssistant } from "../../fakes/home-assistant.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { until } from "../../helpers/until.ts";
import { startHome } from "./home.ts";

const AREAS = "config/area_registry/list";
/** The longest: a ping is sent after 10 s, waited for 5 s, and its loss is reported after 2 s. */
const LONG = { withinMs: 40_000 };

const CASES: readonly (readonly [what: string, faults: Faults, reason: RegExp])[] = [
  [
    "never tells its entities",
    { unanswered: "subscribe_entities" },
    /not report its entities: rest/,
  ],
  ["promises its entities and tells none", { noEntities: true }, /not report its entities: rest/],
  ["never tells its areas", { unanswered: AREAS }, /does not report its areas: restart it/],
  ["never tells its settings", { unanswered: "get_config" }, /not report its settings: rest/],
  ["tells half its areas", { broken: { type: AREAS, how: "truncated" } }, /sends invalid JSON/],
  ["breaks off its areas", { broken: { type: AREAS, how: "cut" } }, /went away: the connection/],
  [
    "hangs amid its areas",
    { broken: { type: AREAS, how: "stalled" } },
    /does not report its areas/,
  ],
  ["is slow with everything", { slowMs: 3_000 }, /does not report/],
  ["is hidden by a proxy", { status: 502 }, /it answers 502, and not as Home Assistant does/],
];

describe("a Home Assistant with faults", { concurrency: true }, () => {
  for (const [what, faults, reason] of CASES) {
    test(`a Home Assistant that ${what} is reported with this reason and is current after its recovery`, async (t) => {
      const { fake, bridge } = await startHome(t);
      const known = [...bridge.devices.keys()];

      Object.assign(fake.faults, faults);
      fake.drop();
      await until(() => reason.test(bridge.degraded ?? ""), LONG);
      assert.ok([...bridge.devices.values()].every(({ available }) => available === false));
      await assert.rejects(bridge.command("reg-sofa", { on: false }), { code: "bridge_down" });
      for (const name of Object.keys(faults)) delete fake.faults[name as keyof Faults];
      fake.change("light.sofa", { brightness: 255 });

      await until(() => bridge.degraded === undefined, LONG);
      assert.deepEqual([...bridge.devices.keys()], known);
      assert.equal(bridge.state("reg-sofa")["brightness"], 100);
      assert.ok([...bridge.devices.values()].every(({ available }) => available === true));
    });
  }

  test("a slow Home Assistant is current when it has sent everything", async (t) => {
    const { fake, bridge } = await startHome(t);
    fake.faults.slowMs = 3_000;

    fake.drop();
    await until(() => /does not report/.test(bridge.degraded ?? ""), LONG);

    await until(() => bridge.degraded === undefined, LONG);
    assert.ok([...bridge.devices.values()].every(({ available }) => available === true));
  });

  test("a Home Assistant that stops answering is detected", async (t) => {
    const { fake, bridge } = await startHome(t);
    fake.faults.unanswered = "ping";
    const { signIns } = fake;

    await until(() => fake.signIns > signIns, LONG);
    delete fake.faults.unanswered;
    fake.change("light.sofa", { brightness: 255 });

    await until(() => bridge.state("reg-sofa")["brightness"] === 100, LONG);
    assert.equal(bridge.degraded, undefined);
  });

  test("a Home Assistant that sends no changes is connected again", async (t) => {
    const { fake, bridge } = await startHome(t);
    fake.faults.unanswered = AREAS;

    fake.areas.set("living", "Parlour");
    fake.announce("area_registry_updated");
    await until(() => /does not report its areas/.test(bridge.degraded ?? ""), LONG);
    delete fake.faults.unanswered;

    await until(() => bridge.devices.get("reg-sofa")?.room === "Parlour", LONG);
    await until(() => bridge.degraded === undefined, LONG);
  });

  test("an incomplete change ends the connection, and the next connection delivers it", async (t) => {
    const { fake, bridge } = await startHome(t);
    const { signIns } = fake;

    fake.entities.set("light.simple", { state: "on", attributes: {} });
    fake.sendRaw('{"type":"event","id":2,"event":{"c":{"light.simple":{"+":{"s":"o');

    await until(() => bridge.state("reg-cellar")["on"] === true);
    assert.equal(fake.signIns, signIns + 1);
    assert.equal(bridge.degraded, undefined);
  });

  test("answers with wrong types lose only their own data", async (t) => {
    const fake = await FakeHomeAssistant.start(t);
    furnish(fake);
    fake.faults.wrong = {
      get_config: "RUNNING",
      [AREAS]: { living: "Living room" },
      "config/device_registry/list": [null, 7, [], { id: 5 }, { id: "dev-1", area_id: {} }],
      "config/entity_registry/list": null,
    };
    const config = { url: fake.url, token: fake.token, domains: [...DOMAINS] };

    const bridge = await startPlugin(plugin, { config });
    onTestEnd(t, async () => void (await bridge.stop()));

    await until(() => bridge.devices.get("light.sofa"));
    assert.equal(bridge.degraded, undefined);
    assert.equal(bridge.devices.get("light.sofa")?.room, undefined);
    await bridge.command("light.sofa", { on: false });
  });

  test("a server that accepts connections but does not speak HTTP is disconnected", async (t) => {
    const deaf = createServer((socket) => void socket.on("error", () => undefined));
    await once(deaf.listen(0, "127.0.0.1"), "listening");
    onTestEnd(t, async () => void deaf.close());
    const { port } = deaf.address() as AddressInfo;
    const config = { url: `http://127.0.0.1:${port}`, token: "x", domains: [...DOMAINS] };

    const bridge = await startPlugin(plugin, { config });
    onTestEnd(t, async () => void (await bridge.stop()));

    await until(() => bridge.degraded, LONG);
    assert.match(bridge.degraded ?? "", /it does not finish the sign-in/);
  });
});
