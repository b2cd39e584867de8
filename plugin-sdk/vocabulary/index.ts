export type { Access, CanonicalCapabilities, CanonicalCapability, Outcome } from "./canonical.ts";
export {
  canonicalCapability,
  faultsOfExtras,
  faultsOfNames,
  faultsOfVocabulary,
  isCanonicalName,
  missingCapabilities,
} from "./check.ts";
export { mergedCommand, resultsOf } from "./contradictions.ts";
export { type CanonicalKind, climateKind, KINDS } from "./kinds.ts";
export { type ReadingName, READINGS } from "./readings.ts";
