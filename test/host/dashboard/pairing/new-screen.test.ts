import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { FakeApi } from "../../../helpers/page/fake-api.ts";
import "../../../helpers/page/light-dom.ts";
import { until } from "../../../helpers/until.ts";

const { mountNewScreen } = await import("../../../../host/dashboard/pairing/new-screen.ts");
const { originForPhones } = await import("../../../../host/dashboard/pairing/reachable-origin.ts");

const HERE = { origin: "http://127.0.0.1:8470" };

/** The screen of a new display, with this answer to its request for a code. */
async function openScreen(t: TestContext, answer: object) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const root = document.createElement("div");
  document.body.append(root);
  t.after(() => root.remove());
  const started = {
    deviceCode: "x",
    userCode: "BDFG-HJKL",
    verificationUri: "/#pair",
    verificationUriComplete: "/#pair=BDFG-HJKL",
    expiresInSeconds: 600,
    intervalSeconds: 5,
  };
  const api = new FakeApi({ "/pairing": { ...started, ...answer } });
  mountNewScreen(root, { api, refusal: undefined });
  await until(() => root.textContent.includes("BDFG-HJKL"));
  return { root, text: root.textContent.replace(/\s+/g, " ") };
}

test("a phone opens the address of the page, unless the host names another one", () => {
  const network = "http://192.168.1.20:8470";

  assert.equal(originForPhones({ origin: network }, undefined), network);
  assert.equal(originForPhones(HERE, network), network);
  assert.equal(originForPhones(HERE, null), undefined);
});

test("a new screen on the machine of the host shows the address that a phone can open", async (t) => {
  const { root, text } = await openScreen(t, { address: "http://192.168.1.20:8470" });

  assert.match(text, /enter it on that phone at http:\/\/192\.168\.1\.20:8470\/#pair/);
  assert.ok(root.querySelector("svg.qr"));
});

test("a new screen says how phones reach a host that listens on loopback only", async (t) => {
  const { root, text } = await openScreen(t, { address: null });

  assert.match(text, /Phones cannot open this address: .+--host 0\.0\.0\.0/);
  assert.equal(root.querySelector("svg.qr"), null);
});
