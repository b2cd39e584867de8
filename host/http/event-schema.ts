import { CalendarSource } from "@mantel/plugin-sdk/calendar";
import { Cause } from "@mantel/plugin-sdk/cause";
import { CommandBody, Device, DeviceEvent } from "@mantel/plugin-sdk/device";
import { LOG_LEVELS } from "@mantel/plugin-sdk/protocol";
import { Nullable } from "@mantel/plugin-sdk/schema";
import { type TSchema, Type } from "typebox";
import type { Topic } from "../api/events.ts";
import { ModuleView, WidgetView } from "../api/module.ts";
import { Operation } from "../api/plugin.ts";

const Instant = Type.String({ format: "date-time" });
const Revision = Type.Object({ revision: Type.Integer() });
const Removed = Type.Object({ id: Type.String() });

const LogRecord = Type.Object({
  at: Instant,
  level: Type.Enum([...LOG_LEVELS]),
  sentence: Type.String(),
  fields: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});

/** The data of an event with a new value of a channel, or of one whose channel is gone. */
const ChannelData = Type.Object({
  plugin: Type.String(),
  name: Type.String(),
  value: Type.Optional(Type.Unknown()),
  revision: Type.Optional(Type.Integer()),
  updatedAt: Type.Optional(Instant),
  removed: Type.Optional(Type.Literal(true)),
});

const HomeError = Type.Object({ code: Type.String(), detail: Type.String() });
const SceneActivation = {
  sceneId: Type.String(),
  name: Type.String(),
  activationId: Type.String(),
  at: Instant,
  cause: Type.Optional(Cause),
};

/** The data of each topic that exists in every home; plugins may add topics. */
export const EVENT_DATA = {
  "device.state": Type.Object({
    device: Device,
    cause: Cause,
    causes: Type.Optional(Type.Record(Type.String(), Cause)),
  }),
  "device.added": Type.Object({ device: Device }),
  "device.removed": Removed,
  "device.event": Type.Object({
    deviceId: Type.String(),
    event: Type.String(),
    at: Instant,
    data: DeviceEvent.properties.data,
  }),
  "command.failed": Type.Object({
    deviceId: Type.String(),
    at: Instant,
    command: CommandBody,
    error: HomeError,
    cause: Type.Optional(Cause),
  }),
  "scene.activated": Type.Object({ ...SceneActivation, status: Type.Enum(["ok", "partial"]) }),
  "scene.failed": Type.Object({ ...SceneActivation, error: HomeError }),
  "scenes.changed": Revision,
  "module.state": Type.Object({ module: ModuleView }),
  "module.removed": Removed,
  "module.log": Type.Object({
    module: Type.String(),
    entry: LogRecord,
    missed: Type.Optional(Type.Integer({ description: "records that were left out before it" })),
  }),
  "layout.changed": Revision,
  "config.changed": Type.Object({ changed: Type.Array(Type.String()), revision: Type.Integer() }),
  "calendar.updated": Type.Object({ sources: Type.Array(CalendarSource) }),
  notification: Type.Object({
    id: Type.String(),
    at: Instant,
    message: Type.String(),
    to: Type.Array(Type.String()),
    from: Type.Optional(Type.String({ description: "the name of what sent it" })),
    cause: Type.Optional(Cause),
  }),
  "plugin.installed": Type.Object({
    id: Type.String(),
    action: Type.Enum(["installed", "updated", "rolled_back", "removed"]),
    version: Type.String(),
  }),
  "plugin.progress": Type.Object({
    id: Operation.properties.id,
    action: Operation.properties.action,
    plugin: Nullable(Type.String()),
    state: Type.Enum(["running", "done", "failed"]),
  }),
  "widget.updated": Type.Object({ module: Type.String(), ...WidgetView.properties }),
  channel: ChannelData,
} as const satisfies Record<Exclude<Topic, "contributed">, TSchema>;

/** The schemas of the data of events, by topic. */
export type EventSchemas = Readonly<Record<string, TSchema>>;

/** The events of the stream in a home whose plugins add topics: `event:` has the topic, `data:` the data as JSON. */
export function streamEvents(ofPlugins: EventSchemas): TSchema {
  const all: EventSchemas = {
    ...ofPlugins,
    ...EVENT_DATA,
    resync: Type.Object({ reason: Type.String() }),
  };
  return Type.Union(
    Object.entries(all).map(([topic, data]) => Type.Object({ topic: Type.Literal(topic), data })),
    {
      description:
        "an event of the stream: its line `event` has the topic, `data` the data as JSON; resync means that events were missed, and that a client reads again what it shows",
    },
  );
}

/** An event of every home. */
export const StreamEvent = streamEvents({});
