import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { CalendarSources } from "./calendar-sources.ts";
import { instantOf } from "./figures.ts";
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
  const feeds = new Feeds(parts);
  const sources = new CalendarSources(parts);
  return { view: () => html`${sources.view()} ${feeds.view()}` };
}

class Feeds {
  readonly #parts: SettingsParts;
  readonly #feeds = signal<readonly Feed[]>([]);
  readonly #made = signal<string | undefined>(undefined);

  constructor(parts: SettingsParts) {
    this.#parts = parts;
    void this.#load().catch((error: unknown) => parts.doing.fail(error));
  }

  view(): TemplateResult {
    const say = words.value;
    const made = this.#made.value;
    return html`<section class="panel">
      <h2>${say.feeds}</h2>
      <p class="hint">${say.feedsHint}</p>
      <ul class="rows">
        ${this.#feeds.value.map((feed) => this.#rowOf(feed))}
      </ul>
      <form class="form" @submit=${(event: SubmitEvent) => this.#make(event)}>
        <div class="field">
          <label for="feed-name">${say.name}</label>
          <input id="feed-name" name="name" maxlength="64" dir="auto" required />
        </div>
        ${
          made === undefined
            ? nothing
            : html`<div class="field">
                <label for="feed-made">${say.shownOnce}</label>
                <input id="feed-made" readonly dir="ltr" .value=${made} />
              </div>`
        }
        <div class="actions">
          <button class="button primary" ?disabled=${this.#parts.doing.busy.value}>
            ${say.makeFeed}
          </button>
        </div>
      </form>
    </section>`;
  }

  #rowOf({ id, name, createdAt }: Feed): TemplateResult {
    const { doing } = this.#parts;
    const say = words.value;
    return html`<li class="row">
      <span class="grow"
        ><strong dir="auto">${name}</strong><small>${say.madeAt(instantOf(createdAt))}</small></span
      >
      ${doing.sureButton(id, say.revoke(name), () => this.#revoke(id, name))}
    </li>`;
  }

  #make(event: SubmitEvent): void {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const name = typed(form, "name");
    const { api, doing } = this.#parts;
    void doing.run(async () => {
      const { path } = await api.post<{ path: string }>("/calendar/feeds", { name });
      form.reset(); // before the address is shown, which it would empty
      this.#made.value = new URL(path, location.href).href;
      await this.#load();
    }, words.value.feedMade);
  }

  #revoke(id: string, name: string): void {
    const { api, doing } = this.#parts;
    void doing.run(async () => {
      await api.send("DELETE", `/calendar/feeds/${id}`);
      await this.#load();
    }, words.value.revoked(name));
  }

  async #load(): Promise<void> {
    this.#feeds.value = (await this.#parts.api.get<{ feeds: Feed[] }>("/calendar/feeds")).feeds;
  }
}
