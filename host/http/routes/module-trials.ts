import { Type } from "typebox";
import { recordCompleted } from "../../auth/audit.ts";
import { SetupView } from "../../modules/lifecycle/setup-flow.ts";
import { TestResult } from "../../modules/lifecycle/trial-runs.ts";
import { check } from "../../validate.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { jsonAnswer, type Route, route } from "../route.ts";
import { ModuleParams, Options, pointersWithinSection } from "./modules.ts";

const Answer = Type.Object({
  step: Type.Integer({ minimum: 1, description: "the step that is answered" }),
  answer: Type.Record(Type.String(), Type.Unknown()),
});
const shared = { tag: "Modules", params: ModuleParams, scope: "admin" } as const;

/** `/modules/:id/test` and `/modules/:id/setup`: trials of a plugin's code beside the running process. */
export function moduleTrialRoutes(parts: HttpDependencies): Route[] {
  return [testRoute(parts), beginRoute(parts), ...followingRoutes(parts)];
}

function testRoute(parts: HttpDependencies): Route {
  return route({
    ...shared,
    method: "POST",
    path: "/modules/:id/test",
    operationId: "testModuleOptions",
    summary: "Test options of a module without storing them",
    body: { schema: Options, mergePatch: true, optional: true },
    answers: jsonAnswer("The result of the test", TestResult),
    errors: ["module_unknown", "invalid", "module_busy", "module_down", "reload_failed"],
    async handle(_, { params: { id }, body = {}, principal }) {
      const patch = check(Options, body, "the patch");
      await recordCompleted(parts, principal, { action: "module.test", module: id });
      try {
        return await parts.modules.trialsOf(id).test(patch);
      } catch (error) {
        throw pointersWithinSection(error, id);
      }
    },
  });
}

function beginRoute(parts: HttpDependencies): Route {
  return route({
    ...shared,
    method: "POST",
    path: "/modules/:id/setup",
    operationId: "startModuleSetup",
    summary: "Begin the setup of a module",
    answers: { 202: { description: "The setup has begun", schema: SetupView } },
    errors: ["module_unknown", "invalid", "module_busy", "module_down"],
    async handle(ctx, { params: { id }, principal }) {
      const view = parts.modules.trialsOf(id).beginSetup();
      await recordCompleted(parts, principal, { action: "module.setup", module: id });
      ctx.status = 202;
      return view;
    },
  });
}

function followingRoutes({ modules }: HttpDependencies): Route[] {
  return [
    route({
      ...shared,
      method: "GET",
      path: "/modules/:id/setup",
      operationId: "getModuleSetup",
      summary: "Follow the setup of a module",
      answers: jsonAnswer("Its current step, or its result", SetupView),
      errors: ["module_unknown", "invalid", "not_found"],
      handle: (_, { params }) => modules.trialsOf(params.id).setup,
    }),
    route({
      ...shared,
      method: "POST",
      path: "/modules/:id/setup/answer",
      operationId: "answerModuleSetup",
      summary: "Answer a step of a module's setup",
      body: { schema: Answer },
      answers: jsonAnswer("The setup after the answer", SetupView),
      errors: ["module_unknown", "invalid", "not_found"],
      handle: (_, { params, body }) =>
        modules.trialsOf(params.id).answerSetup(check(Answer, body, "the answer")),
    }),
    route({
      ...shared,
      method: "DELETE",
      path: "/modules/:id/setup",
      operationId: "cancelModuleSetup",
      summary: "Cancel the setup of a module",
      answers: jsonAnswer("Its result", SetupView),
      errors: ["module_unknown", "invalid", "not_found"],
      handle: (_, { params }) => modules.trialsOf(params.id).cancelSetup(),
    }),
  ];
}
