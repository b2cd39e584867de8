import { type Clock, Run } from "./run.ts";
import { type Block, Statements } from "./statements.ts";
import { split } from "./tokens.ts";
import { NestingError, type Value } from "./values.ts";

export type Variables = ReadonlyMap<string, Value>;

/**
 * A Home Assistant template: Jinja with additional filters. Templates come from any client that may
 * publish to the broker, so they are limited: length, steps, depth and output are bounded, regular
 * expressions are not supported, and values do not contain objects of the host (`values.ts`).
 */
export class Template {
  readonly #block: Block;

  /** @throws TemplateError if the template is invalid or uses an unsupported feature */
  constructor(source: string) {
    this.#block = new Statements(split(source.trim())).all();
  }

  /**
   * The output of the template, trimmed.
   * @throws TemplateError
   */
  render(variables: Variables, clock: Clock): string {
    try {
      return this.#block(new Run(variables, clock)).trim();
    } catch (error) {
      if (error instanceof RangeError) throw new NestingError("the template");
      throw error;
    }
  }
}
