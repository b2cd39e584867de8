// Part of starting the host. Plain JavaScript, because the host is compiled before anything could load TypeScript.

import { realpathSync } from "node:fs";

/**
 * The file of the machine's time zone, to which `/etc/localtime` (localtime(5)) leads, such as
 * `/usr/share/zoneinfo/Europe/Berlin`; `undefined` if its path does not name the zone.
 */
export function zoneFile() {
  try {
    const file = realpathSync("/etc/localtime");
    return file.includes("/zoneinfo/") ? file : undefined;
  } catch {
    return undefined; // another kind of system
  }
}
