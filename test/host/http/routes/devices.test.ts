import assert from "node:assert/strict";
import { test } from "node:test";
import { Device } from "@mantel/plugin-sdk/device";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { LivePictures } from "../../../../host/devices/live-pictures.ts";
import { causeOf } from "../../../../host/http/cause-of.ts";
import { faultsOf } from "../../../../host/validate.ts";
import { until } from "../../../helpers/until.ts";
import { json, serveApp } from "../serve-app.ts";

const COMMAND = "/smart-home/devices/demo:light:1/command";

test("the list is filtered by bridge, kind and room, and has all bridges", async (t) => {
  const { api } = await serveApp(t);
  const count = async (query: string) => {
    const response = await api("read", `/smart-home/devices${query}`);
    return ((await response.json()) as { devices: object[] }).devices.length;
  };

  const counts = [
    await count(""),
    await count("?kind=light&bridge=demo"),
    await count("?kind=sensor"),
    await count("?bridge=none"),
    await count("?room=Kitchen"),
  ];
  const unknownKind = await api("read", "/smart-home/devices?kind=lamp");

  assert.deepEqual(counts, [1, 1, 0, 0, 0]);
  const { errors } = (await unknownKind.json()) as { errors: { pointer: string }[] };
  assert.deepEqual([unknownKind.status, errors[0]?.pointer], [422, "/kind"]);
});

test("a live picture is sent as parts, each with its length", async (t) => {
  const left: AbortSignal[] = [];
  const livePictures: Pick<LivePictures, "watch"> = {
    async watch(id, { owner, gone }) {
      left.push(gone);
      return (async function* () {
        yield { type: "image/jpeg", bytes: Buffer.from(`${id} for`) } as const;
        yield { type: "image/png", bytes: Buffer.from(owner) } as const;
      })();
    },
  };
  const { api } = await serveApp(t, { livePictures });

  const answer = await api("read", "/smart-home/devices/demo:camera:1/frames");

  assert.equal(answer.headers.get("content-type"), "multipart/x-mixed-replace; boundary=frame");
  assert.equal(
    await answer.text(),
    "--frame\r\nContent-Type: image/jpeg\r\nContent-Length: 17\r\n\r\ndemo:camera:1 for\r\n" +
      "--frame\r\nContent-Type: image/png\r\nContent-Length: 4\r\n\r\nread\r\n",
  );
  await until(() => left[0]?.aborted === true);
});

test("an offer of a video is checked and answered", async (t) => {
  const livePictures: Pick<LivePictures, "answer"> = {
    answer: async (id, offer) => (offer === "long" ? "x".repeat(50_001) : `${id}: ${offer}`),
  };
  const { api } = await serveApp(t, { livePictures });
  const connect = (body: unknown, path = "/smart-home/devices/demo:camera:1/video") =>
    api("read", path, json("POST", body));

  const answered = await connect({ offer: "v=0" });
  assert.deepEqual(
    [answered.status, await answered.json()],
    [200, { answer: "demo:camera:1: v=0" }],
  );
  const statuses = [];
  for (const body of [{}, { offer: "" }, { offer: "x".repeat(50_001) }, { offer: "v", to: "x" }]) {
    statuses.push((await connect(body)).status);
  }
  assert.deepEqual(statuses, [422, 422, 422, 422]);
  assert.equal((await connect({ offer: "long" })).status, 404);
});

test("a device without live pictures is told apart from an unknown one", async (t) => {
  const { api } = await serveApp(t);
  const lamp = await api("read", "/smart-home/devices/demo:light:1/frames");
  const unknown = await api("read", "/smart-home/devices/demo:light:9/frames");
  const offered = await api(
    "read",
    "/smart-home/devices/demo:light:1/video",
    json("POST", { offer: "v=0" }),
  );

  const codes = await Promise.all(
    [lamp, unknown, offered].map(async (each) => ((await each.json()) as { code: string }).code),
  );
  assert.deepEqual(codes, ["not_found", "device_unknown", "not_found"]);
});

test("a command is answered when the bridge has confirmed it", async (t) => {
  const { api, commands } = await serveApp(t);

  const response = await api("control", COMMAND, json("POST", { on: true, brightness: 62 }));

  const { status, applied, deviceId } = (await response.json()) as Record<string, unknown>;
  assert.equal(response.status, 200);
  assert.deepEqual(
    { status, applied, deviceId },
    {
      status: "applied",
      applied: { on: true, brightness: 62 },
      deviceId: "demo:light:1",
    },
  );
  assert.deepEqual(commands, [{ on: true, brightness: 62 }]);
});

test("a command names its cause, and so do the changes that follow", async (t) => {
  const startedAt = Date.now();
  const { api, bus, tokens } = await serveApp(t);
  const causes: unknown[] = [];
  bus.on(({ topic, data }) => {
    if (topic === "device.state") causes.push(data.cause);
  });

  const response = await api("control", COMMAND, json("POST", { on: true }));

  const { cause } = (await response.json()) as { cause: { at: string } };
  const [issued] = tokens.list();
  const { at, ...link } = cause;
  assert.deepEqual(link, { kind: "token", id: issued?.jti, name: "control" });
  assert.ok(Date.parse(at) >= startedAt, "the instant of the request");
  assert.deepEqual(causes[0], cause);
});

test("a device has the cause of the last change of its state", async (t) => {
  const { api, parts } = await serveApp(t);
  const changedBy = async () => {
    const device = (await (await api("read", "/smart-home/devices/demo:light:1")).json()) as Device;
    assert.deepEqual(faultsOf(Device, device), []);
    return (device as Device & { changedBy: { kind: string; name: string } | null }).changedBy;
  };
  assert.equal(await changedBy(), null);

  const bridge = parts.commands;
  const send = bridge.send.bind(bridge);
  t.mock.method(bridge, "send", (...args: Parameters<typeof send>) => {
    const sent = send(...args);
    void parts.devices.update("demo", [{ nativeId: "lamp", state: { on: true } }]);
    return sent;
  });
  await api("control", COMMAND, json("POST", { on: true }));
  const commanded = await changedBy();
  assert.deepEqual([commanded?.kind, commanded?.name], ["token", "control"]);

  await parts.devices.adjust("demo:light:1", { name: "Reading lamp" });
  assert.deepEqual(await changedBy(), commanded);
  await parts.devices.update("demo", [{ nativeId: "lamp", state: { brightness: 7 } }]);
  assert.equal((await changedBy())?.kind, "device");
});

test("a display and a signed-in person are told apart from programs", () => {
  const holder = { sub: "Kitchen", jti: "7", scope: ["control"] } as const;

  const kinds = [{}, { session: true }, { session: true, display: true }].map(
    (kind) => causeOf({ ...holder, ...kind }).kind,
  );

  assert.deepEqual(kinds, ["token", "person", "display"]);
});

test("a client that prefers not to wait gets 202, and its command is executed", async (t) => {
  const { api, commands } = await serveApp(t);
  const headers = { prefer: "handling=lenient, respond-async" };

  const response = await api("control", COMMAND, json("POST", { on: true }, headers));

  const { status } = (await response.json()) as { status: string };
  assert.deepEqual([response.status, status], [202, "accepted"]);
  assert.equal(response.headers.get("preference-applied"), "respond-async");
  await until(() => commands.length === 1);
});

test("a rate-limited bridge gives 409 with whole seconds in Retry-After", async (t) => {
  const send = () => {
    throw new MantelError("bridge_rate_limited", "demo takes no more", { retryAfterMs: 1_200 });
  };
  const { api } = await serveApp(t, { commands: { send } });

  const response = await api("control", COMMAND, json("POST", { on: true }));

  const { code, retryAfterMs } = (await response.json()) as Record<string, unknown>;
  assert.deepEqual([response.status, code, retryAfterMs], [409, "bridge_rate_limited", 1_200]);
  assert.equal(response.headers.get("retry-after"), "2");
});

test("a bridge that refuses without a retry time is called again after a second", async (t) => {
  const send = () => {
    throw new MantelError("bridge_rate_limited", "the hub is busy");
  };
  const { api } = await serveApp(t, { commands: { send } });

  const response = await api("control", COMMAND, json("POST", { on: true }));

  const { retryAfterMs } = (await response.json()) as Record<string, unknown>;
  assert.deepEqual([response.headers.get("retry-after"), retryAfterMs], ["1", 1_000]);
});

test("a 503 answer has a Retry-After header", async (t) => {
  const send = () => {
    throw new MantelError("bridge_down", "demo is down");
  };
  const { api } = await serveApp(t, { commands: { send } });

  const response = await api("control", COMMAND, json("POST", { on: true }));

  assert.deepEqual([response.status, response.headers.get("retry-after")], [503, "5"]);
});

test("only an admin can name a device", async (t) => {
  const { api } = await serveApp(t);
  const path = "/smart-home/devices/demo:light:1";

  const refused = await api("edit", path, json("PATCH", { name: "Mine" }));
  const wrong = await api("admin", path, json("PATCH", { name: "", colour: 1 }));
  const named = await api("admin", path, json("PATCH", { name: "Mine", hidden: true }));
  const there = await api("admin", path, { method: "DELETE" });

  const { name, hidden } = (await named.json()) as { name: string; hidden: boolean };
  assert.deepEqual([refused.status, wrong.status, named.status], [403, 422, 200]);
  assert.deepEqual([name, hidden], ["Mine", true]);
  assert.deepEqual(
    [there.status, ((await there.json()) as { code: string }).code],
    [409, "device_present"],
  );
});

test("the picture of a device has an ETag, and its type cannot be guessed to be another", async (t) => {
  const picture = { type: "image/png", bytes: Buffer.from("picture"), etag: '"a1"' } as const;
  const { api } = await serveApp(t, { images: { read: async () => picture } });
  const path = "/smart-home/devices/demo:light:1/image";

  const first = await api("read", path);
  const again = await api("read", path, { headers: { "if-none-match": '"a1"' } });

  const header = (name: string) => first.headers.get(name);
  assert.equal(await first.text(), "picture");
  assert.deepEqual(
    [first.status, header("content-type"), header("etag")],
    [200, "image/png", '"a1"'],
  );
  assert.equal(header("cache-control"), "private, no-cache");
  assert.equal(header("x-content-type-options"), "nosniff");
  assert.deepEqual([again.status, await again.text()], [304, ""]);
});

test("a device without a picture is 404, and one whose bridge is down 503", async (t) => {
  const read = () => {
    throw new MantelError("bridge_down", "demo is down", { retryAfterMs: 2_000 });
  };
  const { api } = await serveApp(t);
  const down = await serveApp(t, { images: { read } });
  const path = "/smart-home/devices/demo:light:1/image";

  const none = await api("read", path);
  const unreachable = await down.api("read", path);

  assert.deepEqual(
    [none.status, ((await none.json()) as { code: string }).code],
    [404, "not_found"],
  );
  assert.deepEqual([unreachable.status, unreachable.headers.get("retry-after")], [503, "2"]);
  assert.equal((await api(null, path)).status, 401);
});
