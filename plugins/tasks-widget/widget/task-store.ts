import type {
  CalendarTask,
  CalendarTaskChange,
  calendarTaskChange,
  CalendarTaskChanged,
  CalendarTasks,
  calendarTasks,
} from "@mantel/plugin-sdk/services";
import type { WidgetContext } from "@mantel/plugin-sdk/widget";
import { signal } from "@preact/signals-core";
import { isDone } from "./shown-tasks.ts";

/** The services by their names alone: their schemas are not needed in a page. */
const TASKS = { name: "calendar.tasks", version: 1 } as typeof calendarTasks;
const CHANGE = { name: "calendar.tasks.change", version: 1 } as typeof calendarTaskChange;
const NOTHING: CalendarTasks = { lists: [], tasks: [], truncated: false };

/** The last change that can be undone. */
export interface Undo {
  readonly did: "done" | "added";
  readonly task: CalendarTask;
}

export interface TaskState {
  /** `undefined` until the tasks were read. */
  readonly all: CalendarTasks | undefined;
  /** True if the last reading failed. */
  readonly isUnread: boolean;
  /** The reason why the last change failed. */
  readonly unsaved: string | undefined;
  /** True once the host has refused a change, because this screen does not have the scope `edit`. */
  readonly isReadOnly: boolean;
  /** Ids of tasks that are being changed, true for those that will be done, and ids of lists that get a new one. */
  readonly busy: ReadonlyMap<string, boolean | undefined>;
  readonly undo: Undo | undefined;
}

/** The tasks as the host has them, and changes of them. */
export class TaskStore {
  readonly state = signal<TaskState>({
    all: undefined,
    isUnread: false,
    unsaved: undefined,
    isReadOnly: false,
    busy: new Map(),
    undo: undefined,
  });
  readonly #ctx: Pick<WidgetContext<never, unknown>, "call" | "signal">;
  /** Increases with each reading and each change, so that an answer from before a change is not shown. */
  #turn = 0;

  constructor(ctx: Pick<WidgetContext<never, unknown>, "call" | "signal">) {
    this.#ctx = ctx;
  }

  /** Reads the tasks. Never rejects. */
  async load(): Promise<void> {
    const turn = ++this.#turn;
    const read = await this.#ctx.call(TASKS, {}).then(
      (all): Partial<TaskState> => ({ all, isUnread: false }),
      (error: unknown): Partial<TaskState> =>
        codeOf(error) === "not_found" ? { all: NOTHING, isUnread: false } : { isUnread: true },
    );
    if (turn === this.#turn && !this.#ctx.signal.aborted) this.#set(read);
  }

  /** Ticks a task off, or opens it again. True if that is saved. Never rejects. */
  async tick(task: CalendarTask): Promise<boolean> {
    const status = isDone(task) ? "needs-action" : "completed";
    const changed = await this.#change(task.id, { ...update(task), fields: { status } });
    if (changed && status === "completed") this.#set({ undo: { did: "done", task } });
    return changed !== undefined;
  }

  /** Adds a task to a list. True if it is saved. Never rejects. */
  async add(calendarId: string, title: string): Promise<boolean> {
    const creation = { action: "create", calendarId, fields: { title } } as const;
    const changed = await this.#change(calendarId, creation);
    if (changed?.task) this.#set({ undo: { did: "added", task: changed.task } });
    return changed !== undefined;
  }

  /** Undoes the last tick or the last new task. True if that is saved. Never rejects. */
  async undo({ did, task }: Undo): Promise<boolean> {
    const { calendarId, uid, status } = task;
    const change: CalendarTaskChange =
      did === "added"
        ? { action: "remove", calendarId, uid }
        : { ...update(task), fields: { status } };
    return (await this.#change(task.id, change)) !== undefined;
  }

  /** Takes the offer to undo a change away. */
  forget(undo: Undo): void {
    if (this.state.peek().undo === undo) this.#set({ undo: undefined });
  }

  async #change(
    busyId: string,
    change: CalendarTaskChange,
  ): Promise<CalendarTaskChanged | undefined> {
    if (this.state.peek().busy.has(busyId)) return undefined;
    const busy = new Map(this.state.peek().busy).set(busyId, willBeDone(change));
    this.#set({ busy, unsaved: undefined });
    try {
      const changed = await this.#ctx.call(CHANGE, change);
      this.#set({ all: withChange(this.state.peek().all, change, changed.task), undo: undefined });
      return changed;
    } catch (error) {
      const isReadOnly = codeOf(error) === "insufficient_scope";
      this.#set(isReadOnly ? { isReadOnly } : { unsaved: (error as Error).message });
      return undefined;
    } finally {
      const rest = new Map(this.state.peek().busy);
      rest.delete(busyId);
      this.#set({ busy: rest });
      void this.load();
    }
  }

  #set(change: Partial<TaskState>): void {
    this.state.value = { ...this.state.peek(), ...change };
  }
}

function update({ calendarId, uid }: CalendarTask) {
  return { action: "update", calendarId, uid } as const;
}

function willBeDone(change: CalendarTaskChange): boolean | undefined {
  return change.action === "update" ? change.fields.status === "completed" : undefined;
}

function withChange(
  all: CalendarTasks | undefined,
  change: CalendarTaskChange,
  task: CalendarTask | null,
): CalendarTasks | undefined {
  if (!all) return all;
  const { tasks } = all;
  if (change.action === "create") return task ? { ...all, tasks: [...tasks, task] } : all;
  const isChanged = ({ calendarId, uid }: CalendarTask) =>
    calendarId === change.calendarId && uid === change.uid;
  return { ...all, tasks: tasks.flatMap((each) => (isChanged(each) ? (task ?? []) : each)) };
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code;
}
