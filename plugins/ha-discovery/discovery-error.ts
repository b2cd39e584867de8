/**
 * An unusable announcement. Its user-facing message is used to group errors, so it names keys and
 * kinds, and a value only if few are possible.
 */
export class DiscoveryError extends Error {
  override readonly name = "DiscoveryError";

  constructor(message: string, options?: ErrorOptions) {
    super(message.slice(0, 300), options);
  }
}

/** A kind of component that there is, and that is not known here. */
export class UnknownKind extends DiscoveryError {}
