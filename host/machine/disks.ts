import { execFile } from "node:child_process";
import { withDeadline } from "@mantel/plugin-sdk/deadline";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { MachineDisk } from "@mantel/plugin-sdk/services";

/** df(1) blocks on an unreachable network share. */
const DEADLINE_MS = 5_000;
const LARGEST_LISTING = 2 ** 20;
const HAS_TYPES = process.platform === "linux";

/** The listing of the machine's disks, shared by all callers: a plugin's sandbox does not show them. */
export class MachineDisks {
  /** The running listing, even if it never ends. */
  #listing: Promise<readonly MachineDisk[]> | undefined;

  /** @throws MantelError `service_unavailable`, `deadline_passed` */
  async list(): Promise<readonly MachineDisk[]> {
    this.#listing ??= listDisks().finally(() => (this.#listing = undefined));
    return withDeadline(this.#listing, DEADLINE_MS, "listing the disks");
  }
}

/** @throws MantelError `service_unavailable` */
function listDisks(): Promise<readonly MachineDisk[]> {
  const options = { maxBuffer: LARGEST_LISTING, env: { ...process.env, LC_ALL: "C" } };
  return new Promise((resolve, reject) => {
    execFile("df", [HAS_TYPES ? "-kPT" : "-kP"], options, (error, listing) => {
      const disks = parseDisks(listing, HAS_TYPES); // df fails for one file system, and lists the others
      if (disks.length > 0 || !error) resolve(disks);
      else reject(new MantelError("service_unavailable", `df failed: ${error.message}`));
    });
  });
}

/** Parses a listing of `df -P` (POSIX), with the types that `-T` adds. */
export function parseDisks(listing: string, hasTypes: boolean): MachineDisk[] {
  return listing
    .split("\n")
    .slice(1)
    .flatMap((line) => {
      const columns = /^(.+?)\s+(?:(\S+)\s+)??(\d+)\s+(\d+)\s+(-?\d+)\s+\S+\s+(\/.*)$/.exec(line);
      const [, device = "", type = "", total, used, , mount = ""] = columns ?? [];
      if (!columns || (hasTypes && type === "")) return [];
      return {
        device,
        mount,
        type,
        totalBytes: Number(total) * 1024,
        usedBytes: Number(used) * 1024,
      };
    });
}
