import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../../../host/dashboard/api.ts";
import "../../../helpers/page/light-dom.ts";
import { until } from "../../../helpers/until.ts";
import { FakeAutomations, WELCOME } from "./fake-host.ts";
import { DOOR, LAMP, openPage } from "./open-page.ts";

const DAY = "2026-11-20";

/** A host that answers every simulation in this way. */
class PastHost extends FakeAutomations {
  readonly asked: Record<string, unknown>[] = [];
  answer: unknown = { runs: [], timeline: [], recorded: [], truncated: false };

  override async post<T>(path: string, body?: unknown): Promise<T> {
    if (path !== "/automations/simulate") return super.post(path, body);
    this.asked.push(body as Record<string, unknown>);
    if (this.answer instanceof Error) throw this.answer;
    return structuredClone(this.answer) as T;
  }
}

const BUTTON = ".past .pill";

test("the runs of the past day are shown beside what really happened, in order", async (t) => {
  const host = new PastHost();
  host.answer = {
    runs: [{ startedAt: `${DAY}T17:30:00Z` }],
    timeline: [
      { at: `${DAY}T17:30:00Z`, kind: "state", device: DOOR.id, field: "contact", value: false },
      {
        at: `${DAY}T17:30:00Z`,
        kind: "run",
        automation: "welcome",
        run: "1",
        trigger: { index: 0 },
      },
      { at: `${DAY}T17:30:00Z`, kind: "command", device: LAMP.id, command: { on: true } },
      { at: "sometime", kind: "command", device: LAMP.id, command: { on: true } },
      "odd",
    ],
    recorded: [
      { at: `${DAY}T17:29:00Z`, device: LAMP.id, field: "on", value: false },
      { at: `${DAY}T17:31:00Z`, device: LAMP.id, field: "on", value: true },
      { at: `${DAY}T17:32:00Z`, device: LAMP.id, field: "on", value: true },
    ],
    truncated: true,
  };
  const { text, click } = await openPage(t, host, WELCOME.id);

  click(BUTTON);
  await until(() => text(".past tbody tr").length > 0);

  assert.deepEqual(text(".past [role=status]"), ["It would have run once."]);
  assert.deepEqual(
    text(".past tbody td"),
    [
      ["", "Hall lamp: On off"],
      ["Front door opens", ""],
      ["turn on Hall lamp", ""],
      ["", "Hall lamp: On on"],
    ].flat(),
  );
  assert.match(text(".past tbody th")[0] ?? "", /17:29$/);
  assert.deepEqual(text(".past > .hint").at(-1), "There was more. Choose a shorter span.");
  const [{ document, from, to, source } = {}] = host.asked;
  assert.equal((document as { name: string }).name, WELCOME.name);
  assert.equal(source, "recorded");
  assert.equal(Date.parse(String(to)) - Date.parse(String(from)), 86_400_000);
});

test("a week and a made-up day can be chosen, and no run says so", async (t) => {
  const host = new PastHost();
  const { find, text, click } = await openPage(t, host, WELCOME.id);
  const choose = async (value: string) => {
    const select = find<HTMLSelectElement>(".past select");
    select.value = value;
    select.dispatchEvent(new Event("change"));
    click(BUTTON);
    await until(() => find(".past").getAttribute("aria-busy") === "false");
  };

  await choose("pastWeek");
  await choose("pastDemo");

  const spans = host.asked.map(({ from, to, source }) => [
    (Date.parse(String(to)) - Date.parse(String(from))) / 86_400_000,
    source,
  ]);
  assert.deepEqual(spans, [
    [7, "recorded"],
    [1, "demo"],
  ]);
  assert.deepEqual(text(".past [role=status]"), ["It would not have run."]);
});

test("a refusal says why", async (t) => {
  const host = new PastHost();
  host.answer = new ApiError(503, { code: "service_unavailable", detail: "the history is off" });
  const { text, click } = await openPage(t, host, WELCOME.id);

  click(BUTTON);
  await until(() => text(".past .said.failed").length > 0);

  assert.deepEqual(text(".past .said.failed"), ["Not tried: the history is off"]);
});

test("an automation in code is tried by its id", async (t) => {
  const host = new PastHost();
  host.code.add(WELCOME.id);
  const { text, click } = await openPage(t, host, WELCOME.id);

  click(BUTTON);
  await until(() => text(".past [role=status] p").length > 0);

  assert.deepEqual([host.asked[0]?.["id"], host.asked[0]?.["document"]], [WELCOME.id, undefined]);
});
