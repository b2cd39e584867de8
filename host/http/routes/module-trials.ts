import { Type } from "typebox";
import { recordDone } from "../../auth/audit.ts";
import { SetupView } from "../../modules/setup.ts";
import { TestResult } from "../../modules/trials.ts";
import { check } from "../../validate.ts";
import type { Parts } from "../parts.ts";
import { ok, type Route, route } from "../route.ts";
import { ModuleParams, Options, withinSection } from "./modules.ts";

const Answer = Type.Object({
  step: Type.Integer({ minimum: 1, description: "the step that asks" }),
  answer: Type.Record(Type.String(), Type.Unknown()),
});
const shared = { tag: "Modules", params: ModuleParams, scope: "admin" } as const;

type TrialParts = Pick<Parts, "modules" | "audit" | "log">;

/** `/modules/:id/test` and `/modules/:id/setup`: a plugin's code tried out beside what runs. */
export function moduleTrialRoutes(parts: TrialParts): Route[] {
  return [testRoute(parts), beginRoute(parts), ...followingRoutes(parts)];
}

function testRoute(parts: TrialParts): Route {
  return route({
    ...shared,
    method: "POST",
    path: "/modules/:id/test",
    summary: "Try options of a module that are not stored",
    body: { schema: Options, mergePatch: true, optional: true },
    answers: ok("Whether they lead anywhere", TestResult),
    errors: ["module_unknown", "invalid", "module_busy", "module_down", "reload_failed"],
    async handle(_, { params: { id }, body, principal }) {
      const patch = check(Options, body ?? {}, "the patch");
      await recordDone(parts, principal, { action: "module.test", module: id });
      try {
        return await parts.modules.trialsOf(id).test(patch);
      } catch (error) {
        throw withinSection(error, id);
      }
    },
  });
}

function beginRoute(parts: TrialParts): Route {
  return route({
    ...shared,
    method: "POST",
    path: "/modules/:id/setup",
    summary: "Begin the setup of a module",
    answers: { 202: { description: "It has begun", schema: SetupView } },
    errors: ["module_unknown", "invalid", "module_busy", "module_down"],
    async handle(ctx, { params: { id }, principal }) {
      const view = parts.modules.trialsOf(id).beginSetup();
      await recordDone(parts, principal, { action: "module.setup", module: id });
      ctx.status = 202;
      return view;
    },
  });
}

function followingRoutes({ modules }: TrialParts): Route[] {
  return [
    route({
      ...shared,
      method: "GET",
      path: "/modules/:id/setup",
      summary: "Follow the setup of a module",
      answers: ok("What it shows, or how it ended", SetupView),
      errors: ["module_unknown", "invalid", "not_found"],
      handle: (_, { params }) => modules.trialsOf(params.id).setup,
    }),
    route({
      ...shared,
      method: "POST",
      path: "/modules/:id/setup/answer",
      summary: "Answer what the setup of a module asks",
      body: { schema: Answer },
      answers: ok("The setup after it", SetupView),
      errors: ["module_unknown", "invalid", "not_found"],
      handle: (_, { params, body }) =>
        modules.trialsOf(params.id).answerSetup(check(Answer, body, "the answer")),
    }),
    route({
      ...shared,
      method: "DELETE",
      path: "/modules/:id/setup",
      summary: "Give up the setup of a module",
      answers: ok("How it ended", SetupView),
      errors: ["module_unknown", "invalid", "not_found"],
      handle: (_, { params }) => modules.trialsOf(params.id).cancelSetup(),
    }),
  ];
}
