import { UNITS } from "@mantel/plugin-sdk/device";
import { Type } from "typebox";
import { Reading, readingOf } from "../../devices/sensor-history.ts";
import { invalid } from "../../validate.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { jsonAnswer, type Route, route } from "../route.ts";
import { DeviceParams } from "./devices.ts";

const DAY_MS = 24 * 3_600_000;
const Instant = Type.String({ format: "date-time" });
const Query = Type.Object({
  field: Type.String({
    description:
      "a number that the device measures, such as `temperature`; of a part or an extra with its name, such as `light.power` or `extra.linkQuality`",
  }),
  from: Type.Optional(Instant),
  to: Type.Optional(Instant),
});
const Readings = Type.Object({
  deviceId: Type.String(),
  field: Type.String(),
  unit: Type.Union([Type.Enum([...UNITS]), Type.Null()]),
  /** Half open. */
  window: Type.Object({ from: Instant, to: Instant }),
  /** Oldest first, at most one in five minutes; each holds until the next. A day is stored. */
  readings: Type.Array(Reading),
});

/** `/smart-home/devices/:id/history`: the readings of a device within the last day. */
export function readingRoutes({ devices, readings }: HttpDependencies): Route[] {
  return [
    route({
      method: "GET",
      path: "/smart-home/devices/:id/history",
      operationId: "getDeviceHistory",
      scope: "read",
      tag: "Devices",
      summary: "Read the recent readings of a device",
      params: DeviceParams,
      query: Query,
      answers: jsonAnswer("The readings of one field", Readings),
      errors: ["device_unknown", "invalid"],
      handle(_, { params: { id }, query: { field, ...window } }) {
        const measured = readingOf(devices.get(id), field);
        if (!measured) {
          const detail = `is ${field}, which ${id} does not measure as a number`;
          throw invalid("the query", [{ pointer: "/field", detail }]);
        }
        const to = window.to === undefined ? Date.now() : Date.parse(window.to);
        const from = window.from === undefined ? to - DAY_MS : Date.parse(window.from);
        if (from > to) {
          throw invalid("the query", [{ pointer: "/from", detail: "is later than to" }]);
        }
        return {
          deviceId: id,
          field,
          unit: measured.unit ?? null,
          window: { from: new Date(from).toISOString(), to: new Date(to).toISOString() },
          readings: readings.of(id, field, { from, to }),
        };
      },
    }),
  ];
}
