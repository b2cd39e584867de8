import {
  defineRoute,
  historyLogbook,
  historyReadings,
  historyStatistics,
  Type,
} from "@mantel/plugin-sdk";

const Instant = Type.Optional(Type.String({ format: "date-time" }));
const Device = Type.String({ minLength: 1, maxLength: 150 });
const Field = Type.String({
  minLength: 1,
  maxLength: 130,
  description:
    "a number or a yes-or-no of the device, such as `temperature`; of a part or an extra with its name, such as `light.power` or `extra.linkQuality`",
});
const Count = (description: string) =>
  Type.Optional(Type.String({ pattern: "^[0-9]{1,5}$", description }));

export const readingsRoute = defineRoute({
  method: "GET",
  at: "/history/readings",
  scope: "read",
  summary: "Read a field of a device over time, in few points",
  query: Type.Object({
    device: Device,
    field: Field,
    from: Instant,
    to: Instant,
    points: Count("1 to 2000; 500 if absent"),
  }),
  response: historyReadings.output,
});

export const statisticsRoute = defineRoute({
  method: "GET",
  at: "/history/statistics",
  scope: "read",
  summary: "Read minimum, mean, maximum and increase of a field by hour, day, week or month",
  query: Type.Object({
    device: Device,
    field: Field,
    from: Instant,
    to: Instant,
    period: Type.Optional(Type.Enum(["hour", "day", "week", "month"])),
  }),
  response: historyStatistics.output,
});

export const exportRoute = defineRoute({
  method: "GET",
  at: "/history/export",
  scope: "read",
  summary: "Export the reports of a device as CSV or as JSON lines",
  query: Type.Object({
    device: Device,
    field: Type.Optional(Field),
    from: Instant,
    to: Instant,
    format: Type.Optional(Type.Enum(["csv", "jsonl"])),
  }),
});

export const logbookRoute = defineRoute({
  method: "GET",
  at: "/logbook",
  scope: "read",
  summary: "Read what happened in the home, and why",
  query: Type.Object({
    room: Type.Optional(Type.String({ maxLength: 200 })),
    device: Type.Optional(Device),
    cause: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 300,
        description: "a kind of causes, or one as `kind:id` or `kind:name`, anywhere in the chain",
      }),
    ),
    from: Instant,
    to: Instant,
    cursor: Type.Optional(
      Type.String({ pattern: "^[0-9]{1,16}-[0-9]{1,16}$", description: "`next` of the last page" }),
    ),
    limit: Count("1 to 1000; 100 if absent"),
  }),
  response: historyLogbook.output,
});
