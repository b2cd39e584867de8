import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { startPlugin, testOptions } from "@mantel/plugin-sdk/testing";
import plugin from "../../../plugins/go2rtc/index.ts";
import { GREEN_JPEG } from "../../fakes/camera.ts";
import { until } from "../../helpers/until.ts";

/** The address of a server with these answers. */
async function serve(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Begins with the list of one camera, as go2rtc 1.9.14 gives it while the camera sends. */
const withList =
  (answer: RequestListener): RequestListener =>
  (request, response) => {
    if (request.url !== "/rtc/api/streams") return answer(request, response);
    const producer = { id: 1, format_name: "mpjpeg", receivers: [{ id: 2, codec: {} }] };
    response.end(JSON.stringify({ "side-door": { producers: [producer], consumers: [] } }));
  };

for (const [what, answer, reason] of [
  ["a page", "<html></html>", /is not a go2rtc server/],
  ["a list", "[]", /is not a go2rtc server/],
  ["too much", "x".repeat(4 * 2 ** 20 + 1), /it has more than 4194304 bytes/],
] as const) {
  test(`a server that answers with ${what} is refused`, async (t) => {
    const url = await serve(t, (_, response) => response.end(answer));

    await assert.rejects(testOptions(plugin, { config: { url } }), {
      code: "bridge_down",
      message: reason,
    });
  });
}

test("a redirect is not followed", async (t) => {
  const url = await serve(t, (_, response) =>
    response.writeHead(302, { location: "http://127.0.0.1:9/" }).end(),
  );

  await assert.rejects(testOptions(plugin, { config: { url } }), { code: "bridge_down" });
});

test("a camera without motion JPEG shows one picture after the other", async (t) => {
  const asked: (string | undefined)[] = [];
  const url = await serve(
    t,
    withList((request, response) => {
      asked.push(request.url);
      // go2rtc answers with nothing if it cannot make motion JPEG
      response.end(request.url?.startsWith("/rtc/api/frame.jpeg") ? GREEN_JPEG : undefined);
    }),
  );
  const started = await startPlugin(plugin, { config: { url: `${url}/rtc/` } });
  t.after(() => started.stop());
  await until(() => started.devices.size === 1);
  assert.equal(started.devices.get("side-door")?.name, "Side door");

  const first = await started.nextFrame("side-door");
  const second = await started.nextFrame("side-door", first?.number);

  assert.deepEqual([first?.bytes, second?.bytes], [GREEN_JPEG, GREEN_JPEG]);
  assert.deepEqual(asked, [
    "/rtc/api/stream.mjpeg?src=side-door",
    "/rtc/api/frame.jpeg?src=side-door",
    "/rtc/api/frame.jpeg?src=side-door",
  ]);
});

test("a live picture that breaks off, or is too long, says so", async (t) => {
  const head = "--frame\r\nContent-Type: image/jpeg\r\nContent-Length: ";
  let broken = true;
  const url = await serve(
    t,
    withList((_, response) => {
      response.writeHead(200, { "content-type": "multipart/x-mixed-replace; boundary=frame" });
      response.write(`${head}${broken ? 100 : 4 * 2 ** 20 + 1}\r\n\r\n`);
      if (broken) setTimeout(() => response.destroy(), 50);
    }),
  );
  const started = await startPlugin(plugin, { config: { url: `${url}/rtc` } });
  t.after(() => started.stop());

  await assert.rejects(started.nextFrame("side-door"), {
    code: "bridge_down",
    message: /^could not read the live picture of side-door from http/,
  });
  broken = false;
  await assert.rejects(started.nextFrame("side-door"), {
    code: "not_found",
    message: /^the live picture of side-door cannot be read: a picture has more than/,
  });
});

test("a picture that is none, and one that is too long", async (t) => {
  let body: Buffer | string = "<svg/>";
  const url = await serve(
    t,
    withList((_, response) => response.end(body)),
  );
  const started = await startPlugin(plugin, { config: { url: `${url}/rtc` } });
  t.after(() => started.stop());

  assert.equal(await started.image("side-door"), undefined);
  await assert.rejects(started.nextFrame("side-door"), { code: "not_found" });
  body = Buffer.alloc(4 * 2 ** 20 + 1);
  await assert.rejects(started.image("side-door"), { code: "bridge_down" });
});

test("an offer is sent as it is, and its answer returned", async (t) => {
  const offers: string[] = [];
  const url = await serve(
    t,
    withList((request, response) => {
      void text(request).then((offer) => {
        offers.push(`${request.method} ${request.headers["content-type"]} ${offer}`);
        response.writeHead(201, { "content-type": "application/sdp" }).end("v=0\r\nanswer");
      });
    }),
  );
  const started = await startPlugin(plugin, { config: { url: `${url}/rtc` } });
  t.after(() => started.stop());

  assert.equal(await started.video("side-door", "v=0\r\noffer"), "v=0\r\nanswer");
  assert.deepEqual(offers, ["POST application/sdp v=0\r\noffer"]);
});

test("cameras that were known before are shown while the server is away", async (t) => {
  const started = await startPlugin(plugin, {
    config: { url: "http://127.0.0.1:9" },
    handedOver: { names: ["front"] },
  });
  t.after(() => started.stop());

  await until(() => started.devices.get("front")?.available === false);
  assert.match(started.degraded ?? "", /^could not read the list of cameras from http/);
});
