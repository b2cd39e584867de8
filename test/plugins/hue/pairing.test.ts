import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { pair, type PairingContext, tryBridges } from "../../../plugins/hue/pairing.ts";
import { type FakeBridgeOptions, startHueBridge } from "../../fakes/hue-bridge.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { watchResources } from "../../helpers/resources.ts";
import { until } from "../../helpers/until.ts";

/** A person who answers each question with the next of these answers. */
async function startPairing(
  t: TestContext,
  { answers, ...options }: FakeBridgeOptions & { answers: readonly string[] },
) {
  onTestEnd(t, watchResources());
  const bridge = await startHueBridge(t, options);
  const left = [...answers];
  const titles: string[] = [];
  const ended = new AbortController();
  const context: PairingContext = {
    config: {},
    signal: ended.signal,
    show: ({ title }) => void (titles.at(-1) === title || titles.push(title)),
    ask: ({ title }) => {
      titles.push(title);
      return Promise.resolve({ bridges: left.shift() ?? bridge.address } as never);
    },
  };
  return { bridge, titles, context, end: () => ended.abort() };
}

const nobody = () => Promise.resolve([]);

test("a bridge that was found is paired once its button is pressed", async (t) => {
  const { bridge, titles, context } = await startPairing(t, { answers: [] });

  const paired = pair(context, () => Promise.resolve([{ id: bridge.id, address: bridge.address }]));
  await until(() => bridge.asked.some(({ method }) => method === "POST"));
  bridge.pressButton();

  assert.deepEqual(await paired, { bridges: { [bridge.id]: bridge.options } });
  assert.deepEqual(titles, [
    "Looking for bridges",
    "Which bridge?",
    "Asking the bridge who it is",
    "Press the round button on the bridge",
  ]);
});

test("an address can be entered, and paired bridges stay", async (t) => {
  const { bridge, titles, context } = await startPairing(t, { answers: [] });
  const other = { address: "10.0.0.9", fingerprint: "0".repeat(64), applicationKey: "k" };
  bridge.pressButton();

  const config = { bridges: { "00178800000000ff": other } };
  const { bridges } = await pair({ ...context, config }, nobody);

  assert.ok(titles.includes("No bridge was found. Where is it?"));
  assert.deepEqual(bridges, { "00178800000000ff": other, [bridge.id]: bridge.options });
});

test("a bridge whose certificate does not match its id is refused", async (t) => {
  const { bridge, context } = await startPairing(t, { answers: [] });
  await bridge.reset("001788fffeffffff");

  await assert.rejects(pair(context, nobody), {
    code: "bridge_down",
    message: `the device at ${bridge.address} is not a trusted Hue bridge: its certificate is for 001788fffeffffff, and its id is ${bridge.id}`,
  });
});

test("an empty address and a server that is not a bridge get clear messages", async (t) => {
  const { bridge, context } = await startPairing(t, { answers: ["127.0.0.1:9"] });
  await assert.rejects(pair(context, nobody), {
    message: "nothing listens there: is it on, and is that its address?",
  });

  bridge.fault = "garbage";
  await assert.rejects(pair(context, nobody), { message: /not a trusted Hue bridge/ });
});

test("an aborted request is not waited for", async (t) => {
  const { bridge, context, end } = await startPairing(t, { answers: [] });
  const paired = pair(context, nobody);
  await until(() => bridge.asked.some(({ method }) => method === "POST"));

  end();

  await assert.rejects(paired, { name: "AbortError" });
});

test("a test of the options lists each bridge's devices, or the bridge that failed", async (t) => {
  const { bridge } = await startPairing(t, { answers: [] });
  const { id, options } = bridge;

  assert.equal(await tryBridges({ bridges: { [id]: options } }), `${id} answers, and has 3 lights`);

  const wrong = { ...options, applicationKey: "another" };
  await assert.rejects(tryBridges({ bridges: { [id]: wrong } }), {
    message: `bridge ${id}: it does not know the application key: pair it again`,
  });
});
