import { CHANNEL_SCOPES } from "@mantel/plugin-sdk/channel";
import { CHANNEL_NAME } from "@mantel/plugin-sdk/channel-names";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { PLUGIN_ID, translationsOf } from "@mantel/plugin-sdk/manifest";
import { Nullable } from "@mantel/plugin-sdk/schema";
import { Type } from "typebox";
import { Titles } from "../../api/module.ts";
import { permits } from "../../auth/scopes.ts";
import { channelText } from "../../channels/registry.ts";
import { requireScope } from "../authenticate.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { sendRevision } from "../etag.ts";
import { jsonAnswer, type Route, route } from "../route.ts";

const Params = Type.Object({
  plugin: Type.String({ pattern: PLUGIN_ID, maxLength: 64 }),
  name: Type.String({ pattern: CHANNEL_NAME, maxLength: 60 }),
});
const Revision = Nullable(Type.Integer());
const UpdatedAt = Nullable(Type.String({ format: "date-time" }));

/** A channel in the list. `revision` and `updatedAt` are null before the first value. */
const ListedChannel = Type.Object({
  plugin: Type.String(),
  name: Type.String(),
  title: Type.String(),
  /** The title by language, as far as the plugin's manifest has it. */
  titles: Type.Optional(Titles),
  /** JSON Schema. */
  schema: Type.Object({}),
  scope: Type.Enum([...CHANNEL_SCOPES]),
  revision: Revision,
  updatedAt: UpdatedAt,
});
const ChannelList = Type.Object({ channels: Type.Array(ListedChannel) });

/** A channel with its value. Before the first one, `value`, `revision` and `updatedAt` are null. */
const Channel = Type.Object({
  plugin: Type.String(),
  name: Type.String(),
  value: Type.Unknown(),
  revision: Revision,
  updatedAt: UpdatedAt,
});

/** `/channels`: the values that plugins publish. */
export function channelRoutes({ channels, apiPaths, modules }: HttpDependencies): Route[] {
  return [
    route({
      method: "GET",
      path: "/channels",
      operationId: "listChannels",
      scope: "read",
      tag: "Channels",
      summary: "List the channels that the token may read",
      answers: jsonAnswer("Channels in the order of plugin and name", ChannelList),
      handle: (_ctx, { principal }) => ({
        channels: channels
          .list()
          .filter(({ declared: { scope } }) => permits(principal.scope, scope))
          .map(({ plugin, declared: { name, title, schema, scope }, current }) => {
            const titles = translationsOf(title, modules.translations(plugin));
            return {
              ...{ plugin, name, title, ...(titles && { titles }), schema, scope },
              revision: current?.revision ?? null,
              updatedAt: current?.updatedAt ?? null,
            };
          }),
      }),
    }),
    route({
      method: "GET",
      path: "/channels/:plugin/:name",
      operationId: "getChannel",
      scope: "read",
      tag: "Channels",
      summary: "Read the last value of a channel",
      params: Params,
      headers: ["If-None-Match"],
      answers: jsonAnswer("The value, with null for everything before the first one", Channel),
      errors: ["channel_unknown"],
      async handle(ctx, { params: { plugin, name }, principal }) {
        const channel = channels.find(plugin, name);
        // A plugin that is not configured yet has not declared its channels, but its manifest names those with a path.
        if (!channel && apiPaths.of(plugin, name).length > 0) {
          return { plugin, name, value: null, revision: null, updatedAt: null };
        }
        if (!channel) {
          const hint = "GET /channels lists those there are";
          throw new MantelError("channel_unknown", `no plugin provides ${plugin}/${name}; ${hint}`);
        }
        requireScope(principal, channel.declared.scope);
        await channels.demand.whenCurrent(plugin);
        sendRevision(ctx, channel.current?.revision ?? 0, () => channelText(channel));
      },
    }),
  ];
}
