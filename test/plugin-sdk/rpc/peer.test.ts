import assert from "node:assert/strict";
import { createHook } from "node:async_hooks";
import { test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { type Handlers, NotBegun, Peer, RemoteFault, type Transport } from "@mantel/plugin-sdk/rpc";
import { watchResources } from "../../helpers/resources.ts";
import { until } from "../../helpers/until.ts";

interface Shop {
  add(numbers: readonly number[]): Promise<number>;
  slow(nothing: null): Promise<void>;
  sell(what: string): Promise<void>;
  ask(question: string): Promise<unknown>;
}
interface Customer {
  name(nothing: null): Promise<string>;
}
const DEADLINE_MS = 5_000;

/** Two ends of a channel in memory over which, as between processes, only JSON travels. */
function openChannel(
  handlers: Partial<Handlers<Shop>>,
  options?: ConstructorParameters<typeof Peer>[2],
) {
  const shopSide = transport();
  const customerSide = transport();
  shopSide.deliverTo(customerSide);
  customerSide.deliverTo(shopSide);
  const shop = new Peer<Customer, Shop>(shopSide, handlers as Handlers<Shop>, options);
  const customer = new Peer<Shop, Customer>(customerSide, { name: () => "Ada" });
  return { shop, customer, shopSide };
}

function transport() {
  let receive: (message: unknown) => void = () => undefined;
  let other: { readonly receive: (message: unknown) => void } | undefined;
  const end = {
    sent: 0,
    receive: (message: unknown) => receive(message),
    deliverTo: (to: typeof other) => void (other = to),
    send(message: unknown, written?: () => void) {
      const text = JSON.stringify(message);
      end.sent++;
      queueMicrotask(() => other?.receive(JSON.parse(text)));
      written?.();
    },
    onMessage: (listener: (message: unknown) => void) => void (receive = listener),
  };
  return end satisfies Transport;
}

test("a call returns the other end's answer, in both directions", async () => {
  const assertClosed = watchResources();
  const { shop, customer } = openChannel({
    add: (numbers) => numbers.reduce((sum, each) => sum + each, 0),
  });

  assert.equal(await customer.call("add", [1, 2, 3], DEADLINE_MS), 6);
  assert.equal(await shop.call("name", null, DEADLINE_MS), "Ada");
  await assertClosed();
});

test("answers are matched to their calls in any order", async () => {
  const asked: ((answer: string) => void)[] = [];
  const { customer } = openChannel({
    ask: () => new Promise((resolve) => asked.push(resolve)),
  });

  const first = customer.call("ask", "first", DEADLINE_MS);
  const second = customer.call("ask", "second", DEADLINE_MS);
  await turn();
  asked[1]?.("of the second");
  asked[0]?.("of the first");

  assert.deepEqual(await Promise.all([first, second]), ["of the first", "of the second"]);
});

test("each call ends at its own deadline, also when earlier calls were answered or have longer ones", async () => {
  const assertClosed = watchResources();
  const { customer } = openChannel({
    add: () => 1,
    slow: () => new Promise(() => undefined),
  });
  const ended: string[] = [];
  const slow = (deadlineMs: number): Promise<unknown> =>
    customer.call("slow", null, deadlineMs).catch((error: Error) => ended.push(error.message));

  await customer.call("add", [], 20);
  await Promise.all([slow(150), slow(50), slow(100)]);
  await slow(10);

  assert.deepEqual(
    ended,
    [50, 100, 150, 10].map((ms) => `slow timed out after ${ms} ms`),
  );
  await assertClosed();
});

test("calls in a row need one timer", async () => {
  const { customer } = openChannel({ add: () => 1 });
  let timers = 0;
  const hook = createHook({ init: (_, type) => void (timers += Number(type === "Timeout")) });

  hook.enable();
  for (let left = 5; left > 0; left--) await customer.call("add", [], DEADLINE_MS);
  hook.disable();

  assert.equal(timers, 1);
});

test("a MantelError of the other end is thrown with its code", async () => {
  const { customer } = openChannel({
    sell: (what) => {
      throw new MantelError("not_found", `there is no ${what}`, { retryAfterMs: 7 });
    },
  });

  await assert.rejects(customer.call("sell", "bread", DEADLINE_MS), {
    code: "not_found",
    message: "there is no bread",
    extras: { retryAfterMs: 7 },
  });
});

test("an unexpected error of the other end is thrown as a RemoteFault with its stack", async () => {
  const { customer } = openChannel({
    sell: async () => {
      throw new RangeError("the till is full");
    },
  });

  await assert.rejects(customer.call("sell", "bread", DEADLINE_MS), (error: unknown) => {
    assert.ok(error instanceof RemoteFault);
    assert.match(error.message, /RangeError: the till is full/);
    assert.match(error.remoteStack, /peer\.test\.ts/);
    return true;
  });
});

test("an end that keeps its stacks sends errors without them", async () => {
  const sell = async () => {
    throw new RangeError("the till is full");
  };
  const { customer } = openChannel({ sell }, { keepsStacks: true });

  await assert.rejects(customer.call("sell", "bread", DEADLINE_MS), (error: unknown) => {
    assert.ok(error instanceof RemoteFault);
    assert.equal(error.remoteStack, "RangeError: the till is full");
    return true;
  });
});

for (const method of ["steal", "constructor", "__proto__"]) {
  test(`a call of the unknown method ${method} is refused`, async () => {
    const { customer } = openChannel({});

    await assert.rejects(customer.call(method as "sell", "bread", DEADLINE_MS), {
      code: "not_found",
      message: `unknown method ${method}`,
    });
  });
}

test("a call without an answer times out, and a late answer is ignored", async () => {
  let answer = (): void => undefined;
  const { customer } = openChannel({ slow: () => new Promise((resolve) => (answer = resolve)) });

  await assert.rejects(customer.call("slow", null, 10), {
    code: "deadline_passed",
    message: "slow timed out after 10 ms",
  });
  answer();
  await turn();
});

test("an answer that is not plain data fails the call", async () => {
  const { customer } = openChannel({ ask: () => ({ price: 3n }) });

  await assert.rejects(customer.call("ask", "the price?", DEADLINE_MS), /BigInt/);
});

test("a notification gets no answer, even if it fails", async () => {
  const sold: string[] = [];
  const { customer, shopSide } = openChannel({
    sell: (what) => {
      sold.push(what);
      throw new Error("and then it failed");
    },
  });

  customer.notify("sell", "bread");
  customer.notify("sell", "milk");
  await turn();

  assert.deepEqual(sold, ["bread", "milk"]);
  assert.equal(shopSide.sent, 0);
});

test("close rejects begun calls with the reason and other calls with NotBegun", async () => {
  const assertClosed = watchResources();
  const { customer, shopSide } = openChannel({
    slow: async (_, begin) => {
      await begin();
      await new Promise(() => undefined);
    },
    sell: () => new Promise(() => undefined),
  });
  const begun = customer.call("slow", null, DEADLINE_MS);
  const waiting = customer.call("sell", "bread", DEADLINE_MS);
  await until(() => shopSide.sent === 1);
  await turn();
  const reason = new MantelError("module_down", "the process has ended");

  customer.close(reason);
  customer.close(new Error("a second reason"));
  customer.notify("sell", "bread");

  await assert.rejects(begun, reason);
  await assert.rejects(waiting, NotBegun);
  await assert.rejects(customer.call("slow", null, DEADLINE_MS), NotBegun);
  assert.equal(shopSide.sent, 1);
  await assertClosed();
});

test("a closed end does not answer", async () => {
  let answer = (): void => undefined;
  const { shop, customer, shopSide } = openChannel({
    slow: () => new Promise((resolve) => (answer = resolve)),
  });
  const unanswered = customer.call("slow", null, 50);
  await turn();

  shop.close(new Error("closed"));
  answer();

  await assert.rejects(unanswered, { code: "deadline_passed" });
  assert.equal(shopSide.sent, 0);
});

test("meaningless messages are ignored", async () => {
  const { customer, shopSide } = openChannel({ add: () => 1 });

  for (const noise of [null, "call", 7, {}, { kind: "answer", call: 99 }, { kind: "shout" }]) {
    shopSide.receive(noise);
  }

  assert.equal(await customer.call("add", [], DEADLINE_MS), 1);
});

const LONG = "x".repeat(5 * 2 ** 20);
for (const [what, message] of [
  ["whose id is a long text", { kind: "call", call: LONG, method: "add", input: [] }],
  ["whose id is not a safe integer", { kind: "call", call: 2 ** 53, method: "add", input: [] }],
  ["whose id is 0", { kind: "call", call: 0, method: "add", input: [] }],
  ["whose id is null", { kind: "call", call: null, method: "add", input: [] }],
  ["whose method is not a text", { kind: "call", call: 1, method: {}, input: [] }],
  ["whose method is a long text", { kind: "call", call: 1, method: LONG, input: [] }],
] as const) {
  test(`a call ${what} is ignored`, async () => {
    const { shopSide } = openChannel({ add: () => assert.fail("it was carried out") });

    shopSide.receive(message);
    await turn();

    assert.equal(shopSide.sent, 0);
  });
}

test("a failure message without an error fails the call", async () => {
  const { customer, shopSide } = openChannel({ ask: () => new Promise(() => undefined) });

  for (const [index, error] of [undefined, null, 7, "late", { extras: null }].entries()) {
    const asked = customer.call("ask", "why?", DEADLINE_MS);
    shopSide.send({ kind: "failure", call: index + 1, error });
    await assert.rejects(asked, { name: "RemoteFault", message: /the other end sent no message/ });
  }
});

const untellable = (): Error =>
  Object.defineProperty(new Error(), "message", {
    get: () => {
      throw new Error("no message for you");
    },
  });

for (const [what, thrown] of [
  ["an error that cannot be read", untellable()],
  ["what has no text", Object.create(null)],
  [
    "a failure with a value that is not JSON",
    new MantelError("invalid", "wrong", { retryAfterMs: 1n as never }),
  ],
] as const) {
  test(`${what}, thrown by a handler, fails the call`, async () => {
    const { customer } = openChannel({
      ask: () => {
        throw thrown;
      },
    });

    await assert.rejects(customer.call("ask", "why?", DEADLINE_MS), { name: "RemoteFault" });
  });
}

test("a channel that cannot be written to fails only the calls over it", async () => {
  const handlers = { ask: () => "because", slow: (_: null, begin: () => Promise<void>) => begin() };
  const { customer, shopSide } = openChannel(handlers);
  shopSide.send = () => {
    throw new Error("write EPIPE");
  };

  await assert.rejects(customer.call("ask", "why?", 20), { code: "deadline_passed" });
  await assert.rejects(customer.call("slow", null, 20), { code: "deadline_passed" });
});

/** Lets the messages under way arrive. */
function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

test("an answer that is not JSON fails the call and names the method", async () => {
  const { customer } = openChannel({ ask: () => ({ count: 3n }) });

  await assert.rejects(customer.call("ask", "how many?", DEADLINE_MS), {
    message: /^TypeError: the result of ask is not plain data \(JSON\): .*BigInt/,
  });
});

test("a peer is quiet when the last answer of the named methods has come, or after the given time", async () => {
  let finish: () => void = () => undefined;
  const { customer } = openChannel({
    slow: () => new Promise<void>((resolve) => (finish = resolve)),
  });
  let isAnswered = false;
  const call = customer.call("slow", null, DEADLINE_MS).then(() => (isAnswered = true));

  await customer.quiet(["slow"], 5);
  const before = isAnswered;
  const quiet = customer.quiet(["slow"], DEADLINE_MS);
  finish();
  await quiet;

  assert.deepEqual([before, isAnswered], [false, true]);
  await call;
});

test("a peer is quiet although calls of other methods wait for their answers", async () => {
  let finish: () => void = () => undefined;
  const { customer } = openChannel({
    slow: () => new Promise<void>((resolve) => (finish = resolve)),
    add: () => 3,
  });
  let isAnswered = false;
  const slow = customer.call("slow", null, DEADLINE_MS).then(() => (isAnswered = true));
  const added = customer.call("add", [1, 2], DEADLINE_MS);

  await customer.quiet(["add"], DEADLINE_MS);

  assert.equal(isAnswered, false);
  finish();
  assert.deepEqual(await Promise.all([added, slow]), [3, true]);
});
