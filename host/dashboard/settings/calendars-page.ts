import { computed } from "@preact/signals-core";
import { html, type TemplateResult } from "lit";
import { CalendarList } from "./calendar-list.ts";
import { CredentialList } from "./credential-list.ts";
import { formatInstant } from "./figures.ts";
import { findAdder } from "./find-adder.ts";
import { formValue } from "./form-value.ts";
import { ModuleOptions } from "./module-options.ts";
import type { OpenSettingsPage, SettingsDependencies } from "./page.ts";
import { words } from "./words.ts";

interface Feed {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
}

/** Calendar sources, and the addresses of calendar feeds. */
export function calendarsPage(parts: SettingsDependencies): OpenSettingsPage {
  const modules = parts.store.modules();
  const adder = computed(() => findAdder(modules.value, "calendar"));
  const sources = computed(
    () => adder.value && new ModuleOptions(parts, adder.value.module, adder.value.option),
  );
  const list = new CalendarList(
    parts,
    () => adder.peek(),
    async () => sources.peek()?.load(),
  );
  const feeds = new CredentialList<Feed>(parts, {
    path: "/calendar/feeds",
    pathOf: ({ id }) => `/calendar/feeds/${id}`,
    listed: (answer: { feeds: Feed[] }) => answer.feeds,
    secretIn: ({ path }: { path: string }) => new URL(path, location.href).href,
  });
  return {
    view: () =>
      html`${list.view()} ${sources.value?.view(words.value.sources)} ${feedsView(feeds)}`,
  };
}

function feedsView(feeds: CredentialList<Feed>): TemplateResult {
  const texts = words.value;
  return html`<section class="panel">
    <h2>${texts.feeds}</h2>
    <p class="hint">${texts.feedsHint}</p>
    <ul class="rows">
      ${feeds.items.value.map((feed) =>
        feeds.rowOf(feed, html`<small>${texts.createdAt(formatInstant(feed.createdAt))}</small>`),
      )}
    </ul>
    ${feeds.formView({
      id: "feed",
      make: texts.createFeedAddress,
      made: texts.feedAddressCreated,
      bodyOf: (form) => ({ name: formValue(form, "name") }),
    })}
  </section>`;
}
