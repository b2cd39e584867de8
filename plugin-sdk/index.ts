// oxlint-disable-next-line typescript/triple-slash-reference -- a module cannot declare files by their endings
/// <reference path="./assets.d.ts" preserve="true" />
export { defineChannels, defineService, Type } from "./shared.ts";
export type { Static } from "./shared.ts";
export { distance, toChromaticity, toHueSaturation } from "./color.ts";
export type { Chromaticity, Gamut } from "./color.ts";
export type {
  ChannelDefinition,
  ChannelDefinitions,
  ChannelPublisher,
  ChannelReader,
  ChannelValue,
} from "./channel.ts";
export { Confirmations } from "./confirmations.ts";
export type { ConfirmedCommand } from "./confirmations.ts";
export { withDeadline } from "./deadline.ts";
export { DeviceCache } from "./device-cache.ts";
export { conversionTo, toCanonicalUnit, toKelvin, toLevel, toMired, toPercent } from "./units.ts";
export type { UnitConversion } from "./units.ts";
export { imageTypeOf, MAX_IMAGE_BYTES } from "./device-image.ts";
export type { DeviceImage, ImageType } from "./device-image.ts";
export { NotMotionJpeg, readMotionJpeg } from "./motion-jpeg.ts";
export { asDiskFault } from "./document-file.ts";
export { sweepTemporaryFiles, writeDurably } from "./durable-file.ts";
export { Health } from "./health.ts";
export type { Ignored } from "./health.ts";
export { percentToSpeed, speedToPercent } from "./fan-speed.ts";
export { FairShare } from "./fair-share.ts";
export { hashPassword, isSameText, verifyPassword } from "./password-hash.ts";
export { PublishedDevices } from "./published-devices.ts";
export type { DeviceLists } from "./published-devices.ts";
export { Semaphore } from "./semaphore.ts";
export { SerialQueue } from "./serial-queue.ts";
export { DelayedCall, every, Throttle } from "./timers.ts";
export { topicMatcher } from "./topic-filter.ts";
export { MantelError, ServiceError } from "./errors.ts";
export type { ErrorCode, Fault } from "./errors.ts";
export { inEnglish, sentence } from "./sentence.ts";
export type { Sentence } from "./sentence.ts";
export { definePlugin } from "./plugin.ts";
export { defineRoute, handle } from "./route.ts";
export type { RouteAnswer, RouteDefinition, RouteHandler, RouteRequest } from "./route.ts";
export { provide } from "./service.ts";
export type {
  ProvidedService,
  ServiceDefinition,
  ServiceHandler,
  ServiceInput,
  ServiceOutput,
} from "./service.ts";
export {
  brokerAddress,
  calendarChange,
  calendarEvents,
  calendarRefresh,
  calendarTaskChange,
  calendarTasks,
  historyLogbook,
  historyReadings,
  historyRecord,
  historyRun,
  historyRuns,
  historyStatistics,
  homeNotify,
  hostProcess,
  machineDisks,
  mqttBroker,
  mqttPublish,
} from "./services/index.ts";
export { LONGEST_TRACE } from "./services/history-runs.ts";
export type {
  CalendarChange,
  CalendarChanged,
  CalendarEventPatch,
  CalendarQuery,
  CalendarRefreshed,
  CalendarTask,
  CalendarTaskChange,
  CalendarTaskChanged,
  CalendarTaskPatch,
  CalendarTasks,
  ChangeScope,
  NewCalendarEvent,
  NewCalendarTask,
  WrittenBound,
  HistoryReadings,
  HistoryRun,
  HistoryRuns,
  HistoryStatistics,
  HomeNotification,
  Logbook,
  LogbookEntry,
  LogbookQuery,
  MachineDisk,
  MqttBroker,
  MqttPublish,
  ReadingsQuery,
  RunsQuery,
  StatisticsQuery,
} from "./services/index.ts";
export type { Cause, CauseReason } from "./cause.ts";
export type {
  ActsFor,
  Coordinates,
  DeviceChange,
  DeviceListener,
  DeviceSelector,
  Home,
  HomeActivation,
  HomeCalendarAnswer,
  HomeCommandResult,
  HomeDeviceEvent,
  HomeError,
  HomeFailure,
  HomeRoom,
  HomeSceneEvent,
  Presence,
  Stop,
  Sun,
} from "./home.ts";
export type {
  Discover,
  DiscoveredDevice,
  DiscoveredService,
  DiscoverOptions,
} from "./discovery.ts";
export type {
  Log,
  LogFields,
  PluginContext,
  PluginStatus,
  Storage,
  StorageJournal,
} from "./context.ts";
export type { SourceChange, SourceCode, SourceFault, Sources } from "./sources.ts";
export type { Schedule, ScheduledRun, ScheduleHandler, ScheduleOptions } from "./schedule.ts";
export type { Plugin, RunningPlugin } from "./plugin.ts";
export type {
  Capabilities,
  Capability,
  Color,
  CommandBeyond,
  CommandBody,
  Device,
  DeviceCommand,
  DeviceDescription,
  DeviceEvent,
  DeviceExtra,
  DeviceKind,
  DevicePart,
  DeviceState,
  DeviceUpdate,
  ExtraCapability,
  StateValue,
  Unit,
} from "./device.ts";
export type { Scene, SceneDescription } from "./scene.ts";
export type { OptionsPatch, SetupContext, SetupStep, TrialContext } from "./trial.ts";
export type { CalendarBound, CalendarEvent, CalendarSource, CalendarWindow } from "./calendar.ts";
