import { Nullable } from "@mantel/plugin-sdk/schema";
import { WeatherForecast } from "@mantel/plugin-sdk/weather";
import { Type } from "typebox";
import { sendRevision } from "../conditional.ts";
import type { Parts } from "../parts.ts";
import { ok, type Route, route } from "../route.ts";

/** A house without a place has none, which is no failure: the modules say how it is set up. */
const Answer = Type.Object({ forecast: Nullable(WeatherForecast) });

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
      answers: ok("The last forecast, or null while no module has one", Answer),
      handle(ctx) {
        const { current: forecast = null } = weather;
        sendRevision(ctx, Date.parse(forecast?.fetchedAt ?? "1970-01-01"), () => ({ forecast }));
      },
    }),
  ];
}
