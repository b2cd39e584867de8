import { MantelError } from "@mantel/plugin-sdk";
import { type ServiceDefinition, serviceKey } from "@mantel/plugin-sdk/service";
import {
  type CalendarChange,
  calendarChange,
  type CalendarChanged,
  calendarRefresh,
  type CalendarRefreshed,
  type CalendarTask,
  type CalendarTaskChange,
  calendarTaskChange,
  type CalendarTaskChanged,
  type CalendarTasks,
  calendarTasks,
} from "@mantel/plugin-sdk/services";
import { faultsOf } from "../validate.ts";
import type { Calendar } from "./calendar.ts";
import { withChangedAt } from "./completeness.ts";

export interface CalendarActionsDependencies {
  readonly calendar: Pick<
    Calendar,
    "placeOf" | "placeOfEvent" | "providers" | "publicIdOf" | "requestedPlace"
  >;
  /** Calls a service of one provider. */
  readonly call: (
    provider: string,
    definition: ServiceDefinition,
    input: unknown,
  ) => Promise<unknown>;
  /** True if a module provides a service now. */
  readonly provides: (provider: string, definition: ServiceDefinition) => boolean;
}

type TaskUpdate = Extract<CalendarTaskChange, { action: "update" }>;
type Update = Extract<CalendarChange, { action: "update" }>;

/** The actions of clients on calendars. The module that a calendar comes from carries them out. */
export class CalendarActions {
  readonly #parts: CalendarActionsDependencies;

  constructor(parts: CalendarActionsDependencies) {
    this.#parts = parts;
  }

  /**
   * Reads a calendar now.
   * @throws MantelError `not_found` for an unknown calendar; `conflict` if its module cannot do that;
   * `service_unavailable` while the module does not run
   */
  async refresh(id: string): Promise<CalendarRefreshed> {
    const { provider, ownId } = this.#parts.calendar.placeOf(id);
    const answer = await this.#call<CalendarRefreshed>(provider, calendarRefresh, { id: ownId });
    const { source, finished } = answer;
    return { source: { ...source, changedAt: source.changedAt ?? null, id }, finished };
  }

  /** Reads an event from its server. @throws MantelError as `change` */
  read(id: string): Promise<CalendarChanged> {
    return this.change({ action: "read", ...this.#parts.calendar.placeOfEvent(id) });
  }

  /** Changes the occurrences of an event. @throws MantelError as `change` */
  update(
    id: string,
    { moveTo, ...update }: Pick<Update, "scope" | "fields" | "ifMatch" | "moveTo">,
  ): Promise<CalendarChanged> {
    const { calendar } = this.#parts;
    const place = calendar.placeOfEvent(id);
    if (moveTo !== undefined) calendar.requestedPlace(moveTo, "/calendarId");
    const move = moveTo === undefined ? {} : { moveTo };
    return this.change({ action: "update", ...place, ...update, ...move });
  }

  /** Removes occurrences of an event. @throws MantelError as `change` */
  remove(id: string, removal: Pick<Update, "scope" | "ifMatch">): Promise<CalendarChanged> {
    return this.change({ action: "remove", ...this.#parts.calendar.placeOfEvent(id), ...removal });
  }

  /**
   * Carries out a change. Resolves when the server of the calendar has confirmed it.
   * @throws MantelError `not_found`; `invalid`, also for an unknown calendar to create in or move to; `conflict` for a
   * calendar that cannot be changed; `revision_stale`; `outcome_unknown` if the server does not tell if it is saved
   */
  async change(change: CalendarChange): Promise<CalendarChanged> {
    const { provider, ownId } = this.#placeOf(change);
    const input = { ...change, calendarId: ownId, ...this.#target(change, provider) };
    const answer = await this.#call<CalendarChanged>(provider, calendarChange, input);
    const { event } = answer;
    if (!event || ownId === change.calendarId) return answer;
    const id = event.calendarId === ownId ? change.calendarId : `${provider}/${event.calendarId}`;
    return { ...answer, event: { ...event, calendarId: id, id: `${id}/${event.id}` } };
  }

  /** The calendar that an event moves to, as its provider names it. */
  #target(change: CalendarChange, provider: string): { moveTo?: string } {
    if (change.action !== "update" || change.moveTo === undefined) return {};
    const target = this.#parts.calendar.requestedPlace(change.moveTo, "/moveTo");
    if (target.provider === provider) return { moveTo: target.ownId };
    throw new MantelError("conflict", "the event cannot move to a calendar of another module");
  }

  /**
   * The tasks of all calendars.
   * @throws MantelError `service_unavailable`, `deadline_passed` if a module does not answer
   */
  async tasks(): Promise<CalendarTasks> {
    const { calendar, provides } = this.#parts;
    const providers = calendar.providers.filter((each) => provides(each, calendarTasks));
    const all = await Promise.all(
      providers.map(async (provider) => {
        const answer = await this.#call<CalendarTasks>(provider, calendarTasks, {});
        const publicId = (ownId: string) => calendar.publicIdOf(provider, ownId);
        return {
          lists: answer.lists.map((list) => withChangedAt({ ...list, id: publicId(list.id) })),
          tasks: answer.tasks.map((task) => withCalendar(task, publicId(task.calendarId))),
          truncated: answer.truncated,
        };
      }),
    );
    return {
      lists: all.flatMap(({ lists }) => lists),
      tasks: all.flatMap(({ tasks }) => tasks),
      truncated: all.some(({ truncated }) => truncated),
    };
  }

  /** Reads a task from its server. @throws MantelError as `changeTask` */
  readTask(id: string): Promise<CalendarTaskChanged> {
    return this.changeTask({ action: "read", ...this.#placeOfTask(id) });
  }

  /** Changes a task. @throws MantelError as `changeTask` */
  updateTask(
    id: string,
    update: Pick<TaskUpdate, "fields" | "ifMatch">,
  ): Promise<CalendarTaskChanged> {
    return this.changeTask({ action: "update", ...this.#placeOfTask(id), ...update });
  }

  /** Removes a task. @throws MantelError as `changeTask` */
  removeTask(id: string, removal: Pick<TaskUpdate, "ifMatch">): Promise<CalendarTaskChanged> {
    return this.changeTask({ action: "remove", ...this.#placeOfTask(id), ...removal });
  }

  /** Carries out a change of a task. @throws MantelError as `change` */
  async changeTask(change: CalendarTaskChange): Promise<CalendarTaskChanged> {
    const { provider, ownId } = this.#placeOf(change);
    const input = { ...change, calendarId: ownId };
    const answer = await this.#call<CalendarTaskChanged>(provider, calendarTaskChange, input);
    if (!answer.task) return answer;
    return { ...answer, task: withCalendar(answer.task, change.calendarId) };
  }

  /** The place of the calendar of a change. A new event or task has it in a field, others in their id. */
  #placeOf({ action, calendarId }: CalendarChange | CalendarTaskChange) {
    const { calendar } = this.#parts;
    if (action === "create") return calendar.requestedPlace(calendarId, "/calendarId");
    return calendar.placeOf(calendarId);
  }

  #placeOfTask(id: string): { readonly calendarId: string; readonly uid: string } {
    const { calendarId, event: uid } = this.#parts.calendar.placeOfEvent(id);
    return { calendarId, uid };
  }

  async #call<Answer>(
    provider: string,
    definition: ServiceDefinition,
    input: unknown,
  ): Promise<Answer> {
    if (!this.#parts.provides(provider, definition)) {
      const sentence = `calendars of ${provider} do not support this: the plugin does not provide ${serviceKey(definition)}`;
      throw new MantelError("conflict", sentence);
    }
    const answer = await this.#parts.call(provider, definition, input);
    const [fault] = definition.output ? faultsOf(definition.output, answer) : [];
    if (!fault) return answer as Answer;
    throw new MantelError(
      "service_unavailable",
      `${provider} gave an invalid answer: ${fault.pointer} ${fault.detail}`,
    );
  }
}

/** A task in a calendar that has another id for clients. */
function withCalendar(task: CalendarTask, calendarId: string): CalendarTask {
  return { ...task, calendarId, id: `${calendarId}/${task.uid}` };
}
