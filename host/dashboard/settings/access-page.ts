import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { deleteSavedHome } from "../offline/saved-home.ts";
import { originForPhones } from "../pairing/reachable-origin.ts";
import { forgetSignedIn, rememberedSignedIn } from "../signed-in.ts";
import { CredentialList } from "./credential-list.ts";
import { formatInstant } from "./figures.ts";
import { formValue } from "./form-value.ts";
import type { NewSecret } from "./new-secret.ts";
import { type OpenSettingsPage, restNeedsFullAccess, type SettingsDependencies } from "./page.ts";
import { words } from "./words.ts";

interface Token {
  readonly id: string;
  readonly name: string;
  readonly scope: readonly string[];
  readonly readOnlyPaths: readonly string[];
  readonly status: "valid" | "revoked" | "expired";
  readonly expiresAt: string;
  readonly lastUsedAt: string | null;
  readonly display: boolean;
  readonly session: boolean;
  readonly device: "phone" | "tablet" | "computer" | null;
  readonly current: boolean;
}

const SCOPES = ["read", "control", "edit", "admin"] as const;
/** Things that a display or a person may be kept from changing, with their places in the API. */
const LIMITS = [
  ["automations", ["automations"]],
  ["scenes", ["smart-home/scenes"]],
  ["devices", ["smart-home/devices", "smart-home/commands", "rooms"]],
  ["calendars", ["calendar"]],
] as const;

/** Displays, and people and programs with their tokens: lists to change and revoke them, and a form to create one. */
export function accessPage(parts: SettingsDependencies): OpenSettingsPage {
  if (!parts.mayAdminister) return { view: () => ownAccessView(parts) };
  const address = signal<string | null | undefined>(undefined);
  parts.api.get("/setup").then(
    (setup) => (address.value = setup.address),
    () => undefined,
  );
  const tokens = new CredentialList<Token>(parts, {
    path: "/tokens",
    pathOf: ({ id, name }) => `/tokens/${encodeURIComponent(name)}?id=${encodeURIComponent(id)}`,
    listed: (answer: { tokens: Token[] }) =>
      answer.tokens.filter(({ status }) => status === "valid"),
    secretIn: ({ token }: { token: string }) => token,
    aboutSecret: (token) => aboutToken(token, location, address.value),
  });
  return { view: () => html`${signedInView(parts)}${pageView(tokens)}` };
}

/** The page of a visit without full access, which may sign out and pair displays. */
function ownAccessView(parts: SettingsDependencies): TemplateResult {
  return html`${signedInView(parts)}
    <p><a class="link" href="#pair">${words.value.pairDisplay}</a></p>
    ${restNeedsFullAccess(parts)}`;
}

/** Explains how a phone signs in with a new token, and how a program uses it. */
export function aboutToken(
  token: string,
  page: Pick<Location, "origin">,
  address: string | null | undefined,
): Omit<NewSecret, "id" | "text"> {
  const texts = words.value;
  const origin = originForPhones(page, address);
  const api = `${origin ?? page.origin}/api/v1/smart-home/devices`;
  const example = `curl -H "Authorization: Bearer ${token}" ${api}`;
  if (origin === undefined) return { example, warning: texts.onlyThisMachine };
  return { example, link: `${origin}/#token=${token}`, linkHint: texts.signsInPhone };
}

/** The identity signed in in this browser, and the sign-out button. */
function signedInView({ api, formAction }: SettingsDependencies): TemplateResult | typeof nothing {
  const texts = words.value;
  const who = rememberedSignedIn();
  if (!who) return nothing;
  const signOut = async (): Promise<void> => {
    await api.delete("/session");
    forgetSignedIn();
    await deleteSavedHome();
    location.hash = "";
    location.reload();
  };
  return html`<section>
    <h2>${texts.thisBrowser}</h2>
    <ul class="rows">
      <li class="row">
        <span class="grow">
          <strong dir="auto">${who.name}</strong><small>${accessOf(who)}</small>
        </span>
        ${formAction.confirmButton("sign-out", texts.signOut, () => void formAction.run(signOut))}
      </li>
    </ul>
  </section>`;
}

function pageView(tokens: CredentialList<Token>): TemplateResult {
  const texts = words.value;
  const all = tokens.items.value;
  const people = all.filter(({ display }) => !display);
  return html`<section>
      <h2>${texts.displays}</h2>
      ${listOf(
        tokens,
        all.filter(({ display }) => display),
      )}
      <p><a class="link" href="#pair">${texts.pairDisplay}</a></p>
    </section>
    <section class="people">
      <h2>${texts.people}</h2>
      ${[...new Set(people.map(({ name }) => name))].map((name) =>
        personView(
          tokens,
          name,
          people.filter((each) => each.name === name),
        ),
      )}
    </section>
    <section class="panel">
      <h2>${texts.newToken}</h2>
      ${tokens.formView({
        id: "token",
        make: texts.createToken,
        made: texts.tokenCreated,
        fields: scopeField(),
        bodyOf: (form) => ({ name: formValue(form, "name"), scope: [formValue(form, "scope")] }),
      })}
    </section>`;
}

function listOf(tokens: CredentialList<Token>, shown: readonly Token[]): TemplateResult {
  if (shown.length === 0) return html`<p class="hint">${words.value.none}</p>`;
  return html`<ul class="rows">
    ${shown.map((token) => rowOf(tokens, token))}
  </ul>`;
}

/** A person, or a program, with the devices that are signed in under this name. */
function personView(
  tokens: CredentialList<Token>,
  name: string,
  own: readonly Token[],
): TemplateResult {
  const [initial = ""] = name.trim();
  return html`<div class="person">
    <h3>
      <span class="avatar" aria-hidden="true" .style=${`--tint: ${tintOf(name)}`}
        >${initial.toUpperCase()}</span
      >
      <span dir="auto">${name}</span>
    </h3>
    ${listOf(tokens, own)}
  </div>`;
}

/** A hue in degrees that a name always has. */
function tintOf(name: string): number {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 360;
  return sum;
}

function highestOf({ scope }: Pick<Token, "scope">): (typeof SCOPES)[number] {
  return SCOPES.findLast((each) => scope.includes(each)) ?? "read";
}

/** The highest scope, in words. */
const accessOf = (token: Pick<Token, "scope">): string => words.value[highestOf(token)];

/** The kind of what is signed in. */
function titleOf({ name, display, session, device }: Token): string {
  const texts = words.value;
  if (display) return name;
  if (device !== null) return texts[device];
  return session ? texts.browser : texts.linkOrToken;
}

/** Tokens with the same name are shown with their id. */
function rowOf(tokens: CredentialList<Token>, token: Token): TemplateResult {
  const texts = words.value;
  const { id, name, expiresAt, lastUsedAt, current } = token;
  const isShared = tokens.items.value.some((each) => each.name === name && each.id !== id);
  const details = html`<small>${accessOf(token)} · ${texts.until(formatInstant(expiresAt))}</small>
    <small
      >${lastUsedAt === null ? texts.neverUsed : texts.lastUsed(formatInstant(lastUsedAt))}</small
    >
    ${isShared ? html`<small>${texts.withId(id.slice(0, 8))}</small>` : nothing}
    ${current ? nothing : rightsView(tokens, token)}`;
  const here = current ? html`<span class="state ok">${texts.thisToken}</span>` : undefined;
  return tokens.rowOf(token, details, { title: titleOf(token), instead: here });
}

/** The rights of the holder of a token. Each change holds at once. */
function rightsView(tokens: CredentialList<Token>, token: Token): TemplateResult {
  const texts = words.value;
  const { id, name, readOnlyPaths } = token;
  const highest = highestOf(token);
  const change = (body: object): void => tokens.change(token, body, texts.rightsChanged(name));
  return html`<details class="rights">
    <summary>${texts.rightsOf(name)}</summary>
    <div class="field">
      <label for="scope-${id}">${texts.scope}</label>
      <select
        id="scope-${id}"
        @change=${({ currentTarget }: Event) =>
          change({ scope: [(currentTarget as HTMLSelectElement).value] })}
      >
        ${SCOPES.map(
          (each) =>
            html`<option value=${each} .selected=${each === highest}>${texts[each]}</option>`,
        )}
      </select>
    </div>
    ${
      highest === "read"
        ? nothing
        : html`<fieldset class="page-choice">
            <legend>${texts.mayOnlyLookAt}</legend>
            ${LIMITS.map(
              ([label, places]) =>
                html`<label>
                  <input
                    type="checkbox"
                    .checked=${places.every((place) => readOnlyPaths.includes(place))}
                    @change=${({ currentTarget }: Event) => {
                      const own: readonly string[] = places;
                      const others = readOnlyPaths.filter((place) => !own.includes(place));
                      const { checked } = currentTarget as HTMLInputElement;
                      change({ readOnlyPaths: checked ? [...others, ...own] : others });
                    }}
                  />
                  <span>${texts[label]}</span>
                </label>`,
            )}
          </fieldset>`
    }
  </details>`;
}

function scopeField(): TemplateResult {
  const texts = words.value;
  return html`<div class="field">
    <label for="token-scope">${texts.scope}</label>
    <select id="token-scope" name="scope">
      ${SCOPES.map((scope) => html`<option value=${scope}>${texts[scope]}</option>`)}
    </select>
  </div>`;
}
