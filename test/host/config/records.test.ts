import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { Options } from "../../../plugins/calendar/options.ts";
import { until } from "../../helpers/until.ts";
import { admin, openConfig } from "./open-config.ts";

const FAMILY = { name: "Family", url: "https://a.example/secret.ics" };
const WORK = { kind: "caldav", url: "https://b.example/", username: "ann", password: "one" };

/** A config with two calendars, as the calendar plugin defines them. */
async function setUp(...[t]: Parameters<typeof openConfig>) {
  const opened = await openConfig(t);
  opened.config.registerOptions("calendar", Options);
  const patch = (sources: object) => opened.config.patch({ calendar: { sources } }, admin);
  const sources = () =>
    (opened.config.current["calendar"] as Readonly<Record<string, unknown>>)["sources"];
  await patch({ family: FAMILY, work: WORK });
  return { ...opened, patch, sources };
}

test("the secret of one entry of a record can be set alone, and its entry removed", async (t) => {
  const { patch, sources } = await setUp(t);

  await patch({ work: { password: "two" } });
  assert.deepEqual(sources(), { family: FAMILY, work: { ...WORK, password: "two" } });

  await patch({ family: null });
  assert.deepEqual(sources(), { work: { ...WORK, password: "two" } });
});

test("entries of a record are shown without their secrets", async (t) => {
  const { config } = await setUp(t);

  const shown = config.view().config["calendar"]?.["sources"];

  assert.deepEqual(shown, {
    family: { name: "Family", url: { set: true }, password: { set: false } },
    work: { kind: "caldav", username: "ann", url: { set: true }, password: { set: true } },
  });
});

test("an entry written into the config file by hand is added to the stored ones", async (t) => {
  const { path, sources } = await setUp(t);
  const document = JSON.parse(await readFile(path, "utf8").catch(() => "{}")) as object;
  const added = { club: { url: "https://c.example/c.ics" }, family: { color: "#112233" } };

  await writeFile(path, JSON.stringify({ ...document, calendar: { sources: added } }));
  await until(() => "club" in (sources() as object));

  assert.deepEqual(sources(), {
    family: { ...FAMILY, color: "#112233" },
    work: WORK,
    club: added.club,
  });
  assert.doesNotMatch(await readFile(path, "utf8"), /c\.example/);
});

test("an invalid entry is reported and changes nothing", async (t) => {
  const { patch, sources } = await setUp(t);

  await assert.rejects(patch({ "Not An Id": { url: "https://a.example/" } }), { code: "invalid" });
  await assert.rejects(patch({ work: { url: "ftp://b.example/" } }), (error: Error) => {
    assert.match(error.message, /\/calendar\/sources\/work\/url/);
    return true;
  });

  assert.deepEqual(sources(), { family: FAMILY, work: WORK });
});
