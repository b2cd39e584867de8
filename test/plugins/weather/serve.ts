import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

/** A weather service on this machine. */
export interface WeatherServer {
  readonly url: string;
  readonly requests: readonly IncomingMessage[];
  /** Has it answer 500 from now on. */
  fail(): void;
}

const MODIFIED = "Fri, 20 Nov 2026 04:00:00 GMT";
const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;

/** Serves one answer in a service's form, and 304 to a client that has it. */
export async function serveWeather(t: TestContext, answer: object): Promise<WeatherServer> {
  const requests: IncomingMessage[] = [];
  let failing = false;
  const server = createServer((request, response) => {
    requests.push(request);
    const known = request.headers["if-modified-since"] === MODIFIED;
    response.writeHead(failing ? 500 : known ? 304 : 200, {
      "Content-Type": "application/json",
      "Last-Modified": MODIFIED,
      Expires: new Date(Date.now() + 90 * 60_000).toUTCString(),
    });
    response.end(failing || known ? "" : JSON.stringify(answer));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/forecast`,
    requests,
    fail: () => (failing = true),
  };
}

/** The current hour, in Unix seconds. */
export const THIS_HOUR = Math.floor(Date.now() / 1000 / HOUR_S) * HOUR_S;

/**
 * An answer of Open-Meteo's `/v1/forecast` as its documentation has it, columns with Unix times: 7° and
 * light rain now, dry after three hours. The first hours have passed, and one value is missing.
 */
export function openMeteoAnswer(): object {
  const hours = Array.from({ length: 72 }, (_, index) => index - 3);
  const codes = [61, 61, 61, 3, 2, 0, 1, 95, 71, 45];
  const days = [0, 1, 2, 3, 4, 5, 6];
  return {
    latitude: 52.52,
    longitude: 13.42,
    generationtime_ms: 0.09,
    elevation: 38,
    utc_offset_seconds: 3600,
    timezone: "Europe/Berlin",
    timezone_abbreviation: "GMT+1",
    hourly_units: {
      time: "unixtime",
      temperature_2m: "°C",
      weather_code: "wmo code",
      precipitation: "mm",
      is_day: "",
      wind_speed_10m: "km/h",
    },
    hourly: {
      time: hours.map((index) => THIS_HOUR + index * HOUR_S),
      temperature_2m: hours.map((index) => (index === 40 ? null : 7 - Math.max(0, index) / 10)),
      weather_code: hours.map((index) => codes[index] ?? 61),
      precipitation: hours.map(() => 0.2),
      is_day: hours.map((index) => (index < 3 ? 0 : 1)),
      wind_speed_10m: hours.map(() => 12.4),
    },
    daily_units: {
      time: "unixtime",
      weather_code: "wmo code",
      precipitation_sum: "mm",
      temperature_2m_max: "°C",
      temperature_2m_min: "°C",
    },
    daily: {
      time: days.map((index) => Math.floor(THIS_HOUR / DAY_S) * DAY_S - 3600 + index * DAY_S),
      weather_code: [61, 3, 71, 0, 95, 45, 2],
      temperature_2m_max: [8.1, 9, 1, 12, 15, 8, 7],
      temperature_2m_min: [3.2, 2, -4.4, 1, 7, 3, 2],
      precipitation_sum: [3.1, 0, 5, 0, 12, 0, 0],
    },
  };
}

/**
 * An answer of MET Norway's `locationforecast/2.0/compact`: GeoJSON with hours, and after two days
 * steps of six hours.
 */
export function metNorwayAnswer(): object {
  const hourly = Array.from({ length: 50 }, (_, index) =>
    step(THIS_HOUR + (index - 2) * HOUR_S, 1),
  );
  const sixth = Array.from({ length: 8 }, (_, index) =>
    step(THIS_HOUR + (48 + 6 * index) * HOUR_S, 6),
  );
  return {
    type: "Feature",
    geometry: { type: "Point", coordinates: [13.42, 52.52, 38] },
    properties: {
      meta: {
        updated_at: new Date().toISOString(),
        units: { air_temperature: "celsius", precipitation_amount: "mm", wind_speed: "m/s" },
      },
      timeseries: [...hourly, ...sixth, { time: at(THIS_HOUR + 100 * HOUR_S), data: instant(3) }],
    },
  };
}

function step(seconds: number, hours: 1 | 6): object {
  const next = { summary: { symbol_code: "lightrainshowers_night" } };
  const amount = { details: { precipitation_amount: hours === 1 ? 0.5 : 2 } };
  return {
    time: at(seconds),
    data: {
      ...instant(4.5),
      ...(hours === 1 ? { next_1_hours: { ...next, ...amount } } : {}),
      next_6_hours: { summary: { symbol_code: "snowandthunder" }, ...amount },
    },
  };
}

const at = (seconds: number): string => new Date(seconds * 1000).toISOString();
const instant = (celsius: number): object => ({
  instant: { details: { air_temperature: celsius, wind_speed: 2.5, relative_humidity: 76.6 } },
});
