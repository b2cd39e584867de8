import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeApi } from "../../../helpers/page/fake-api.ts";
import "../../../helpers/page/light-dom.ts";
import { until } from "../../../helpers/until.ts";

const { effect } = await import("@preact/signals-core");
const { render } = await import("lit");
const { FormAction } = await import("../../../../host/dashboard/settings/form-action.ts");
const { SetupSteps } = await import("../../../../host/dashboard/settings/setup-steps.ts");
const { Store } = await import("../../../../host/dashboard/store.ts");

const STEP = { state: "working", step: 1, progress: null, form: null, error: null };

/** A step with a text, as it is drawn. */
async function draw(text: string): Promise<HTMLElement> {
  const api = new FakeApi({ "GET /modules/bridge/setup": { ...STEP, title: "Open it", text } });
  const steps = new SetupSteps(
    { api, store: new Store(), formAction: new FormAction(), mayAdminister: true },
    "/modules/bridge",
    {
      say: (each) => each,
      onDone: () => undefined,
    },
  );
  const root = document.createElement("main");
  const stop = effect(() => void render(steps.view(), root));
  await until(() => root.querySelector(".step") !== null);
  stop();
  steps.close();
  return root;
}

test("an https address in the text of a step is a link that does not tell where it comes from", async () => {
  const root = await draw("At https://provider.example/a?b=c, enter\nABCD");

  const link = root.querySelector<HTMLAnchorElement>(".step a");
  assert.equal(link?.getAttribute("href"), "https://provider.example/a?b=c");
  assert.equal(link?.rel, "noopener noreferrer");
  assert.equal(
    root.querySelector(".step")?.textContent,
    "At https://provider.example/a?b=c, enter\nABCD",
  );
});

test("other addresses and markup in the text of a step stay text", async () => {
  const text = "javascript:alert(1) http://x.example <a href=https://y.example>y</a>";

  const root = await draw(text);

  assert.equal(root.querySelector(".step")?.textContent, text);
  assert.deepEqual(
    [...root.querySelectorAll(".step a")].map((each) => each.getAttribute("href")),
    ["https://y.example"],
  );
});
