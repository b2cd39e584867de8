import assert from "node:assert/strict";
import { test } from "node:test";
import { MET_NORWAY } from "../../../plugins/weather/met-norway.ts";
import { OPEN_METEO } from "../../../plugins/weather/open-meteo.ts";
import metNorway from "../../fixtures/weather/met-norway.json" with { type: "json" };
import openMeteo from "../../fixtures/weather/open-meteo.json" with { type: "json" };
import shapes from "../../fixtures/weather/shapes.json" with { type: "json" };
import { shapeFaults, type Shapes } from "../../helpers/shape.ts";
import { metNorwayAnswer, openMeteoAnswer } from "./serve.ts";

const SERVICES = shapes as unknown as Shapes;
const PLACE = {
  source: "open-meteo" as const,
  latitude: 59.91,
  longitude: 10.75,
  refreshMinutes: 30,
};

for (const [name, fake, session] of [
  ["open-meteo", openMeteoAnswer(), openMeteo],
  ["met-norway", metNorwayAnswer(), metNorway],
] as const) {
  test(`the fake answer and the session of ${name} are as its service describes them`, () => {
    assert.deepEqual(shapeFaults(SERVICES, name, fake), []);
    assert.deepEqual(shapeFaults(SERVICES, name, session), []);
  });
}

test("all columns of Open-Meteo that the plugin asks for have the same length as their times", () => {
  const asked = OPEN_METEO.query(PLACE, "Europe/Oslo");
  for (const answer of [openMeteoAnswer() as typeof openMeteo, openMeteo]) {
    for (const part of ["hourly", "daily"] as const) {
      const columns: Record<string, unknown[]> = answer[part];
      const names = asked.get(part)?.split(",") ?? [];
      assert.deepEqual(Object.keys(columns).toSorted(), ["time", ...names].toSorted());
      assert.equal(new Set(Object.values(columns).map(({ length }) => length)).size, 1);
    }
  }
  assert.deepEqual(shapeFaults(SERVICES, "open-meteo query", Object.fromEntries(asked)), []);
});

test("a session of Open-Meteo becomes hours and days", (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse("2025-11-20T01:20:00Z") });

  const { hours, days } = OPEN_METEO.parse(openMeteo, "Europe/Oslo");

  assert.equal(hours.length, 45, "two hours have passed, and the last has no temperature");
  assert.deepEqual(hours[0], {
    at: "2025-11-20T01:00:00.000Z",
    temperatureC: -7.8,
    condition: "partly-cloudy",
    day: false,
    rainMm: 0,
    windKmh: 5.2,
  });
  assert.equal(
    hours
      .slice(0, 26)
      .map(({ condition }) => condition)
      .join(" "),
    [
      "partly-cloudy cloudy fog fog light-rain light-rain light-rain sleet sleet light-rain rain rain",
      "sleet sleet snow snow snow snow light-rain rain rain snow snow thunderstorm thunderstorm",
      "thunderstorm",
    ].join(" "),
  );
  assert.deepEqual(
    hours.filter(({ day }) => day).map(({ at }) => at.slice(11, 13)),
    "07 08 09 10 11 12 13 14 07 08 09 10 11 12 13 14".split(" "),
  );
  assert.deepEqual(days, [
    { date: "2025-11-20", lowC: -8, highC: 4, condition: "snow", rainMm: 1.8 },
    { date: "2025-11-21", lowC: -7.9, highC: 3.9, condition: "cloudy", rainMm: 0.4 },
  ]);
});

test("a session of MET Norway becomes hours and days", (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse("2025-11-20T00:40:00Z") });

  const { hours, days } = MET_NORWAY.parse(metNorway, "Europe/Oslo");

  assert.equal(hours.length, 12, "steps of six hours are not hours");
  assert.deepEqual(hours[0], {
    at: "2025-11-20T00:00:00.000Z",
    temperatureC: -1.5,
    condition: "clear",
    day: false,
    rainMm: 0,
    windKmh: 3.6,
  });
  assert.equal(
    hours.map(({ condition }) => condition).join(" "),
    [
      "clear partly-cloudy partly-cloudy cloudy light-rain rain rain sleet snow thunderstorm",
      "fog clear",
    ].join(" "),
  );
  assert.deepEqual(
    days,
    [
      { date: "2025-11-20", lowC: -1.5, highC: 2.9, condition: "rain", rainMm: 4.2 },
      { date: "2025-11-21", lowC: -3, highC: 0, condition: "partly-cloudy", rainMm: 4.8 },
    ],
    "the last step is a temperature alone, and no day",
  );
});

test("each symbol of MET Norway has a condition that its name says", (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse("2025-11-20T00:40:00Z") });
  const words = { clearsky: "clear", fair: "partly-cloudy", partlycloudy: "partly-cloudy" };
  const symbols = SERVICES["symbols"]?.["name"]?.replaceAll('"', "").split(" | ") ?? [];
  assert.equal(symbols.length, 83);
  for (const symbol of symbols) {
    const answer = structuredClone(metNorway);
    const [first] = answer.properties.timeseries;
    assert.ok(first?.data.next_1_hours);
    first.data.next_1_hours.summary.symbol_code = symbol;
    const { hours } = MET_NORWAY.parse({ properties: { timeseries: [first] } }, "UTC");
    const condition = hours[0]?.condition ?? "";
    const sky = Object.entries(words).find(([name]) => symbol.startsWith(name))?.[1];
    const wet = ["thunder", "snow", "sleet", "rain", "fog", "cloudy"].find((word) =>
      symbol.includes(word),
    );
    assert.ok(condition.includes(sky ?? wet ?? "?"), `${symbol} is ${condition}`);
  }
});
