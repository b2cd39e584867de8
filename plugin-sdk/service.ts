import { Type, type Static } from "typebox";
import { CalendarWindow } from "./calendar.ts";
import { SystemSample } from "./metrics.ts";
import { Strict } from "./schema.ts";
import { WeatherForecast } from "./weather.ts";

export const MqttPublish = Type.Object(
  {
    topic: Type.String(),
    /** UTF-8 text. */
    payload: Type.String(),
    qos: Type.Enum([0, 1, 2]),
    retain: Type.Boolean(),
  },
  Strict,
);
export type MqttPublish = Static<typeof MqttPublish>;

/** Where a broker is, and as whom to connect. */
export interface MqttBroker {
  /** `mqtt://`, `mqtts://`, `ws://` or `wss://`. */
  readonly url: string;
  readonly username?: string;
  readonly password?: string;
  /** PEM certificates to trust instead of the system's. */
  readonly ca?: string;
}

export const CalendarQuery = Type.Object(
  { start: Type.String({ format: "date-time" }), end: Type.String({ format: "date-time" }) },
  Strict,
);
export type CalendarQuery = Static<typeof CalendarQuery>;

/**
 * The calls that plugins offer each other and the host, by name. A plugin that offers one names it
 * under `provides` in its manifest; one that uses it, under `uses`.
 */
export interface Services {
  /** Resolves when the broker has acknowledged. Throws `broker_down` or `broker_refused`. */
  "mqtt.publish": (message: MqttPublish) => Promise<void>;
  /**
   * The house's broker with its credentials: that of `mqtt.url`, or the embedded one. Whoever names it
   * under `uses` may connect as the house; `service:mqtt.broker` under `permissions.hosts` lets it.
   */
  "mqtt.broker": (nothing: Record<string, never>) => Promise<MqttBroker>;
  /** Where the embedded broker listens, such as `mqtt://127.0.0.1:1883`. */
  "broker.address": (nothing: Record<string, never>) => Promise<{ url: string }>;
  /** All occurrences in a window that the published one does not cover. */
  "calendar.events": (query: CalendarQuery) => Promise<CalendarWindow>;
}
export type ServiceName = keyof Services;
export const SERVICE_NAMES = [
  "mqtt.publish",
  "mqtt.broker",
  "broker.address",
  "calendar.events",
] as const satisfies ServiceName[];

/** Services that only read: a call of which nobody knows whether it was made is made again. */
export const REPEATABLE_SERVICES: ReadonlySet<string> = new Set<ServiceName>([
  "mqtt.broker",
  "broker.address",
  "calendar.events",
]);

/**
 * What plugins keep published in the host, by name; the host answers from the last value and never
 * asks. Named under `provides` in the manifest like a service.
 */
export const PUBLICATIONS = {
  "calendar.window": CalendarWindow,
  "system.sample": SystemSample,
  "weather.forecast": WeatherForecast,
} as const;
export type Publications = { [N in keyof typeof PUBLICATIONS]: Static<(typeof PUBLICATIONS)[N]> };
export type PublicationName = keyof Publications;
