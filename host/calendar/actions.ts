import { MantelError } from "@mantel/plugin-sdk";
import { type ServiceDefinition, serviceKey } from "@mantel/plugin-sdk/service";
import { calendarRefresh, type CalendarRefreshed } from "@mantel/plugin-sdk/services";
import { faultsOf } from "../validate.ts";
import type { Calendar } from "./calendar.ts";

export interface CalendarActionsParts {
  readonly calendar: Pick<Calendar, "placeOf">;
  /** Calls a service of one provider. */
  readonly call: (
    provider: string,
    definition: ServiceDefinition,
    input: unknown,
  ) => Promise<unknown>;
  /** True if a module provides a service now. */
  readonly provides: (provider: string, definition: ServiceDefinition) => boolean;
}

/** What clients may do with calendars. Each action is carried out by the module that the calendar comes from. */
export class CalendarActions {
  readonly #parts: CalendarActionsParts;

  constructor(parts: CalendarActionsParts) {
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

  async #call<Answer>(
    provider: string,
    definition: ServiceDefinition,
    input: unknown,
  ): Promise<Answer> {
    if (!this.#parts.provides(provider, definition)) {
      const sentence = `calendars of ${provider} do not support this: it does not provide ${serviceKey(definition)}`;
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
