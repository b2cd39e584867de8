import type { RouteCall } from "@mantel/plugin-sdk/protocol";
import type { RouteDefinition } from "@mantel/plugin-sdk/route";
import type { ReadyAnswer } from "./answer-file.ts";

/** A running plugin with routes. */
export interface RoutedPlugin {
  readonly id: string;
  readonly routes: readonly RouteDefinition[];
  /** Calls the handler of a route. @throws MantelError */
  answer(definition: RouteDefinition, call: RouteCall): Promise<ReadyAnswer>;
}
