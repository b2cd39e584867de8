import assert from "node:assert/strict";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { emptyFolder } from "../../helpers/folder.ts";
import { startHost } from "../../helpers/host.ts";
import { until } from "../../helpers/until.ts";
import { calendar, event } from "./calendar-text.ts";

const TOMORROW = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10).replaceAll("-", "");
const tomorrow = (title: string) =>
  calendar(event(`UID:${title}`, `DTSTART;VALUE=DATE:${TOMORROW}`, `SUMMARY:${title}`));

test("in a real host process, links to other folders do not hide the files beside them", async (t) => {
  const data = await emptyFolder(t);
  const folder = join(data, "calendars");
  await mkdir(join(folder, "work"), { recursive: true });
  await symlink("/etc/passwd", join(folder, "a-link.ics"));
  await symlink("/etc", join(folder, "b-link"));
  await symlink("/etc/passwd", join(folder, "work", "link.ics"));
  await writeFile(join(folder, "family.ics"), tomorrow("zoo"));
  await writeFile(join(folder, "work", "one.ics"), tomorrow("desk"));

  const host = await startHost(t, { plugins: ["plugins/calendar"], data });
  const ask = async () => {
    const response = await host.api("/calendar/events");
    const { sources = [], events = [] } = (await response.json()) as Answer;
    return {
      titles: events.map(({ title }) => title).toSorted(),
      sources: sources.map(({ id, status }) => `${id} ${status}`).toSorted(),
    };
  };
  const shows = (titles: string) => until(async () => (await ask()).titles.join() === titles);
  await shows("desk,zoo");
  assert.deepEqual((await ask()).sources, ["a-link error", "family ok", "work ok"]);

  await writeFile(join(folder, "work", "two.ics"), tomorrow("chair"));
  await shows("chair,desk,zoo");
  await mkdir(join(folder, "other"));
  await writeFile(join(folder, "other", "one.ics"), tomorrow("pool"));
  await shows("chair,desk,pool,zoo");
  await rm(join(folder, "work"), { recursive: true });
  await rename(join(folder, "other"), join(folder, "work"));
  await shows("pool,zoo");
  await writeFile(join(folder, "work", "one.ics"), tomorrow("lake"));
  await shows("lake,zoo");

  assert.deepEqual((await ask()).sources, ["a-link error", "family ok", "work ok"]);
});

interface Answer {
  readonly sources?: readonly { readonly id: string; readonly status: string }[];
  readonly events?: readonly { readonly title: string }[];
}
