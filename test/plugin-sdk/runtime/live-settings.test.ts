import assert from "node:assert/strict";
import { test } from "node:test";
import type { Log } from "../../../plugin-sdk/context.ts";
import { LiveSettings } from "../../../plugin-sdk/runtime/live-settings.ts";

const GERMANY = { locale: "de-DE", timeZone: "Europe/Berlin", pollSeconds: 30 };

function stage() {
  const faults: unknown[] = [];
  const log = { error: (_: string, fields: unknown) => faults.push(fields) } as unknown as Log;
  return { settings: new LiveSettings(GERMANY, log), faults };
}

test("settings that a plugin has not read may change without it", () => {
  const { settings } = stage();

  assert.equal(settings.change({ ...GERMANY, locale: "en-GB" }), true);
  assert.equal(settings.read("locale"), "en-GB");
});

test("a plugin that has read a setting without following it has to be reloaded", () => {
  const { settings } = stage();
  settings.read("timeZone");

  const results = [
    settings.change({ ...GERMANY, locale: "en-GB" }),
    settings.change({ ...GERMANY, locale: "en-GB", timeZone: "Asia/Tokyo" }),
  ];

  assert.deepEqual(results, [true, false]);
});

test("a listener gets each new value of its setting until it is stopped", () => {
  const { settings } = stage();
  const heard: string[] = [];
  settings.read("locale");
  const stop = settings.on("locale", (locale) => void heard.push(locale));

  const follows = settings.change({ ...GERMANY, locale: "fr" });
  settings.change({ ...GERMANY, locale: "fr", pollSeconds: 5 });
  stop();

  assert.deepEqual([follows, heard], [true, ["fr"]]);
  assert.equal(settings.change(GERMANY), false);
  assert.deepEqual(heard, ["fr"]);
});

test("a listener that fails is logged, and the others are called", async () => {
  const { settings, faults } = stage();
  const heard: string[] = [];
  settings.on("locale", () => {
    throw new Error("boom");
  });
  settings.on("locale", (locale) => void heard.push(locale));

  settings.change({ ...GERMANY, locale: "it" });
  await Promise.resolve();

  assert.deepEqual(heard, ["it"]);
  assert.equal(faults.length, 1);
});
