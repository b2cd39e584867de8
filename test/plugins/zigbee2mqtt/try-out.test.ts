import assert from "node:assert/strict";
import { after, test, type TestContext } from "node:test";
import { DisposeScope } from "@mantel/plugin-sdk/dispose";
import { tryOut } from "../../../plugins/zigbee2mqtt/try-out.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { freePort } from "../../helpers/free-port.ts";
import { startMosquitto } from "../../helpers/mosquitto.ts";
import { watchResources } from "../../helpers/resources.ts";
import { openFake, real } from "./start-bridge.ts";

after(watchResources());

function trial(t: TestContext, config: { topic: string; url: string; username?: string }) {
  const scope = new DisposeScope();
  t.after(() => scope.dispose());
  return tryOut({
    ...{
      id: "zigbee2mqtt",
      config,
      home: { locale: "en-GB", timeZone: "Europe/Berlin", pollSeconds: 30 },
    },
    log: collectedLog(),
    signal: new AbortController().signal,
    onDispose: scope.onDispose,
    call: async () => assert.fail("the options name a broker"),
    discover: { mdns: async () => [], ssdp: async () => [] },
  });
}

test("a test names the Zigbee2MQTT that it found", real, async (t) => {
  const { url } = await startMosquitto(t);
  openFake(t, url);

  assert.equal(await trial(t, { topic: "zigbee2mqtt", url }), "Zigbee2MQTT 2.14.0 with 7 devices");
});

test("a test reports that nothing publishes under the topic", real, async (t) => {
  const { url } = await startMosquitto(t);

  await assert.rejects(trial(t, { topic: "elsewhere", url }), {
    code: "bridge_down",
    message: "no Zigbee2MQTT publishes under elsewhere",
  });
});

test("a test reports why the broker cannot be reached", async (t) => {
  const port = await freePort();

  await assert.rejects(trial(t, { topic: "zigbee2mqtt", url: `mqtt://127.0.0.1:${port}` }), {
    code: "broker_down",
    message: `nothing listens at 127.0.0.1:${port}`,
  });
});
