import { readlinkSync } from "node:fs";

/** The link to the file of the machine's time zone (localtime(5)). */
const ZONE_LINK = "/etc/localtime";

/** The machine's time zone when the host was compiled, and where its link pointed then. */
declare const COMPILED_TIME_ZONE: { readonly zone: string; readonly target: string } | undefined;

/**
 * The IANA name of this machine's time zone, such as Europe/Berlin. The environment variable `TZ` overrides it.
 *
 * The first use of `Intl` takes 12 to 25 ms, a tenth of a start, so a compiled host has the name in it, which is valid
 * while the link is the same.
 */
export function machineTimeZone(): string {
  return compiledZone() ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function compiledZone(): string | undefined {
  if (typeof COMPILED_TIME_ZONE === "undefined" || process.env["TZ"] !== undefined)
    return undefined;
  return zoneTarget() === COMPILED_TIME_ZONE.target ? COMPILED_TIME_ZONE.zone : undefined;
}

function zoneTarget(): string | undefined {
  try {
    return readlinkSync(ZONE_LINK);
  } catch {
    return undefined; // a file instead of the link, or another kind of system
  }
}
