import type { CalendarWindow } from "@mantel/plugin-sdk/calendar";
import { serviceKey } from "@mantel/plugin-sdk/service";
import {
  type CalendarChange,
  calendarChange,
  calendarEvents,
  type CalendarQuery,
  calendarRefresh,
  type CalendarTaskChange,
  calendarTaskChange,
  calendarTasks,
} from "@mantel/plugin-sdk/services";
import type { ConfigStore } from "../config/store.ts";
import type { Bus } from "../events/bus.ts";
import type { ServiceRegistry } from "../services/registry.ts";
import { CalendarActions } from "./actions.ts";
import { Calendar } from "./calendar.ts";

const DEADLINE_MS = 30_000;

interface Dependencies {
  readonly bus: Bus;
  readonly config: ConfigStore;
  readonly services: ServiceRegistry;
}

/** The calendars of all modules as one, also for the plugins that call its services. */
export function openCalendars({ bus, config, services }: Dependencies) {
  const calendar = new Calendar({
    bus,
    config,
    call: async (provider, query) => {
      const key = serviceKey(calendarEvents);
      return (await services.callProvider(provider, key, query, DEADLINE_MS)) as CalendarWindow;
    },
  });
  const calendarActions = new CalendarActions({
    calendar,
    call: (provider, definition, input) =>
      services.callProvider(provider, serviceKey(definition), input, DEADLINE_MS),
    provides: (provider, definition) => services.isProvidedBy(provider, serviceKey(definition)),
  });
  services.merge(serviceKey(calendarEvents), (query: CalendarQuery) => calendar.window(query));
  services.merge(serviceKey(calendarChange), (change: CalendarChange) =>
    calendarActions.change(change),
  );
  services.merge(serviceKey(calendarRefresh), ({ id }: { id: string }) =>
    calendarActions.refresh(id),
  );
  services.merge(serviceKey(calendarTasks), () => calendarActions.tasks());
  services.merge(serviceKey(calendarTaskChange), (change: CalendarTaskChange) =>
    calendarActions.changeTask(change),
  );
  return { calendar, calendarActions };
}
