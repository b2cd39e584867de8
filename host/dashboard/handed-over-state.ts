/** State that a widget hands over to the code that replaces it. */
export interface HandedOverState {
  readonly stateVersion: number;
  readonly data: unknown;
}
