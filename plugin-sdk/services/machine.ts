import { type Static, Type } from "typebox";
import { Strict } from "../schema.ts";
import { defineService } from "../service.ts";

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

/**
 * Returns the machine's file systems, which a sandboxed plugin cannot see. The host provides this service on Linux
 * and macOS. Throws `service_unavailable` on other systems and `deadline_passed` while a disk hangs.
 */
export const machineDisks = defineService("machine.disks", {
  title: "The machine's file systems",
  input: Type.Object({}, Strict),
  output: Type.Array(MachineDisk),
  repeatable: true,
});

/** The host's own process. */
export const HostProcessFigures = Type.Object(
  {
    pid: Type.Integer(),
    uptimeSeconds: Type.Number(),
    /** Share of one core since the previous call; several busy threads may exceed 100. */
    cpuPercent: Type.Number({ minimum: 0 }),
    /** Resident memory. */
    memoryBytes: Type.Integer(),
    heapBytes: Type.Integer(),
    /** The delay of timers since the previous call, 99th percentile. */
    eventLoopLagP99Ms: Type.Number({ minimum: 0 }),
  },
  Strict,
);
export type HostProcessFigures = Static<typeof HostProcessFigures>;

/** Returns figures of the host's own process. The host provides this service. */
export const hostProcess = defineService("host.process", {
  title: "The host's process",
  input: Type.Object({}, Strict),
  output: HostProcessFigures,
  repeatable: true,
});
