import { Type } from "typebox";
import { LANGUAGE, LanguagePack, Texts } from "../../languages/language-pack.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { sendUnlessCurrent } from "../etag.ts";
import { jsonAnswer, type Route, route } from "../route.ts";

const Params = Type.Object({
  locale: Type.String({
    pattern: LANGUAGE,
    description: "a language or locale such as fr or pt-BR",
  }),
});
const List = Type.Object({
  languages: Type.Array(
    Type.Object({
      /** BCP 47. */
      language: Type.String(),
      /** In its own words. */
      name: Type.Optional(Type.String()),
    }),
  ),
  /** Files in the data folder that cannot be used, and why. */
  damaged: Type.Array(Type.Object({ file: Type.String(), detail: Type.String() })),
});
const PluginTexts = Type.Object({ plugins: Type.Record(Type.String(), Texts) });

/** `/languages`: the language packs of the dashboard and the plugins. */
export function languageRoutes({ languages }: HttpDependencies): Route[] {
  return [
    route({
      method: "GET",
      path: "/languages",
      operationId: "listLanguages",
      scope: "read",
      tag: "Languages",
      summary: "List the languages that have a language pack",
      answers: jsonAnswer("The languages", List),
      handle: () => languages.list(),
    }),
    route({
      method: "GET",
      path: "/languages/:locale",
      operationId: "getLanguage",
      scope: "public",
      tag: "Languages",
      summary: "Read the texts of the dashboard in a language",
      params: Params,
      headers: ["If-None-Match"],
      answers: jsonAnswer("The texts; empty without a language pack", LanguagePack),
      handle: async (ctx, { params: { locale } }) =>
        sendUnlessCurrent(ctx, await languages.read(locale)),
    }),
    route({
      method: "GET",
      path: "/languages/:locale/plugins",
      operationId: "getLanguageOfPlugins",
      scope: "read",
      tag: "Languages",
      summary: "Read the texts of the plugins in a language",
      params: Params,
      headers: ["If-None-Match"],
      answers: jsonAnswer("The texts by plugin and English text", PluginTexts),
      handle: async (ctx, { params: { locale } }) =>
        sendUnlessCurrent(ctx, { plugins: await languages.readPlugins(locale) }),
    }),
  ];
}
