import assert from "node:assert/strict";
import { test } from "node:test";
import type { CalendarTask, CalendarTasks } from "@mantel/plugin-sdk/services";
import { ApiError } from "../../../host/dashboard/api.ts";
import { setLocale } from "../../../host/dashboard/i18n/language.ts";
import { mountOnPage } from "../../helpers/page/widget.ts";

const { default: widget } = await import("../../../plugins/tasks-widget/widget.ts");

const TASKS = "/services/calendar.tasks";
const CHANGE = "/services/calendar.tasks.change";
const NO_EVENTS = {
  "/calendar/events?": {
    start: "2026-11-20",
    end: "2026-12-04",
    events: [],
    sources: [],
    window: {},
  },
};
const NOW = Date.UTC(2026, 10, 20, 8);
const HOME = listOf("home", "Home");
const SHOP = listOf("shop", "Shop");
const PLANTS = taskOf("home", "Plants", { due: { date: "2026-11-21" } });
const BINS = taskOf("home", "Bins", { due: { dateTime: "2026-11-20T07:00:00Z", timeZone: "UTC" } });
const MILK = taskOf("shop", "Milk");

test("tasks are shown with their due dates, those done today last, older ones and cancelled ones not", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: NOW });
  const today = { status: "completed", completedAt: "2026-11-20T06:00:00Z" } as const;
  const { root, textOf, waitFor } = mountOnPage(t, widget, {
    answers: answersOf([
      taskOf("home", "Sweep", today),
      BINS,
      PLANTS,
      taskOf("home", "Tax", { due: { date: "2026-12-01" }, repeats: true }),
      taskOf("home", "Passport", { due: { date: "2027-02-01" } }),
      taskOf("home", "Paint", { ...today, completedAt: "2026-11-19T06:00:00Z" }),
      taskOf("home", "Skip", { status: "cancelled" }),
    ]),
  });

  assert.deepEqual(await waitFor("li"), [
    "Bins overdue · Today 07:00",
    "Plants Tomorrow",
    "Tax Tue 1 Dec · repeats",
    "Passport Mon, 1 Feb 2027",
    "Sweep",
  ]);
  const checked = [...root.querySelectorAll("[role=checkbox]")].map((each) =>
    each.getAttribute("aria-checked"),
  );
  assert.deepEqual(checked, ["false", "false", "false", "false", "true"]);
  assert.deepEqual(textOf("h2, h3"), ["Home"]);
});

test("several lists have their names, and the settings choose them", async (t) => {
  const { config, root, textOf, waitFor } = mountOnPage(t, widget, {
    answers: answersOf([PLANTS, MILK], [HOME, SHOP]),
  });
  await waitFor("li");
  const all = textOf("h2, h3");

  config.value = { lists: ["shop"], kind: "shopping" };

  assert.deepEqual(all, ["Tasks", "Home", "Shop"]);
  assert.deepEqual(textOf("h2, h3, li"), ["Shop", "Milk"]);
  assert.equal(root.querySelector("h2 mantel-icon")?.getAttribute("name"), "mdi:cart-outline");
  assert.equal(root.querySelector("input")?.getAttribute("placeholder"), "Milk");
  assert.equal(root.querySelector("input")?.getAttribute("aria-label"), "Add to Shop");
});

test("a tap ticks a task off, and another tap undoes it", async (t) => {
  const { api, root, said, click, textOf, waitFor, until } = mountOnPage(t, widget, {
    answers: answersOf([MILK], [SHOP]),
  });
  await waitFor("li");
  const completedAt = new Date().toISOString();
  const done = { ...MILK, status: "completed" as const, completedAt };

  api.answers[CHANGE] = { task: done, etag: null };
  api.answers[TASKS] = allOf([done], [SHOP]);
  click("[data-task]");
  const during = box(root);
  const offer = await waitFor(".undo span");
  const after = box(root);
  api.answers[CHANGE] = { task: MILK, etag: null };
  api.answers[TASKS] = allOf([MILK], [SHOP]);
  click(".undo button");
  await until(() => said.length === 2);

  assert.deepEqual([during, after, box(root)], ["true busy", "true", "false"]);
  assert.deepEqual(offer, ["Milk is done"]);
  assert.deepEqual(textOf(".undo"), []);
  assert.deepEqual(said, ["Milk is done", "Milk: undone"]);
  assert.deepEqual(changesIn(api.posted), [
    { ...placeOf(MILK), action: "update", fields: { status: "completed" } },
    { ...placeOf(MILK), action: "update", fields: { status: "needs-action" } },
  ]);
});

test("an entry is added and can be removed again with one tap", async (t) => {
  const { api, root, said, click, waitFor, until } = mountOnPage(t, widget, {
    answers: { ...answersOf([], [SHOP]), [CHANGE]: { task: MILK, etag: null } },
  });
  await waitFor("form");

  api.answers[TASKS] = allOf([MILK], [SHOP]);
  add(root, "  Milk ");
  const offer = await waitFor(".undo span");
  const left = root.querySelector("input")?.value;
  api.answers[CHANGE] = { task: null, etag: null };
  api.answers[TASKS] = allOf([], [SHOP]);
  click(".undo button");
  await until(() => root.querySelector("li") === null);
  add(root, "  ");

  assert.deepEqual([offer, left], [["Milk is added"], ""]);
  assert.equal(said[0], "Milk is added");
  assert.deepEqual(changesIn(api.posted), [
    { action: "create", calendarId: "shop", fields: { title: "Milk" } },
    { ...placeOf(MILK), action: "remove" },
  ]);
});

test("the offer to undo ends after ten seconds", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { root, textOf, waitFor } = mountOnPage(t, widget, {
    answers: { ...answersOf([], [SHOP]), [CHANGE]: { task: MILK, etag: null } },
  });
  await waitFor("form");
  add(root, "Milk");
  await waitFor(".undo");

  t.mock.timers.tick(9_999);
  const before = textOf(".undo span");
  t.mock.timers.tick(1);

  assert.deepEqual([before, textOf(".undo")], [["Milk is added"], []]);
});

test("a change that is not saved says why, and the task shows its state again", async (t) => {
  const error = new ApiError(503, { code: "service_unavailable", detail: "no answer" });
  const { root, click, waitFor } = mountOnPage(t, widget, {
    answers: { ...answersOf([MILK], [SHOP]), [CHANGE]: error },
  });
  await waitFor("li");

  click("[data-task]");

  assert.match((await waitFor("[role=alert]"))[0] ?? "", /^Not saved: .*no answer/);
  assert.equal(box(root), "false");
});

test("a screen that may only read shows the lists without a way to change them", async (t) => {
  const error = new ApiError(403, { code: "insufficient_scope", detail: "no" });
  const { api, root, click, textOf, waitFor, until } = mountOnPage(t, widget, {
    answers: { ...answersOf([MILK], [SHOP]), [CHANGE]: error },
  });
  await waitFor("li");

  click("[data-task]");
  await until(() => root.querySelector("form") === null && box(root) === "false");
  click("[data-task]");

  assert.deepEqual(textOf("li, [role=status]"), ["Milk", "This screen may only show the lists."]);
  assert.equal(root.querySelector("li button")?.getAttribute("aria-disabled"), "true");
  assert.equal(changesIn(api.posted).length, 1);
});

test("a task that repeats is only shown", async (t) => {
  const { api, click, waitFor } = mountOnPage(t, widget, {
    answers: answersOf([taskOf("home", "Tax", { repeats: true })]),
  });
  await waitFor("li");

  click("[data-task]");

  assert.deepEqual(changesIn(api.posted), []);
});

test("the tile explains that it loads, has no lists, has an empty list or failed", async (t) => {
  const stateOf = async (answers: Record<string, unknown>, selector: string) => {
    const { textOf, waitFor, mounted } = mountOnPage(t, widget, { answers });
    const loading = textOf("p");
    await waitFor(selector);
    const texts = textOf("p");
    mounted.unmount();
    return [...loading, ...texts];
  };
  const none = ["Loading…", "No task lists yet Add a CalDAV account that has one in the settings."];
  const broken = { ...SHOP, status: "error" as const };
  const down = new ApiError(503, { code: "module_down", detail: "down" });

  assert.deepEqual(await stateOf(answersOf([], []), "strong"), none);
  assert.deepEqual(await stateOf(NO_EVENTS, "strong"), none);
  assert.deepEqual(await stateOf(answersOf([]), "form"), ["Loading…", "Nothing to do"]);
  assert.deepEqual(await stateOf(answersOf([], [broken]), ".fault"), [
    "Loading…",
    "Could not read Shop",
  ]);
  assert.deepEqual(await stateOf({ ...NO_EVENTS, [TASKS]: down }, ".fault"), [
    "Loading…",
    "Could not read the tasks",
  ]);
});

test("the texts are also in German", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: NOW });
  const { textOf, waitFor } = mountOnPage(t, widget, { answers: answersOf([BINS, PLANTS]) });
  await waitFor("li");

  setLocale("de-DE");

  assert.deepEqual(textOf("small"), ["überfällig · Heute 07:00", "Morgen"]);
});

function listOf(id: string, name: string): CalendarTasks["lists"][number] {
  return { id, name, color: "#aa0000", status: "ok", fetchedAt: null };
}

function taskOf(calendarId: string, title: string, change: Partial<CalendarTask> = {}) {
  const task: CalendarTask = {
    id: `${calendarId}/${title}`,
    calendarId,
    uid: title,
    title,
    description: null,
    due: null,
    status: "needs-action",
    completedAt: null,
    priority: null,
    repeats: false,
  };
  return { ...task, ...change };
}

function allOf(tasks: readonly CalendarTask[], lists = [HOME]): CalendarTasks {
  return { lists, tasks: [...tasks], truncated: false };
}

function answersOf(tasks: readonly CalendarTask[], lists = [HOME]): Record<string, unknown> {
  return { ...NO_EVENTS, [TASKS]: allOf(tasks, lists) };
}

function placeOf({ calendarId, uid }: CalendarTask) {
  return { calendarId, uid };
}

function changesIn(posted: readonly unknown[]): unknown[] {
  return posted.filter((each) => Object.hasOwn(each as object, "action"));
}

/** The first box: `true` or `false`, and `busy` while it is being saved. */
function box(root: ShadowRoot): string {
  const found = root.querySelector("[data-task]");
  const isBusy = found?.getAttribute("aria-busy") === "true";
  return `${found?.getAttribute("aria-checked")}${isBusy ? " busy" : ""}`;
}

function add(root: ShadowRoot, title: string): void {
  const input = root.querySelector("input");
  const form = root.querySelector("form");
  if (!input || !form) throw new Error("there is no field");
  input.value = title;
  form.dispatchEvent(new Event("submit", { cancelable: true }));
}
