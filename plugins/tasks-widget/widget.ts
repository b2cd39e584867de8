import type { CalendarTask } from "@mantel/plugin-sdk/services";
import { defineWidget, s, type WidgetContext } from "@mantel/plugin-sdk/widget";
import { computed, signal } from "@preact/signals-core";
import { html, nothing, render, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { dueOf, isDone, type ShownList, shownLists } from "./widget/shown-tasks.ts";
import { type TaskState, TaskStore, type Undo } from "./widget/task-store.ts";
import styles from "./widget.css";
import cardStyles from "@mantel/plugin-sdk/ui/card.css";

const REFRESH_MS = 60_000;
/** Time for which a change can be undone with one tap. */
const UNDO_MS = 10_000;

const settings = {
  title: s.text({ title: "Title" }),
  kind: s.choice(["tasks", "shopping"], { title: "Kind of list" }),
  lists: s.list(s.text({ title: "List" }), { max: 50 }),
};
type Context = WidgetContext<typeof settings, unknown>;

interface Actions {
  readonly tick: (task: CalendarTask) => Promise<void>;
  readonly add: (submitted: SubmitEvent, list: ShownList["list"]) => Promise<void>;
  readonly revert: (undo: Undo) => Promise<void>;
}

interface Shown extends TaskState, Actions {
  readonly now: number;
}

export default defineWidget({
  name: "Tasks",
  icon: "mdi:format-list-checks",
  size: { default: [4, 10], min: [3, 5] },
  texts: {
    de: {
      Tasks: "Aufgaben",
      Title: "Titel",
      "Kind of list": "Art der Liste",
      List: "Liste",
      tasks: "Aufgaben",
      shopping: "Einkaufsliste",
      Shopping: "Einkaufen",
      Milk: "Milch",
      "New task": "Neue Aufgabe",
      "Add to {list}": "Zu {list} hinzufügen",
      Add: "Hinzufügen",
      Undo: "Rückgängig",
      Today: "Heute",
      Tomorrow: "Morgen",
      overdue: "überfällig",
      repeats: "wiederholt sich",
      "Nothing to do": "Nichts zu tun",
      "{title} is done": "{title} ist erledigt",
      "{title} is open again": "{title} ist wieder offen",
      "{title} is added": "{title} ist hinzugefügt",
      "{title}: undone": "{title}: rückgängig gemacht",
      "Not saved: {reason}": "Nicht gespeichert: {reason}",
      "This screen may only show the lists.": "Dieser Bildschirm darf die Listen nur zeigen.",
      "Could not read {name}": "{name} konnte nicht gelesen werden",
      "Could not read the tasks": "Die Aufgaben konnten nicht gelesen werden",
      "Loading…": "Wird geladen …",
      "No task lists yet": "Noch keine Aufgabenlisten",
      "Add a CalDAV account that has one in the settings.":
        "Füge in den Einstellungen ein CalDAV-Konto hinzu, das eine hat.",
    },
  },
  settings,
  styles: cardStyles + styles,
  mount(root, ctx) {
    const store = new TaskStore(ctx);
    const now = signal(ctx.now());
    const calendar = ctx.channel("calendar");
    // A list that changes at its server also changes the calendar channel.
    ctx.effect(() => {
      void calendar.value;
      if (ctx.online.value) void store.load();
    });
    ctx.every(REFRESH_MS, () => {
      now.value = ctx.now();
      void store.load();
    });

    const actions: Actions = {
      async tick(task) {
        const { title } = task;
        const said = isDone(task) ? "{title} is open again" : "{title} is done";
        if (await store.tick(task)) ctx.announce(ctx.t(said, { title }));
      },
      async add(submitted, { id }) {
        submitted.preventDefault();
        const input = (submitted.currentTarget as Element).querySelector("input");
        const title = input?.value.trim() ?? "";
        if (!input || title === "" || !(await store.add(id, title))) return;
        input.value = "";
        ctx.announce(ctx.t("{title} is added", { title }));
      },
      async revert(undo) {
        const { title } = undo.task;
        if (await store.undo(undo)) ctx.announce(ctx.t("{title}: undone", { title }));
      },
    };

    const offer = computed(() => store.state.value.undo);
    ctx.effect(() => {
      const undo = offer.value;
      if (!undo) return undefined;
      const timer = setTimeout(() => store.forget(undo), UNDO_MS);
      return () => clearTimeout(timer);
    });
    ctx.effect(() => {
      const focused = focusedTask(root);
      render(card(ctx, { ...store.state.value, ...actions, now: now.value }), root);
      if (focused !== undefined && focusedTask(root) !== focused) focusTask(root, focused);
    });
  },
});

function focusedTask(root: ShadowRoot): string | undefined {
  return (root.activeElement as HTMLElement | null)?.dataset["task"];
}

/** A row that moves within its list loses the focus. */
function focusTask(root: ShadowRoot, id: string): void {
  const boxes = root.querySelectorAll<HTMLElement>("[data-task]");
  Array.from(boxes)
    .find(({ dataset }) => dataset["task"] === id)
    ?.focus();
}

function card(ctx: Context, shown: Shown): TemplateResult {
  const { t, online, settings: own, timeZone } = ctx;
  const { title, kind, lists: wanted } = own.value;
  const { all, now } = shown;
  const lists = all ? shownLists(all, { lists: wanted, timeZone: timeZone.value, now }) : [];
  const [first] = lists;
  const usual = t(kind === "shopping" ? "Shopping" : "Tasks");
  const heading = title || (first && lists.length === 1 ? first.list.name : usual);
  const icon = kind === "shopping" ? "mdi:cart-outline" : "mdi:format-list-checks";
  return html`<section class="card ${online.value ? "" : "stale"}" aria-label=${heading}>
    <h2><mantel-icon name=${icon}></mantel-icon><span dir="auto">${heading}</span></h2>
    <div class="lists">
      ${all && first === undefined ? noLists(ctx) : nothing}
      ${!all && !shown.isUnread ? html`<p class="empty" role="status">${t("Loading…")}</p>` : nothing}
      ${lists.map((each) => section(ctx, shown, { ...each, isNamed: lists.length > 1 }))}
    </div>
    ${messages(ctx, shown, lists)}
  </section>`;
}

function noLists({ t }: Context): TemplateResult {
  return html`<p class="empty">
    <strong>${t("No task lists yet")}</strong>
    <span>${t("Add a CalDAV account that has one in the settings.")}</span>
  </p>`;
}

function section(
  ctx: Context,
  shown: Shown,
  { list, tasks, isNamed }: ShownList & { readonly isNamed: boolean },
): TemplateResult {
  const isEmpty = tasks.length === 0;
  return html`<section aria-label=${list.name}>
    ${isNamed ? html`<h3 dir="auto">${list.name}</h3>` : nothing}
    ${isEmpty && list.status !== "error" ? html`<p>${ctx.t("Nothing to do")}</p>` : nothing}
    <ul>
      ${repeat(
        tasks,
        ({ id }) => id,
        (task) => row(ctx, shown, task),
      )}
    </ul>
    ${shown.isReadOnly ? nothing : adding(ctx, shown, list)}
  </section>`;
}

function row(ctx: Context, shown: Shown, task: CalendarTask): TemplateResult {
  const isBusy = shown.busy.has(task.id);
  const isChecked = shown.busy.get(task.id) ?? isDone(task); // the wanted state until the server confirms it
  const isFixed = task.repeats || shown.isReadOnly;
  return html`<li>
    <button
      role="checkbox"
      data-task=${task.id}
      aria-checked=${isChecked}
      aria-busy=${isBusy}
      aria-disabled=${isFixed || isBusy}
      @click=${() => isFixed || isBusy || shown.tick(task)}
    >
      <mantel-icon
        name=${isChecked ? "mdi:check-circle" : "mdi:checkbox-blank-circle-outline"}
      ></mantel-icon>
      <span class="text">
        <b dir="auto">${task.title}</b>
        ${isDone(task) ? nothing : details(ctx, shown.now, task)}
      </span>
    </button>
  </li>`;
}

function details(ctx: Context, now: number, task: CalendarTask): unknown {
  const { t, fmt, locale, timeZone } = ctx;
  const due = dueOf(task, { now, timeZone: timeZone.value });
  const words: string[] = [];
  if (due) {
    const isThisYear = due.date.startsWith(`${new Date(now).getFullYear()}`);
    const date = new Intl.DateTimeFormat(locale.value, {
      weekday: "short",
      day: "numeric",
      month: "short",
      year: isThisYear ? undefined : "numeric",
      timeZone: "UTC",
    });
    const days = { today: t("Today"), tomorrow: t("Tomorrow") };
    const day = due.day === "other" ? date.format(Date.parse(due.date)) : days[due.day];
    words.push(due.at === undefined ? day : `${day} ${fmt.time(due.at)}`);
    if (due.isOverdue) words.unshift(t("overdue"));
  }
  if (task.repeats) words.push(t("repeats"));
  if (words.length === 0) return nothing;
  return html`<small class=${due?.isOverdue ? "overdue" : ""}>${words.join(" · ")}</small>`;
}

function adding(ctx: Context, { busy, add }: Shown, list: ShownList["list"]): TemplateResult {
  const { t, settings: own } = ctx;
  return html`<form @submit=${(submitted: SubmitEvent) => add(submitted, list)}>
    <input
      name="title"
      autocomplete="off"
      maxlength="500"
      dir="auto"
      aria-label=${t("Add to {list}", { list: list.name })}
      placeholder=${t(own.value.kind === "shopping" ? "Milk" : "New task")}
    />
    <button class="add" aria-label=${t("Add")} aria-disabled=${busy.has(list.id)}>
      <mantel-icon name="mdi:plus"></mantel-icon>
    </button>
  </form>`;
}

/** The offer to undo the last change, and what went wrong. */
function messages(ctx: Context, shown: Shown, lists: readonly ShownList[]): TemplateResult {
  const { t } = ctx;
  const { undo, unsaved, isUnread, isReadOnly } = shown;
  const broken = lists.filter(({ list }) => list.status === "error").map(({ list }) => list.name);
  const title = undo?.task.title ?? "";
  return html`${
    undo
      ? html`<p class="undo">
          <span>${t(undo.did === "done" ? "{title} is done" : "{title} is added", { title })}</span>
          <button @click=${() => shown.revert(undo)}>${t("Undo")}</button>
        </p>`
      : nothing
  }
  ${unsaved === undefined ? nothing : html`<p class="fault" role="alert">${t("Not saved: {reason}", { reason: unsaved })}</p>`}
  ${isReadOnly ? html`<p role="status">${t("This screen may only show the lists.")}</p>` : nothing}
  ${isUnread ? html`<p class="fault" role="status">${t("Could not read the tasks")}</p>` : nothing}
  ${
    broken.length > 0
      ? html`<p class="fault" role="status">
          ${t("Could not read {name}", { name: broken.join(", ") })}
        </p>`
      : nothing
  }`;
}
