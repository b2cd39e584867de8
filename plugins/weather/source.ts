import type { WeatherForecast } from "@mantel/plugin-sdk";
import type { Options } from "./options.ts";

/** A weather service. */
export interface Source {
  /** As its licence wants it named. */
  readonly name: string;
  readonly url: string;
  readonly query: (place: Options, timeZone: string) => URLSearchParams;
  /** @throws Error when the answer does not have the service's form */
  readonly parse: (answer: unknown, timeZone: string) => Pick<WeatherForecast, "hours" | "days">;
}

/** What has begun before this is no forecast: the hour that goes on now is the first. */
export function beginningOfHour(now: number): number {
  return now - (now % 3_600_000);
}
