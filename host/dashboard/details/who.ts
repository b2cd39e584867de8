import type { I18n } from "@mantel/plugin-sdk/i18n";
import { type ReadonlySignal, signal } from "@preact/signals-core";
import { html, nothing } from "lit";
import { type Api, ApiError } from "../api.ts";
import {
  causeLook,
  causeText,
  chainText,
  effectText,
  isByItself,
  type NamedHome,
} from "../logbook/cause-words.ts";
import { groupsOf, type LogbookGroup, pageIn } from "../logbook/entries.ts";
import type { Store } from "../store.ts";
import { words } from "./words.ts";

/** Enough for some changes, each of which may have several entries. */
const LENGTH = 20;
const SHOWN = 3;

/** The last changes of a device, with their causes. */
export class LastChanges {
  readonly #groups = signal<readonly LogbookGroup[]>([]);
  readonly #home: NamedHome;

  constructor(store: Store, speech: Pick<I18n, "fmt">) {
    this.#home = {
      device: (id) => store.device(id).value,
      get fmt() {
        return speech.fmt;
      },
    };
  }

  /** The changes, the last first. */
  get groups(): ReadonlySignal<readonly LogbookGroup[]> {
    return this.#groups;
  }

  /** Reads the changes of a device. Without an answer none are shown. */
  async read(api: Api, device: string): Promise<void> {
    try {
      const query = new URLSearchParams({ device, limit: String(LENGTH) });
      this.#groups.value = groupsOf(pageIn(await api.get(`/logbook?${query}`)).entries);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      console.warn("could not read the last changes of a device", error);
    }
  }

  /** The cause of the last change for the heading, such as "by Mara". */
  heading(device: string): string {
    const [last] = this.#groups.value;
    if (!last?.cause || isByItself({ device, cause: last.cause })) return "";
    return words.value.by(causeText(last.cause, this.#home));
  }

  /** The last changes, each with the chain of its causes. */
  view(device: string): unknown {
    const groups = this.#groups.value.slice(0, SHOWN);
    if (groups.length === 0) return nothing;
    const texts = words.value;
    return html`<section class="box who" aria-label=${texts.who}>
      <div class="head">
        <h3>${texts.who}</h3>
        <a href="#/logbook/${encodeURIComponent(device)}">${texts.logbook}</a>
      </div>
      <ul>
        ${groups.map((group) => this.#rowOf(group, device))}
      </ul>
    </section>`;
  }

  #rowOf({ at, cause, effects }: LogbookGroup, device: string): unknown {
    const home = this.#home;
    const [effect] = effects;
    const [icon] = causeLook(cause, home);
    const isOwn = cause !== undefined && isByItself({ device, cause });
    return html`<li>
      <time datetime=${new Date(at).toISOString()}>${home.fmt.relative(at)}</time>
      <mantel-icon name=${icon}></mantel-icon>
      <b dir="auto">${isOwn ? words.value.byItself : chainText(cause, home)}</b>
      <span dir="auto">${effect ? effectText(effect, home) : nothing}</span>
    </li>`;
  }
}
