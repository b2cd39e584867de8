import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Device, DeviceCommand } from "@mantel/plugin-sdk/widget";
import { Api, ApiError } from "../../../host/dashboard/api.ts";
import { Commands } from "../../../host/dashboard/commands.ts";
import { Store } from "../../../host/dashboard/store.ts";
import { deviceOf } from "../../helpers/device.ts";
import { mockAgain } from "../../helpers/mock-again.ts";

const LAMP = deviceOf({ number: 1 });
const OTHER = deviceOf({ number: 2 });
const CONFLICT = new ApiError(409, { code: "device_busy", detail: "The lamp is busy" });

test("a command is sent to its device with all of eight seconds, and its result has the new device", async (t) => {
  const { commands, host } = home(t);

  const sent = commands.send(LAMP.id, { on: true });
  const device = lampThat({ on: true });
  host.answer({ device });

  assert.deepEqual(await sent, { ok: true, device });
  assert.deepEqual(host.posted, [
    {
      path: "/smart-home/devices/demo%3Alight%3A1/command",
      body: { on: true },
      deadlineMs: 8_000,
    },
  ]);
});

test("the requested value is pending until the answer, which brings the state", async (t) => {
  const { commands, host, shown } = home(t);

  const sent = commands.send(LAMP.id, { on: true });
  const during = shown();
  host.answer({ device: lampThat({ on: true }) });
  await sent;

  assert.deepEqual(during, { state: { on: false }, pending: { on: true } });
  assert.deepEqual(shown(), { state: { on: true }, pending: {} });
});

test("while a command is sent, later ones become one with the last value of each field", async (t) => {
  const { commands, host } = home(t);
  const first = commands.send(LAMP.id, { on: true });
  const second = commands.send(LAMP.id, { brightness: 10 });
  const third = commands.send(LAMP.id, { brightness: 20, on: true });
  const before = host.bodies;

  host.answer({ device: LAMP });
  await first;
  host.answer({ device: LAMP });

  assert.equal(await second, await third);
  assert.deepEqual(before, [{ on: true }]);
  assert.deepEqual(host.bodies, [{ on: true }, { brightness: 20, on: true }]);
});

test("a drag is sent at a steady rate, shows each value at once and ends with the last", async (t) => {
  const { commands, host, shown, pass } = home(t);
  const first = commands.send(LAMP.id, { brightness: 10 });
  void commands.send(LAMP.id, { brightness: 20 });
  host.answer({ device: LAMP });
  await first;
  await pass(99);
  const last = commands.send(LAMP.id, { brightness: 35 });
  const before = [host.bodies, shown().pending];
  await pass(1);
  host.answer({ device: LAMP });

  assert.deepEqual(before, [[{ brightness: 10 }], { brightness: 35 }]);
  assert.equal((await last).ok, true);
  assert.deepEqual(host.bodies, [{ brightness: 10 }, { brightness: 35 }]);
});

test("the values of the sent and of the waiting command are pending together", async (t) => {
  const { commands, host, shown } = home(t);
  const first = commands.send(LAMP.id, { on: true, brightness: 10 });
  const second = commands.send(LAMP.id, { brightness: 20 });
  const both = shown().pending;

  host.answer({ device: LAMP });
  await first;
  const one = shown().pending;
  host.answer({ device: LAMP });
  await second;

  assert.deepEqual(both, { on: true, brightness: 20 });
  assert.deepEqual(one, { brightness: 20 });
  assert.deepEqual(shown().pending, {});
});

test("a waiting command is sent although the one before it failed", async (t) => {
  const { commands, host } = home(t);
  const first = commands.send(LAMP.id, { on: true });
  const second = commands.send(LAMP.id, { brightness: 20 });

  host.answer(new ApiError(400, { code: "invalid", detail: "no" }));
  const { ok } = await first;
  host.answer({ device: LAMP });

  assert.deepEqual([ok, (await second).ok], [false, true]);
});

test("commands to several devices do not wait for each other", (t) => {
  const { commands, host } = home(t);

  void commands.send(LAMP.id, { on: true });
  void commands.send(OTHER.id, { on: true });

  assert.equal(host.posted.length, 2);
});

test("a command behind an answered one does not wait", async (t) => {
  const { commands, host } = home(t);
  const first = commands.send(LAMP.id, { on: true });
  host.answer({ device: LAMP });
  await first;

  void commands.send(LAMP.id, { on: false });

  assert.deepEqual(host.bodies, [{ on: true }, { on: false }]);
});

test("a busy device is asked again after the time that the host says, or after a second", async (t) => {
  for (const [refusal, waitMs] of [
    [new ApiError(409, { retryAfterMs: 300 }), 300],
    [new ApiError(429, { retryAfterMs: 300 }), 300],
    [CONFLICT, 1_000],
  ] as const) {
    const { commands, host, pass } = home(t);
    const sent = commands.send(LAMP.id, { on: true });
    host.answer(refusal);

    await pass(waitMs - 1);
    const before = host.posted.length;
    await pass(1);
    host.answer({ device: LAMP });

    assert.deepEqual([before, host.posted.length], [1, 2]);
    assert.equal(host.posted[1]?.deadlineMs, 8_000 - waitMs);
    assert.equal((await sent).ok, true);
  }
});

test("a device that stays busy is given up within eight seconds, and its value is no longer pending", async (t) => {
  const { commands, host, pass, shown } = home(t);
  const sent = commands.send(LAMP.id, { on: true });
  for (let seconds = 0; seconds < 9; seconds++) {
    host.answer(CONFLICT);
    await pass(1_000);
  }

  assert.deepEqual(await sent, {
    ok: false,
    error: { code: "device_busy", message: "The lamp is busy" },
  });
  assert.equal(host.posted.length, 9);
  assert.deepEqual(shown(), { state: { on: false }, pending: {} });
});

test("a refusal for another reason is final, and named in the result", async (t) => {
  for (const [refusal, error] of [
    [
      new ApiError(400, { code: "invalid", detail: "no such field", retryAfterMs: 10 }),
      { code: "invalid", message: "no such field" },
    ],
    [new TypeError("broken"), { code: "internal", message: "broken" }],
    ["broken", { code: "internal", message: "broken" }],
  ] as const) {
    const { commands, host } = home(t);

    const sent = commands.send(LAMP.id, { on: true });
    host.answer(refusal);

    assert.deepEqual(await sent, { ok: false, error });
    assert.equal(host.posted.length, 1);
  }
});

test("each answer is reported, once its device is in the store", async (t) => {
  const { commands, host, answered } = home(t);
  const first = commands.send(LAMP.id, { on: true });
  host.answer({ device: lampThat({ on: true }) });
  await first;
  const second = commands.send(LAMP.id, { on: false });
  host.answer(new TypeError("broken"));
  await second;

  assert.deepEqual(answered, [
    { state: { on: true }, pending: {} },
    { state: { on: true }, pending: {} },
  ]);
});

test("a scene is activated by its id, and a refusal is a result", async (t) => {
  const { commands, host } = home(t);

  const done = commands.activateScene("demo:scene:1");
  host.answer(undefined);
  const failed = commands.activateScene("demo:scene:1");
  host.answer(new ApiError(404, { code: "not_found", detail: "There is no such scene" }));

  assert.deepEqual(await done, { ok: true });
  assert.deepEqual(await failed, {
    ok: false,
    error: { code: "not_found", message: "There is no such scene" },
  });
  assert.equal(host.posted[0]?.path, "/smart-home/scenes/demo%3Ascene%3A1/activate");
});

test("a lamp that was dragged to off comes back with the level from before the drag", async (t) => {
  const brightness = { type: "number", min: 0, max: 100, unit: "%" } as const;
  const lamp = deviceOf({
    number: 7,
    capabilities: { on: { type: "boolean" }, brightness },
    state: { on: true, brightness: 80 },
  });
  const { commands, host } = home(t, [lamp]);

  const first = commands.send(lamp.id, { brightness: 60 });
  host.answer({ device: { ...lamp, revision: 2, state: { on: true, brightness: 60 } } });
  await first;
  const off = commands.send(lamp.id, { brightness: 0 });
  host.answer({ device: { ...lamp, revision: 3, state: { on: false, brightness: 60 } } });
  await off;
  void commands.send(lamp.id, { on: true });

  assert.deepEqual(host.bodies, [
    { brightness: 60 },
    { brightness: 0 },
    { on: true, brightness: 80 },
  ]);
});

/** A home of two lamps, whose host answers when the test says so. */
function home(t: TestContext, devices = [LAMP, OTHER]) {
  let now = 0;
  t.mock.timers.reset();
  t.mock.timers.enable({ apis: ["setTimeout"] });
  mockAgain(t, performance, "now", () => now);
  const host = new SlowHost();
  const store = new Store();
  store.replaceDevices(devices);
  const shown = () => {
    const device = store.device(LAMP.id).value;
    return { state: device?.state, pending: device?.pending };
  };
  const answered: ReturnType<typeof shown>[] = [];
  const commands = new Commands(host, store, () => answered.push(shown()));
  const pass = async (ms: number): Promise<void> => {
    await setImmediate();
    now += ms;
    t.mock.timers.tick(ms);
    await setImmediate();
  };
  return { commands, host, shown, answered, pass };
}

class SlowHost extends Api {
  readonly posted: { path: string; body: unknown; deadlineMs: number | undefined }[] = [];
  #waiting: { resolve: (answer: unknown) => void; reject: (error: unknown) => void }[] = [];

  constructor() {
    super(() => undefined);
  }

  get bodies(): DeviceCommand[] {
    return this.posted.map(({ body }) => body as DeviceCommand);
  }

  override post<T>(path: string, body?: unknown, deadlineMs?: number): Promise<T> {
    this.posted.push({ path, body, deadlineMs });
    return new Promise<unknown>((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
    }) as Promise<T>;
  }

  /** Answers the request that waits longest. */
  answer(answer: unknown): void {
    const first = this.#waiting.shift();
    if (answer instanceof Error || typeof answer === "string") first?.reject(answer);
    else first?.resolve(answer);
  }
}

function lampThat(state: Device["state"]): Device {
  return { ...LAMP, revision: 2, state };
}
