import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { QUIESCE_FAULT_LENGTH } from "../../../plugin-sdk/protocol.ts";
import { LAMP, startRunner } from "./start-runner.ts";

test("quiesce finishes accepted calls, then takes the state, then closes resources", async (t) => {
  const steps: string[] = [];
  const { runner, said, started } = await startRunner(t, ({ devices, onDispose, signal }) => {
    onDispose(() => {
      steps.push(`closed, aborted: ${signal.aborted}`);
      devices.update({ nativeId: "lamp-1", available: false });
    });
    return {
      async command() {
        await delay(20);
        steps.push(`command done, aborted: ${signal.aborted}`);
      },
      handOver: () => {
        steps.push("handed over");
        return undefined;
      },
    };
  });
  await started;
  const command = runner.command(LAMP);

  const result = await runner.quiesce({ deadlineMs: 5_000 });

  await command;
  assert.deepEqual(result, { drained: 1, faults: [] });
  assert.deepEqual(steps, ["command done, aborted: false", "handed over", "closed, aborted: true"]);
  assert.deepEqual(said, [["updateDevices", [{ nativeId: "lamp-1", available: false }]]]);
});

test("quiesce returns the state from handOver together with the faults of releases", async (t) => {
  const { runner, started } = await startRunner(t, ({ onDispose }) => {
    onDispose(() => Promise.reject(new Error("the socket was closed already")));
    return { handOver: () => ({ on: true }) as never };
  });
  await started;

  const { faults, ...rest } = await runner.quiesce({ deadlineMs: 100 });

  assert.deepEqual(rest, { state: { on: true }, drained: 0 });
  assert.deepEqual(
    faults.map(({ step, error }) => [step, error.split("\n")[0]]),
    [["release", "Error: the socket was closed already"]],
  );
});

test("a fault with a very long text is cut and the state is kept", async (t) => {
  const { runner, started } = await startRunner(t, ({ onDispose }) => {
    onDispose(() => Promise.reject(new Error("x".repeat(200_000))));
    return { handOver: () => ({ on: true }) as never };
  });
  await started;

  const { faults, state } = await runner.quiesce({ deadlineMs: 100 });

  assert.deepEqual(state, { on: true });
  assert.equal(faults[0]?.error.length, QUIESCE_FAULT_LENGTH);
});

for (const [ends, handOver, told] of [
  ["throws", () => Promise.reject(new Error("no state today")), /^Error: no state today\n +at /],
  ["does not end", () => new Promise(() => undefined), /^MantelError: handOver timed out after/],
] as const) {
  test(`a handOver that ${ends} is reported, and resources are still closed`, async (t) => {
    let isClosed = false;
    const { runner, started } = await startRunner(t, ({ onDispose }) => {
      onDispose(() => void (isClosed = true));
      return { handOver: handOver as () => never };
    });
    await started;

    const { faults, ...rest } = await runner.quiesce({ deadlineMs: 10 });

    assert.deepEqual(rest, { drained: 0 });
    assert.deepEqual(
      faults.map(({ step }) => step),
      ["handOver"],
    );
    assert.match(faults[0]?.error ?? "", told);
    assert.ok(isClosed);
  });
}

test("a failed call neither delays nor fails quiesce", async (t) => {
  const { runner, started } = await startRunner(t, () => ({
    command: async () => {
      throw new Error("broken");
    },
  }));
  await started;
  await assert.rejects(runner.command(LAMP), /broken/);
  const failing = runner.command(LAMP);

  const [result] = await Promise.all([
    runner.quiesce({ deadlineMs: 100 }),
    assert.rejects(failing, /broken/),
  ]);

  assert.deepEqual(result, { drained: 1, faults: [] });
});

test("quiesce waits for a hanging call only until the deadline", async (t) => {
  const { runner, started } = await startRunner(t, () => ({
    command: () => new Promise(() => undefined),
  }));
  await started;
  void runner.command(LAMP);

  const { faults, drained } = await runner.quiesce({ deadlineMs: 10 });

  assert.equal(drained, 1);
  assert.deepEqual(faults, [
    {
      step: "calls",
      error: "MantelError: finishing the accepted calls timed out after 10 ms",
    },
  ]);
});
