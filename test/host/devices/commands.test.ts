import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { DeviceCommand } from "@mantel/plugin-sdk/device";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { BridgeLimits } from "../../../host/devices/bridge.ts";
import { Commands } from "../../../host/devices/commands.ts";
import { until } from "../../helpers/until.ts";
import { createBridge, lamp, openDevices } from "./open-devices.ts";

const ID = "demo:light:1";

async function openCommands(t: TestContext, limits: Partial<BridgeLimits> = {}, lamps = ["a"]) {
  const bridge = createBridge("b", "demo", limits);
  const home = await openDevices(t, [bridge]);
  await home.devices.publish(
    "b",
    lamps.map((nativeId) => lamp(nativeId)),
  );
  home.heard();
  return { ...home, bridge, commands: new Commands(home) };
}

/** Commands stay with the bridge until the test lets them go. */
function hold(bridge: ReturnType<typeof createBridge>) {
  const held: { resolve: () => void; reject: (error: Error) => void }[] = [];
  bridge.answer = () =>
    new Promise((resolve, reject) => {
      held.push({ resolve, reject });
    });
  return held;
}

test("a command reaches the bridge under the device's native id and is answered when it confirms", async (t) => {
  const { bridge, commands, devices } = await openCommands(t);
  bridge.answer = async (nativeId, command) => {
    await devices.update("b", [{ nativeId, state: command }]);
  };

  const { commandId, done } = commands.send(ID, { brightness: 62 });
  const outcome = await done;

  assert.deepEqual(bridge.asked, [
    { nativeId: "a", command: { on: true, brightness: 62 }, commandId },
  ]);
  assert.deepEqual(outcome, {
    commandId,
    deviceId: ID,
    status: "applied",
    applied: { on: true, brightness: 62 },
    device: devices.get(ID),
  });
  assert.deepEqual(outcome.device.state, { on: true, brightness: 62 });
});

test("the answer has the number that the device reports instead of the requested one", async (t) => {
  const { bridge, commands, devices } = await openCommands(t);
  bridge.answer = () => devices.update("b", [{ nativeId: "a", state: { brightness: 47 } }]);

  const { applied, device } = await commands.send(ID, { brightness: 50 }).done;

  assert.deepEqual(applied, { on: true, brightness: 47 });
  assert.equal(device.state["brightness"], 47);
});

test("the answer has the requested number if the device has not reported another since", async (t) => {
  const { commands } = await openCommands(t);

  const { applied, device } = await commands.send(ID, { brightness: 50 }).done;

  assert.deepEqual(applied, { on: true, brightness: 50 });
  assert.equal(device.state["brightness"], 40);
});

test("brightness 0 turns a light off and keeps its level", async (t) => {
  const { bridge, commands, devices } = await openCommands(t);
  bridge.answer = async (nativeId, command) => {
    await devices.update("b", [{ nativeId, state: command }]);
  };
  await commands.send(ID, { on: true }).done;

  const { applied, device } = await commands.send(ID, { brightness: 0 }).done;

  assert.deepEqual(applied, { on: false });
  assert.deepEqual(device.state, { on: false, brightness: 40 });
});

test("a requested value is pending only until the bridge confirms it", async (t) => {
  const { bridge, commands, devices, heard } = await openCommands(t);
  const held = hold(bridge);

  const { done } = commands.send(ID, { brightness: 7 });
  const during = devices.get(ID).pending;
  held[0]?.resolve();
  const { device } = await done;

  assert.deepEqual(during, { on: true, brightness: 7 });
  assert.deepEqual(device.pending, {});
  assert.deepEqual(heard(), [`device.state ${ID}`, `device.state ${ID}`]);
});

test("commands to a busy device are merged into one with the latest values", async (t) => {
  const { bridge, commands } = await openCommands(t);
  const held = hold(bridge);
  const first = commands.send(ID, { brightness: 1 });
  const overridden = commands.send(ID, { brightness: 2 });
  const inPart = commands.send(ID, { brightness: 3, effect: "candle" });
  const last = commands.send(ID, { brightness: 4 });

  held[0]?.resolve();
  await until(() => held.length === 2);
  held[1]?.resolve();
  const outcomes = await Promise.all([first, overridden, inPart, last].map(({ done }) => done));

  assert.deepEqual(
    bridge.asked.map(({ command }) => command),
    [
      { on: true, brightness: 1 },
      { on: true, brightness: 4, effect: "candle" },
    ],
  );
  assert.equal(bridge.asked[1]?.commandId, last.commandId);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["applied", "superseded", "applied", "applied"],
  );
  assert.deepEqual(outcomes[1]?.applied, { on: true, brightness: 4, effect: "candle" });
});

test("of a thousand quick commands the bridge gets few, one at a time, including the last", async (t) => {
  const { bridge, commands } = await openCommands(t, { commandsPerSecond: 50, burst: 2 });
  let running = 0;
  let most = 0;
  bridge.answer = async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 2));
    running--;
  };

  const startedAt = performance.now();
  const sent: Promise<unknown>[] = [];
  for (let n = 1; n <= 1_000; n++) {
    sent.push(commands.send(ID, { brightness: n / 10 }).done);
    if (n % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await Promise.all(sent);

  const allowed = 2 + (50 * (performance.now() - startedAt)) / 1_000;
  assert.equal(most, 1);
  assert.ok(bridge.asked.length <= allowed, `${bridge.asked.length} of ${allowed} were sent`);
  assert.deepEqual(bridge.asked.at(-1)?.command, { on: true, brightness: 100 });
});

test("different devices do not wait for each other", async (t) => {
  const { bridge, commands } = await openCommands(t, {}, ["a", "c"]);
  const held = hold(bridge);

  commands.send("demo:light:1", { on: true });
  const { done } = commands.send("demo:light:2", { on: true });
  held[1]?.resolve();

  assert.equal((await done).deviceId, "demo:light:2");
  held[0]?.resolve();
});

test("a bridge that does not confirm within its deadline is 504, and the next command goes out", async (t) => {
  const { bridge, commands, devices } = await openCommands(t, { confirmMs: 50 });
  bridge.answer = () => new Promise(() => undefined);
  const late = commands.send(ID, { on: true });
  const next = commands.send(ID, { on: false });

  await assert.rejects(late.done, {
    code: "deadline_passed",
    message: /^the command to demo:light:1/,
  });
  await until(() => bridge.asked.length === 2);

  assert.deepEqual(bridge.asked[1]?.command, { on: false });
  await assert.rejects(next.done, { code: "deadline_passed" });
  assert.deepEqual(devices.get(ID).pending, {});
});

test("a bridge's refusal reaches every caller of the merged command", async (t) => {
  const { bridge, commands } = await openCommands(t);
  const held = hold(bridge);
  const first = commands.send(ID, { on: true });
  const others = [commands.send(ID, { brightness: 5 }), commands.send(ID, { brightness: 6 })];
  held[0]?.resolve();
  await first.done;

  held[1]?.reject(new MantelError("bridge_rate_limited", "slow down", { retryAfterMs: 700 }));
  const outcomes = await Promise.allSettled(others.map(({ done }) => done));

  assert.deepEqual(
    outcomes.map((outcome) => outcome.status === "rejected" && outcome.reason.extras.retryAfterMs),
    [700, 700],
  );
});

test("an unhandled failure has no effect, and a plugin's fault is logged", async (t) => {
  const { bridge, commands, devices, lines } = await openCommands(t);
  bridge.answer = () => Promise.reject(new TypeError("boom"));

  commands.send(ID, { on: true });
  await until(() => lines.length > 1);

  assert.deepEqual(
    lines.map(({ level, sentence, fields }) => [level, sentence, fields["device"]]),
    [
      ["info", "sent a command", ID],
      ["error", "a bridge failed in a command", ID],
    ],
  );
  assert.deepEqual(devices.get(ID).pending, {});
});

test("an invalid command is refused immediately and changes nothing", async (t) => {
  const { bridge, commands, heard } = await openCommands(t);

  assert.throws(() => commands.send("demo:light:9", { on: true }), { code: "device_unknown" });
  assert.throws(
    () => commands.send(ID, { brightness: 101 }),
    (error: MantelError) => {
      assert.equal(error.code, "invalid");
      assert.deepEqual(error.extras.errors, [
        { pointer: "/brightness", detail: "is 101; it must be a number from 0 to 100 %" },
      ]);
      return true;
    },
  );

  assert.deepEqual(bridge.asked, []);
  assert.deepEqual(heard(), []);
});

test("no call is sent to a bridge that is down", async (t) => {
  const { bridge, commands } = await openCommands(t);
  bridge.status = "down";

  const send = () => commands.send(ID, { on: true });

  assert.throws(send, {
    code: "bridge_down",
    message: "b is down: its module is missing",
    extras: { retryAfterMs: 5_000 },
  });
  await assert.rejects(commands.turnForScene("b", undefined), { code: "bridge_down" });
  await assert.rejects(commands.turnForScene("nobody", undefined), {
    message: "nobody is down: its module is missing",
  });
  assert.deepEqual(bridge.asked, []);
});

test("a device that is removed while its command waits fails the command", async (t) => {
  const { bridge, commands, devices } = await openCommands(t);
  const held = hold(bridge);
  commands.send(ID, { on: true });
  const { done } = commands.send(ID, { on: false });

  devices.removeBridge("b");
  held[0]?.resolve();

  await assert.rejects(done, { code: "device_unknown" });
});

test("a command that would wait more than a second is refused with the time to retry", async (t) => {
  const lamps = Array.from({ length: 20 }, (_, n) => `lamp-${n}`);
  const { bridge, commands } = await openCommands(t, { commandsPerSecond: 10, burst: 5 }, lamps);
  const send = (n: number, command: DeviceCommand = { on: true }) =>
    commands.send(`demo:light:${n}`, command);

  const accepted = Array.from({ length: 15 }, (_, n) => send(n + 1).done);

  assert.throws(
    () => send(16),
    (error: MantelError) => {
      assert.equal(error.code, "bridge_rate_limited");
      assert.ok(Number(error.extras.retryAfterMs) > 0 && Number(error.extras.retryAfterMs) <= 100);
      return true;
    },
  );
  const merged = send(15, { brightness: 5 });
  await Promise.all([...accepted, merged.done]);
  assert.equal(bridge.asked.length, 15);
  assert.deepEqual(bridge.asked.at(-1)?.command, { on: true, brightness: 5 });
});

test("a flood of callers for one waiting batch is refused", async (t) => {
  const { bridge, commands } = await openCommands(t);
  const held = hold(bridge);
  commands.send(ID, { on: true });
  for (let n = 0; n < 1_000; n++) commands.send(ID, { on: n % 2 === 0 });

  assert.throws(() => commands.send(ID, { on: true }), {
    code: "bridge_rate_limited",
    message: `1000 commands already wait for ${ID}`,
    extras: { retryAfterMs: 1_000 },
  });

  held[0]?.resolve();
  await until(() => held[1]);
  held[1]?.resolve();
});

test("groups and scenes have their own rate limit", async (t) => {
  const slow = { kinds: ["group", "scene"] as const, commandsPerSecond: 0.1, burst: 1 };
  const bridge = createBridge("b", "demo", { rates: [slow] });
  const home = await openDevices(t, [bridge]);
  await home.devices.publish("b", [lamp("a"), lamp("all", { kind: "group" })]);
  const commands = new Commands(home);

  await commands.send("demo:group:1", { on: true }).done;
  await commands.send(ID, { on: true }).done;

  await assert.rejects(commands.turnForScene("b", undefined), { code: "bridge_rate_limited" });
  assert.deepEqual(
    bridge.asked.map(({ nativeId }) => nativeId),
    ["all", "a"],
  );
});

const ANNA = { kind: "person", id: "7", name: "Anna" } as const;
const BEN = { kind: "person", id: "8", name: "Ben" } as const;

test("a command and its failure are logged with cause and command id", async (t) => {
  const { bridge, commands, lines } = await openCommands(t);
  bridge.answer = () => Promise.reject(new MantelError("bridge_down", "gone"));

  await assert.rejects(commands.send(ID, { on: true }, { cause: ANNA }).done);

  const { commandId } = bridge.asked[0] ?? {};
  const fields = { device: ID, commandId, cause: ANNA };
  assert.deepEqual(lines, [
    { level: "info", sentence: "sent a command", fields: { ...fields, fields: ["on"] } },
    { level: "warn", sentence: "a command failed", fields: { ...fields, code: "bridge_down" } },
  ]);
});

test("a command that its bridge's rate refuses is logged as a failure", async (t) => {
  const { commands, lines } = await openCommands(t, { commandsPerSecond: 0.5, burst: 1 }, [
    "a",
    "b",
  ]);
  await commands.send(ID, { on: true }).done;

  assert.throws(() => commands.send("demo:light:2", { on: true }, { cause: BEN }));

  const { level, fields } = lines.at(-1) ?? {};
  assert.deepEqual(
    [level, fields?.["code"], fields?.["cause"]],
    ["warn", "bridge_rate_limited", BEN],
  );
});

test("a flood of commands is logged in detail only", async (t) => {
  const lamps = Array.from({ length: 80 }, (_, index) => `lamp-${index}`);
  const limits = { commandsPerSecond: 1_000, burst: 1_000 };
  const { commands, lines, devices } = await openCommands(t, limits, lamps);
  const scene = { kind: "scene", id: "host:scene:evening", name: "Evening", parent: ANNA } as const;
  const levels = (from = 0) => lines.slice(from).map(({ level }) => level);

  await commands.send(ID, { brightness: 1 }, { cause: ANNA }).done;
  await commands.send(ID, { brightness: 2 }, { cause: ANNA }).done;
  await commands.send(ID, { brightness: 3 }, { cause: BEN }).done;
  await commands.send("demo:light:2", { brightness: 3 }, { cause: scene }).done;
  assert.deepEqual(levels(), ["info", "debug", "info", "debug"]);

  for (const { id } of devices.list()) await commands.send(id, { on: true }, { cause: BEN }).done;
  const shown = levels(4).filter((level) => level === "info").length;
  assert.ok(shown >= 40 && shown < 60, `${shown} lines for 80 lamps`);
});

test("a command waits until its bridge is ready", async (t) => {
  const { bridge, bus, devices, bridges, log } = await openCommands(t);
  let ready = (): void => undefined;
  const isReady = new Promise<void>((resolve) => (ready = resolve));
  const returning = { ...bridge, view: bridge.view, ready: () => isReady };
  const commands = new Commands({
    bus,
    devices,
    log,
    bridges: { ...bridges, find: () => returning },
  });

  const { done } = commands.send(ID, { on: true });
  const before = bridge.asked.length;
  ready();
  await done;

  assert.deepEqual([before, bridge.asked.length], [0, 1]);
});

test("a command to a bridge that is down by its turn fails with the reason", async (t) => {
  const { bridge, commands } = await openCommands(t);
  const held = hold(bridge);
  const first = commands.send(ID, { on: true });
  const second = commands.send(ID, { on: false });

  bridge.status = "down";
  held[0]?.resolve();

  await first.done;
  await assert.rejects(second.done, { code: "bridge_down" });
  assert.equal(bridge.asked.length, 1);
});

test("the pending values are those of the sent and of the waiting command", async (t) => {
  const { bridge, commands, devices } = await openCommands(t);
  const held = hold(bridge);
  const pending = () => devices.get(ID).pending;

  const first = commands.send(ID, { on: true, effect: "candle" });
  const second = commands.send(ID, { on: false });
  const both = pending();
  held[0]?.resolve();
  await first.done;
  const waiting = pending();
  await until(() => held[1]);
  held[1]?.resolve();
  await second.done;

  assert.deepEqual(both, { on: false, effect: "candle" });
  assert.deepEqual([waiting, pending()], [{ on: false }, {}]);
});

test("commands may be asked to wait for longer than a second", async (t) => {
  const { commands } = await openCommands(t, { commandsPerSecond: 0.5, burst: 1 }, ["a", "c", "d"]);
  await commands.send(ID, { on: true }).done;

  assert.throws(() => commands.send("demo:light:2", { on: true }), { code: "bridge_rate_limited" });
  assert.throws(() => commands.send("demo:light:2", { on: true }, { longestWaitMs: 1_500 }), {
    code: "bridge_rate_limited",
  });
});

test("scenes take their turns at the bridge's rate", async (t) => {
  const { bridge, commands } = await openCommands(t, { commandsPerSecond: 0.5, burst: 1 });

  assert.equal(await commands.turnForScene("b", undefined), bridge);
  await assert.rejects(commands.turnForScene("b", undefined), { code: "bridge_rate_limited" });
});

test("a failed command is announced once, with the cause of the last of those merged, and without codes", async (t) => {
  const { bridge, bus, commands } = await openCommands(t);
  const failures: unknown[] = [];
  bus.on(({ topic, data }) => void (topic === "command.failed" && failures.push(data)));
  const anna = { kind: "person", id: "1", name: "Anna" } as const;
  const held = hold(bridge);
  const first = commands.send(ID, { on: true });
  const merged = [
    commands.send(ID, { brightness: 10 }),
    commands.send(ID, { brightness: 20 }, { cause: anna }),
  ];
  held[0]?.resolve();
  await first.done;
  await until(() => held.length === 2);

  held[1]?.reject(new MantelError("deadline_passed", "the lamp does not answer"));
  await Promise.allSettled(merged.map(({ done }) => done));

  const [failure] = failures as { at: string }[];
  assert.equal(failures.length, 1);
  assert.deepEqual(failure, {
    deviceId: ID,
    at: failure?.at,
    command: { on: true, brightness: 20 },
    error: { code: "deadline_passed", detail: "the lamp does not answer" },
    cause: anna,
  });
});

test("a command for a bridge that is down is announced as failed, and a wrong one is not", async (t) => {
  const { bridge, commands, heard } = await openCommands(t);

  assert.throws(() => commands.send(ID, { on: "maybe" }), { code: "invalid" });
  assert.deepEqual(heard(), []);
  bridge.status = "down";
  assert.throws(() => commands.send(ID, { on: true }), { code: "bridge_down" });

  assert.deepEqual(heard(), ["command.failed"]);
});

test("a fault of a bridge is announced without its text", async (t) => {
  const { bridge, bus, commands } = await openCommands(t);
  const details: string[] = [];
  bus.on(({ topic, data }) => void (topic === "command.failed" && details.push(data.error.detail)));
  bridge.answer = () => Promise.reject(new Error("password=1234"));

  await assert.rejects(commands.send(ID, { on: true }).done);

  assert.deepEqual(details, ["the bridge failed; see the log"]);
});
