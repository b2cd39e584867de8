import type { CalendarTask, CalendarTasks } from "@mantel/plugin-sdk/services";

const DAY_MS = 86_400_000;

export interface ShownList {
  readonly list: CalendarTasks["lists"][number];
  /** Open ones by due date, then those that were done today. */
  readonly tasks: readonly CalendarTask[];
}

/** The lists of the settings, by default all, with their open tasks and those that were done today. */
export function shownLists(
  { lists, tasks }: CalendarTasks,
  wanted: { readonly lists: readonly string[]; readonly timeZone: string; readonly now: number },
): readonly ShownList[] {
  const today = dateIn(wanted.now, wanted.timeZone);
  const isShown = ({ status, completedAt }: CalendarTask): boolean => {
    if (status === "cancelled") return false;
    if (status !== "completed") return true;
    return completedAt !== null && dateIn(Date.parse(completedAt), wanted.timeZone) === today;
  };
  return lists
    .filter(({ id }) => wanted.lists.length === 0 || wanted.lists.includes(id))
    .map((list) => ({
      list,
      tasks: tasks
        .filter((task) => task.calendarId === list.id && isShown(task))
        .toSorted((a, b) => Number(isDone(a)) - Number(isDone(b))),
    }));
}

export function isDone({ status }: CalendarTask): boolean {
  return status === "completed";
}

export interface Due {
  readonly day: "today" | "tomorrow" | "other";
  /** Such as `2026-11-20`. */
  readonly date: string;
  /** Epoch milliseconds; absent for a task that is due on a whole day. */
  readonly at?: number;
  readonly isOverdue: boolean;
}

/** The time at which a task is due, in the time zone of the home. */
export function dueOf(
  { due }: CalendarTask,
  { now, timeZone }: { readonly now: number; readonly timeZone: string },
): Due | undefined {
  if (!due) return undefined;
  const today = dateIn(now, timeZone);
  const dayOf = (date: string): Due["day"] => {
    if (date === today) return "today";
    return Date.parse(date) - Date.parse(today) === DAY_MS ? "tomorrow" : "other";
  };
  if ("date" in due) return { day: dayOf(due.date), date: due.date, isOverdue: due.date < today };
  const at = Date.parse(due.dateTime);
  const date = dateIn(at, timeZone);
  return { day: dayOf(date), date, at, isOverdue: at < now };
}

/** The date of an instant in a time zone, such as `2026-11-20`. */
function dateIn(at: number, timeZone: string): string {
  return new Intl.DateTimeFormat("en-CA", {
    timeZone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  }).format(at);
}
