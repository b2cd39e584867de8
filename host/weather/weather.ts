import { MantelError } from "@mantel/plugin-sdk/errors";
import type { WeatherForecast } from "@mantel/plugin-sdk/weather";
import type { Bus } from "../events/bus.ts";

const RETRY_AFTER_MS = 60_000;

/** Keeps the last forecast, so that any number of screens share it. */
export class Weather {
  readonly #bus: Bus;
  #current: WeatherForecast | undefined;

  constructor({ bus }: { bus: Bus }) {
    this.#bus = bus;
  }

  /** Takes a forecast that fits its schema. */
  accept(forecast: WeatherForecast): void {
    this.#current = forecast;
    this.#bus.announce("weather.updated", { fetchedAt: forecast.fetchedAt });
  }

  /** @throws MantelError `service_unavailable` while no module has a forecast */
  current(): WeatherForecast {
    if (this.#current) return this.#current;
    throw new MantelError(
      "service_unavailable",
      "there is no forecast; the module weather says why, and its README how it is set up",
      { retryAfterMs: RETRY_AFTER_MS },
    );
  }

  /** Nobody has a forecast now. */
  gone(): void {
    this.#current = undefined;
  }
}
