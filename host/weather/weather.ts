import type { WeatherForecast } from "@mantel/plugin-sdk/weather";
import type { Bus } from "../events/bus.ts";

/** Stores the last forecast for all readers. */
export class Weather {
  readonly #bus: Bus;
  #current: WeatherForecast | undefined;

  constructor({ bus }: { bus: Bus }) {
    this.#bus = bus;
  }

  /** Stores a valid forecast. */
  accept(forecast: WeatherForecast): void {
    this.#current = forecast;
    this.#bus.emit("weather.updated", { fetchedAt: forecast.fetchedAt });
  }

  /** The last forecast; `undefined` if no module has one. */
  get current(): WeatherForecast | undefined {
    return this.#current;
  }

  /** Removes the forecast, because no module has one now. */
  gone(): void {
    this.#current = undefined;
  }
}
