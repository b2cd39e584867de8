import { Scene } from "@mantel/plugin-sdk/scene";
import { Type } from "typebox";
import { recordCompleted } from "../../auth/audit.ts";
import { Activation, SceneBody, SceneOrder } from "../../scenes/schema.ts";
import { causeOf } from "../cause-of.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { ifMatch, RevisedJson, sendRevision, withEtag } from "../etag.ts";
import { jsonAnswer, type Route, route } from "../route.ts";

const Params = Type.Object({
  id: Type.String({
    pattern: "^[a-z][a-z0-9]{0,30}:scene:[a-z0-9][a-z0-9-]{0,99}$",
    description: "the id of a scene, such as host:scene:movie-night",
  }),
});
const MAX_ORDER_BYTES = 512 * 2 ** 10;
const shared = { tag: "Scenes", params: Params } as const;
const SceneList = Type.Object({ scenes: Type.Array(Scene), revision: Type.Integer() });

/** `/smart-home/scenes`: scenes of bridges, and those made in the host. */
export function sceneRoutes(parts: HttpDependencies): Route[] {
  return [
    ...readingRoutes(parts),
    orderRoute(parts),
    ...makingRoutes(parts),
    activationRoute(parts),
  ];
}

function readingRoutes({ scenes }: HttpDependencies): Route[] {
  const listed = new RevisedJson(() => ({ scenes: scenes.list(), revision: scenes.revision }));
  return [
    route({
      method: "GET",
      path: "/smart-home/scenes",
      operationId: "listScenes",
      scope: "read",
      tag: "Scenes",
      summary: "List scenes in their order",
      headers: ["If-None-Match"],
      answers: jsonAnswer("All scenes", SceneList),
      handle(ctx) {
        const { revision } = scenes;
        sendRevision(ctx, revision, () => listed.at(revision));
      },
    }),
    route({
      ...shared,
      method: "GET",
      path: "/smart-home/scenes/:id",
      operationId: "getScene",
      scope: "read",
      summary: "Read one scene",
      answers: jsonAnswer("The scene", Scene),
      errors: ["scene_unknown"],
      handle: (_, { params }) => scenes.get(params.id),
    }),
  ];
}

function orderRoute(parts: HttpDependencies): Route {
  const { scenes } = parts;
  return route({
    method: "PUT",
    path: "/smart-home/scenes/order",
    operationId: "orderScenes",
    scope: "edit",
    tag: "Scenes",
    summary: "Set the order of scenes; one that is not listed stays behind the one it follows",
    headers: ["If-Match"],
    body: { schema: SceneOrder, maxBytes: MAX_ORDER_BYTES },
    answers: jsonAnswer("All scenes in the new order", SceneList),
    errors: ["invalid", "revision_stale", "disk_full"],
    async handle(ctx, { body, principal }) {
      await scenes.reorder(body, ifMatch(ctx).ifMatch);
      await recordCompleted(parts, principal, { action: "scene.order" });
      return withEtag(ctx, { scenes: [...scenes.list()], revision: scenes.revision });
    },
  });
}

function makingRoutes(parts: HttpDependencies): Route[] {
  const { scenes } = parts;
  return [
    route({
      ...shared,
      method: "PUT",
      path: "/smart-home/scenes/:id",
      operationId: "putScene",
      scope: "edit",
      summary: "Create or replace a scene of the host",
      body: { schema: SceneBody },
      answers: jsonAnswer("The stored scene", Scene),
      errors: ["invalid", "scene_read_only", "disk_full"],
      async handle(_, { params, body, principal }) {
        const scene = await scenes.put(params.id, body);
        await recordCompleted(parts, principal, { action: "scene.put", scene: params.id });
        return scene;
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      path: "/smart-home/scenes/:id",
      operationId: "removeScene",
      scope: "edit",
      summary: "Remove a scene of the host",
      answers: { 204: { description: "The scene is removed" } },
      errors: ["scene_unknown", "scene_read_only", "disk_full"],
      async handle(ctx, { params, principal }) {
        await scenes.remove(params.id);
        await recordCompleted(parts, principal, { action: "scene.remove", scene: params.id });
        ctx.status = 204;
      },
    }),
  ];
}

function activationRoute({ scenes }: HttpDependencies): Route {
  return route({
    ...shared,
    method: "POST",
    path: "/smart-home/scenes/:id/activate",
    operationId: "activateScene",
    scope: "control",
    summary: "Activate a scene",
    answers: jsonAnswer("The result for each device", Activation),
    errors: [
      "scene_unknown",
      "bridge_rate_limited",
      "bridge_down",
      "outcome_unknown",
      "deadline_passed",
    ],
    handle: (_, { params, principal }) => scenes.activate(params.id, causeOf(principal)),
  });
}
