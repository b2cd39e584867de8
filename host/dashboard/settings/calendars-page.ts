import { html, type TemplateResult } from "lit";
import { instantOf } from "./figures.ts";
import { GivenOut } from "./given-out.ts";
import { ModuleOptions } from "./module-options.ts";
import type { OpenPage, SettingsParts } from "./page.ts";
import { typed } from "./typed.ts";
import { words } from "./words.ts";

interface Feed {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
}

/** Calendars on their way in, and the addresses under which they go out. */
export function calendarsPage(parts: SettingsParts): OpenPage {
  const sources = new ModuleOptions(parts, "calendar", "sources");
  const feeds = new GivenOut<Feed>(parts, {
    path: "/calendar/feeds",
    pathOf: ({ id }) => `/calendar/feeds/${id}`,
    listed: (answer: { feeds: Feed[] }) => answer.feeds,
    secretIn: ({ path }: { path: string }) => new URL(path, location.href).href,
  });
  return { view: () => html`${sources.view(words.value.sources)} ${feedsView(feeds)}` };
}

function feedsView(feeds: GivenOut<Feed>): TemplateResult {
  const say = words.value;
  return html`<section class="panel">
    <h2>${say.feeds}</h2>
    <p class="hint">${say.feedsHint}</p>
    <ul class="rows">
      ${feeds.items.value.map((feed) =>
        feeds.rowOf(feed, html`<small>${say.madeAt(instantOf(feed.createdAt))}</small>`),
      )}
    </ul>
    ${feeds.formView({
      ...{ id: "feed", make: say.makeFeed, made: say.feedMade },
      bodyOf: (form) => ({ name: typed(form, "name") }),
    })}
  </section>`;
}
