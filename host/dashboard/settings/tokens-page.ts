import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { instantOf } from "./figures.ts";
import type { OpenPage, SettingsParts } from "./page.ts";
import { typed } from "./typed.ts";
import { words } from "./words.ts";

interface Token {
  readonly id: string;
  readonly name: string;
  readonly scope: readonly string[];
  readonly status: "valid" | "revoked" | "expired";
  readonly expiresAt: string;
  readonly lastUsedAt: string | null;
  readonly display: boolean;
  readonly current: boolean;
}

const SCOPES = ["read", "control", "edit", "admin"] as const;

/** Who may do what: displays and other tokens, to revoke and to make. */
export function tokensPage(parts: SettingsParts): OpenPage {
  const page = new TokensPage(parts);
  return { view: () => page.view() };
}

class TokensPage {
  readonly #parts: SettingsParts;
  readonly #tokens = signal<readonly Token[]>([]);
  /** Shown once, until another page is opened. */
  readonly #made = signal<string | undefined>(undefined);

  constructor(parts: SettingsParts) {
    this.#parts = parts;
    void this.#load().catch((error: unknown) => parts.doing.fail(error));
  }

  view(): TemplateResult {
    const say = words.value;
    const valid = this.#tokens.value.filter(({ status }) => status === "valid");
    return html`<section>
        <h2>${say.displays}</h2>
        ${this.#listOf(valid.filter(({ display }) => display))}
        <p><a class="link" href="#pair">${say.pairDisplay}</a></p>
      </section>
      <section>
        <h2>${say.tokens}</h2>
        ${this.#listOf(valid.filter(({ display }) => !display))}
      </section>
      ${this.#formView()}`;
  }

  #listOf(tokens: readonly Token[]): TemplateResult {
    if (tokens.length === 0) return html`<p class="hint">${words.value.none}</p>`;
    return html`<ul class="rows">
      ${tokens.map((token) => this.#rowOf(token))}
    </ul>`;
  }

  #rowOf({ id, name, scope, expiresAt, lastUsedAt, current }: Token): TemplateResult {
    const say = words.value;
    return html`<li class="row">
      <span class="grow">
        <strong dir="auto">${name}</strong>
        <small>${scope.join(", ")} · ${say.until(instantOf(expiresAt))}</small>
        <small>${say.lastUsed(instantOf(lastUsedAt))}</small>
      </span>
      ${
        current
          ? html`<span class="state ok">${say.thisOne}</span>`
          : this.#parts.doing.sureButton(id, say.revoke(name), () => this.#revoke(name))
      }
    </li>`;
  }

  #formView(): TemplateResult {
    const say = words.value;
    const made = this.#made.value;
    return html`<form class="panel form" @submit=${(event: SubmitEvent) => this.#make(event)}>
      <h2>${say.newToken}</h2>
      <div class="field">
        <label for="token-name">${say.name}</label>
        <input id="token-name" name="name" maxlength="64" dir="auto" required />
      </div>
      <div class="field">
        <label for="token-scope">${say.scope}</label>
        <select id="token-scope" name="scope">
          ${SCOPES.map((scope) => html`<option value=${scope}>${say[scope]}</option>`)}
        </select>
      </div>
      ${
        made === undefined
          ? nothing
          : html`<div class="field">
              <label for="token-made">${say.shownOnce}</label>
              <textarea id="token-made" readonly rows="4" dir="ltr" .value=${made}></textarea>
            </div>`
      }
      <div class="actions">
        <button class="button primary" ?disabled=${this.#parts.doing.busy.value}>
          ${say.make}
        </button>
      </div>
    </form>`;
  }

  #make(event: SubmitEvent): void {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const body = { name: typed(form, "name"), scope: [typed(form, "scope")] };
    void this.#parts.doing.run(async () => {
      const { token } = await this.#parts.api.post<{ token: string }>("/tokens", body);
      form.reset(); // before the token is shown, which it would empty
      this.#made.value = token;
      await this.#load();
    }, words.value.tokenMade);
  }

  #revoke(name: string): void {
    void this.#parts.doing.run(async () => {
      await this.#parts.api.send("DELETE", `/tokens/${encodeURIComponent(name)}`);
      await this.#load();
    }, words.value.revoked(name));
  }

  async #load(): Promise<void> {
    this.#tokens.value = (await this.#parts.api.get<{ tokens: Token[] }>("/tokens")).tokens;
  }
}
