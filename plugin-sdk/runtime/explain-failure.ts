/** Messages of the usual loaders of native code about a package without a binary for this machine. */
const NO_BINARY =
  /Could not locate the bindings file|No native build was found|Could not load the "\w+" module|Cannot find module '[^']*\.node'|NODE_MODULE_VERSION/;

/**
 * Adds to the message of a failed start what the author can act on: a permission that was denied before, and for a
 * package without a native binary the reason. Returns the same error.
 */
export function explainFailure(error: unknown, denied: string | undefined): unknown {
  if (!(error instanceof Error)) return error;
  const { message, stack } = error;
  const reasons: string[] = [];
  if (denied !== undefined && !message.includes("permission denied:")) {
    reasons.push(`before it failed: ${denied}`);
  } else if (NO_BINARY.test(message)) {
    const platform = `${process.platform}-${process.arch}`;
    reasons.push(
      `a package has no native binary for ${platform} and Node ${process.version}, and install scripts are not run; use a package that ships its binaries`,
    );
  }
  if (reasons.length === 0) return error;
  error.message = [message, ...reasons].join("; ");
  if (stack !== undefined) error.stack = stack.replace(message, () => error.message);
  return error;
}
