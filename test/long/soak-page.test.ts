import assert from "node:assert/strict";
import { test } from "node:test";
import { openHome, serveHost } from "../../scripts/bench/bench-home.ts";
import { growthOf } from "../../scripts/soak/verdict.ts";
import { openDashboard, writeWidget } from "../../scripts/soak/widgets.ts";
import { onTestEnd } from "../helpers/on-test-end.ts";

const WARM_UP = 10;
const SWAPS = 40;

test("swapped widgets leave no resources in the page of an unmodified Chromium", async (t) => {
  const home = await openHome();
  onTestEnd(t, () => home.remove());
  await writeWidget(home);
  const host = await serveHost(home);
  onTestEnd(t, () => host.stop());
  const dashboard = await openDashboard(host, home);
  onTestEnd(t, () => dashboard.close());
  const swap = async (from: number, to: number) => {
    for (let round = from; round <= to; round++) await dashboard.swap(round);
    return dashboard.read();
  };

  const start = await swap(1, WARM_UP);
  const growth = growthOf(start, await swap(WARM_UP + 1, WARM_UP + SWAPS));

  const { pageNodes = 0, pageListeners = 0, pageDocuments = 0 } = growth;
  assert.ok(pageNodes < SWAPS, `${pageNodes} nodes`);
  assert.ok(pageListeners < SWAPS / 4, `${pageListeners} listeners`);
  assert.ok(pageDocuments <= 0, `${pageDocuments} documents`);
});
