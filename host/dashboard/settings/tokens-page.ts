import { html, nothing, type TemplateResult } from "lit";
import { instantOf } from "./figures.ts";
import { GivenOut } from "./given-out.ts";
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
  const tokens = new GivenOut<Token>(parts, {
    path: "/tokens",
    pathOf: ({ id, name }) => `/tokens/${encodeURIComponent(name)}?id=${encodeURIComponent(id)}`,
    listed: (answer: { tokens: Token[] }) =>
      answer.tokens.filter(({ status }) => status === "valid"),
    secretIn: ({ token }: { token: string }) => token,
  });
  return { view: () => pageView(tokens) };
}

function pageView(tokens: GivenOut<Token>): TemplateResult {
  const say = words.value;
  const all = tokens.items.value;
  return html`<section>
      <h2>${say.displays}</h2>
      ${listOf(
        tokens,
        all.filter(({ display }) => display),
      )}
      <p><a class="link" href="#pair">${say.pairDisplay}</a></p>
    </section>
    <section>
      <h2>${say.tokens}</h2>
      ${listOf(
        tokens,
        all.filter(({ display }) => !display),
      )}
    </section>
    <section class="panel">
      <h2>${say.newToken}</h2>
      ${tokens.formView({
        ...{ id: "token", make: say.make, made: say.tokenMade },
        fields: scopeField(),
        bodyOf: (form) => ({ name: typed(form, "name"), scope: [typed(form, "scope")] }),
      })}
    </section>`;
}

function listOf(tokens: GivenOut<Token>, shown: readonly Token[]): TemplateResult {
  if (shown.length === 0) return html`<p class="hint">${words.value.none}</p>`;
  return html`<ul class="rows">
    ${shown.map((token) => rowOf(tokens, token))}
  </ul>`;
}

/** Of several with one name, each says which it is. */
function rowOf(tokens: GivenOut<Token>, token: Token): TemplateResult {
  const say = words.value;
  const { id, name, scope, expiresAt, lastUsedAt, current } = token;
  const isShared = tokens.items.value.some((each) => each.name === name && each.id !== id);
  const details = html`<small>${scope.join(", ")} · ${say.until(instantOf(expiresAt))}</small>
    <small>${lastUsedAt === null ? say.neverUsed : say.lastUsed(instantOf(lastUsedAt))}</small>
    ${isShared ? html`<small>${say.withId(id.slice(0, 8))}</small>` : nothing}`;
  const here = current ? html`<span class="state ok">${say.thisOne}</span>` : undefined;
  return tokens.rowOf(token, details, here);
}

function scopeField(): TemplateResult {
  const say = words.value;
  return html`<div class="field">
    <label for="token-scope">${say.scope}</label>
    <select id="token-scope" name="scope">
      ${SCOPES.map((scope) => html`<option value=${scope}>${say[scope]}</option>`)}
    </select>
  </div>`;
}
