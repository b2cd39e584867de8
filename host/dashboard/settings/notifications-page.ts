import { html, nothing } from "lit";
import { isServed } from "../served-paths.ts";
import { MessagesHere } from "./messages-here.ts";
import { addressOf, type OpenSettingsPage, type SettingsDependencies } from "./page.ts";
import { linkRow } from "./setting-row.ts";
import { words } from "./words.ts";

/** Where messages of the home go: dashboards, and the plugins that send them on. */
export function notificationsPage(parts: SettingsDependencies): OpenSettingsPage {
  const { store } = parts;
  const modules = store.modules();
  const here = new MessagesHere(parts);
  return {
    view() {
      const texts = words.value;
      const senders = modules.value.filter(({ permissions }) =>
        permissions.provides.some((each) => each.startsWith("home.notify")),
      );
      return html`<p class="hint">${texts.notificationsHint}</p>
        <section class="panel setting-rows">
          ${
            senders.length === 0
              ? html`<p>${texts.noSenders}</p>`
              : senders.map(({ id, name, state, error }) =>
                  linkRow(`sender-${id}`, {
                    title: name,
                    hint:
                      state === "unconfigured"
                        ? texts.unconfigured
                        : (error?.message ?? texts.sendsOn),
                    href: addressOf("modules", id),
                  }),
                )
          }
        </section>
        ${isServed(store, "/push") ? html`<section class="panel setting-rows">${here.view()}</section>` : nothing}`;
    },
  };
}
