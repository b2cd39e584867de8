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
