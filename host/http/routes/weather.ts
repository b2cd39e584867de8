import { Nullable } from "@mantel/plugin-sdk/schema";
import { WeatherForecast } from "@mantel/plugin-sdk/weather";
import { Type } from "typebox";
import type { HttpDependencies } from "../dependencies.ts";
import { sendRevision } from "../etag.ts";
import { jsonAnswer, type Route, route } from "../route.ts";

/** A home without a location has no forecast, which is not an error: the modules say how to set it up. */
const Answer = Type.Object({ forecast: Nullable(WeatherForecast) });

/** `/weather`: the forecast for the home. */
export function weatherRoutes({ weather }: HttpDependencies): Route[] {
  return [
    route({
      method: "GET",
      path: "/weather",
      scope: "read",
      tag: "Weather",
      summary: "Read the weather forecast",
      headers: ["If-None-Match"],
      answers: jsonAnswer("The last forecast, or null if no module has one", Answer),
      handle(ctx) {
        const { current: forecast = null } = weather;
        sendRevision(ctx, Date.parse(forecast?.fetchedAt ?? "1970-01-01"), () => ({ forecast }));
      },
    }),
  ];
}
