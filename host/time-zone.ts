import { zoneFile } from "./zone-file.js";

/** The machine's time zone when the host was compiled, and the file that it came from. */
declare const COMPILED_TIME_ZONE: { readonly zone: string; readonly file: string } | undefined;

/**
 * The IANA name of this machine's time zone, such as Europe/Berlin. The environment variable `TZ` overrides it.
 *
 * The first use of `Intl` takes 12 to 25 ms, a tenth of a start, so a compiled host has the name in it, which is valid
 * while the zone's file is the same.
 */
export function machineTimeZone(): string {
  return compiledZone() ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function compiledZone(): string | undefined {
  if (typeof COMPILED_TIME_ZONE === "undefined" || process.env["TZ"] !== undefined)
    return undefined;
  return zoneFile() === COMPILED_TIME_ZONE.file ? COMPILED_TIME_ZONE.zone : undefined;
}
