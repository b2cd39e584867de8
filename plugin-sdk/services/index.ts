export {
  CalendarChange,
  calendarChange,
  CalendarChanged,
  CalendarEventPatch,
  calendarEvents,
  CalendarQuery,
  calendarRefresh,
  CalendarRefreshed,
  ChangeScope,
  EventPhrase,
  NewCalendarEvent,
  type WrittenBound,
} from "./calendar.ts";
export {
  CalendarTask,
  CalendarTaskChange,
  calendarTaskChange,
  CalendarTaskChanged,
  CalendarTaskPatch,
  CalendarTasks,
  calendarTasks,
  NewCalendarTask,
} from "./calendar-tasks.ts";
export { HistoryRun, historyRun, HistoryRuns, historyRuns, RunsQuery } from "./history-runs.ts";
export {
  historyLogbook,
  HistoryReadings,
  historyReadings,
  HistoryRecord,
  historyRecord,
  HistoryStatistics,
  historyStatistics,
  Logbook,
  LogbookEntry,
  LogbookQuery,
  ReadingsQuery,
  StatisticsQuery,
} from "./history.ts";
export { HomeNotification, homeNotify } from "./home.ts";
export { HostProcessFigures, hostProcess, MachineDisk, machineDisks } from "./machine.ts";
export { brokerAddress, MqttBroker, mqttBroker, MqttPublish, mqttPublish } from "./mqtt.ts";
