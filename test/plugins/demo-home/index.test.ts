import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { faultsOfCommand } from "@mantel/plugin-sdk/capability";
import { Manifest } from "@mantel/plugin-sdk/manifest";
import { parseScenes } from "@mantel/plugin-sdk/parse-scenes";
import { startPlugin, type TestHostOptions } from "@mantel/plugin-sdk/testing";
import { parseDescriptions } from "../../../host/devices/parse-devices.ts";
import { faultsOf } from "../../../host/validate.ts";
import demoHome from "../../../plugins/demo-home/index.ts";
import manifest from "../../../plugins/demo-home/package.json" with { type: "json" };
import { watchResources } from "../../helpers/resources.ts";
import { until } from "../../helpers/until.ts";

async function startHome(t: TestContext, { tickSeconds = 60, ...options } = {}) {
  const assertClosed = watchResources();
  const home = await startPlugin(demoHome, {
    ...(options as TestHostOptions),
    config: { seed: 1, tickSeconds },
  });
  let stopping: Promise<unknown> | undefined;
  const stop = () => (stopping ??= home.stop());
  t.after(async () => {
    await stop();
    await assertClosed();
  });
  return { home, stop };
}

test("the host accepts the manifest, every device and every scene", async (t) => {
  const { home } = await startHome(t);

  assert.deepEqual(faultsOf(Manifest, manifest.mantel), []);
  assert.equal(parseDescriptions("demo-home", [...home.devices.values()]).length, 29);
  assert.equal(parseScenes("demo-home", home.scenes).length, 5);
});

test("every target of a scene is a valid command for its device", async (t) => {
  const { home } = await startHome(t);

  const faults = home.scenes.flatMap(({ targets = {} }) =>
    Object.entries(targets).flatMap(([nativeId, command]) =>
      faultsOfCommand(home.devices.get(nativeId)?.capabilities ?? {}, command),
    ),
  );

  assert.deepEqual(faults, []);
});

test("a command is confirmed after a radio delay, with the new state", async (t) => {
  const { home } = await startHome(t);
  const started = performance.now();

  await home.command("sofa-lamp", { on: true, brightness: 12.5 });

  const tookMs = performance.now() - started;
  assert.ok(tookMs >= 29, `it took ${tookMs} ms`);
  assert.equal(home.state("sofa-lamp")["brightness"], 12.5);
});

test("a scene sets all its devices", async (t) => {
  const { home } = await startHome(t);

  await home.activateScene("good-night");

  assert.equal(home.state("sofa-lamp")["on"], false);
  assert.equal(home.state("bedside")["brightness"], 15);
  assert.equal(home.state("blinds")["action"], "closing");
  await assert.rejects(home.activateScene("party"), { code: "scene_unknown" });
});

test("the simulation advances by itself, and values match the steps of their capabilities", async (t) => {
  const { home } = await startHome(t, { tickSeconds: 0.05 });
  await home.command("blinds", { position: 50 });

  await until(() => home.state("blinds")["action"] === "stopped");

  assert.equal(home.state("blinds")["position"], 50);
  const { power, energy } = home.state("energy");
  assert.equal(Number(power) % 10, 0);
  assert.equal(energy, 4812.37);
});

test("a reload keeps every value exactly", async (t) => {
  const first = await startHome(t, { tickSeconds: 0.05 });
  await first.home.command("sofa-lamp", { on: true, brightness: 33.3 });
  await first.home.command("blinds", { position: 90 });
  const handedOver = await first.stop();
  const before = new Map([...first.home.devices].map(([id, { state }]) => [id, state]));

  const second = await startHome(t, {
    handedOver: JSON.parse(JSON.stringify(handedOver)),
  } as object);
  const after = new Map([...second.home.devices].map(([id, { state }]) => [id, state]));

  assert.deepEqual(after, before);
  assert.deepEqual(await second.stop(), handedOver);
});

test("the camera shows the garden, which is lit while the terrace lights are on", async (t) => {
  const { home } = await startHome(t);

  const dark = await home.image("garden-camera");
  await home.command("terrace", { on: true });
  const lit = await home.image("garden-camera");

  assert.equal(home.devices.get("garden-camera")?.image, true);
  assert.equal(dark?.type, "image/png");
  assert.notDeepEqual(lit?.bytes, dark?.bytes);
  assert.equal(await home.image("sofa-lamp"), undefined);
  const cover = await home.image("speaker");
  await home.command("speaker", { next: true });
  const next = await home.image("speaker");
  assert.equal(next?.type, "image/png");
  assert.notDeepEqual(next?.bytes, cover?.bytes, "each track has a cover of its own");
});
