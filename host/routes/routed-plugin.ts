import type { RouteDefinition } from "@mantel/plugin-sdk/route";
import type { ReadyAnswer } from "./answer-file.ts";
import type { RouteInput } from "./raw-body.ts";

/** A running plugin with routes. */
export interface RoutedPlugin {
  readonly id: string;
  readonly routes: readonly RouteDefinition[];
  /** Calls the handler of a route. @throws MantelError */
  answer(definition: RouteDefinition, call: RouteInput): Promise<ReadyAnswer>;
}
