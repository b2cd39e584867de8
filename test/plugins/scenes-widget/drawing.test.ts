import assert from "node:assert/strict";
import { test } from "node:test";
import { mountOnPage } from "../../helpers/page/widget.ts";

const { default: scenes } = await import("../../../plugins/scenes-widget/widget.ts");

const EVENING = sceneOf("1", "Evening", { room: "Kitchen" });
const MORNING = sceneOf("2", "Morning", { lastActivatedAt: "2026-11-20T06:00:00Z" });
const answers = { "/smart-home/scenes": { scenes: [EVENING, MORNING] } };

test("scenes are those of the settings in their order, and the last activated one is pressed", async (t) => {
  const { config, textOf, waitFor } = mountOnPage(t, scenes, { answers });
  const all = await waitFor("button");

  config.value = { room: "Kitchen" };
  const kitchen = textOf("button");
  config.value = { scenes: ["Morning", EVENING.id, "unknown"] };

  assert.deepEqual([all, kitchen], [["Evening", "Morning"], ["Evening"]]);
  assert.deepEqual(textOf("button"), ["Morning", "Evening"]);
  assert.deepEqual(textOf("[aria-pressed=true]"), ["Morning"]);
});

test("a tap activates a scene, and says so", async (t) => {
  const { api, said, click, textOf, waitFor } = mountOnPage(t, scenes, {
    answers: { ...answers, [`/smart-home/scenes/demo%3Ascene%3A1/activate`]: {} },
  });
  await waitFor("button");

  click("button");
  const during = textOf("[aria-busy=true]");
  await waitFor("[aria-busy=false]:first-child");

  assert.deepEqual(during, ["Evening"]);
  assert.equal(api.asked.at(-1), "POST /smart-home/scenes/demo%3Ascene%3A1/activate");
  assert.deepEqual(said, ["Evening activated"]);
});

test("a scene that cannot be activated says so for four seconds", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { said, click, textOf, waitFor } = mountOnPage(t, scenes, { answers });
  await waitFor("button");

  click("button");
  const failed = await waitFor("small");
  t.mock.timers.tick(4_000);

  assert.deepEqual([failed, textOf("small")], [["No answer"], []]);
  assert.deepEqual(said, ["Evening: no answer"]);
});

test("a home without scenes says so", async (t) => {
  const { waitFor } = mountOnPage(t, scenes, { answers: { "/smart-home/scenes": { scenes: [] } } });

  assert.deepEqual(await waitFor("p"), ["No scenes yet"]);
});

function sceneOf(number: string, name: string, change: object) {
  const rest = { room: null, icon: null, available: true, lastActivatedAt: null };
  return { id: `demo:scene:${number}`, name, ...rest, ...change };
}
