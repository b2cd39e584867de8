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

/** The address and credentials of an MQTT broker. */
export interface MqttBroker {
  /** `mqtt://`, `mqtts://`, `ws://` or `wss://`. */
  readonly url: string;
  readonly username?: string;
  readonly password?: string;
  /** PEM certificates to trust instead of the system's. */
  readonly ca?: string;
}

/** A mounted file system of the machine, as listed by df(1). */
export const MachineDisk = Type.Object(
  {
    /** The device, such as `/dev/sda1`, or the type of a file system without a device. */
    device: Type.String(),
    mount: Type.String(),
    /** The file system's type, such as `ext4`. */
    type: Type.String(),
    totalBytes: Type.Number(),
    usedBytes: Type.Number(),
  },
  Strict,
);
export type MachineDisk = Static<typeof MachineDisk>;

export const CalendarQuery = Type.Object(
  { start: Type.String({ format: "date-time" }), end: Type.String({ format: "date-time" }) },
  Strict,
);
export type CalendarQuery = Static<typeof CalendarQuery>;

/**
 * The services, by name: functions that plugins provide to each other and to the host. The manifest of the
 * provider lists a service under `provides`, the manifest of the caller under `uses`.
 */
export interface Services {
  /** Publishes a message. Resolves when the broker has acknowledged it. Throws `broker_down` or `broker_refused`. */
  "mqtt.publish": (message: MqttPublish) => Promise<void>;
  /**
   * Returns the home's broker with its credentials: the broker of `mqtt.url`, or the embedded one. To connect to it,
   * a plugin also needs `service:mqtt.broker` under `permissions.hosts`.
   */
  "mqtt.broker": (nothing: Record<string, never>) => Promise<MqttBroker>;
  /** Returns the embedded broker's address, such as `mqtt://127.0.0.1:1883`, and the password for plugins. */
  "broker.address": (nothing: Record<string, never>) => Promise<MqttBroker>;
  /** Returns all occurrences in a window that the published window does not cover. */
  "calendar.events": (query: CalendarQuery) => Promise<CalendarWindow>;
  /**
   * Returns the machine's file systems, which a sandboxed plugin cannot see. The host provides this service on
   * Linux and macOS. Throws `service_unavailable` on other systems and `deadline_passed` while a disk hangs.
   */
  "machine.disks": (nothing: Record<string, never>) => Promise<readonly MachineDisk[]>;
}
export type ServiceName = keyof Services;
export const SERVICE_NAMES = [
  "mqtt.publish",
  "mqtt.broker",
  "broker.address",
  "calendar.events",
  "machine.disks",
] as const satisfies ServiceName[];

/** Read-only services. A call whose outcome is unknown, because a process ended, is repeated. */
export const REPEATABLE_SERVICES: ReadonlySet<string> = new Set<ServiceName>([
  "mqtt.broker",
  "broker.address",
  "calendar.events",
  "machine.disks",
]);

/**
 * The values that plugins can publish, by name, with their schemas. The host serves the last published value and
 * never calls the plugin for it. The manifest lists a publication under `provides`, like a service.
 */
export const PUBLICATIONS = {
  "calendar.window": CalendarWindow,
  "system.sample": SystemSample,
  "weather.forecast": WeatherForecast,
} as const;
export type Publications = { [N in keyof typeof PUBLICATIONS]: Static<(typeof PUBLICATIONS)[N]> };
export type PublicationName = keyof Publications;
