import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hosts } from "@mantel/plugin-sdk/hosts";
import type { Transport } from "@mantel/plugin-sdk/rpc";
import { learnHosts } from "../../../../host/modules/process/network/learn-hosts.ts";

/** A transport to a process, and what was learned from its messages. */
function openTransport() {
  const learned: unknown[] = [];
  const steps: unknown[][] = [];
  const transport: Transport = {
    send: (...sent) => steps.push(sent),
    onMessage: (receive) => steps.push(["receives", receive]),
  };
  const hosts = { learnFromConfig: (options: unknown) => learned.push(options) };
  return { learned, steps, transport: learnHosts(transport, hosts as unknown as Hosts) };
}

const call = (method: string, input: unknown) =>
  ({ kind: "call", call: 1, method, input }) as const;
const CONFIG = { address: "a.test" };

for (const method of ["connect", "start", "test", "setup"]) {
  test(`the hosts in the options of ${method} are learned before the process gets them`, () => {
    const { learned, steps, transport } = openTransport();
    const message = call(method, { config: CONFIG });
    const written = () => undefined;

    transport.send(message, written);

    assert.deepEqual(learned, [CONFIG]);
    assert.deepEqual(steps, [[message, written]]);
  });
}

test("the hosts in an answer of the user are learned", () => {
  const { learned, transport } = openTransport();

  transport.send(call("answer", { step: 1, answer: CONFIG }));

  assert.deepEqual(learned, [CONFIG]);
});

test("other messages teach no hosts, and are passed on", () => {
  const { learned, steps, transport } = openTransport();
  const result = { kind: "result", call: 1, output: { config: CONFIG } } as never;
  const receive = () => undefined;

  transport.send(call("command", { config: CONFIG }));
  transport.send(result);
  transport.onMessage(receive);

  assert.deepEqual(
    learned.filter((each) => each !== undefined),
    [],
  );
  assert.equal(steps[1]?.[0], result);
  assert.deepEqual(steps.at(-1), ["receives", receive]);
});
