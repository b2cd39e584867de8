import {
  type CalendarTask,
  type CalendarTaskChange,
  type CalendarTaskChanged,
  type CalendarTasks,
  MantelError,
  sentence,
} from "@mantel/plugin-sdk";
import { changedTask, newTask, readTask, requireSingle, type Task } from "./ics/task.ts";
import {
  addressOf,
  contextOf,
  type Found,
  notFound,
  StoredObjects,
  type StoredObjectsDependencies,
  tagOf,
} from "./stored-objects.ts";
import type { Account, WritableCalendar } from "./web/account.ts";

type Change<A extends CalendarTaskChange["action"]> = Extract<CalendarTaskChange, { action: A }>;

/** Maximum tasks of one list; open ones come first. */
const MAX_TASKS = 500;

/** Changes tasks in CalDAV calendars, as `Writer` does events. */
export class TaskWriter {
  readonly #parts: StoredObjectsDependencies;
  readonly #objects: StoredObjects;

  constructor(parts: StoredObjectsDependencies) {
    this.#parts = parts;
    this.#objects = new StoredObjects(parts, "task");
  }

  /** @throws MantelError as `Writer.change`; `conflict` also for a task that repeats */
  async change(change: CalendarTaskChange): Promise<CalendarTaskChanged> {
    const calendar = this.#objects.calendar(change.calendarId);
    if (change.action === "create") return this.#create(calendar, change);
    const { uid } = change;
    const ifMatch = change.action === "read" ? undefined : change.ifMatch;
    return this.#objects.edit(calendar, { uid, ifMatch }, async (found) => {
      const task = await readTask(found.bytes, this.#parts.zone);
      if (!task) throw notFound("task", uid);
      if (change.action === "read") {
        return { task: taskIn(calendar, task), etag: tagOf(found) };
      }
      if (change.action === "update") return this.#update(calendar, found, change);
      requireSingle(task);
      await this.#objects.erase(calendar, found);
      await this.#objects.show(calendar);
      return { task: null, etag: null };
    });
  }

  async #create(
    calendar: WritableCalendar,
    { fields }: Change<"create">,
  ): Promise<CalendarTaskChanged> {
    if (!calendar.hasTasks) {
      const { id } = calendar.source;
      throw new MantelError(
        "conflict",
        sentence("no_tasks", "the calendar {id} has no tasks: use a list of tasks", { id }),
      );
    }
    const { uid, bytes } = newTask(fields, contextOf(this.#parts));
    return this.#saved(calendar, { url: addressOf(calendar, uid), bytes });
  }

  async #update(
    calendar: WritableCalendar,
    found: Found,
    { fields }: Change<"update">,
  ): Promise<CalendarTaskChanged> {
    const bytes = await changedTask(found.bytes, fields, contextOf(this.#parts));
    return this.#saved(calendar, { url: found.url, bytes, before: found });
  }

  /** The object is read before it is sent, so that a fault of the writing is not saved. */
  async #saved(
    calendar: WritableCalendar,
    object: Parameters<StoredObjects["store"]>[1],
  ): Promise<CalendarTaskChanged> {
    const task = await readTask(object.bytes, this.#parts.zone);
    if (!task) throw new MantelError("internal", "the changed task cannot be read");
    const stored = await this.#objects.store(calendar, object);
    await this.#objects.show(calendar);
    return { task: taskIn(calendar, task), etag: stored ? tagOf(stored) : null };
  }
}

/** The tasks of all lists that are not private. */
export function tasksOf(accounts: readonly Pick<Account, "taskLists">[]): CalendarTasks {
  const lists = accounts
    .flatMap(({ taskLists }) => taskLists)
    .filter(({ source }) => !source.isPrivate);
  const shown = lists.map(({ source, tasks }) => {
    const all = source.shown(tasks).map((task) => taskIn({ source }, task));
    return all.toSorted(byDueDate);
  });
  return {
    lists: lists.map(({ source }) => source.state),
    tasks: shown.flatMap((tasks) => tasks.slice(0, MAX_TASKS)),
    truncated: shown.some(({ length }) => length > MAX_TASKS),
  };
}

function taskIn({ source }: Pick<WritableCalendar, "source">, task: Task): CalendarTask {
  return { id: `${source.id}/${task.uid}`, calendarId: source.id, ...task };
}

/** Open tasks first, and those without a due date after the others. */
function byDueDate(a: CalendarTask, b: CalendarTask): number {
  const isDone = ({ status }: CalendarTask) => status === "completed" || status === "cancelled";
  return Number(isDone(a)) - Number(isDone(b)) || dueAt(a) - dueAt(b) || 0;
}

function dueAt({ due }: CalendarTask): number {
  if (!due) return Number.MAX_SAFE_INTEGER;
  return Date.parse("date" in due ? due.date : due.dateTime);
}
