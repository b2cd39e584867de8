import type { HttpDependencies } from "../dependencies.ts";
import type { Metrics } from "../metrics.ts";
import { longOperationId, type Route } from "../route.ts";
import { auditRoutes } from "./audit.ts";
import { backupRoutes } from "./backups.ts";
import { calendarChangeRoutes } from "./calendar-changes.ts";
import { calendarFeedRoutes } from "./calendar-feed.ts";
import { calendarTaskRoutes } from "./calendar-tasks.ts";
import { calendarRoutes } from "./calendar.ts";
import { channelRoutes } from "./channels.ts";
import { configRoutes } from "./config.ts";
import { deviceOverrideRoutes } from "./device-overrides.ts";
import { deviceRoutes } from "./devices.ts";
import { discoveryRoutes } from "./discovery.ts";
import { eventRoutes } from "./events.ts";
import { groupRoutes } from "./groups.ts";
import { healthRoutes } from "./health.ts";
import { languageRoutes } from "./languages.ts";
import { layoutRoutes } from "./layout.ts";
import { moduleTrialRoutes } from "./module-trials.ts";
import { moduleRoutes } from "./modules.ts";
import { mqttRoutes } from "./mqtt.ts";
import { pairingRoutes } from "./pairing.ts";
import { placeRoutes } from "./places.ts";
import { pluginRoutes } from "./plugins.ts";
import { readingRoutes } from "./readings.ts";
import { restartRoutes } from "./restart.ts";
import { roomRoutes } from "./rooms.ts";
import { sceneRoutes } from "./scenes.ts";
import { describedServices, serviceRoutes } from "./services.ts";
import { sessionRoutes } from "./session.ts";
import { setupRoutes } from "./setup.ts";
import { tokenRenewalRoutes } from "./token-renewal.ts";
import { tokenRoutes } from "./tokens.ts";

/** The parts of the host, and those that the HTTP API adds for its routes. */
export interface RouteDependencies extends HttpDependencies {
  readonly prefix: string;
  readonly metrics: Metrics;
  /** The routes that plugins contribute now. */
  readonly contributed: () => readonly Route[];
  /** HTML. */
  readonly docsPage: string;
}

/** The route table: every operation of the API. */
export function createRoutes(parts: RouteDependencies): readonly Route[] {
  const table: readonly Route[] = [
    ...discoveryRoutes({
      ...parts,
      table: () => table,
      contributed: () =>
        underOwnIds([...describedServices(parts.services), ...parts.contributed()], table),
    }),
    ...healthRoutes(parts),
    ...deviceRoutes(parts),
    ...deviceOverrideRoutes(parts),
    ...roomRoutes(parts),
    ...groupRoutes(parts),
    ...readingRoutes(parts),
    ...sceneRoutes(parts),
    ...mqttRoutes(parts),
    ...calendarRoutes(parts),
    ...calendarFeedRoutes(parts),
    ...calendarChangeRoutes(parts),
    ...calendarTaskRoutes(parts),
    ...channelRoutes(parts),
    ...serviceRoutes(parts),
    ...moduleRoutes(parts),
    ...moduleTrialRoutes(parts),
    ...pluginRoutes(parts),
    ...configRoutes(parts),
    ...placeRoutes(parts),
    ...setupRoutes(parts),
    ...languageRoutes(parts),
    ...layoutRoutes(parts),
    ...eventRoutes(parts),
    ...tokenRoutes(parts),
    ...tokenRenewalRoutes(parts),
    ...sessionRoutes(parts),
    ...pairingRoutes(parts),
    ...auditRoutes(parts),
    ...backupRoutes(parts),
    ...restartRoutes(parts),
  ];
  return table;
}

/** Routes of plugins; one that would have the id of an operation of the host has a longer one. */
function underOwnIds(added: readonly Route[], own: readonly Route[]): Route[] {
  const taken = new Set(own.map(({ operationId }) => operationId));
  return added.map((route) => {
    const { method, path, operationId } = route;
    if (!taken.has(operationId)) return route;
    return { ...route, operationId: longOperationId(method, path) };
  });
}
