import assert from "node:assert/strict";
import { test } from "node:test";
import { entity, view } from "./entity.ts";

const read = (unit?: string) => ({
  type: "number",
  readOnly: true,
  ...(unit === undefined ? {} : { unit }),
});

test("a weather station shows its readings in the units of the vocabulary", () => {
  const of = view(
    entity("weather", "partlycloudy", {
      temperature: 68,
      apparent_temperature: 70,
      dew_point: 50,
      temperature_unit: "°F",
      humidity: 60,
      cloud_coverage: 25,
      uv_index: 3.5,
      pressure: 30,
      pressure_unit: "inHg",
      wind_bearing: 202.5,
      wind_speed: 10,
      wind_gust_speed: 20,
      wind_speed_unit: "mph",
      visibility: 10,
      visibility_unit: "mi",
      ozone: 300,
    }),
  );

  assert.equal(of.kind, "weather-station");
  assert.deepEqual(of.capabilities, {
    condition: { type: "text", readOnly: true },
    temperature: read("°C"),
    dewPoint: read("°C"),
    humidity: read("%"),
    pressure: read("hPa"),
    windSpeed: read("km/h"),
    windGust: read("km/h"),
    visibility: read("km"),
    cloudCover: read("%"),
    uvIndex: read(),
    windDirection: read("°"),
  });
  assert.deepEqual(of.state, {
    condition: "partlycloudy",
    temperature: 20,
    dewPoint: 10,
    humidity: 60,
    pressure: 1_015.9166,
    windSpeed: 16.0934,
    windGust: 32.1869,
    visibility: 16.0934,
    cloudCover: 25,
    uvIndex: 3.5,
    windDirection: 202.5,
  });
  assert.deepEqual(of.extra, {
    capabilities: { apparentTemperature: { ...read("°C"), group: "main" } },
    state: { apparentTemperature: 21.11 },
  });
});

test("a weather entity that tells nothing has its condition", () => {
  assert.deepEqual(view(entity("weather", "unknown")), {
    kind: "weather-station",
    capabilities: { condition: { type: "text", readOnly: true } },
    state: { condition: null },
  });
});

for (const [attributes, unit, state] of [
  [{ temperature: 68 }, "°F", { temperature: 20 }],
  [{ temperature: 20 }, "°C", { temperature: 20 }],
  [{ temperature: 20, temperature_unit: "furlong" }, "°C", {}],
  [{ pressure: 760, pressure_unit: "mmHg" }, "°C", { pressure: 1_013.2502 }],
  [{ pressure: 1_000 }, "°C", { pressure: 1_000 }],
  [{ wind_speed: 4, wind_speed_unit: "Beaufort" }, "°C", { windSpeed: 24.1 }],
  [{ wind_speed: 10, wind_speed_unit: "ft/s" }, "°C", { windSpeed: 10.9728 }],
  [{ wind_speed: 10, wind_speed_unit: "kn" }, "°C", { windSpeed: 18.52 }],
  [{ wind_bearing: 0 }, "°C", { windDirection: 0 }],
  [{ wind_bearing: 360 }, "°C", { windDirection: 360 }],
  [{ wind_bearing: -1 }, "°C", {}],
  [{ wind_bearing: "w" }, "°C", { windDirection: 270 }],
  [{ wind_bearing: "up" }, "°C", {}],
  [{ wind_bearing: 400 }, "°C", {}],
  [{ wind_bearing: null, humidity: "wet" }, "°C", {}],
] as const) {
  test(`weather with ${JSON.stringify(attributes)} in a home in ${unit} shows ${JSON.stringify(state)}`, () => {
    const of = view(entity("weather", "sunny", attributes), unit);
    assert.deepEqual(of.state, { condition: "sunny", ...state });
  });
}

test("each direction of the wind is in degrees", () => {
  const points = "N NNE NE ENE E ESE SE SSE S SSW SW WSW W WNW NW NNW".split(" ");

  assert.deepEqual(
    points.map((wind_bearing) => view(entity("weather", "sunny", { wind_bearing })).state),
    points.map((_, at) => ({ condition: "sunny", windDirection: at * 22.5 })),
  );
});
