import type { WeatherForecast } from "@mantel/plugin-sdk/weather";
import type { Bus } from "../events/bus.ts";

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

  /** The last forecast; `undefined` while no module has one. */
  get current(): WeatherForecast | undefined {
    return this.#current;
  }

  /** Nobody has a forecast now. */
  gone(): void {
    this.#current = undefined;
  }
}
