/** The code of a widget could not be loaded, which is not a fault of the code. */
export class CodeNotLoaded extends Error {
  constructor() {
    super("could not load its code");
  }
}
