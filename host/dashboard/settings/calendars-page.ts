import { computed } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { CalendarList } from "./calendar-list.ts";
import { CredentialList } from "./credential-list.ts";
import { formatInstant } from "./figures.ts";
import { findAdder } from "./find-adder.ts";
import { formValue } from "./form-value.ts";
import { ModuleOptions } from "./module-options.ts";
import { type OpenSettingsPage, restNeedsFullAccess, type SettingsDependencies } from "./page.ts";
import { SetupSteps } from "./setup-steps.ts";
import { words } from "./words.ts";

interface Feed {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
}

/** Calendar sources, and the addresses of calendar feeds. */
export function calendarsPage(parts: SettingsDependencies): OpenSettingsPage {
  return parts.mayAdminister ? wholePage(parts) : listPage(parts);
}

/** The calendars that there are, which anyone may refresh. */
function listPage(parts: SettingsDependencies): OpenSettingsPage {
  const list = new CalendarList(
    parts,
    () => undefined,
    async () => undefined,
  );
  return {
    view: () => html`${list.view()} ${restNeedsFullAccess(parts)}`,
    close: () => list.close(),
  };
}

function wholePage(parts: SettingsDependencies): OpenSettingsPage {
  const modules = parts.store.modules();
  const adder = computed(() => findAdder(modules.value, "calendar"));
  // texts, which stay equal while the modules change, so that a form keeps what was typed
  const module = computed(() => adder.value?.module);
  const option = computed(() => adder.value?.option);
  const sources = computed(() => {
    const { value: id } = module;
    return id === undefined ? undefined : new ModuleOptions(parts, id, option.value);
  });
  const list = new CalendarList(
    parts,
    () => adder.peek(),
    async () => sources.peek()?.load(),
  );
  const setup = computed(() => {
    const { value: options } = sources;
    const { value: id } = module;
    if (!options || id === undefined) return undefined;
    return new SetupSteps(parts, `/modules/${encodeURIComponent(id)}`, {
      say: options.say,
      onDone: () => {
        list.showNew();
        void options.load();
      },
    });
  });
  const hasSetup = () =>
    modules.value.some(({ id, trials }) => id === module.value && trials.includes("setup"));
  const feeds = new CredentialList<Feed>(parts, {
    path: "/calendar/feeds",
    pathOf: ({ id }) => `/calendar/feeds/${id}`,
    listed: (answer: { feeds: Feed[] }) => answer.feeds,
    secretIn: ({ path }: { path: string }) => new URL(path, location.href).href,
  });
  return {
    view: () => {
      const { addCalendars, addCalendarsHint, sources: title } = words.value;
      return html`${list.view()}
      ${hasSetup() ? setup.value?.view(addCalendars, addCalendarsHint) : nothing}
      ${sources.value?.view(title)} ${feedsView(feeds)}`;
    },
    close: () => {
      list.close();
      setup.peek()?.close();
    },
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
