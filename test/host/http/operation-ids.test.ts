import assert from "node:assert/strict";
import { test } from "node:test";
import type { Static } from "typebox";
import type { ApiEvents, Topic } from "../../../host/api/events.ts";
import type { EVENT_DATA } from "../../../host/http/event-schema.ts";
import { operationIdOf } from "../../../host/http/route.ts";
import { routeTable } from "../../../scripts/client-types.ts";

/** Clients are generated with these names: a name that is here never changes. */
const OPERATION_IDS: Readonly<Record<string, string>> = {
  "GET /api": "getApi",
  "GET /openapi.json": "getOpenApi",
  "GET /docs": "getDocs",
  "GET /health": "getHealth",
  "GET /health/ready": "getReadiness",
  "GET /metrics": "getMetrics",
  "GET /smart-home/devices": "listDevices",
  "GET /smart-home/devices/:id": "getDevice",
  "GET /smart-home/devices/:id/image": "getDeviceImage",
  "GET /smart-home/devices/:id/frames": "watchDevice",
  "POST /smart-home/devices/:id/video": "connectVideo",
  "POST /smart-home/devices/:id/command": "sendCommand",
  "PATCH /smart-home/devices/:id": "updateDevice",
  "PATCH /tokens/:name": "changeTokenRights",
  "DELETE /smart-home/devices/:id": "forgetDevice",
  "POST /rooms/:room/command": "sendRoomCommand",
  "GET /groups": "listGroups",
  "GET /groups/:id": "getGroup",
  "PUT /groups/:id": "putGroup",
  "DELETE /groups/:id": "removeGroup",
  "POST /groups/:id/command": "sendGroupCommand",
  "POST /smart-home/commands": "sendCommands",
  "GET /smart-home/devices/:id/history": "getDeviceHistory",
  "GET /smart-home/scenes": "listScenes",
  "GET /smart-home/scenes/:id": "getScene",
  "PUT /smart-home/scenes/order": "orderScenes",
  "PUT /smart-home/scenes/:id": "putScene",
  "DELETE /smart-home/scenes/:id": "removeScene",
  "POST /smart-home/scenes/:id/activate": "activateScene",
  "POST /mqtt/publish": "publishMessage",
  "GET /calendar/busy": "getBusyTimes",
  "GET /calendar/events": "listCalendarEvents",
  "GET /calendar/feed.ics": "getCalendarFile",
  "GET /calendar/feeds/:secret.ics": "getCalendarFeed",
  "GET /calendar/feeds": "listCalendarFeeds",
  "POST /calendar/feeds": "createCalendarFeed",
  "POST /calendar/sources/:id/refresh": "refreshCalendar",
  "GET /calendar/events/:id": "getCalendarEvent",
  "POST /calendar/events": "createCalendarEvent",
  "PATCH /calendar/events/:id": "updateCalendarEvent",
  "DELETE /calendar/events/:id": "removeCalendarEvent",
  "GET /calendar/tasks": "listCalendarTasks",
  "GET /calendar/tasks/:id": "getCalendarTask",
  "POST /calendar/tasks": "createCalendarTask",
  "PATCH /calendar/tasks/:id": "updateCalendarTask",
  "DELETE /calendar/tasks/:id": "removeCalendarTask",
  "DELETE /calendar/feeds/:id": "revokeCalendarFeed",
  "GET /channels": "listChannels",
  "GET /channels/:plugin/:name": "getChannel",
  "GET /places": "findPlaces",
  "GET /setup": "getSetup",
  "GET /setup/devices": "findDevices",
  "GET /photos": "getPhotos",
  "GET /photos/:name": "getPhotosByName",
  "PUT /photos/:name": "putPhotosByName",
  "DELETE /photos/:name": "deletePhotosByName",
  "POST /services/:name": "callService",
  "GET /modules": "listModules",
  "GET /modules/:id": "getModule",
  "GET /modules/:id/logs": "getModuleLogs",
  "POST /modules/:id/sources/:name": "addModuleSource",
  "POST /modules/:id/reload": "reloadModule",
  "POST /modules/:id/rollback": "rollBackModule",
  "POST /modules/:id/consent": "consentToModule",
  "POST /modules/:id/widget-errors": "reportWidgetError",
  "POST /modules/:id/enable": "enableModule",
  "POST /modules/:id/disable": "disableModule",
  "GET /modules/:id/config": "getModuleConfig",
  "PATCH /modules/:id/config": "updateModuleConfig",
  "POST /modules/:id/test": "testModuleOptions",
  "POST /modules/:id/setup": "startModuleSetup",
  "GET /modules/:id/setup": "getModuleSetup",
  "POST /modules/:id/setup/answer": "answerModuleSetup",
  "DELETE /modules/:id/setup": "cancelModuleSetup",
  "GET /plugins": "listPlugins",
  "GET /plugins/search": "searchPlugins",
  "GET /plugins/:id": "getPlugin",
  "GET /plugins/:id/readme": "getPluginReadme",
  "GET /plugins/:id/icon": "getPluginIcon",
  "POST /plugins": "installPlugin",
  "POST /plugins/:id/update": "updatePlugin",
  "POST /plugins/:id/pin": "pinPlugin",
  "DELETE /plugins/:id": "removePlugin",
  "GET /config": "getConfig",
  "PATCH /config": "updateConfig",
  "GET /languages": "listLanguages",
  "GET /languages/:locale": "getLanguage",
  "GET /languages/:locale/plugins": "getLanguageOfPlugins",
  "GET /layout": "getLayout",
  "PUT /layout": "putLayout",
  "GET /layout/history": "listLayoutRevisions",
  "POST /layout/restore/:revision": "restoreLayout",
  "GET /events": "followEvents",
  "GET /tokens": "listTokens",
  "POST /tokens": "createToken",
  "DELETE /tokens/:name": "revokeToken",
  "POST /tokens/rotate": "rotateTokenKey",
  "POST /tokens/renew": "renewToken",
  "GET /session": "getSession",
  "POST /session": "signIn",
  "DELETE /session": "signOut",
  "POST /pairing": "startPairing",
  "POST /pairing/token": "getPairingToken",
  "GET /pairing/:userCode": "getPairing",
  "POST /pairing/:userCode/approve": "approvePairing",
  "DELETE /pairing/:userCode": "rejectPairing",
  "GET /audit": "listAuditEntries",
  "POST /backup": "createBackup",
  "POST /restore": "restoreBackup",
  "POST /restart": "restartHost",
  "GET /history/readings": "getHistoryReadings",
  "GET /history/statistics": "getHistoryStatistics",
  "GET /history/export": "getHistoryExport",
  "GET /logbook": "getLogbook",
  "GET /system": "getSystem",
  "GET /weather": "getWeather",
  "GET /automation-runs": "getAutomationRuns_807a348d",
  "POST /automations": "postAutomations",
  "POST /automations/:id/disable": "postAutomationsByIdDisable",
  "POST /automations/:id/enable": "postAutomationsByIdEnable",
  "GET /automations/:id/code": "getAutomationsByIdCode",
  "GET /automations/:id/history": "getAutomationsByIdHistory",
  "GET /automations": "getAutomations",
  "POST /automations/pause": "postAutomationsPause",
  "GET /automations/:id": "getAutomationsById",
  "DELETE /automations/:id": "deleteAutomationsById",
  "PUT /automations/:id": "putAutomationsById",
  "POST /automations/:id/restore/:revision": "postAutomationsByIdRestoreByRevision",
  "POST /automations/resume": "postAutomationsResume",
  "POST /automations/:id/run": "postAutomationsByIdRun",
  "POST /automations/simulate": "postAutomationsSimulate",
  "GET /automations/:id/traces": "getAutomationsByIdTraces",
  "GET /automations/webhooks": "getAutomationsWebhooks",
  "GET /push": "getPush",
  "POST /push": "postPush",
  "PUT /push": "putPush",
  "DELETE /push/:id": "deletePushById",
  "GET /push/browsers": "getPushBrowsers",
};

test("every operation has the id under which generated clients know it", () => {
  const table = routeTable().map((route) => [`${route.method} ${route.path}`, route.operationId]);

  assert.deepEqual(Object.fromEntries(table), OPERATION_IDS);
});

test("no two operations have the same id", () => {
  const ids = routeTable().map(({ operationId }) => operationId);

  assert.equal(new Set(ids).size, ids.length);
});

test("an operation of a plugin is named after its method and path", () => {
  assert.equal(operationIdOf("GET", "/weather"), "getWeather");
  assert.equal(operationIdOf("PUT", "/tides/:place/now"), "putTidesByPlaceNow");
  assert.match(
    operationIdOf("POST", "/services/acme.news@2"),
    /^postServicesAcmeNews2_[0-9a-f]{8}$/,
  );
});

test("operations of plugins at different paths have different ids", () => {
  const alike = [
    ...["/plugins/a-b/c", "/plugins/a/b/c", "/plugins/a/b-c", "/plugins/a/b.c", "/plugins/a/b_c"],
    ...["/tides/:place", "/tides/by/place", "/tides/by-place", "/tides/1", "/tides1", "/tide/s1"],
    ...["/tides/:aB", "/tides/:a/b", "/tides/:ab"],
  ];

  const ids = alike.map((path) => operationIdOf("GET", path));

  assert.equal(new Set(ids).size, alike.length, ids.join(" "));
  for (const id of ids) assert.match(id, /^[a-z][A-Za-z0-9_]*$/);
});

type Described = Exclude<Topic, "contributed" | "channel">;
type Deep<T> = T extends object ? { readonly [K in keyof T]: Deep<T[K]> } : T;

test("the document describes events in the form in which the host emits them", () => {
  // Does not compile if they differ.
  const describe = (
    events: Pick<ApiEvents, Described>,
  ): {
    readonly [T in Described]: Deep<Static<(typeof EVENT_DATA)[T]>>;
  } => events;

  assert.ok(describe);
});
