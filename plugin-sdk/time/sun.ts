import { getPosition, getTimes } from "suncalc";
import type { Coordinates, Sun } from "../home.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const DAYS = 366;
/** Half the width of the sun, in degrees. */
const RADIUS = 0.27;

/** The sun at a place and instant. Rise and set are those of the upper edge, with refraction. */
export function sunAt({ latitude, longitude }: Coordinates, at: Date): Sun {
  const { altitude, azimuth } = getPosition(at, latitude, longitude);
  const nextRise = nextSunEvent("sunrise", at, { latitude, longitude });
  const nextSet = nextSunEvent("sunset", at, { latitude, longitude });
  return {
    elevation: round(altitude),
    azimuth: round(azimuth),
    isUp: altitude > -RADIUS,
    nextRise: nextRise?.toISOString() ?? null,
    nextSet: nextSet?.toISOString() ?? null,
  };
}

/** The first sunrise or sunset after `at`; `undefined` without one within a year. */
export function nextSunEvent(
  name: "sunrise" | "sunset",
  at: Date,
  { latitude, longitude }: Coordinates,
): Date | undefined {
  for (let day = -1; day <= DAYS; day++) {
    const date = getTimes(new Date(at.getTime() + day * DAY_MS), latitude, longitude)[name];
    if (date && date > at) return date;
  }
  return undefined;
}

const round = (degrees: number) => Math.round(degrees * 100) / 100;
