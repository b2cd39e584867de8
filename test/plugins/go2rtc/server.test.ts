import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startPlugin, testOptions } from "@mantel/plugin-sdk/testing";
import plugin from "../../../plugins/go2rtc/index.ts";
import { GREEN_JPEG, RED_JPEG, startCamera } from "../../fakes/camera.ts";
import { startGo2rtc, withoutGo2rtc } from "../../helpers/go2rtc.ts";
import { watchResources } from "../../helpers/resources.ts";
import { until } from "../../helpers/until.ts";

after(watchResources());

test(
  "the cameras of a server are devices with a picture, seen live",
  { skip: withoutGo2rtc },
  async (t) => {
    const camera = await startCamera(t);
    const server = await startGo2rtc(t, {
      streams: { front_door: camera.url, gone: "http://127.0.0.1:9/video" },
    });
    assert.equal(
      await testOptions(plugin, { config: { url: server.url } }),
      "go2rtc answers, with 2 cameras",
    );
    const started = await startPlugin(plugin, { config: { url: server.url } });
    t.after(() => started.stop());

    await until(() => started.devices.size === 2);
    const front = started.devices.get("front_door");
    assert.deepEqual(
      [front?.nativeId, front?.name, front?.kind, front?.image, front?.live, front?.available],
      ["front_door", "Front door", "camera", true, ["video", "frames"], true],
    );

    assert.deepEqual((await started.image("front_door"))?.bytes, GREEN_JPEG);
    assert.equal(await started.image("gone"), undefined);

    const first = await started.nextFrame("front_door");
    assert.deepEqual(first?.bytes, GREEN_JPEG);
    camera.picture = RED_JPEG;
    let seen = first?.number;
    await until(async () => {
      const next = await started.nextFrame("front_door", seen);
      seen = next?.number ?? seen;
      return next?.bytes.equals(RED_JPEG);
    });
  },
);

test("nobody watches a camera whose viewers have gone", { skip: withoutGo2rtc }, async (t) => {
  const camera = await startCamera(t);
  const server = await startGo2rtc(t, { streams: { front: camera.url } });
  const started = await startPlugin(plugin, { config: { url: server.url } });
  t.after(() => started.stop());
  await until(() => started.devices.size === 1);

  await started.nextFrame("front");
  assert.equal(camera.viewers, 1);
  await started.stop();

  await until(() => camera.viewers === 0, { withinMs: 20_000 });
});

test("a server with an account refuses a wrong one", { skip: withoutGo2rtc }, async (t) => {
  const account = { user: "home", password: "right horse: ä" };
  const server = await startGo2rtc(t, { streams: { front: "" }, account });
  const check = (config: object) => testOptions(plugin, { config: { url: server.url, ...config } });

  assert.equal(await check(account), "go2rtc answers, with 1 camera");
  for (const wrong of [{}, { ...account, password: "wrong" }, { user: "home" }]) {
    await assert.rejects(check(wrong), { message: "go2rtc refuses the user name or password" });
  }
});

test("a server that goes and comes back", { skip: withoutGo2rtc }, async (t) => {
  const server = await startGo2rtc(t, { streams: { front: "" } });
  const started = await startPlugin(plugin, { config: { url: server.url } });
  t.after(() => started.stop());
  await until(() => started.devices.get("front")?.available === true);

  await server.stop();
  await assert.rejects(started.image("front"), { code: "bridge_down" });
  await until(() => started.devices.get("front")?.available === false);
  assert.match(started.degraded ?? "", /could not read the list of cameras from http/);

  await server.start();
  await until(() => started.devices.get("front")?.available === true);
  assert.equal(started.degraded, undefined);
});

test("an offer that is not one is refused", { skip: withoutGo2rtc }, async (t) => {
  const server = await startGo2rtc(t, { streams: { front: "" } });
  const started = await startPlugin(plugin, { config: { url: server.url } });
  t.after(() => started.stop());

  await assert.rejects(started.video("front", "v=0"), {
    code: "not_found",
    message: /answers 500/,
  });
  await assert.rejects(started.video("back", "v=0"), { code: "not_found", message: /answers 404/ });
});
