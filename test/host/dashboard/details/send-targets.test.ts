import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { CommandBody } from "@mantel/plugin-sdk/device";
import { Api } from "../../../../host/dashboard/api.ts";
import { DragSender, sendTargets } from "../../../../host/dashboard/details/send-targets.ts";
import { Store } from "../../../../host/dashboard/store.ts";
import { deviceOf } from "../../../helpers/device.ts";

const ONE = deviceOf({ number: 1 });
const OTHER = deviceOf({ number: 2 });

interface Posted {
  readonly path: string;
  readonly body: { readonly targets: Readonly<Record<string, CommandBody>> };
}

function home(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const store = new Store();
  store.replaceDevices([ONE, OTHER]);
  const posted: Posted[] = [];
  const answers: ((failed?: string) => void)[] = [];
  const api = new Api({ prefix: "/api/v1", fetch: async () => new Response("{}") } as never);
  t.mock.method(api, "post", (path: string, body: Posted["body"]) => {
    posted.push({ path, body });
    return new Promise((resolve) =>
      answers.push((failed) =>
        resolve({
          results: Object.keys(body.targets).map((deviceId) =>
            deviceId === failed
              ? { deviceId, status: "failed", error: { code: "offline" } }
              : { deviceId, status: "applied" },
          ),
        }),
      ),
    );
  });
  return {
    home: { api, store },
    posted,
    answer: async (failed?: string) => {
      answers.shift()?.(failed);
      await setImmediate();
    },
    pending: () => [ONE, OTHER].map(({ id }) => store.device(id).peek()?.pending),
    pass: async (ms: number) => {
      t.mock.timers.tick(ms);
      await setImmediate();
    },
  };
}

const levels = (one: number, other: number) =>
  new Map([
    [ONE.id, { brightness: one }],
    [OTHER.id, { brightness: other }],
  ]);

test("many devices are commanded in one request, and one that fails shows its state at once", async (t) => {
  const { home: parts, posted, answer, pending, pass } = home(t);
  const sending = sendTargets(parts, levels(10, 20));
  const during = pending();
  await answer(OTHER.id);
  const sent = await sending;

  assert.deepEqual(
    posted.map(({ path }) => path),
    ["/smart-home/commands"],
  );
  assert.deepEqual(during, [{ brightness: 10 }, { brightness: 20 }]);
  assert.deepEqual([[...sent.done], sent.code], [[ONE.id], "offline"]);
  assert.deepEqual(pending(), [{ brightness: 10 }, {}]);
  await pass(150);
  assert.deepEqual(pending(), [{}, {}], "the event has come by now");
});

test("a drag sends one request at a time, at most ten a second, and ends with the last levels", async (t) => {
  const { home: parts, posted, answer, pending, pass } = home(t);
  const sender = new DragSender(parts);
  void sender.send(levels(10, 20));
  void sender.send(levels(30, 40));
  const ended = sender.send(new Map([[ONE.id, { brightness: 50 }]]));
  await answer();
  const before = posted.length;
  const during = pending();
  await pass(100);
  await answer();
  await pass(100);
  await ended;

  assert.equal(before, 1);
  assert.deepEqual(during, [{ brightness: 50 }, { brightness: 40 }]);
  assert.deepEqual(
    posted.map(({ body }) => Object.values(body.targets)),
    [
      [{ brightness: 10 }, { brightness: 20 }],
      [{ brightness: 50 }, { brightness: 40 }],
    ],
  );
});
