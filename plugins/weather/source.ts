import type { Coordinates } from "@mantel/plugin-sdk";
import type { WeatherForecast } from "./channels.ts";

/** A weather service. */
export interface Source {
  /** The name required by its licence. */
  readonly name: string;
  readonly url: string;
  readonly query: (place: Coordinates, timeZone: string) => URLSearchParams;
  /** @throws Error if the answer does not have the service's format */
  readonly parse: (answer: unknown, timeZone: string) => Pick<WeatherForecast, "hours" | "days">;
}

/** Earlier hours are left out: the current hour is the first. */
export function beginningOfHour(now: number): number {
  return now - (now % 3_600_000);
}
