import { type Clock, Run } from "./run.ts";
import { type Block, Statements } from "./statements.ts";
import { split } from "./tokens.ts";
import { TemplateError, type Value } from "./values.ts";

export type Variables = ReadonlyMap<string, Value>;

/**
 * A template of Home Assistant, which is Jinja with filters of its own. Templates come from whoever may
 * publish to the broker: one has bounds on its length, steps, depth and output, no regular
 * expressions, and values without anything of the host in them (`values.ts`).
 */
export class Template {
  readonly #block: Block;

  /** @throws TemplateError when the template is wrong, or uses what there is not here */
  constructor(source: string) {
    this.#block = new Statements(split(source.trim())).all();
  }

  /** What the template prints, without white space around it. @throws TemplateError */
  render(variables: Variables, clock: Clock): string {
    try {
      return this.#block(new Run(variables, clock)).trim();
    } catch (error) {
      if (error instanceof RangeError) throw new TemplateError("the template goes too deep");
      throw error;
    }
  }
}
