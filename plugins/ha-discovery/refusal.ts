/**
 * What was announced cannot be used. The message is a sentence for people that groups: it names keys
 * and kinds, and a value only where there are few.
 */
export class Refusal extends Error {
  override readonly name = "Refusal";

  constructor(message: string, options?: ErrorOptions) {
    super(message.slice(0, 300), options);
  }
}

/** A kind of component that there is, and that is not known here. */
export class UnknownKind extends Refusal {}
