import type { Attributes } from "./entities.ts";

const TEXT_LENGTH = 1_000;
const MOST_CHOICES = 300;

/**
 * A numeric attribute; `undefined` if it is not a number. Some integrations write numbers as texts.
 */
export function numberIn(attributes: Attributes, name: string): number | undefined {
  return toNumber(attributes[name]);
}

export function toNumber(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value !== "string" || value.trim() === "") return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

export function textIn(attributes: Attributes, name: string): string | undefined {
  const value = attributes[name];
  return typeof value === "string" && value !== "" ? value.slice(0, TEXT_LENGTH) : undefined;
}

/** The unique texts of a list; empty if it is missing. */
export function choicesIn(attributes: Attributes, name: string): string[] {
  const value = attributes[name];
  const texts = Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
  return [...new Set(texts.map((text) => text.slice(0, TEXT_LENGTH)))].slice(0, MOST_CHOICES);
}

/** The texts of a list that an entity has by a feature. */
export function choicesBy(attributes: Attributes, bit: number, name: string): string[] {
  return hasFeature(attributes, bit) ? choicesIn(attributes, name) : [];
}

/** True if an entity has a feature, which its domain encodes as a bit. */
export function hasFeature(attributes: Attributes, bit: number): boolean {
  return ((numberIn(attributes, "supported_features") ?? 0) & bit) !== 0;
}

/** The result of `make` for a value; `undefined` for `undefined`. */
export function mapped<T, R>(value: T | undefined, make: (value: T) => R): R | undefined {
  return value === undefined ? undefined : make(value);
}

/** `present` when it is so, to be spread into an object of what there is. */
export function when<T extends object>(isSo: boolean, present: T): Partial<T> {
  return isSo ? present : {};
}

/** Rounded to so many decimals, so that conversions leave no tail. */
export function rounded(value: number, decimals = 2): number {
  return Number(value.toFixed(decimals));
}
