import type { TestContext } from "node:test";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import plugin from "../../../plugins/calendar/index.ts";
import type { DavAccount } from "../../fakes/dav-account.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";

/** The plugin with one account under the id `dav`, and what it has published of that last. */
export async function startWithAccount(t: TestContext, { url }: DavAccount, settings: object = {}) {
  const sources = { dav: { kind: "caldav", url, allowPrivate: true, ...settings } };
  const running = await startPlugin(plugin, {
    config: { refreshSeconds: 900, defaultDays: 14, sources },
    folders: { calendars: await emptyFolder(t) },
  });
  onTestEnd(t, async () => void (await running.stop()));
  const sourcesNow = () => running.published["calendar.window"]?.sources ?? [];
  return {
    sources: sourcesNow,
    source: (id: string) => sourcesNow().find((each) => each.id === id),
    titles: () =>
      (running.published["calendar.window"]?.events ?? []).map(({ title }) => title).toSorted(),
  };
}
