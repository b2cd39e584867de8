import { defineRoute, handle, type PluginContext, Type } from "@mantel/plugin-sdk";
import type { Automations } from "../automations.ts";
import type { ImportHome } from "./entities.ts";
import { importAutomations } from "./import-automations.ts";
import { YAML_LIMITS } from "./read-yaml.ts";

const Strict = { additionalProperties: false } as const;
const Yaml = Type.String({ minLength: 1, maxLength: YAML_LIMITS.bytes });

/** Names the system whose files the import converts. */
export const importOrigin = defineRoute({
  method: "GET",
  at: "/automations/import",
  scope: "read",
  summary: "Read the name of the system whose automations can be imported, and of its files",
  response: Type.Object({ name: Type.String(), files: Type.Array(Type.String()) }),
});

/** The import of `automations.yaml` and `scripts.yaml`. */
export const imported = defineRoute({
  method: "POST",
  at: "/automations/import",
  scope: "edit",
  summary: "Convert automations of Home Assistant, and store them if `store` is true",
  maxBytes: YAML_LIMITS.bytes,
  body: Type.Object(
    {
      yaml: Type.Union([Yaml, Type.Array(Yaml, { minItems: 1, maxItems: 10 })], {
        description: "the content of one file, or of several that belong together",
      }),
      devices: Type.Optional(
        Type.Record(Type.String({ maxLength: 300 }), Type.String({ maxLength: 200 }), {
          description:
            "the id of a device, scene or calendar for each entity that is not found by its name",
        }),
      ),
      partial: Type.Optional(
        Type.Boolean({
          description: "true to take automations without what cannot be mapped, switched off",
        }),
      ),
      store: Type.Optional(Type.Boolean({ description: "absent or false for a preview" })),
    },
    Strict,
  ),
  response: Type.Object({
    automations: Type.Array(
      Type.Object({
        name: Type.String(),
        kind: Type.Enum(["automation", "script"]),
        result: Type.Enum(["whole", "partial", "none"]),
        reasons: Type.Array(Type.Object({ place: Type.String(), detail: Type.String() })),
        notes: Type.Array(Type.String()),
        exists: Type.Boolean({ description: "true if an automation of this name is kept instead" }),
        stored: Type.Array(Type.String(), { description: "the ids of the stored automations" }),
      }),
    ),
    entities: Type.Array(
      Type.Object({
        entity: Type.String(),
        kind: Type.Enum(["device", "scene", "calendar"]),
        device: Type.Union([Type.String(), Type.Null()]),
        candidates: Type.Array(Type.String()),
      }),
    ),
  }),
});

/** The routes of the import. */
export function importRoutes(
  { home, log }: Pick<PluginContext<undefined, unknown>, "home" | "log">,
  automations: Automations,
) {
  return [
    handle(importOrigin, () => ({
      json: { name: "Home Assistant", files: ["automations.yaml", "scripts.yaml"] },
    })),
    handle(imported, async ({ body }) => {
      const answer = await importAutomations(body, await homeOf(home, log), automations);
      return { json: answer as never };
    }),
  ];
}

async function homeOf(
  home: PluginContext<undefined, unknown>["home"],
  log: PluginContext<undefined, unknown>["log"],
): Promise<ImportHome> {
  const now = new Date();
  const [devices, scenes, calendars] = await Promise.all([
    home.devices.list(),
    home.scenes.list(),
    home.calendar.between(now, new Date(now.getTime() + 60_000)).then(
      ({ sources }) => sources,
      (error: unknown) => {
        log.debug("could not read the calendars for an import", { error });
        return [];
      },
    ),
  ]);
  return { devices, scenes, calendars };
}
