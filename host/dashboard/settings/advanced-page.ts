import { html, nothing } from "lit";
import { addressOf, type OpenSettingsPage, type SettingsDependencies } from "./page.ts";
import { linkRow } from "./setting-row.ts";
import { words } from "./words.ts";

/** The page for experts: the parts of the software, their logs and the interfaces for programs. */
export function advancedPage(parts: SettingsDependencies): OpenSettingsPage {
  const { api, store, mayAdminister } = parts;
  const modules = store.modules();
  return {
    view() {
      const texts = words.value;
      const brokers = modules.value.filter(({ permissions }) =>
        permissions.provides.includes("mqtt.broker"),
      );
      return html`<section class="panel setting-rows">
          ${linkRow("modules", {
            title: texts.modules,
            hint: texts.modulesHint,
            href: addressOf("modules"),
            icon: "mdi:puzzle-outline",
          })}
          ${
            mayAdminister
              ? linkRow("plugins", {
                  title: texts.plugins,
                  hint: texts.pluginsHint,
                  href: addressOf("plugins"),
                  icon: "mdi:package-variant",
                })
              : nothing
          }
          ${linkRow("bridges", {
            title: texts.bridges,
            hint: texts.bridgesHint,
            href: addressOf("bridges"),
            icon: "mdi:bridge",
          })}
          ${brokers.map(({ id, name }) =>
            linkRow(`broker-${id}`, {
              title: name,
              hint: texts.brokerHint,
              href: addressOf("modules", id),
              icon: "mdi:swap-horizontal",
            }),
          )}
        </section>
        <section class="panel setting-rows">
          ${linkRow("api", {
            title: texts.apiDocs,
            hint: texts.apiHint,
            href: `${api.address("")}/docs`,
            icon: "mdi:api",
          })}
          ${linkRow("about", {
            title: texts.about,
            hint: texts.aboutHint,
            href: addressOf("about"),
            icon: "mdi:information-outline",
          })}
        </section>`;
    },
  };
}
