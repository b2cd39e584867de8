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
  storage: s.bool({ title: "The page may keep data of its own, such as a log-in" }),
  reloadMinutes: s.number({
    title: "Load again after minutes; 0 means never",
    ...{ min: 0, max: 1440, step: 1, default: 0 },
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
      "The page may keep data of its own, such as a log-in":
        "Die Seite darf eigene Daten behalten, etwa eine Anmeldung",
      "Load again after minutes; 0 means never": "Neu laden nach Minuten; 0 heißt nie",
      "No address yet": "Noch keine Adresse",
      "Write one in the settings of this tile.": "Schreib eine in die Einstellungen dieser Kachel.",
      "Not an address": "Keine Adresse",
      "{text} is not one that starts with https:// or http://.":
        "{text} beginnt nicht mit https:// oder http://.",
      "Not shown here": "Wird hier nicht gezeigt",
      "Mantel does not show itself in a tile.": "Mantel zeigt sich nicht selbst in einer Kachel.",
      "{origin} is not allowed yet": "{origin} ist noch nicht erlaubt",
      "An admin adds it to server.frames in the config; then load this page again.":
        "Wer Mantel verwaltet, trägt sie unter server.frames in der Konfiguration ein; danach diese Seite neu laden.",
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
    // The browser tells the document, and nobody else, that its policy keeps a page out.
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

/** Browsers give the address that was kept out in full, or only its origin. */
function isSameOrigin(blocked: string, { origin }: URL): boolean {
  return URL.canParse(blocked) && new URL(blocked).origin === origin;
}

/**
 * The page in a sandbox: it runs scripts and sends forms, and opens no windows, moves nothing around it
 * and gets no sensors. Without a say it has no origin, so it keeps nothing; with one it has its own,
 * which is another than ours.
 */
function frame(ctx: Context, { href, host }: URL, round: number): TemplateResult {
  const { storage, title } = ctx.settings.value;
  const sandbox = `allow-scripts allow-forms${storage ? " allow-same-origin" : ""}`;
  const key = `${href} ${sandbox} ${round}`;
  // A frame heeds a changed sandbox only when it is loaded anew, so each key has a frame of its own.
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
      return message(t("No address yet"), t("Write one in the settings of this tile."));
    case "unreadable":
      return message(
        t("Not an address"),
        t("{text} is not one that starts with https:// or http://.", {
          text: ctx.settings.value.url,
        }),
      );
    case "own":
      return message(t("Not shown here"), t("Mantel does not show itself in a tile."));
  }
}

function notAllowed({ t }: Context, origin: string): TemplateResult {
  return message(
    t("{origin} is not allowed yet", { origin }),
    t("An admin adds it to server.frames in the config; then load this page again."),
  );
}

function message(title: string, text: string): TemplateResult {
  return html`<div class="card">
    <div class="empty" role="status"><strong>${title}</strong>${text}</div>
  </div>`;
}
