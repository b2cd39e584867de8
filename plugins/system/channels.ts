import { defineChannels, type Static, Type } from "@mantel/plugin-sdk";
import type { TSchema } from "typebox";

const Strict = { additionalProperties: false } as const;
const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

const Percent = Type.Number({ minimum: 0, maximum: 100 });
const Bytes = Type.Number({ minimum: 0 });

/** The machine's load, memory, disks and network at one moment. A value without a sensor is null, never absent. */
export const SystemSample = Type.Object(
  {
    sampledAt: Type.String({ format: "date-time" }),
    cpu: Type.Object(
      {
        /** Busy share of all cores since the previous sample. */
        percent: Nullable(Percent),
        perCore: Type.Array(Percent),
        /** Load averages over 1, 5 and 15 minutes. */
        loadAverage: Type.Array(Type.Number()),
        temperatureC: Nullable(Type.Number()),
      },
      Strict,
    ),
    memory: Type.Object(
      { totalBytes: Bytes, usedBytes: Bytes, availableBytes: Bytes, percent: Percent },
      Strict,
    ),
    temperature: Type.Object(
      {
        cpuC: Nullable(Type.Number()),
        sensors: Type.Array(
          Type.Object({ name: Type.String(), celsius: Nullable(Type.Number()) }, Strict),
        ),
      },
      Strict,
    ),
    uptime: Type.Object({ systemSeconds: Type.Number(), processSeconds: Type.Number() }, Strict),
    disks: Type.Array(
      Type.Object(
        {
          mount: Type.String(),
          type: Type.String(),
          totalBytes: Bytes,
          usedBytes: Bytes,
          percent: Nullable(Percent),
        },
        Strict,
      ),
    ),
    network: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          /** Bytes per second since the previous sample. */
          receivedPerSecond: Nullable(Type.Number()),
          sentPerSecond: Nullable(Type.Number()),
        },
        Strict,
      ),
    ),
  },
  Strict,
);
export type SystemSample = Static<typeof SystemSample>;

/** A sample with the figures of the host's own process from the same moment. */
const HomeSample = Type.Object(
  {
    ...SystemSample.properties,
    process: Type.Object(
      {
        pid: Type.Integer(),
        uptimeSeconds: Type.Number(),
        cpuPercent: Type.Number({ minimum: 0 }),
        memoryBytes: Bytes,
        heapBytes: Bytes,
        eventLoopLagP99Ms: Type.Number({ minimum: 0 }),
      },
      Strict,
    ),
  },
  Strict,
);

export const channels = defineChannels({
  sample: { schema: HomeSample, title: "System metrics", maxBytes: 262_144 },
});
