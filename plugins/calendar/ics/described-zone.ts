import { findZone, UTC, type Zone } from "./zones.ts";

const CITIES = new Map(
  Intl.supportedValuesOf("timeZone").map((name) => [
    comparable(name.split("/").at(-1) ?? ""),
    name,
  ]),
);

/**
 * The time zone for a TZID that is only a description, if the calendar has no rules for it: by its
 * cities, as in Windows zone names such as `(UTC+01:00) Amsterdam, Berlin, Bern`; otherwise by its
 * offset without DST, such as `GMT+0100`.
 */
export function describedZone(tzid: string): Zone | undefined {
  const [, sign, hours, minutes = "00", cities = ""] = DESCRIBED.exec(tzid.trim()) ?? [];
  if (sign === undefined || Number(hours) > 14 || Number(minutes) > 59) return undefined;
  const size = (Number(hours) * 60 + Number(minutes)) * 60_000;
  const offset = sign === "-" ? -size : size;
  return zoneOfPlaces(cities, offset) ?? { name: UTC.name, offsetAt: () => offset };
}

/** The first zone of these places with this offset in standard time. */
function zoneOfPlaces(cities: string, offset: number): Zone | undefined {
  const windows = `${cities.replace(/ Time \(.*/, "").trim()} Standard Time`;
  const names = [windows, ...cities.split(",").map(cityZone)];
  const isMeant = (zone: Zone) => WINTERS.some((winter) => zone.offsetAt(winter) === offset);
  return names.map(findZone).find((zone) => zone !== undefined && isMeant(zone));
}

const DESCRIBED = /^\(?(?:UTC|GMT)? ?([+-])(\d\d?)(?::?(\d\d))?\)?(.*)$/i;
/** Times of year when one hemisphere, or the other, has no DST. */
const WINTERS = [Date.UTC(2026, 0, 15), Date.UTC(2026, 6, 15)];

function cityZone(city: string): string {
  return CITIES.get(comparable(city)) ?? "";
}

function comparable(city: string): string {
  return city.trim().replaceAll(/[ .]+/g, "_").toLowerCase();
}
