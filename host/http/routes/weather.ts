import { WeatherForecast } from "@mantel/plugin-sdk/weather";
import { sendRevision } from "../conditional.ts";
import type { Parts } from "../parts.ts";
import { ok, type Route, route } from "../route.ts";

/** `/weather`: the forecast for the house. */
export function weatherRoutes({ weather }: Pick<Parts, "weather">): Route[] {
  return [
    route({
      method: "GET",
      path: "/weather",
      scope: "read",
      tag: "Weather",
      summary: "Read the weather forecast",
      headers: ["If-None-Match"],
      answers: ok("The last forecast, with when it was fetched", WeatherForecast),
      errors: ["service_unavailable"],
      handle(ctx) {
        const forecast = weather.current();
        sendRevision(ctx, Date.parse(forecast.fetchedAt), () => forecast);
      },
    }),
  ];
}
