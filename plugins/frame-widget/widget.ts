import { defineWidget, s, type WidgetContext } from "@mantel/plugin-sdk/widget";
import { signal } from "@preact/signals-core";
import { html, render, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { addressOf } from "./widget/address.ts";
import styles from "./widget.css";
import cardStyles from "@mantel/plugin-sdk/ui/card.css";

const settings = {
  url: s.text({ title: "Address, such as https://example.org/" }),
  title: s.text({ title: "Title" }),
  storage: s.bool({ title: "Allow the page to store data, such as a login" }),
  reloadMinutes: s.number({
    title: "Reload after minutes (0 = never)",
    min: 0,
    max: 1440,
    step: 1,
    default: 0,
  }),
};
type Context = WidgetContext<typeof settings, unknown>;

const MINUTE_MS = 60_000;

export default defineWidget({
  name: "Web page",
  icon: "mdi:web",
  size: { default: [6, 9], min: [2, 4] },
  texts: {
    de: {
      "Web page": "Webseite",
      "Address, such as https://example.org/": "Adresse, etwa https://example.org/",
      Title: "Titel",
      "Allow the page to store data, such as a login":
        "Die Seite darf Daten speichern, etwa eine Anmeldung",
      "Reload after minutes (0 = never)": "Neu laden nach Minuten (0 = nie)",
      "No address yet": "Noch keine Adresse",
      "Enter one in the settings of this tile.":
        "Trage eine in den Einstellungen dieser Kachel ein.",
      "Invalid address": "Ungültige Adresse",
      "{text} does not start with https:// or http://.":
        "{text} beginnt nicht mit https:// oder http://.",
      "Cannot be shown here": "Kann hier nicht angezeigt werden",
      "Mantel cannot show itself in a tile.":
        "Mantel kann sich nicht selbst in einer Kachel anzeigen.",
      "{origin} is not allowed yet": "{origin} ist noch nicht erlaubt",
      "Ask an admin to add it to server.frames in the config, then reload this page.":
        "Bitte einen Admin, sie unter server.frames in der Konfiguration einzutragen, und lade dann diese Seite neu.",
    },
  },
  settings,
  styles: cardStyles + styles,
  mount(root, ctx) {
    const refused = signal("");
    const round = signal(0);
    let minutes = 0;
    ctx.every(MINUTE_MS, () => {
      const { reloadMinutes } = ctx.settings.value;
      if (reloadMinutes > 0 && ++minutes % reloadMinutes === 0) round.value++;
    });
    // The browser reports a page blocked by the policy only to the document.
    ctx.on<SecurityPolicyViolationEvent>(document, "securitypolicyviolation", (event) => {
      if (event.effectiveDirective === "frame-src") refused.value = event.blockedURI;
    });

    ctx.effect(() => {
      const address = addressOf(ctx.settings.value.url, location.origin);
      if (address.fault !== undefined) render(faultOf(ctx, address.fault), root);
      else if (refused.value !== "" && isSameOrigin(refused.value, address.url)) {
        render(notAllowed(ctx, address.url.origin), root);
      } else render(frame(ctx, address.url, round.value), root);
    });
  },
});

/** Browsers report the blocked address in full, or only its origin. */
function isSameOrigin(blocked: string, { origin }: URL): boolean {
  return URL.canParse(blocked) && new URL(blocked).origin === origin;
}

/**
 * The page in a sandbox: it runs scripts and submits forms, but cannot open windows, navigate this
 * page or use sensors. Without `storage` it has an opaque origin and stores nothing; with it, the
 * page keeps its own origin.
 */
function frame(ctx: Context, { href, host }: URL, round: number): TemplateResult {
  const { storage, title } = ctx.settings.value;
  const sandbox = `allow-scripts allow-forms${storage ? " allow-same-origin" : ""}`;
  const key = `${href} ${sandbox} ${round}`;
  // A changed sandbox only takes effect in a new frame, so each key gets its own frame.
  return html`<div class="card">
    ${repeat(
      [key],
      (each) => each,
      () =>
        html`<iframe
          title=${title || host}
          sandbox=${sandbox}
          allow=""
          referrerpolicy="no-referrer"
          loading="lazy"
          src=${href}
        ></iframe>`,
    )}
  </div>`;
}

function faultOf(ctx: Context, fault: "none" | "unreadable" | "own"): TemplateResult {
  const { t } = ctx;
  switch (fault) {
    case "none":
      return message(t("No address yet"), t("Enter one in the settings of this tile."));
    case "unreadable":
      return message(
        t("Invalid address"),
        t("{text} does not start with https:// or http://.", {
          text: ctx.settings.value.url,
        }),
      );
    case "own":
      return message(t("Cannot be shown here"), t("Mantel cannot show itself in a tile."));
  }
}

function notAllowed({ t }: Context, origin: string): TemplateResult {
  return message(
    t("{origin} is not allowed yet", { origin }),
    t("Ask an admin to add it to server.frames in the config, then reload this page."),
  );
}

function message(title: string, text: string): TemplateResult {
  return html`<div class="card">
    <div class="empty" role="status"><strong>${title}</strong>${text}</div>
  </div>`;
}
