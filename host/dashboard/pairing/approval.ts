import { effect, signal } from "@preact/signals-core";
import { html, nothing, render, type TemplateResult } from "lit";
import { type Api, ApiError } from "../api.ts";
import { words } from "../i18n/pairing.ts";
import { titles } from "../title.ts";
import { addStyles } from "./styles.ts";

interface Waiting {
  readonly userCode: string;
  readonly address: string;
  readonly startedAt: string;
}

type Step =
  | { readonly is: "typing"; readonly fault?: string }
  | { readonly is: "deciding"; readonly display: Waiting; readonly fault?: string }
  | { readonly is: "done"; readonly text: string; readonly fault?: string };

interface Options {
  readonly api: Api;
  /** The code in the address; empty if the user must type it. */
  readonly code: string;
  /** The scopes that the user may grant, lowest first. */
  readonly scopes: readonly string[];
}

/** The page where a signed-in user approves a display and chooses its name and scope. */
export function mountApproval(root: HTMLElement, { api, code, scopes }: Options): void {
  addStyles();
  const step = signal<Step>({ is: "typing" });
  const names = signal<readonly string[]>([]);
  const attempt = (work: () => Promise<Step>): void => {
    work().then(
      (next) => (step.value = next),
      (error: unknown) => (step.value = { ...step.peek(), fault: faultOf(error) }),
    );
  };
  const look = (typed: string): void =>
    attempt(async () => {
      const digits = typed.replaceAll(/[\s-]+/g, ""); // people type spaces where they see groups
      const display = await api.get(`/pairing/${encodeURIComponent(digits)}`);
      return { is: "deciding", display };
    });
  const decide = ({ userCode }: Waiting, grant: Grant | undefined): void =>
    attempt(async () => {
      if (grant) await api.post(`/pairing/${userCode}/approve`, grant);
      else await api.delete(`/pairing/${userCode}`);
      const texts = words.peek();
      return { is: "done", text: grant ? texts.displayApproved(grant.name) : texts.displayDenied };
    });
  effect(() => void (titles.page.value = words.value.approveDisplay));
  effect(() => void render(pageOf(step.value, { look, decide, scopes, names: names.value }), root));
  if (code !== "") look(code);
  void api.get("/layout").then(
    ({ displays }) => (names.value = displays.map(({ name }) => name)),
    (error: unknown) => console.warn("could not read the names of displays", error),
  );
}

interface Grant {
  readonly name: string;
  readonly scope: readonly string[];
}

interface Actions {
  readonly look: (typed: string) => void;
  readonly decide: (display: Waiting, grant: Grant | undefined) => void;
  readonly scopes: readonly string[];
  /**
   * Names of the displays in the layout. A screen with one of these names uses its pages and theme.
   */
  readonly names: readonly string[];
}

function pageOf(step: Step, actions: Actions): TemplateResult {
  const texts = words.value;
  return html`<main class="welcome">
    <header><h1>${texts.approveDisplay}</h1></header>
    ${"fault" in step ? html`<p role="alert">${step.fault}</p>` : nothing}
    ${stepView(step, actions)}
  </main>`;
}

function stepView(step: Step, actions: Actions): TemplateResult {
  if (step.is === "typing") return typingView(actions);
  if (step.is === "deciding") return decidingView(step.display, actions);
  return html`<p role="status">${step.text}</p>
    <a class="action" href="/">${words.value.openDashboard}</a>`;
}

function typingView({ look }: Actions): TemplateResult {
  const texts = words.value;
  return html`<form @submit=${(event: SubmitEvent) => look(read(event).get("code") ?? "")}>
    <label>
      ${texts.codeOnDisplay}
      <input name="code" autocomplete="off" autocapitalize="characters" maxlength="9" required />
    </label>
    <button class="action">${texts.continue}</button>
  </form>`;
}

function decidingView(display: Waiting, { decide, scopes, names }: Actions): TemplateResult {
  const texts = words.value;
  const allow = (event: SubmitEvent): void => {
    const fields = read(event);
    decide(display, { name: fields.get("name") ?? "", scope: [fields.get("scope") ?? ""] });
  };
  return html`<p>${texts.confirmCode}</p>
    <p class="code" aria-label=${texts.spelledCode(display.userCode)}>${display.userCode}</p>
    <p>${texts.displayAddress(display.address)}</p>
    <form @submit=${allow}>
      <label>
        ${texts.displayName}
        <input name="name" autocomplete="off" maxlength="64" list="displays" required />
      </label>
      <datalist id="displays">
        ${names.map((name) => html`<option value=${name}></option>`)}
      </datalist>
      <fieldset>
        <legend>${texts.displayMay}</legend>
        ${scopes.map((scope) => scopeChoice(scope))}
      </fieldset>
      <button class="action">${texts.approve}</button>
      <button class="action quiet" type="button" @click=${() => decide(display, undefined)}>
        ${texts.denyDisplay}
      </button>
    </form>`;
}

function scopeChoice(scope: string): TemplateResult {
  const texts = words.value;
  const scopeTexts: Record<string, string> = {
    read: texts.mayRead,
    control: texts.mayControl,
    edit: texts.mayEdit,
    admin: texts.mayAdmin,
  };
  return html`<label class="choice">
    <input type="radio" name="scope" value=${scope} ?checked=${scope === "control"} required />
    ${scopeTexts[scope] ?? scope}
  </label>`;
}

function read(event: SubmitEvent): Map<string, string> {
  event.preventDefault();
  const fields = [...new FormData(event.currentTarget as HTMLFormElement)];
  return new Map(fields.map(([name, value]) => [name, typeof value === "string" ? value : ""]));
}

function faultOf(error: unknown): string {
  const texts = words.peek();
  if (!(error instanceof ApiError)) return String(error);
  const known: Readonly<Record<string, string>> = {
    pairing_unknown: texts.codeUnknown,
    bad_id: texts.codeUnknown,
    name_taken: texts.nameTaken,
    insufficient_scope: texts.approvalForbidden,
    offline: texts.hostUnreachable,
    invalid: texts.nameInvalid,
  };
  return known[error.code] ?? error.message;
}
